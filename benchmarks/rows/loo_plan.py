"""Leave-one-out by the generic engine: what the plan and the run hold in memory, and its growth.

A list of n train sets of n−1 row numbers takes 8n² bytes, 3.2 GB for 20,000 rows, and that is what
GridSearchCV draws before it starts. The plan says "all rows but this one", n times.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.contest import Side, difference
from benchmarks.growth import exponent
from benchmarks.limits import limit
from benchmarks.processes import peak_memory
from benchmarks.results import Options, Result

__all__ = ["grid_search", "planning", "results", "running"]

PLAN_MEGABYTES = 10.0
LINEAR = 1.2  # an exponent of 1, with room for what does not depend on n
HERE = "benchmarks.rows.loo_plan"


class Majority(ClassifierMixin, BaseEstimator):
    """The more frequent of the classes 0 and 1: as cheap as a fit can be."""

    def fit(self, X: Any, y: np.ndarray) -> Majority:
        self.classes_ = np.array([0, 1])
        self.answer_ = int(2 * np.count_nonzero(y) > len(y))
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), self.answer_)


def results(options: Options) -> Iterator[Result]:
    sizes = [500, 1000, 2000] if options.quick else [5_000, 10_000, 20_000]
    most = sizes[-1]
    plans = [peak_memory(f"{HERE}:planning", n) for n in sizes]
    runs = [peak_memory(f"{HERE}:running", n) for n in sizes]
    said = f"LOO of {most:,} rows"
    span = f"n = {sizes[0]:,} to {most:,}"
    yield limit(f"{said}: the plan", plans[-1].value / 1e6, unit="MB", at_most=PLAN_MEGABYTES)
    yield limit(f"{said}: peak of planning", plans[-1].megabytes, unit="MB")
    yield limit(f"{said}: peak of the whole run", runs[-1].megabytes, unit="MB")
    for name, peaks in (("planning", plans), ("the whole run", runs)):
        grown = exponent(sizes, [peak.megabytes for peak in peaks])
        yield limit(f"memory exponent of {name}, {span}", grown, at_most=LINEAR)
    yield from _beside_the_peer(sizes, runs[0].megabytes, runs[0].value)


def _beside_the_peer(sizes: list[int], megabytes: float, risk: float) -> Iterator[Result]:
    """At the smallest size only: the peer's memory grows with n²."""
    least = sizes[0]
    what = f"LOO of {least:,} rows, peak, peer: GridSearchCV"
    peer = peak_memory(f"{HERE}:grid_search", least)
    why = difference(peer.value, risk, 1e-10)
    if why is not None:
        yield Result(what, error=f"the sides disagree: {why}")
        return
    yield limit(what, megabytes, unit="MB", peer=peer.megabytes)
    smaller = least // 2
    half = peak_memory(f"{HERE}:grid_search", smaller)
    grown = exponent([smaller, least], [half.megabytes, peer.megabytes])
    yield Result(f"memory exponent of the peer, n = {smaller:,} to {least:,}", peer=grown, unit="")


def _problem(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 2)), (rng.random(n) < 0.3).astype(int)


def planning(n: int) -> Side:
    """The work: draw the plan; its value: the bytes of the plan, as it is sent."""
    from truerisk.contracts import Streams
    from truerisk.data.data import Data
    from truerisk.methods.kfold import LeaveOneOut

    data = Data.check(*_problem(n), task="classification")
    return lambda: len(pickle.dumps(LeaveOneOut().plan(data, Streams(0))))


def running(n: int) -> Side:
    """The work: the LOO risk from data to estimate; its value: the risk."""
    import truerisk as tr

    X, y = _problem(n)
    tr.estimate_risk(Majority(), X[:10], [0, 1] * 5, cv="loo")  # imports are not counted
    return lambda: tr.estimate_risk(Majority(), X, y, cv="loo", engine="generic").value


def grid_search(n: int) -> Side:
    """The same by GridSearchCV."""
    from sklearn.model_selection import GridSearchCV, LeaveOneOut

    X, y = _problem(n)
    search = GridSearchCV(Majority(), {}, cv=LeaveOneOut(), refit=False)
    search.fit(X[:10], y[:10])
    return lambda: 1 - float(search.fit(X, y).cv_results_["mean_test_score"][0])
