"""What `HonestSearchCV` is made of.

| file | what it holds |
|---|---|
| `cv_results.py` | `cv_results_` as GridSearchCV writes it |
| `grid_search_words.py` | GridSearchCV's `cv`, `scoring` and `n_jobs` in our own words |
| `missing_result.py` | what stands for a result that was not asked for |
| `routing.py` | groups, weights and fit parameters: who gets what |
| `scoring.py` | a loss on new data, as a score |
"""
