"""W7 and W5b: prunings of one tree, numbers of members of one ensemble, forests out of bag.

Peers: GridSearchCV on the same folds with the same seeds (the same numbers), and GridSearchCV
inside cross_val_score, the nested validation that choosing out of bag replaces.

The gain of reading sizes m_1 ... m_10 off one fit is bounded by (m_1 + ... + m_10) / m_10: 9.1 for
sizes near the largest, 5.5 for equal steps from the smallest. Both are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.model_selection import KFold as ScikitKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.results import Options, Result

__all__ = ["results"]

PRUNED, MEMBERS, NESTED = 1 / 15, 1 / 8, 1 / 4
NEAR, FROM_BELOW = list(range(82, 101, 2)), list(range(10, 101, 10))
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
INNER = StratifiedKFold(5, shuffle=True, random_state=1)


def results(options: Options) -> Iterator[Result]:
    n = 300 if options.quick else 600
    X, y = make_classification(n, 30, n_informative=8, flip_y=0.1, random_state=0)
    yield _pruned(DecisionTreeClassifier(random_state=0), X, y, FOLDS, None, options)
    rows, numbers = make_regression(n, 30, n_informative=8, noise=50, random_state=0)
    folds, scoring = ScikitKFold(5, shuffle=True, random_state=0), "neg_mean_squared_error"
    yield _pruned(DecisionTreeRegressor(random_state=0), rows, numbers, folds, scoring, options)
    ensembles: list[tuple[Any, str]] = [
        (RandomForestClassifier(random_state=0), "n_estimators"),
        (GradientBoostingClassifier(random_state=0), "n_estimators"),
        (HistGradientBoostingClassifier(random_state=0, max_leaf_nodes=8), "max_iter"),
    ]
    for model, name in ensembles:
        for sizes, ratio in ((NEAR, MEMBERS), (FROM_BELOW, None)):
            yield _sizes(model, name, sizes, ratio, X, y, options)
    yield _nested(X, y, options)


def _pruned(
    model: Any, X: np.ndarray, y: np.ndarray, folds: Any, scoring: str | None, options: Options
) -> Result:
    """35 places of the pruning path of all rows."""
    alphas = model.cost_complexity_pruning_path(X, y).ccp_alphas.clip(0)
    grid = {"ccp_alpha": np.quantile(alphas, np.linspace(0, 1, 35)).tolist()}
    return contest(
        f"{type(model).__name__}, 35 alphas, 5 folds, {len(y)} rows, peer: GridSearchCV",
        lambda: _grid_search(model, grid, X, y, folds, scoring),
        lambda: tr.risk_curve(model, grid, X, y, cv=_mean(folds), engine="tree").values,
        options.repeats,
        ratio=PRUNED,
    )


def _sizes(
    model: Any,
    name: str,
    sizes: list[int],
    ratio: float | None,
    X: np.ndarray,
    y: np.ndarray,
    options: Options,
) -> Result:
    bound = sum(sizes) / max(sizes)
    grid = {name: sizes}
    what = f"{type(model).__name__}, ten sizes {sizes[0]} to {sizes[-1]} (bound {bound:.1f})"
    return contest(
        f"{what}, 5 folds, peer: GridSearchCV",
        lambda: _grid_search(model, grid, X, y, FOLDS, None),
        lambda: tr.risk_curve(model, grid, X, y, cv=_mean(FOLDS), engine="ensemble").values,
        max(1, options.repeats // 3),
        ratio=ratio,
    )


def _nested(X: np.ndarray, y: np.ndarray, options: Options) -> Result:
    """5 x 5 folds, 25 settings of 30 trees: W5b has 100 trees, which changes both sides alike."""
    forest = RandomForestClassifier(30, random_state=0)
    grid = {"max_features": [2, 4, 6, 10, 15], "min_samples_leaf": [1, 2, 4, 8, 16]}
    method = tr.methods.Nested(_mean(FOLDS), "oob")

    def peer() -> float:
        search = GridSearchCV(forest, grid, cv=INNER)
        return float(1 - cross_val_score(search, X, y, cv=FOLDS).mean())

    def ours() -> Any:
        return tr.risk_curve(forest, grid, X, y, cv=method).procedure.value

    return contest(
        f"25 forests chosen out of bag inside 5 folds, {len(y)} rows, peer: nested 5 x 5 folds",
        peer,
        ours,
        max(1, options.repeats // 9),
        ratio=NESTED,
        tolerance=None,
    )


def _mean(folds: Any) -> Any:
    """Folds whose means are averaged, as scikit-learn does."""
    return tr.methods.Splitter(folds, average="fold")


def _grid_search(
    model: Any, grid: dict[str, list[Any]], X: np.ndarray, y: np.ndarray, folds: Any, scoring: Any
) -> np.ndarray:
    search = GridSearchCV(model, grid, cv=folds, scoring=scoring, refit=False)
    score: np.ndarray = search.fit(X, y).cv_results_["mean_test_score"]
    return -score if scoring else 1 - score
