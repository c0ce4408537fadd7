"""Learners and the settings they are tuned over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["learner"]


def _knn(task: str, n: int) -> tuple[Any, Any]:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    model = KNeighborsClassifier() if task == "classification" else KNeighborsRegressor()
    return model, {"n_neighbors": [k for k in (1, 3, 5, 7, 9, 11, 15) if k <= n / 5]}


def _lda(task: str, n: int) -> tuple[Any, Any]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    shrinkages = [0.0, 0.1, 0.3, 0.6, 0.9]
    return LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": shrinkages}


def _ridge(task: str, n: int) -> tuple[Any, Any]:
    from sklearn.linear_model import Ridge, RidgeClassifier

    model = RidgeClassifier() if task == "classification" else Ridge()
    return model, {"alpha": (10.0 ** np.arange(-1, 5)).tolist()}


def _l1(task: str, n: int) -> tuple[Any, Any]:
    from truerisk.models import LogisticPath

    return LogisticPath(n_lambdas=20, least_ratio=0.05, tol=1e-5), {
        "at": (0.4 * 0.75 ** np.arange(9)).tolist()
    }


def _qda(task: str, n: int) -> tuple[Any, Any]:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    return QuadraticDiscriminantAnalysis(), {"reg_param": [0.0, 0.1, 0.3, 0.6]}


def _logistic(task: str, n: int) -> tuple[Any, Any]:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(), {"C": [0.01, 0.1, 1.0, 10.0]}


def _svm(task: str, n: int) -> tuple[Any, Any]:
    from sklearn.svm import SVC, SVR

    model = SVC() if task == "classification" else SVR()
    return model, {"C": [0.3, 1.0, 10.0], "gamma": [0.03, "scale"]}


def _tree(task: str, n: int) -> tuple[Any, Any]:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if task == "regression":
        return DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2, 3, 5]}
    alphas = [0.0, 0.005, 0.01, 0.02, 0.04, 0.08]
    return DecisionTreeClassifier(random_state=0), {"ccp_alpha": alphas}


def _forest(task: str, n: int) -> tuple[Any, Any]:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(12, random_state=0), {"max_depth": [2, None]}


def _boosting(task: str, n: int) -> tuple[Any, Any]:
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=10, learning_rate=0.3, random_state=0), {
        "max_depth": [1, 3]
    }


LEARNERS: dict[str, Callable[[str, int], tuple[Any, Any]]] = {
    "knn": _knn,
    "lda": _lda,
    "ridge": _ridge,
    "l1": _l1,
    "qda": _qda,
    "logistic": _logistic,
    "svm": _svm,
    "tree": _tree,
    "forest": _forest,
    "boosting": _boosting,
}


def learner(word: str, task: str, n: int) -> tuple[Any, Any]:
    """The learner and its grid, none of whose settings is too large for a part of n rows."""
    return LEARNERS[word](task, n)
