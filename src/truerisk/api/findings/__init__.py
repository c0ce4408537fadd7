"""Checks of tables and splits, under `assess` and `audit` alike.

| file | what it holds |
|---|---|
| `finding.py` | a code, a sentence, a remedy; the table of all codes |
| `on_columns.py` | columns that tell y by themselves, group numbers, work done before the folds |
| `on_splits.py` | copies, groups, classes and sizes of splits |
| `near_copies.py` | rows whose nearest neighbour is far too near |
| `selected_columns.py` | columns that were selected with these very labels |
"""
