"""Matplotlib displays of results; matplotlib is imported when one is drawn.

| file | what it draws |
|---|---|
| `axes.py` | the axes that are given, or those of a new figure |
| `path.py` | the coefficients of a path against λ |
| `curve.py` | a risk curve with error bars, or several together; the chosen candidates |
| `learning_curve.py` | risk against training rows, the law and its band |
| `over_time.py` | the risk in stretches of time, its band and its trend |
| `calibration.py` | observed shares over the probabilities given |
| `validation.py` | calibration curves with their band, decision curves |
| `subgroups.py` | a loss in every subgroup, a forest plot |
| `stability.py` | how far predictions move, how often features were selected |
| `assessment.py` | optimism ladder, random splits, stability of settings |
| `posterior.py` | posterior densities of an error |
| `roc.py` | ROC and precision-recall curves, operating points |
| `fold_map.py` | the rows of a split in space: tested, buffer, training |
| `critical_difference.py` | average ranks over data sets, and which are not told apart |
| `study.py` | bias, RMSE, coverage or cost of a study against the size |
"""
