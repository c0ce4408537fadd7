"""What a model states of itself, by formula.

| file | what it holds |
|---|---|
| `question.py` | how a fitted model is asked; its own score; on how many rows an answer rests |
| `degrees_of_freedom.py` | how many numbers a fit takes from the labels |
| `freedom_of_regressions.py` | of linear and kernel regression |
| `linear_rule.py` | coefficients and intercepts of its scores |
| `selected_features.py` | which columns of X it uses, and how many features its steps make |
| `without_a_row.py` | what it would answer about each training row without that row, nearly |
"""
