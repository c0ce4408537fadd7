"""What a reviewer of a model asks: a part is a formula, a result and how a run gives it.

| file | what it holds |
|---|---|
| `validate.py` | `validate` |
| `validation.py` | `Validation`: all parts of one honest run, and why some are missing |
| `wishes.py` | what is asked for besides model and rows, of `validate` or of `assess` |
| `honest.py` | `HonestRun`: answers about held-out rows, their scores and losses |
| `resampled.py` | the whole procedure in bootstrap samples |
| `outcomes.py` | `HeldOut`, `Event`, `Outcomes`: what came, what was said of it, and its weight |
| `rating.py` | all numbers, held out, apparent, of samples and without each fold, and their parts |
| `measures.py` | the measures by word; one of them, apparent, honest, corrected |
| `profile.py` | all numbers at once, by how much they flatter, and how they vary with folds |
| `discrimination.py` | AUC and its kin, with the ROC curve; net benefit |
| `updating.py` | what new coefficients would gain for a finished model |
| `calibration.py`, `calibration_fits.py` | line and flexible curve; what they are fitted by |
| `subgroups.py` | `Subgroups`: each score in every level; columns that part the rows |
| `subgroup_risks.py` | the risk in every level of columns, with its interval |
| `many_levels.py` | intervals that hold together, and values drawn to their mean |
| `stability.py` | `ModelStability`: which features the models of several splits use |
| `prediction_stability.py` | `PredictionStability`: how far single predictions move |
| `checklists/` | both guidelines as far as the data tell, and the facts that answer them |
"""
