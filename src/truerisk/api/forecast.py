"""How many fits an assessment will need, and about how long they will take."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.api.compute import Problem
from truerisk.api.naming import named
from truerisk.api.schedule import Schedule
from truerisk.core.answers import Answers
from truerisk.core.contracts import Request, Run
from truerisk.core.plan import Plan
from truerisk.engines.choice import choose_engine
from truerisk.engines.running.executors import workers_of

__all__ = ["Forecast", "forecast", "planned_fits"]

MANY = 20_000  # fits that deserve a word before they are made


@dataclass(frozen=True)
class Forecast:
    """Fits and seconds expected for one learner."""

    learner: str
    settings: int
    fits: int
    seconds: float


def forecast(
    problems: Mapping[str, Problem], methods: Sequence[Any] | None, outer: Any
) -> list[Forecast]:
    """Count the fits of the very plans that will be run, and time one fit of each learner.

    The timed fit is the first of the tuning plan, with the middle setting of the grid, so the
    seconds are a guess; the fits are exact.
    """
    first = next(iter(problems.values()))
    schedule = Schedule.draw(first, methods, outer, several=len(problems) > 1)
    expected = []
    for name, problem in problems.items():
        with named(name):
            expected.append(_of_one(name, problem, schedule))
    return expected


def planned_fits(
    problem: Problem, sizes: Sequence[int], methods: Sequence[Any] | None, outer: Any
) -> int:
    """How many fits learners with so many settings need in all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they come when the plans are drawn for use
        schedule = Schedule.draw(problem, methods, outer, several=len(sizes) > 1)
    return sum(schedule.fits(size) for size in sizes)


def _of_one(name: str, problem: Problem, schedule: Schedule) -> Forecast:
    settings = len(problem.family)
    fits = schedule.fits(settings)
    seconds = fits * _one_fit(problem, schedule.plans[0]) / (workers_of(problem.executor) or 1)
    return Forecast(name, settings, fits, seconds)


def _one_fit(problem: Problem, plan: Plan) -> float:
    first = plan.only(np.flatnonzero(plan.fit == 0))
    loss = problem.loss
    request = Request.of(loss, first)
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
