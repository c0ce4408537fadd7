"""W8: nested cross-validation of Bates et al., 10 folds, 50 repetitions, 200 rows of 20 columns.

Peer: a loop of scikit-learn fits over the same folds, each pair of folds fitted once for both of
its questions (as few fits as ours), and the formula in NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.results import Options, Result

__all__ = ["results"]

K, RATIO = 10, 1 / 50


def results(options: Options) -> Iterator[Result]:
    repeats = 5 if options.quick else 50
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 20))
    y = X[:, 0] + rng.standard_normal(200)
    folds = np.array([rng.permutation(np.arange(200) % K) for _ in range(repeats)])
    rounds = max(1, options.repeats // 3)
    for name, model, target in (
        ("least squares", LinearRegression(), y),
        ("5 nearest neighbours", KNeighborsClassifier(5), (y > 0).astype(int)),
    ):
        yield contest(
            f"NCV of {name}, {repeats} x 10 folds, peer: a loop of fits",
            lambda: _loop(model, X, target, folds),  # noqa: B023
            lambda: _ours(model, X, target, folds),  # noqa: B023
            rounds,
            ratio=RATIO,
            tolerance=1e-9,
        )


def _ours(model: Any, X: np.ndarray, y: np.ndarray, folds: np.ndarray) -> np.ndarray:
    method = tr.methods.NestedInterval(K, folds=folds)
    found = tr.estimate_risk(model, X, y, cv=method)
    return np.array([found.value, found.std_error])


def _loop(model: Any, X: np.ndarray, y: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Value and standard error by the published formula."""
    classes = y.dtype.kind == "i"

    def losses(train: np.ndarray, *tests: np.ndarray) -> list[np.ndarray]:
        fitted = model.fit(X[train], y[train])
        said = [(fitted.predict(X[test]), y[test]) for test in tests]
        return [(f != t).astype(float) if classes else (f - t) ** 2 for f, t in said]

    surplus, inner, outer = [], [], []
    for row in folds:
        where = [row == k for k in range(K)]
        pairs: dict[tuple[int, int], np.ndarray] = {}
        for i in range(K):
            for j in range(i + 1, K):
                pairs[i, j], pairs[j, i] = losses(~where[i] & ~where[j], where[i], where[j])
        for i in range(K):
            own = losses(~where[i], where[i])[0]
            others = np.concatenate([pairs[j, i] for j in range(K) if j != i])
            surplus.append((others.mean() - own.mean()) ** 2 - own.var(ddof=1) / len(own))
            inner.append(others)
            outer.append(own)
    every, mean = np.concatenate(inner), np.concatenate(outer).mean()
    value = every.mean() - (1 + ((K - 2) / K) ** 1.5) * (every.mean() - mean)
    floor = every.var(ddof=1) / len(y)
    mse = max(0.0, float(np.mean(surplus))) * (K - 1) / K
    return np.array([value, np.sqrt(np.clip(mse, floor, K * floor))])
