"""What steps before a learner give, and whether an engine can compute with it.

| file | what it holds |
|---|---|
| `fitted.py` | steps fitted on one train set: what they give of it, and of asked rows |
| `read_off.py` | settings of a step that are read off one fit of it |
| `closed/` | steps in closed form: all train sets from what is computed once |
| `prepared.py` | a table as one block of doubles of a fit size; steps that treat rows alone |
"""
