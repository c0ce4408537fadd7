"""Peers and truerisk in alternation, printed as ratios: `python -m benchmarks [row ...]`.

| file | what it is for |
|---|---|
| `rows/` | one file per row; `rows/__init__.py` is the table of them |
| `contest.py` | peer, ours, peer, ours ...: the medians, their ratio, and whether both agree |
| `limits.py` | a measured quantity against a fixed limit |
| `growth.py` | the exponent with which a cost grows |
| `processes.py` | what is run in a fresh process: commands, imports, peak memory |
| `results.py` | one line of the printed table |
| `report.py` | the table, and the same as JSON |
| `machine.py` | one BLAS thread, and the facts about this machine |
| `drop_in.py` | scikit-learn's tests of GridSearchCV, run on HonestSearchCV |
| `racing.py` | `python -m benchmarks.racing`: how often a race chooses what all folds choose |
| `best_set.py` | `python -m benchmarks.best_set`: which sets hold the true best |
| `published_intervals/` | `python -m benchmarks.published_intervals`: others' and ours |
| `learning_curves.py` | `python -m benchmarks.learning_curves`: whether their band covers |
| `space_folds.py` | `python -m benchmarks.space_folds`: folds in space, and new places |
| `subgroups.py` | `python -m benchmarks.subgroups`: whether their intervals hold together |
| `instability.py` | `python -m benchmarks.instability`: how far predictions move, and are said to |
| `__main__.py` | the command line |
"""
