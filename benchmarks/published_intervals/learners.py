"""The learners of the paper with fixed settings, for classes and for numbers.

Near theirs: logistic regression has scikit-learn's usual penalty (theirs none), ridge one that they
tuned once for each problem and size (here one for all), trees are bounded by depth and leaf as
`rpart` bounds them by its pruning, forests have 50 trees, too.
"""

from __future__ import annotations

from typing import Any

__all__ = ["forest", "forest_of_numbers", "linear", "linear_of_numbers", "ridge",
           "ridge_of_numbers", "tree", "tree_of_numbers"]  # fmt: skip


def linear() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def linear_of_numbers() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def ridge() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=0.1)


def ridge_of_numbers() -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(30.0)


def tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=5, min_samples_leaf=7, random_state=0)


def tree_of_numbers() -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=5, min_samples_leaf=7, random_state=0)


def forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(50, random_state=0)


def forest_of_numbers() -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(50, random_state=0)
