"""Penalised logistic regression: every penalty from one path per train set.

| file | what it holds |
|---|---|
| `paths.py` | the engine |
| `setting.py` | which settings it serves |
| `stops.py` | where the solver of LogisticRegression stops, also of more columns than rows |
| `agreement.py` | whether its steps are those of the installed releases |
| `path_answers.py` | scores as answers, and what rounding would decide |
| `samples.py` | many samples at once: Newton steps in lockstep |
| `taken_out.py` | rows taken out of a fit to first order |
"""
