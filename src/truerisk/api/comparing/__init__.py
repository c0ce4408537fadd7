"""Paired comparisons of two rules on the same rows and splits.

| file | what it holds |
|---|---|
| `contract.py` | what a test is, and what it is told |
| `pairing.py` | two estimates or two arrays as paired differences, or why they do not pair |
| `result.py` | what a test found: a frozen value that prints itself |
| `nadeau_bengio.py`, `bayes.py` | differences per split, correlated as training sets overlap |
| `mcnemar.py` | rows that one rule got wrong and the other right |
| `five_by_two.py` | five times twofold cross-validation |
"""
