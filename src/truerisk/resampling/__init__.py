"""How rows are dealt out: folds and held-out parts, by class and by group.

| file | what it draws |
|---|---|
| `folds.py` | fold numbers of all rows, stratified by class or keeping groups together |
| `blocks.py` | blocks of rows that lie together, dealt into folds |
| `in_time.py` | splits in the order of time: forward, and purged stretches |
| `held_out.py` | one held-out part of a given share |
| `subsamples.py` | smaller training sets, nested in one another |
| `samples.py` | bootstrap samples: how often each row is drawn |

All but `in_time.py` take the data and a generator, and return row labels; plans are made of them by
the methods.
"""
