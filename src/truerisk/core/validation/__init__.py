"""What a validation consists of, as frozen values.

| file | what it holds |
|---|---|
| `levels.py` | columns that part the rows, a missing level as its own |
| `subgroups.py` | `Subgroups`: each score in every level, with simultaneous intervals |
| `feature_stability.py` | `FeatureStability`: which features the models of several splits use |
| `prediction_stability.py` | `PredictionStability`: how far single predictions move |
"""
