"""`audit`: what a fitted search claims, what is honest, and what was found.

Checks of rows, columns and splits stand in `checks/`; what a search claims stands in `search/`.
(The package is not called `audit`: `truerisk.audit` is the function.)

| file | what |
|---|---|
| `audit.py` | `audit`, also as a check of skore |
| `replay.py` | the same splits again: losses of every candidate, corrected for the choice |
| `mixed_splits.py` | which splits mix past and future, neighbours, or groups |
| `correcting.py` | the honest risk by the level, also of rows that are kept apart |
| `on_scores.py` | checks of scores and of the claim |
| `outcome.py` | the audit: claim, honest risk, findings, conclusion |
"""
