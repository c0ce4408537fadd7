"""R6 and R7: the honest risk of learners that no engine knows, against a plain grid search.

The peer is GridSearchCV on the same unshuffled stratified folds, without an honest risk. Both
return the mean scores of all settings, so that it is seen that they make the same fits. The number
of fits is C K (K + 1)/2 + 1 against C K + 1: 3.0 times with 5 folds, 5.5 with 10.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.results import Options, Result

__all__ = ["results"]

LIMITS = {5: 3.2, 10: 5.8}
SCORES = ["accuracy", "roc_auc", "neg_log_loss", "neg_brier_score", "f1", "matthews_corrcoef"]
LEARNERS: list[tuple[Any, dict[str, Any]]] = [
    (RandomForestClassifier(50, random_state=0), {"max_features": [2, 5, 10, 20]}),
    (
        HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8, random_state=0),
        {"learning_rate": [0.05, 0.1, 0.3, 0.6]},
    ),
]


def results(options: Options) -> Iterator[Result]:
    X, y = load_breast_cancer(return_X_y=True)
    for model, grid in LEARNERS:
        for k, limit in LIMITS.items():
            if options.quick and k == 10:
                continue
            yield _searched(model, grid, X, y, k, limit, options)
        yield _with_scores(model, grid, X, y, options)


def _with_scores(
    model: Any, grid: dict[str, Any], X: np.ndarray, y: np.ndarray, options: Options
) -> Result:
    """Six scores of the same fits on both sides, ours each with an interval."""
    folds, words = StratifiedKFold(5), {"scoring": SCORES, "refit": SCORES[0]}
    return contest(
        f"{type(model).__name__}, 4 settings, 5 folds, {len(SCORES)} scores, peer: GridSearchCV",
        lambda: GridSearchCV(model, grid, cv=folds, **words).fit(X, y).cv_results_["mean_test_f1"],
        lambda: (
            tr.HonestSearchCV(model, grid, cv=folds, **words).fit(X, y).cv_results_["mean_test_f1"]
        ),
        options.repeats,
        ratio=LIMITS[5],
    )


def _searched(
    model: Any,
    grid: dict[str, Any],
    X: np.ndarray,
    y: np.ndarray,
    k: int,
    limit: float,
    options: Options,
) -> Result:
    folds = StratifiedKFold(k)
    return contest(
        f"{type(model).__name__}, 4 settings, {k} folds, {len(y)} rows, peer: GridSearchCV",
        lambda: GridSearchCV(model, grid, cv=folds).fit(X, y).cv_results_["mean_test_score"],
        lambda: tr.HonestSearchCV(model, grid, cv=folds).fit(X, y).cv_results_["mean_test_score"],
        options.repeats,
        ratio=limit,
    )
