"""Nearest neighbours: every k of every fit from one sorted list per row.

| file | what it holds |
|---|---|
| `knn.py` | the engine |
| `setting.py` | which settings it serves, and how they measure |
| `nearest.py` | lists of neighbours, walked for a plan |
| `drawn.py`, `laws.py` | plans of drawn train sets: expected losses in closed form |
"""
