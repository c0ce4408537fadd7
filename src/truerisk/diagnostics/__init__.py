"""Questions about a learner beside its risk: fewer rows, permuted labels, drift, versions.

| file | what it holds |
|---|---|
| `learning_curve.py`, `learner_by_size.py` | `learning_curve`: fewer rows, and more |
| `permutation_test.py`, `permutations.py` | `permutation_test`: whether it learns anything |
| `risk_over_time.py` | `risk_over_time`: losses along time, and whether they drift |
| `show_versions.py` | `show_versions`: versions, and engines that are off |
"""
