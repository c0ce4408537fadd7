"""What engines share: one pass over a train set, and where the answers go.

| file | what it holds |
|---|---|
| `one_pass.py` | the template of engines that answer a group of candidates in one pass |
| `task.py` | one group of candidates on one plan: what fits see, where answers go |
| `one_fit.py` | the template of engines that fit one model and read all candidates off it |
| `fits_of_one_table.py` | all rows but one, or rows with weights: many fits at once |
| `turned.py` | more columns than rows: rows turned into as many columns as there are rows |
"""
