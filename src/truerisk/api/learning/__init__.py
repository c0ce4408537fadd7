"""Learning curves: the risk with fewer rows than there are, and with more.

| file | what it holds |
|---|---|
| `tested_learner.py` | a problem, and what tests it with fewer rows |
| `sizes.py` | which numbers of training rows: asked for, or the usual ones |
| `measured.py` | the risk at each size, and how the errors of all of them go together |
"""
