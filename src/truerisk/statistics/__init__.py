"""Numbers that results are made of, from arrays alone.

| file | what it holds |
|---|---|
| `roc.py` | ROC and precision-recall curves: every threshold at once |
| `operating_points.py` | thresholds that a cost or a rate asks for; the area under a curve |
| `calibration.py` | whether probabilities mean what they say |
| `error_posterior.py` | `ErrorPosterior`: the Beta posterior of an error rate |
| `selection_bias.py` | `SelectionBias`: why the risk that was minimised is too small |
| `sample_size.py` | test rows for a width of its interval |
| `model_size.py` | rows to develop or to validate a prediction model |
| `long_run.py` | the error of a mean of values that depend on those before them, and on how many |
"""
