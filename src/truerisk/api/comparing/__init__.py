"""Paired comparisons of two rules on the same rows and splits; `Comparison` is what they find.

| file | what it holds |
|---|---|
| `contract.py` | what a test is, and what it is told |
| `pairing.py` | two estimates or two arrays as paired differences, or why they do not pair |
| `paired_cv.py` | rows paired: the rule of the calibrated intervals, for a difference |
| `nadeau_bengio.py`, `bayes.py` | differences per split, correlated as training sets overlap |
| `sharp.py` | repeated disjoint halves |
| `mcnemar.py` | rows that one rule got wrong and the other right |
| `five_by_two.py` | five times twofold cross-validation |
"""
