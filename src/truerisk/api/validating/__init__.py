"""What `validate` is made of.

| file | what it holds |
|---|---|
| `asked.py` | what a search, or a model, is asked to be tested by |
| `honest.py` | the answers about held-out rows: those that exist, or one honest run |
| `subgroup_part.py` | every score in every level of given columns |
| `stability_part.py` | the features that the outer splits selected, and how predictions move |
"""
