"""Two Dask workers beside one: searches and assessments of learners that no engine knows.

Both clusters run on loopback, a scheduler and workers of one thread as processes of their own; the
table is sent once in each call, and the risks are those of this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from psutil import NoSuchProcess, Process
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.limits import limit
from benchmarks.results import Options, Result
from benchmarks.rows.study import executor_named

__all__ = ["results"]

BOOSTING = (
    HistGradientBoostingClassifier(max_iter=10, random_state=0),
    {"learning_rate": [0.1, 0.3]},
)
BAYES = GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}


def results(options: Options) -> Iterator[Result]:
    sizes = [2_000] if options.quick else [10_000, 200_000]
    repeats = 1 if options.quick else 3
    with executor_named("Dask", 1) as one, executor_named("Dask", 2) as two:
        for n in sizes:
            X = np.random.default_rng(n).normal(size=(n, 20))
            y = X[:, :5].sum(axis=1) + 2 * X[:, 5] * X[:, 6] > 0
            for call in (_assess, _search):
                what = f"{call.__doc__}, {n:,} × 20, two Dask workers"
                here, peer, ours = (partial(call, X, y, where) for where in (None, one, two))
                yield contest(f"{what}, peer: one", peer, ours, repeats, ratio=0.6)
                path = f"{what}: processor, driver and the busier worker"
                yield limit(f"{path}, peer: one", _path(ours), unit="s", peer=_path(peer))
                yield limit(f"{path}, peer: this process", _path(ours), unit="s", peer=_path(here))


def _path(call: Callable[[], Any]) -> float:
    """Seconds of the processor that no further core would spare: a loaded machine shows them, too.

    Those of the thread that calls, and of the worker that has most to do.
    """

    def spent() -> dict[int, float]:
        times = {}
        for process in Process().children(recursive=True):
            with suppress(NoSuchProcess):
                times[process.pid] = sum(process.cpu_times()[:2])
        return times

    before, started = spent(), time.thread_time()
    call()
    here = time.thread_time() - started
    return here + max(seconds - before.get(pid, 0.0) for pid, seconds in spent().items())


def _assess(X: np.ndarray, y: np.ndarray, executor: Any = None) -> list[float | None]:
    """assess, boosting and naive Bayes"""
    found = tr.assess({"boosting": BOOSTING, "bayes": BAYES}, X, y, cv=["5-fold"], n_jobs=executor)
    return [risk.value for risk in found.risks.values()]


def _search(X: np.ndarray, y: np.ndarray, executor: Any = None) -> float | None:
    """HonestSearchCV, boosting"""
    return tr.HonestSearchCV(*BOOSTING, n_jobs=executor).fit(X, y).risk_.value
