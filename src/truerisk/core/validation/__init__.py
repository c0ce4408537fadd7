"""What a reviewer asks of a model: parts of a `Validation`, from arrays alone.

| file | what it holds |
|---|---|
| `validation.py` | `Validation`: all parts, and why some are missing |
| `held_out.py` | `HeldOut`: answers about rows that the models had not seen |
| `outcomes.py` | two outcomes, what was given for them, and how much each row weighs |
| `measures.py`, `measured.py` | the measures by word; one of them, apparent, honest, corrected |
| `discrimination.py` | AUC and its kin, with the ROC curve |
| `smooth_calibration.py` | the calibration of held-out probabilities |
| `recalibration.py` | the calibration line: slope and intercept |
| `calibration_curve.py` | the flexible curve and the distances from it |
| `cubic_spline.py`, `logistic_fit.py` | what line and curve are fitted by |
| `net_benefit.py` | decision curves |
| `profile.py` | all numbers at once, and by how much they flatter |
"""
