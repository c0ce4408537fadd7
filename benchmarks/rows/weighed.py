"""No engine is slower than none: `auto` against the learner's own fits, over shapes and classes.

Both sides are `risk_curve` on the same plan and must say the same risks. Where the rule of an
engine passes over it the ratio is 1 but for noise. The seconds are those of the processor, so that
another program on the machine disturbs them less.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.results import Options, Result

__all__ = ["results"]

MOST = 1.1
NUMBERS = (Ridge, Lasso, KernelRidge)
SHAPES = [(30, 3, 2), (150, 4, 3), (500, 20, 20), (2_000, 64, 10), (20_000, 3, 2), (100_000, 20, 2)]
WIDE = (100_000, 100, 20)
LEARNERS: list[tuple[Any, dict[str, list[Any]], int]] = [  # with the most rows
    (LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, 100_000),
    (LogisticRegression(), {"C": [1.0]}, 100_000),
    (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.01, 0.1, 0.3]}, 100_000),
    (LinearDiscriminantAnalysis(), {"tol": [1e-4]}, 100_000),
    (QuadraticDiscriminantAnalysis(), {"reg_param": [0.1, 0.3]}, 100_000),
    (RidgeClassifier(), {"alpha": [0.1, 1, 10]}, 100_000),
    (RidgeClassifier(), {"alpha": [1]}, 100_000),
    (Ridge(), {"alpha": [0.1, 1, 10]}, 100_000),
    (Lasso(), {"alpha": [0.01, 0.1, 1]}, 100_000),
    (Lasso(), {"alpha": [0.1]}, 100_000),
    (DecisionTreeClassifier(random_state=0), {"max_depth": [2, 4]}, 100_000),
    (KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, 20_000),
    (KNeighborsClassifier(), {"n_neighbors": [5]}, 20_000),
    (SVC(), {"C": [0.1, 1, 10]}, 2_000),
    (SVC(gamma=0.05), {"C": [1]}, 2_000),
    (KernelRidge(kernel="rbf"), {"alpha": [0.1, 1, 10]}, 500),
    (RandomForestClassifier(10, random_state=0), {"n_estimators": [5, 10]}, 500),
]


def results(options: Options) -> Iterator[Result]:
    for model, grid, most_rows in LEARNERS:
        for shape in SHAPES[:3] if options.quick else (*SHAPES, WIDE):
            few = shape[0] < 40 * shape[2] and isinstance(model, QuadraticDiscriminantAnalysis)
            if shape[0] <= most_rows and not few:
                for method in ("holdout", "5-fold") if shape != WIDE else ("holdout",):
                    X, y = _table(*shape, numbers=isinstance(model, NUMBERS))
                    what = " x ".join(f"{number:,}" for number in shape)
                    yield _weighed(f"{what} classes", model, grid, X, y, method, options)
    for name, load, method in (("digits", load_digits, "5-fold"), ("iris", load_iris, "loo")):
        X, y = load(return_X_y=True)
        for model, grid, _ in LEARNERS[:2]:
            yield _weighed(f"{name} as it is", model, grid, X, y, method, options)


def _weighed(
    what: str, model: Any, grid: Any, X: np.ndarray, y: np.ndarray, method: str, options: Options
) -> Result:
    def side(engine: str) -> list[float]:
        loss = "squared" if isinstance(model, NUMBERS) else "zero-one"
        curve = tr.risk_curve(model, grid, X, y, cv=method, engine=engine, scoring=loss)
        return [point.value for point in curve]

    settings = len(next(iter(grid.values())))
    return contest(
        f"{type(model).__name__}, {settings} settings, {what}, {method}, peer: engine='generic'",
        lambda: side("generic"),
        lambda: side("auto"),
        options.repeats,
        ratio=MOST,
        clock=time.process_time,
    )


def _table(n: int, p: int, n_classes: int, *, numbers: bool) -> tuple[np.ndarray, np.ndarray]:
    """Normal classes that lie apart, where scikit-learn's solvers have least to do."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p)) + 0.7 * rng.normal(size=(n_classes, p))[y]
    return X, X[:, 0] + rng.normal(size=n) if numbers else y
