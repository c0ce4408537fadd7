"""What a reviewer asks of a model: parts of a `Validation`, from arrays alone.

| file | what it holds |
|---|---|
| `validation.py` | `Validation`: all parts, and why some are missing |
| `held_out.py` | `HeldOut`: answers about rows that the models had not seen |
| `levels.py` | columns that part the rows, a missing level as its own |
| `subgroups.py` | `Subgroups`: each score in every level, with simultaneous intervals |
| `feature_stability.py` | `FeatureStability`: which features the models of several splits use |
| `prediction_stability.py` | `PredictionStability`: how far single predictions move |
| `stability.py` | `Stability`: both of these |
"""
