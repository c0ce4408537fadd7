"""What `validate` is made of.

| file | what it holds |
|---|---|
| `wishes.py` | what is asked for besides the model and its rows |
| `asked.py` | what a search, or a model, is asked to be tested by |
| `honest.py` | the answers about held-out rows: those that exist, or one honest run |
| `event.py` | one class against the others |
| `all_parts.py` | every part of one honest run |
| `chosen_learner.py` | the same of the best learner of an assessment |
| `rank_estimates.py` | AUC and its kin as a search tells them |
| `resampled.py` | the whole procedure in bootstrap samples |
| `two_outcomes.py` | discrimination, calibration and net benefit |
| `subgroup_part.py` | every score in every level of given columns |
| `stability_part.py` | the features that the outer splits selected, and how predictions move |
| `checklist_part.py` | what is known of the study |
"""
