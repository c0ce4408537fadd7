"""Matplotlib displays of results; matplotlib is imported when one is drawn.

| file | what it draws |
|---|---|
| `axes.py` | the axes that are given, or those of a new figure |
| `marks.py` | a figure of the page: its marks, its scales and its keys |
| `pictures.py` | figures of the page as they are; what is here alone follows |
| `path.py` | the coefficients of a path against λ |
| `curve.py` | a risk curve with error bars, or several together; the chosen candidates |
| `learning_curve.py` | risk against training rows, the law and its band |
| `over_time.py` | the risk in stretches of time, its band and its trend |
| `stability.py` | how far predictions move |
| `posterior.py` | posterior densities of an error |
| `fold_map.py` | the rows of a split in space: tested, buffer, training |
| `critical_difference.py` | average ranks over data sets, and which are not told apart |
| `study.py` | bias, RMSE, coverage or cost of a study against the size |
"""
