"""The parts of `tr.audit`: from a fitted search to its claim, the honest risk, and findings.

| file | what |
|---|---|
| `claim.py` | what a fitted search claims, and the scores it kept |
| `reading.py` | which reader reads which search |
| `reading_grid.py`, `reading_linear.py`, `reading_study.py` | the readers |
| `scale.py` | from a scorer to an error, row by row where that is possible |
| `replay.py` | the same splits again: out-of-fold losses of every candidate |
| `ranked.py` | the bootstrap for AUC, which rows do not add up to |
| `repeat.py` | the whole search inside outer folds |
| `finding.py` | findings and the table of their codes |
| `on_scores.py`, `on_state.py`, `on_splits.py` | checks of scores, of the search, of its splits |
| `on_columns.py`, `on_selection.py`, `on_neighbours.py` | checks of the table |
| `on_risks.py` | checks of the claim against the honest risk |
| `on_assessments.py` | the checks that `tr.assess` makes of its own answer |
| `outcome.py` | the audit: claim, honest risk, findings, conclusion |
"""
