"""W1b: leave-one-out for 51 values of k by the kNN engine, 50 columns, and what nesting adds.

Peers: scikit-learn's neighbour search with cumulative votes (the same numbers), and GridSearchCV
with 10 folds (not even leave-one-out; run once, its numbers are not comparable).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

import truerisk as tr
from benchmarks.contest import Side, contest
from benchmarks.growth import exponent
from benchmarks.limits import limit
from benchmarks.processes import peak_memory
from benchmarks.results import Options, Result

__all__ = ["leave_one_out", "results"]

KS = np.arange(1, 102, 2)
SEARCH, GRID, NESTED = 1 / 1.5, 1 / 90, 1.5
HERE = "benchmarks.rows.knn"


def results(options: Options) -> Iterator[Result]:
    sizes = [500, 1000, 2000] if options.quick else [2_000, 5_000, 20_000]
    seconds = []
    for n in sizes:
        X, y = _problem(n)
        repeats = options.repeats if n <= 5_000 else max(1, options.repeats // 3)
        what = f"LOO of {n:,} rows, peer: NearestNeighbors and votes"
        found = contest(what, lambda: _votes(X, y), lambda: _loo(X, y), repeats, ratio=SEARCH)  # noqa: B023
        seconds.append(found.ours or np.nan)
        yield found
    yield limit(f"growth of seconds, n = {sizes[0]:,} to {sizes[-1]:,}", exponent(sizes, seconds))
    for n in sizes:
        X, y = _problem(n)
        what = f"LOO of {n:,} rows, peer: GridSearchCV, 10 folds"
        yield contest(
            what,
            lambda: _grid_search(X, y),  # noqa: B023
            lambda: _loo(X, y),  # noqa: B023
            1,
            ratio=GRID,
            tolerance=None,
        )
    middle = sizes[1]
    X, y = _problem(middle)
    what = f"nested 10 x LOO of {middle:,} rows, peer: our LOO"
    yield contest(
        what,
        lambda: _loo(X, y),
        lambda: _loo(X, y, tr.methods.Nested("10-fold", "loo")),
        options.repeats,
        ratio=NESTED,
        tolerance=None,
    )
    most = peak_memory(f"{HERE}:leave_one_out", sizes[-1])
    yield limit(f"LOO of {sizes[-1]:,} rows: peak", most.megabytes, unit="MB", at_most=1000)


def _problem(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n, 50, n_informative=10, random_state=0)
    return X, y


def _loo(X: np.ndarray, y: np.ndarray, method: Any = "loo") -> np.ndarray:
    grid = {"n_neighbors": KS}
    return tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv=method, engine="knn").values


def _votes(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    search = NearestNeighbors(n_neighbors=int(KS[-1]), algorithm="brute").fit(X)
    votes = np.cumsum(y[search.kneighbors(return_distance=False)], axis=1)[:, KS - 1]
    return ((2 * votes > KS) != y[:, None]).mean(axis=0)


def _grid_search(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": KS}, cv=10, refit=False)
    return search.fit(X, y).cv_results_["mean_test_score"]


def leave_one_out(n: int) -> Side:
    """The work: LOO for all k; its value: the smallest risk."""
    X, y = _problem(n)
    return lambda: float(_loo(X, y).min())
