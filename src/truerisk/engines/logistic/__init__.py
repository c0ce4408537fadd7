"""Penalised logistic regression: every penalty from one path per train set.

| file | what it holds |
|---|---|
| `paths.py` | the engine |
| `setting.py` | which settings it serves |
| `stops.py` | where the solver of LogisticRegression stops, and whether its steps are the same |
| `path_answers.py` | scores as answers, also without a row; what rounding would decide |
| `lbfgs.py`, `_lbfgs*` | L-BFGS-B, step by step as SciPy takes them, compiled |
| `_logistic*` | the path, compiled; `kernels/logistic.py` calls it |
"""
