"""The steps of a pipeline before its learner: what they give, and how often they are fitted.

| file | what it holds |
|---|---|
| `chance.py` | whether fitted steps drew random numbers |
| `fitted.py` | steps fitted on one train set: what they give of it, and of asked rows |
| `shared_steps.py` | steps of one fit, fitted once for all candidates that begin alike |
"""
