"""Steps before a learner, answered for every train set from what is computed once over all rows.

Text is coded once; levels of a train set are then counted, and numbers go through scikit-learn's
own arithmetic without its checks. A step that is not known, or has something to say (it fails, it
warns), is refused, and scikit-learn's steps are fitted.

| file | what it holds |
|---|---|
| `coded_data.py` | the cells of the data, coded once over all rows |
| `step_tables.py` | what stands between two steps: numbers, codes, indicators |
| `imputing.py` | missing cells filled |
| `encoding.py` | levels as indicators, or as numbers |
| `scaling.py` | columns moved and stretched |
| `selecting.py` | columns chosen |
| `joining.py` | steps made of steps, and the columns that each is given |
| `first_steps.py` | which steps have a form; what they give of a train set and of asked rows |
"""
