"""Trees and ensembles: all sizes from the largest.

| file | what it holds |
|---|---|
| `tree.py` | the engine of decision trees: every ccp_alpha from one tree |
| `ensemble.py` | the engine of forests, bagging and boosting: every number of members |
| `packages.py` | boosting of XGBoost, LightGBM and CatBoost: which fits begin with a shorter one |
| `growing.py`, `recipes.py` | trees of a plan by the compiled builder; which trees it grows |
| `pruning.py` | all subtrees of one tree |
| `compiled.py`, `_tree*` | scikit-learn's trees on many samples of one table, compiled |
"""
