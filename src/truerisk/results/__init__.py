"""Results that users hold: numbers with their errors, intervals, curves; as text, JSON and frames.

| file | what it holds |
|---|---|
| `results.py` | `RiskEstimate` and `RiskCurve` |
| `evaluation.py` | what a method found, and what was answered about every row |
| `interval.py` | `Interval`, and the scale on which people read a risk |
| `comparison.py` | a difference of two risks; which of several candidates may be the best |
| `learning_curve.py` | risks at several numbers of training rows, and their law |
| `roc.py`, `operating_points.py` | ROC and precision-recall curves; thresholds |
| `calibration.py` | whether probabilities mean what they say |
| `error_posterior.py` | `ErrorPosterior`: the Beta posterior of an error rate |
| `selection_bias.py` | `SelectionBias`: why the risk that was minimised is too small |
| `finding.py` | `Finding`: what a check found, and the table of all codes |
| `records.py`, `json_values.py` | results as JSON and back into their class |
| `writing.py` | files of results |
"""
