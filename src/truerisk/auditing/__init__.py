"""`audit`: what a fitted search claims, what is honest, and what was found.

Checks of rows, columns and splits stand in `checks/`; what a search claims stands in `search/`.
(The package is not called `audit`: `truerisk.audit` is the function.)
"""
