"""Two learners on the same rows and splits, and methods over many data sets.

| file | what it holds |
|---|---|
| `paired.py` | `compare` two learners or rules; `difference`, what `a - b` means |
| `pairing.py` | two estimates or two arrays as paired differences, or why they do not pair |
| `paired_tests.py` | what a test is, by its word; tests on splits, on halves, on errors |
| `many.py` | `compare_many`: from a table data set × method to a comparison |
| `scores.py` | the table, however it was given; direction, region, the rule for missing cells |
| `many_comparison.py` | `ManyComparison`: a frozen value, and what it says in sentences |
| `method_pairs.py` | two of the methods: signed-rank tests, effect, probabilities |
| `hierarchical.py` | the hierarchical correlated t test, summed on a grid |
| `ranks.py` | average ranks, Friedman's test, critical differences, Holm |
"""
