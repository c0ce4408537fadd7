"""How rows are dealt out: folds and held-out parts, by class and by group.

| file | what it draws |
|---|---|
| `folds.py` | fold numbers of all rows: by class, whole groups, blocks of rows that lie together |
| `in_time.py` | splits in the order of time: forward, and purged stretches |
| `samples.py` | rows drawn at random: a held-out part, bootstrap samples, nested smaller sets |

All but `in_time.py` take the data and a generator, and return row labels; plans are made of them by
the methods.
"""
