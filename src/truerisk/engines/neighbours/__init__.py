"""Nearest neighbours: every k of every fit from one sorted list per row.

| file | what it holds |
|---|---|
| `knn.py` | the engine |
| `family.py` | which settings it serves, and which candidates share a list |
| `search.py` | lists of neighbours, walked for a plan |
| `drawn.py`, `laws.py` | plans of drawn train sets: expected losses in closed form |
"""
