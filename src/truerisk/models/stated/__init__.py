"""What a model states of itself, by formula.

| file | what it holds |
|---|---|
| `question.py` | how a fitted model is asked: a table of classes and their formulas |
| `degrees_of_freedom.py` | how many numbers a fit takes from the labels |
| `freedom_of_regressions.py` | of linear and kernel regression |
| `linear_rule.py` | coefficients and intercepts of its scores |
| `selected_features.py` | which columns of X it uses |
| `rows_behind.py` | how many training rows a probability rests on |
| `usual_score.py` | whether its own `score` is the share of right answers or R² |
| `without_a_row.py` | what it would answer about each training row without that row, nearly |
"""
