"""W2c, W5: choosing the penalty of an L1 path by the Bayesian error estimator, and honestly.

Peers are our own: the path that LogisticPath fits on the same rows (the estimator's one fit), and
5-fold cross-validation along the same penalties. Every call begins with the rows and ends with the
chosen penalty. Nested 10 x 5-fold cross-validation of one path has no peer but a limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

import numpy as np

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.limits import limit
from benchmarks.results import Options, Result
from benchmarks.rows.logistic import N_LAMBDAS, SHAPES, Shape
from truerisk.models import LogisticPath

__all__ = ["results"]

ONE_PATH, OF_CROSS_VALIDATION, NESTED_SECONDS = 1.15, 1 / 4, 0.5
GRID = {"at": list(range(N_LAMBDAS))}


def results(options: Options) -> Iterator[Result]:
    for shape in SHAPES[3:4] if options.quick else SHAPES[3:]:
        yield from _chosen(shape, options)
    yield _nested(SHAPES[3], max(1, options.repeats // 3))


def _chosen(shape: Shape, options: Options) -> Iterator[Result]:
    X, y = shape.draw()
    X = np.ascontiguousarray(X)  # as most tables are; LogisticPath turns it around
    model = LogisticPath(n_lambdas=N_LAMBDAS)
    yield contest(
        f"choosing by bee, {shape.name}, peer: the path alone",
        lambda: model.fit(X, y).lambdas_,
        lambda: tr.risk_curve(model, GRID, X, y, cv="bee").best,
        options.repeats,
        ratio=ONE_PATH,
        tolerance=None,
    )
    yield contest(
        f"choosing by bee, {shape.name}, peer: choosing by 5-fold",
        lambda: tr.risk_curve(model, GRID, X, y, cv="5-fold").best,
        lambda: tr.risk_curve(model, GRID, X, y, cv="bee").best,
        options.repeats,
        ratio=OF_CROSS_VALIDATION,
        tolerance=None,
    )


def _nested(shape: Shape, rounds: int) -> Result:
    X, y = shape.draw()
    method = tr.methods.Nested("10-fold", "5-fold")
    seconds = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        curve = tr.risk_curve(LogisticPath(), GRID, X, y, cv=method)
        seconds.append(time.perf_counter() - started)
        assert curve.procedure is not None
        assert np.isfinite(curve.procedure.value or np.nan)
    what = f"nested 10 x 5 folds, one path, {shape.name}"
    return limit(what, median(seconds[1:]), at_most=NESTED_SECONDS, unit="s")
