"""`HonestSearchCV`, what it is made of, and what any fitted search claims.

| file | what it holds |
|---|---|
| `search.py` | `HonestSearchCV` |
| `search_words.py` | what a search is told, in our words and in GridSearchCV's, checked |
| `search_problem.py` | a search, or a model, and its rows as a run: who is given what |
| `cv_results.py` | the settings rated: `cv_results_`, failing fits, `verbose`, train scores |
| `time_limit.py` | `time_limit`: as many settings as can be rated in so many seconds |
| `stored_search.py` | `store`: a file that keeps the fits of a search |
| `tuned_model.py` | what a search hands on to the model that it tuned, and what it lacks |
| `given_search.py` | a search in the place of a model and a grid, repeated as a whole |
| `claim.py`, `reading.py` | what a fitted search of any class claims, as a score and as a risk |
| `own_claim.py` | what a learner that tunes inside its own fit claims |
| `repeat.py` | a whole search inside outer folds, and the state that would outlive its clones |
| `reference_risks.py` | the best constant answer, the setting as given, paired differences |
"""
