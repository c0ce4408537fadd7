"""Linear regression: every penalty, and every row left out, from one decomposition.

| file | what it holds |
|---|---|
| `least_squares.py` | the engine of LinearRegression, Ridge and RidgeClassifier |
| `elastic_net.py` | the engine of Lasso and ElasticNet |
| `kernel_ridge.py` | the engine of KernelRidge |
| `fit.py` | one train set, centred and decomposed; classes as numbers, and back |
| `shared_rows.py` | train sets that share the products of all rows |
| `without_blocks.py` | fits that lack blocks of rows, many at once |
| `singles.py` | fits that lack one row, or see one label flipped |
| `leverage.py` | every row left out of penalised least squares (NumPy) |
| `normal_equations.py`, `_equations.cpp`, `_descent.cpp` | fits without blocks of rows; descent |
"""
