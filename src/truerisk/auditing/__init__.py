"""`audit`: compare the claim of a fitted search with the honest risk, and collect findings.

Checks of rows, columns and splits are in `checks/`; the package `search/` reads what a search
claims.
(The package is not called `audit`: `truerisk.audit` is the function.)
"""
