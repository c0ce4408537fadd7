"""The parts of `tr.audit`: from a fitted search to its claim, the honest risk, and findings.

Findings and the checks of tables and splits are in `api/findings`.

| file | what |
|---|---|
| `claim.py` | what a fitted search claims, and the scores it kept |
| `reading.py` | which reader reads which search |
| `reading_grid.py`, `reading_linear.py`, `reading_study.py` | the readers |
| `score_scale.py` | from a scorer to an error, row by row where that is possible |
| `replay.py` | the same splits again: out-of-fold losses of every candidate |
| `ranked.py` | the bootstrap for AUC, which rows do not add up to |
| `repeat.py` | the whole search inside outer folds |
| `order_of_rows.py` | what a table tells of the order of its rows: dates, or a count |
| `mixed_splits.py` | which splits mix past and future, neighbours, or groups |
| `apart.py` | the choice tested where these are kept apart |
| `correcting.py` | the honest risk by the level, from all of these |
| `on_scores.py`, `on_state.py` | checks of scores and of the claim, and of the search |
| `outcome.py` | the audit: claim, honest risk, findings, conclusion |
"""
