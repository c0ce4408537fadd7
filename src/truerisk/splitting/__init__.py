"""How rows are dealt out: folds and held-out parts, by class and by group.

All but `in_time.py` take the data and a generator, and return row labels; plans are made of them by
the methods.
"""
