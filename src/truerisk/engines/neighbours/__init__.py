"""Nearest neighbours: every k of every fit from one sorted list per row.

| file | what it holds |
|---|---|
| `knn.py` | the engine |
| `nearest.py` | lists of neighbours, walked for a plan; which settings are served |
| `laws.py` | plans of drawn train sets: expected losses in closed form |
| `distances.py`, `_nearest.cpp` | the nearest rows of every query: one product and a selection |
| `walk.py`, `_walk.cpp` | lists of neighbours walked for every fit of a plan |
"""
