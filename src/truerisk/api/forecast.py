"""How many fits an assessment will need, and about how long they will take."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.api.compute import Problem
from truerisk.core.answers import Answers
from truerisk.core.contracts import Request, Run, Streams
from truerisk.core.plan import Plan
from truerisk.engines.choice import choose_engine
from truerisk.engines.executors import workers_of
from truerisk.methods.nested import Nested
from truerisk.methods.words import as_method

__all__ = ["Forecast", "forecast"]


@dataclass(frozen=True)
class Forecast:
    """Fits and seconds expected for one learner."""

    learner: str
    settings: int
    fits: int
    seconds: float


def forecast(problems: Mapping[str, Problem], methods: Sequence[Any], outer: Any) -> list[Forecast]:
    """Count the fits of the very plans that will be run, and time one fit of each learner.

    The timed fit is the first of the tuning plan, with the middle setting of the grid, so the
    seconds are a guess; the fits are exact.
    """
    return [
        _of_one(name, problem, methods, Nested(outer, methods[0], len(problems) > 1))
        for name, problem in problems.items()
    ]


def _of_one(name: str, problem: Problem, methods: Sequence[Any], nested: Nested) -> Forecast:
    settings = len(problem.family)
    streams = Streams(problem.seed)
    plans = [as_method(m).plan(problem.data, streams) for m in methods]
    whole = nested.plan(problem.data, streams)
    fits = sum(plan.n_fits for plan in plans) * settings
    fits += whole.only(whole.questions("outer")).n_fits
    if settings > 1 or nested.compare:
        fits += whole.only(whole.questions("inner")).n_fits * settings
    seconds = fits * _one_fit(problem, plans[0]) / (workers_of(problem.executor) or 1)
    return Forecast(name, settings, fits, seconds)


def _one_fit(problem: Problem, plan: Plan) -> float:
    first = plan.only(np.flatnonzero(plan.fit == 0))
    loss = problem.loss
    request = Request(loss.response, getattr(loss, "scorer", None))
    engine, _ = choose_engine(problem.engine, problem.family, problem.data, first, request)
    middle = np.full(first.n_fits, len(problem.family) // 2)
    run = Run(None, problem.seed, middle)

    def answer() -> Answers:
        return engine.run(problem.family, problem.data, first, request, run)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer()  # imports and caches
        started = time.perf_counter()
        answer()
    return time.perf_counter() - started
