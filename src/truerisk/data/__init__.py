"""Rows of any table a user may hold, and what is known of them.

| file | what it holds |
|---|---|
| `data.py` | `Data`: rows, labels, groups, weights, times and places, checked once at the door |
| `rows.py` | rows of arrays, sparse matrices, frames and lists; their checksums and marks |
| `targets.py` | y as it is given: its classes or numbers, and its form |
| `survival.py` | outcomes in time: pairs of an event and a time, and the chance of being followed |
| `times.py` | when each row was taken, and lengths of time |
| `places.py` | groups, and where a row was taken: coordinates, labels of blocks, cells of a grid |
| `columns.py` | what columns hold, and what models cannot read of it |
| `row_sums.py`, `_row_sums.cpp` | checksums of rows, in one pass at the speed of memory |
"""
