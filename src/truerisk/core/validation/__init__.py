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
| `link.py` | the scale of both: logit of probabilities, numbers as they are |
| `cubic_spline.py`, `line_fit.py`, `logistic_fit.py` | what line and curve are fitted by |
| `fold_jackknife.py` | how numbers vary when folds are left out |
| `net_benefit.py` | decision curves |
| `profile.py` | all numbers at once, and by how much they flatter |
| `levels.py` | columns that part the rows, a missing level as its own |
| `subgroups.py` | `Subgroups`: each score in every level, with simultaneous intervals |
| `feature_stability.py` | `FeatureStability`: which features the models of several splits use |
| `prediction_stability.py` | `PredictionStability`: how far single predictions move |
| `stability.py` | `ModelStability`: both of these |
| `checklist.py` | `Checklist`: TRIPOD+AI and PROBAST as far as the data tell |
| `tripod_ai.py`, `probast.py`, `question.py` | their items in our words, and what answers them |
| `study_facts.py`, `methods_words.py` | what is known of a study; the same as a paragraph |
| `interval_words.py` | which measures it has, and which of them have intervals, in words |
"""
