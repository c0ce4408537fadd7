"""W3: 36 C of a linear SVC in 5 folds; W5: nested 5 x 5 folds of a Gaussian SVC, 25 settings.

W3's peer is the faster of scikit-learn's ways: the Gram matrix computed once, then GridSearchCV of
SVC(kernel="precomputed"). The engine takes the steps of libsvm: the risks are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.svm import SVC

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.results import Options, Result

__all__ = ["results"]

CS = np.logspace(-4, 2, 36)
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
INNER = StratifiedKFold(5, shuffle=True, random_state=1)
OUTER = StratifiedKFold(5, shuffle=True, random_state=2)
NESTED = {"C": np.logspace(-1, 3, 5), "gamma": np.logspace(-3, 0, 5) / 3}
AT_MOST, STEP_BY_STEP = 1 / 8, 1 / 2
Problem = tuple[np.ndarray, np.ndarray]


def results(options: Options) -> Iterator[Result]:
    for name, (X, y) in _problems(options.quick).items():
        yield contest(
            f"36 C, 5 folds, {name}, peer: GridSearchCV on one Gram matrix",
            lambda: _grid_search(X, y),  # noqa: B023  run at once
            lambda: _risk_curve(X, y),  # noqa: B023
            options.repeats,
            ratio=STEP_BY_STEP,
            tolerance=1e-12,
        )
    X, y = _nested_problem(300 if options.quick else 600)
    yield contest(
        f"nested 5 x 5 folds, 25 settings, {len(y)} x 30, peer: cross_val_score of GridSearchCV",
        lambda: _nested_search(X, y),
        lambda: _nested(X, y),
        max(1, options.repeats // 2),
        ratio=AT_MOST,
        tolerance=1e-12,
    )


def _problems(quick: bool) -> dict[str, Problem]:
    columns = 2_000 if quick else 15_000
    return {
        "200 x 26": _overlapping(),
        "727 x 408, 5 classes one-vs-one": _factors(727, 408, 5, seed=2),
        f"216 x {columns:,}": _factors(216, columns, 2, seed=3),
    }


def _overlapping() -> Problem:
    """Logistic labels of five columns in twenty-six: classes that no hyperplane separates."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 26))
    y = rng.random(200) < 1 / (1 + np.exp(-0.8 * X[:, :5].sum(axis=1)))
    return _standardised(X), y.astype(int)


def _factors(n: int, p: int, n_classes: int, seed: int) -> Problem:
    """Columns made of twenty common factors, whose means differ between classes, and noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    common = rng.normal(size=(n, 20)) + 0.8 * rng.normal(size=(n_classes, 20))[y]
    X = common @ rng.normal(size=(20, p)) + 2 * rng.normal(size=(n, p))
    return _standardised(X) * 3 / np.sqrt(p), y


def _standardised(X: np.ndarray) -> np.ndarray:
    scaled: np.ndarray = (X - X.mean(axis=0)) / X.std(axis=0)
    return scaled


def _nested_problem(n: int) -> Problem:
    X, y = make_classification(
        n_samples=n, n_features=30, n_informative=8, flip_y=0.1, class_sep=0.8, random_state=0
    )
    return X, y


def _grid_search(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": CS}, cv=FOLDS, refit=False)
    found = search.fit(X @ X.T, y).cv_results_
    return 1 - np.column_stack([found[f"split{fold}_test_score"] for fold in range(5)])


def _risk_curve(X: np.ndarray, y: np.ndarray) -> list[Any]:
    curve = tr.risk_curve(SVC(kernel="linear"), {"C": CS}, X, y, cv=FOLDS, engine="svm")
    return [estimate.split_risks for estimate in curve]


def _nested_search(X: np.ndarray, y: np.ndarray) -> float:
    search = GridSearchCV(SVC(), NESTED, cv=INNER)
    return 1 - float(cross_val_score(search, X, y, cv=OUTER).mean())


def _nested(X: np.ndarray, y: np.ndarray) -> float:
    method = tr.methods.Nested(OUTER, INNER)
    curve = tr.risk_curve(SVC(), NESTED, X, y, cv=method, engine="svm")
    assert curve.procedure is not None
    return float(curve.procedure.value)
