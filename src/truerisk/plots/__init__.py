"""Matplotlib displays of results; matplotlib is imported when one is drawn.

| file | what it draws |
|---|---|
| `path.py` | the coefficients of a path against λ |
| `curve.py` | a risk curve with error bars, or several together; the chosen candidates |
| `learning_curve.py` | risk against training rows, the law and its band |
| `calibration.py` | observed shares over the probabilities given |
| `validation.py` | calibration curves with their band, decision curves |
| `assessment.py` | optimism ladder, random splits, stability of settings |
| `posterior.py` | posterior densities of an error |
| `roc.py` | ROC and precision-recall curves, operating points |
| `critical_difference.py` | average ranks over data sets, and which are not told apart |
| `study.py` | bias, RMSE, coverage or cost of a study against the size |
"""
