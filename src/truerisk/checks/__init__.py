"""Checks that look at the rows, columns and splits of one call and yield findings.

The class of a finding and the table of codes stand in `results/finding.py`.

| file | what |
|---|---|
| `splits.py` | checks of the number of rows, and of what splits do to copies, groups and classes |
| `columns.py` | checks of columns: y in disguise, and work done before folds |
| `selected_columns.py` | a check for columns that were selected with these very labels |
| `leak_warnings.py` | warnings about copies, groups and later rows on both sides of a split |
| `call.py` | the one set of checks that all verbs make |
| `structure.py` | near copies, rows in order, columns that number groups |
| `events.py` | scores that rest on few rows of a class or on few events |
"""
