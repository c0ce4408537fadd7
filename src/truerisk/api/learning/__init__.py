"""Learning curves: the risk with fewer rows than there are, and with more.

| file | what it holds |
|---|---|
| `tested_learner.py` | a problem, what tests it with fewer rows, and with how many |
| `measured.py` | the risk at each size, and how the errors of all of them go together |
"""
