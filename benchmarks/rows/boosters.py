"""R8 to R10: the honest risk of boosters, and numbers of trees read off one fit, beside a search.

The peer is GridSearchCV on the same unshuffled stratified folds, without an honest risk. Both
return the mean scores of all settings and the best. With S the sum of the numbers of trees and m
the most of them, the peer grows K S + m trees and ours (K (K + 1) / 2 + 1) m: 1.6 times with
5 folds and 20, 50, 100, 200 trees. All use one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.results import Options, Result

__all__ = ["results"]

SETTINGS, SIZES = 3.2, 1.8
TREES = [20, 50, 100, 200]
DEPTHS_AND_RATES = {"max_depth": [2, 4], "learning_rate": [0.1, 0.3]}


def _xgboost(**options: Any) -> Any:
    return import_module("xgboost").XGBClassifier(random_state=0, n_jobs=1, **options)


def _lightgbm(**options: Any) -> Any:
    kind = import_module("lightgbm").LGBMClassifier
    return kind(random_state=0, n_jobs=1, verbose=-1, **options)


def _catboost(**options: Any) -> Any:
    kind = import_module("catboost").CatBoostClassifier
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    # both are chosen by the number of trees where they are not set
    return kind(
        random_state=0, learning_rate=0.1, leaf_estimation_iterations=10, **quiet, **options
    )


def _histograms(**options: Any) -> Any:
    return HistGradientBoostingClassifier(random_state=0, **options)


ROWS: list[tuple[str, str, Callable[..., Any], dict[str, Any], dict[str, Any], float]] = [
    ("R8", "XGBoost", _xgboost, {"n_estimators": 50}, DEPTHS_AND_RATES, SETTINGS),
    ("R8", "LightGBM", _lightgbm, {"n_estimators": 50}, DEPTHS_AND_RATES, SETTINGS),
    ("R9", "XGBoost", _xgboost, {}, {"n_estimators": TREES}, SIZES),
    ("R9", "LightGBM", _lightgbm, {}, {"n_estimators": TREES}, SIZES),
    ("R9", "CatBoost", _catboost, {}, {"n_estimators": TREES}, SIZES),
    ("R10", "histogram boosting", _histograms, {}, {"max_iter": TREES}, SIZES),
]


def results(options: Options) -> Iterator[Result]:
    X, y = load_breast_cancer(return_X_y=True)
    for bar, name, make, given, grid, ratio in ROWS:
        what = "20 to 200 trees" if ratio == SIZES else "4 settings"
        what = f"{bar}: {name}, {what}, 5 folds, {len(y)} rows, peer: GridSearchCV"
        try:
            model = make(**given)
        except ImportError:
            yield Result(f"{what}: not measured, {name} is not installed", f"ratio <= {ratio:g}")
            continue
        yield _searched(what, model, grid, X, y, ratio, options)


def _searched(
    what: str,
    model: Any,
    grid: dict[str, Any],
    X: np.ndarray,
    y: np.ndarray,
    ratio: float,
    options: Options,
) -> Result:
    folds = StratifiedKFold(5)
    peer, ours = GridSearchCV(model, grid, cv=folds), tr.HonestSearchCV(model, grid, cv=folds)
    ours.set_params(outer="pairs")
    return contest(
        what,
        lambda: _scores(peer.fit(X, y)),
        lambda: _scores(ours.fit(X, y)),
        max(1, options.repeats // 3),
        ratio=ratio,
    )


def _scores(search: Any) -> np.ndarray:
    """The mean scores of all settings, and the best of them."""
    return np.append(search.cv_results_["mean_test_score"], search.best_score_)
