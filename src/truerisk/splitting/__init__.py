"""Draw folds and held-out sets, stratified by class and keeping groups together.

All modules except `in_time.py` take the data and a random generator and return fold numbers or
labels for the rows. The methods of risk estimation make plans from these.
"""
