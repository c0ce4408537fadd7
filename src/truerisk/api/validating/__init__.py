"""What `validate` is made of.

| file | what it holds |
|---|---|
| `wishes.py` | what is asked for besides the model and its rows |
| `honest.py` | what is asked to be tested, and its answers: those that exist, or one honest run |
| `all_parts.py` | every part of one honest run, and of the best learner of an assessment |
| `resampled.py` | the whole procedure in bootstrap samples |
| `rating.py` | all numbers: held out, apparent, of samples, without each fold |
| `calibration_part.py` | calibration of an event, or of numbers |
| `two_outcomes.py` | discrimination and net benefit, and which parts there are |
| `subgroup_part.py` | every score in every level of given columns |
| `stability_part.py` | the features that the outer splits selected, and how predictions move |
| `checklist_part.py` | what is known of the study, and how tested rows lie to those of training |
"""
