"""Functions on the line with at most k intervals: every k, every row left out, every flip at once.

| file | what it holds |
|---|---|
| `interval.py` | the engine |
| `compiled.py`, `_interval.cpp` | functions that make least errors, for every k, compiled |
"""
