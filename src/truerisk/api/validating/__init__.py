"""What `validate` is made of.

| file | what it holds |
|---|---|
| `asked.py` | what a search, or a model, is asked to be tested by |
| `honest.py` | the answers about held-out rows: those that exist, or one honest run |
| `rank_estimates.py` | AUC and its kin as a search tells them |
| `resampled.py` | the whole procedure in bootstrap samples |
| `two_outcomes.py` | discrimination, calibration and net benefit |
"""
