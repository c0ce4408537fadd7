"""The parts of `tr.audit`: from a fitted search to its claim, the honest risk, and findings.

Checks of rows, columns and splits stand in `checks/`; `tr.assess` runs them, too.

| file | what |
|---|---|
| `claim.py` | what a fitted search claims, on its own scale and as a risk |
| `reading.py` | from each class of search to its claim |
| `replay.py` | the same splits again: losses of every candidate, corrected for the choice |
| `repeat.py` | the whole search inside outer folds, and the state that would outlive its clones |
| `mixed_splits.py` | which splits mix past and future, neighbours, or groups |
| `correcting.py` | the honest risk by the level, also of rows that are kept apart |
| `on_scores.py` | checks of scores and of the claim |
| `outcome.py` | the audit: claim, honest risk, findings, conclusion |
"""
