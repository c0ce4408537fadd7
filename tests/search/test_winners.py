"""Two hundred drawn searches choose the settings that version 0.1 chose."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr
from truerisk.extend import TrueRiskError

KEPT = Path(__file__).parent / "winners_of_0_1.json"
"""Winner and best score of each draw, or the class of its refusal, by commit 98bc4955.

There, `cv` was `select_by` for words, and losses were given by `loss`.
"""
DEPTHS = {"max_depth": [1, 2, 3, 5, None], "min_samples_leaf": [1, 5]}
CLASSIFIERS = {
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 15, 25]}),
    "tree": (DecisionTreeClassifier(random_state=0), DEPTHS),
    "logistic": (LogisticRegression(max_iter=3000), {"C": [0.001, 0.01, 0.1, 1, 10]}),
    "bayes": (GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 1e-1, 1]}),
}
REGRESSORS = {
    "knn": (KNeighborsRegressor(), {"n_neighbors": [1, 3, 5, 9, 15, 25]}),
    "tree": (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2, 3, 5]}),
    "ridge": (Ridge(), {"alpha": [0.01, 0.1, 1, 10, 100]}),
}
SCORINGS = {
    "two": (
        *("accuracy", "roc_auc", "f1", "average_precision", "neg_log_loss", "neg_brier_score"),
        *("balanced_accuracy", "matthews_corrcoef", "precision", "recall", "f1_macro"),
        *("f1_weighted", "jaccard", "zero-one", "log", "brier", "auc", "average-precision"),
    ),
    "many": (
        *("accuracy", "roc_auc_ovr", "f1_macro", "f1_weighted", "neg_log_loss"),
        *("balanced_accuracy", "matthews_corrcoef", "precision_macro", "recall_weighted"),
        *("zero-one", "log", "brier"),
    ),
    "num": (
        *("r2", "neg_mean_squared_error", "neg_mean_absolute_error"),
        *("neg_median_absolute_error", "squared", "absolute"),
    ),
}
SPLITS = (
    *("5-fold", "10-fold", "loo", "3x4-fold", 5, KFold(4)),
    *(StratifiedKFold(3, shuffle=True, random_state=1), "monte-carlo", "holdout"),
)
DATA = {
    "two": load_breast_cancer(return_X_y=True),
    "many": load_wine(return_X_y=True),
    "num": load_diabetes(return_X_y=True),
}


def searches(n):
    """Draw searches with their rows: learner, grid, splits, score and rule."""
    rng, drawn = np.random.default_rng(98), []
    for _ in range(n):
        task = ["two", "many", "num"][rng.integers(3)]
        X, y = DATA[task]
        rows = rng.permutation(len(y))[: int(rng.integers(60, 110))]
        X, y = X[rows], y[rows]
        if task != "num":
            X = X + rng.normal(size=X.shape) * X.std(0) * 1.5
            X = (X - X.mean(0)) / X.std(0)
        scoring = SCORINGS[task][rng.integers(len(SCORINGS[task]))]
        models = REGRESSORS if task == "num" else CLASSIFIERS
        model, grid = models[list(models)[rng.integers(len(models))]]
        cv = SPLITS[rng.integers(len(SPLITS))]
        rule = ["min", "1-se"][int(rng.integers(2))]
        if task == "num" and isinstance(cv, StratifiedKFold):
            cv = KFold(3)
        options = {"rule": rule, "random_state": int(rng.integers(1000)), "outer": None}
        search = tr.HonestSearchCV(model, grid, cv=cv, scoring=scoring, checks=False, **options)
        drawn.append((search, X, y))
    return drawn


@pytest.mark.slow
def test_search_winners_are_those_of_version_0_1():
    kept = json.loads(KEPT.read_text("utf-8"))
    found = []
    for search, X, y in searches(len(kept)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                search.fit(X, y)
        except TrueRiskError as refusal:
            found.append([type(refusal).__name__])
        else:
            found.append([search.best_index_, search.best_score_])
    assert [one[0] for one in found] == [one[0] for one in kept]
    chosen = [(a[1], b[1]) for a, b in zip(found, kept, strict=True) if len(b) == 2]
    assert len(chosen) > 150
    np.testing.assert_allclose(*np.transpose(chosen), rtol=1e-4, atol=1e-6)
