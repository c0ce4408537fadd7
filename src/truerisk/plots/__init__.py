"""Matplotlib displays of results; matplotlib is imported when one is drawn.

| file | what it draws |
|---|---|
| `marks.py` | a figure of the page on given axes or new ones: its marks, its scales and its keys |
| `pictures.py` | figures of the page as they are; how far predictions move |
| `path.py` | the coefficients of a path against λ |
| `curve.py` | risk curves, one or several; risk against training rows, or in stretches of time |
| `posterior.py` | posterior densities of an error |
| `fold_map.py` | the rows of a split in space: tested, buffer, training |
| `study.py` | bias, RMSE, coverage or cost of a study |
"""
