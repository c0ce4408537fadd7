"""W6: ridge and kernel ridge, 100 penalties: leave-one-out and five folds, the whole call.

Peers: RidgeCV (the same leave-one-out errors) and GridSearchCV on the same folds. Kernel ridge is
searched over every tenth penalty and its seconds are multiplied by ten. Risks are compared as
logarithms, so that the tolerance is relative.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold

import truerisk as tr
from benchmarks.contest import alternate, contest, difference
from benchmarks.growth import exponent
from benchmarks.limits import limit
from benchmarks.results import Options, Result

__all__ = ["results"]

PENALTIES, OF_KERNEL = np.logspace(-2, 5, 100), np.logspace(-4, 2, 100)
TALL, WIDE, KERNEL = (2_000, 500), (200, 5_000), (2_000, 20)
FOLDS = KFold(5, shuffle=True, random_state=0)
RELATIVE = 1e-8
EVERY = 10
LEFT_OUT = {TALL: 1 / 35, WIDE: 1 / 3.5}
FOLDED = {TALL: 1 / 50, WIDE: 1 / 100}


def results(options: Options) -> Iterator[Result]:
    for shape in (TALL, WIDE):
        n, p = _smaller(shape) if options.quick else shape
        X, y = _problem(n, p)
        yield contest(
            f"ridge, LOO of {n:,} x {p:,}, peer: RidgeCV",
            lambda: _stored(X, y),  # noqa: B023  run at once
            lambda: _ridge(X, y, "loo"),  # noqa: B023
            options.repeats,
            ratio=LEFT_OUT[shape],
            tolerance=RELATIVE,
        )
        yield contest(
            f"ridge, 5-fold of {n:,} x {p:,}, peer: GridSearchCV",
            lambda: _searched(Ridge(), PENALTIES, X, y),  # noqa: B023
            lambda: _ridge(X, y, FOLDS),  # noqa: B023
            min(options.repeats, 3),
            ratio=FOLDED[shape],
            tolerance=RELATIVE,
        )
    yield _kernel_ridge(500 if options.quick else KERNEL[0], KERNEL[1])
    yield from _growth(options)


def _kernel_ridge(n: int, p: int) -> Result:
    X, y = _problem(n, p)
    what = f"kernel ridge, 5-fold of {n:,} x {p}, peer: GridSearchCV over every tenth, x {EVERY}"
    faults: list[str] = []

    def compare(theirs: Any, own: Any) -> None:
        why = difference(theirs, own[::EVERY], RELATIVE)
        if why is not None:
            faults.append(why)

    rounds = alternate(
        lambda: _searched(_kernel(p), OF_KERNEL[::EVERY], X, y),
        lambda: _kernel_risks(X, y, FOLDS),
        1,
        compare=compare,
    )
    if faults:
        return Result(what, "ratio <= 0.1", error=f"the sides disagree: {faults[0]}")
    theirs, own = median(pair[0] * EVERY for pair in rounds), median(pair[1] for pair in rounds)
    return Result(what, "ratio <= 0.1", theirs, own, met=own <= 0.1 * theirs)


def _growth(options: Options) -> Iterator[Result]:
    """Of leave-one-out: n in tall tables, p in wide ones, n of a kernel."""
    factor = 1 if options.quick else 2
    tall = [(factor * n, 100) for n in (1_000, 2_000, 5_000, 10_000)]
    wide = [(200, factor * p) for p in (1_000, 2_000, 5_000, 10_000)]
    kernel = [(factor * n, 20) for n in (100, 200, 500, 1_000)]
    for what, shapes, axis in (("n", tall, 0), ("p", wide, 1), ("n", kernel, 0)):
        risks = _kernel_risks if shapes is kernel else _ridge
        seconds = [_seconds(risks, *_problem(*shape)) for shape in shapes]
        sizes = [shape[axis] for shape in shapes]
        name = "kernel ridge" if shapes is kernel else "ridge"
        named = f"{name}, LOO: growth of seconds, {what} = {sizes[0]:,} to {sizes[-1]:,}"
        yield limit(named, exponent(sizes, seconds))


def _smaller(shape: tuple[int, int]) -> tuple[int, int]:
    return shape[0] // 2, shape[1] // 5


def _problem(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    coefficients = np.zeros(p)
    coefficients[:20] = rng.normal(size=20)
    return X, X @ coefficients + 3 * rng.normal(size=n)


def _kernel(p: int) -> KernelRidge:
    return KernelRidge(kernel="rbf", gamma=0.5 / p)


def _ridge(X: np.ndarray, y: np.ndarray, method: Any) -> np.ndarray:
    grid = {"alpha": PENALTIES}
    return np.log(tr.risk_curve(Ridge(), grid, X, y, cv=method, engine="least-squares").values)


def _kernel_risks(X: np.ndarray, y: np.ndarray, method: Any) -> np.ndarray:
    model, grid = _kernel(X.shape[1]), {"alpha": OF_KERNEL}
    return np.log(tr.risk_curve(model, grid, X, y, cv=method, engine="kernel-ridge").values)


def _stored(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    found = RidgeCV(alphas=PENALTIES, store_cv_results=True).fit(X, y)
    return np.log(found.cv_results_.mean(axis=0))


def _searched(model: Any, penalties: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    search = GridSearchCV(
        model, {"alpha": penalties}, cv=FOLDS, scoring="neg_mean_squared_error", refit=False
    )
    return np.log(-search.fit(X, y).cv_results_["mean_test_score"])


def _seconds(risks: Any, X: np.ndarray, y: np.ndarray) -> float:
    spent = []
    for _ in range(3):
        started = time.perf_counter()
        risks(X, y, "loo")
        spent.append(time.perf_counter() - started)
    return min(spent)
