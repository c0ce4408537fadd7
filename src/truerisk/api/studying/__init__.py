"""What `Study` is made of.

| file | what it holds |
|---|---|
| `cells.py` | the cells of a study, resolved and tried once before it runs |
| `replicate.py` | one replicate: data, estimate, truth |
"""
