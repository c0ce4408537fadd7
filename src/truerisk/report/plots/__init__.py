"""Matplotlib displays of results; matplotlib is imported when one is drawn.

| file | what it draws |
|---|---|
| `marks.py` | a figure of the page on given axes or new ones: its marks, its scales and its keys |
| `pictures.py` | figures of the page as they are; how far predictions move |
| `curve.py` | risks over settings, training rows or time; paths, densities, studies |
| `figure_files.py` | nothing: it writes the figures of a page as SVG, PNG and PDF |
| `fold_map.py` | the rows of a split in space: tested, buffer, training |
"""
