"""What `HonestSearchCV` is made of.

| file | what it holds |
|---|---|
| `cv_results.py` | `cv_results_` as GridSearchCV writes it |
| `failed_fits.py` | `error_score`: failing fits count with a score |
| `given_search.py` | a search in the place of a model and a grid, repeated as a whole |
| `given_refusals.py` | what such a search may not bring, and words that it has itself |
| `grid_search_words.py` | GridSearchCV's `cv`, `scoring` and `n_jobs` in our own words |
| `missing_result.py` | what stands for a result that was not asked for |
| `own_score.py` | scores whose best is not known: an estimator's own, or a function of the user |
| `posed.py` | a search and its rows as a problem |
| `race_options.py` | what a search by a race cannot tell besides |
| `refit_rule.py` | `refit` as a function that chooses from `cv_results_` |
| `routing.py` | groups, weights and fit parameters: who gets what |
| `saying.py` | `verbose`: what was fitted, printed |
| `scoring.py` | a loss on new data, as a score |
| `settings.py` | `param_grid` and `n_iter`: which settings are compared |
| `several_scores.py` | `scoring` of several scores: which they are, what each found |
| `stored_search.py` | `store`: a file that keeps the fits of a search |
| `time_limit.py` | `time_limit`: as many settings as can be rated in so many seconds |
| `train_scores.py` | `return_train_score`: scores on the rows of the fits themselves |
| `tuning.py` | how settings are compared on all rows |
| `tuned_model.py` | what a search hands on to the model that it tuned |
"""
