"""How many fits an assessment will need, and about how long they will take."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from truerisk.api.assessing.learning_curves import PlannedCurve, planned_curves
from truerisk.api.assessing.out_of_fold import refits
from truerisk.api.assessing.own_claim import tunes_inside
from truerisk.api.assessing.pace import pace_of
from truerisk.api.assessing.plans import Schedule
from truerisk.api.road.problem import Problem
from truerisk.core.errors import named

__all__ = ["Forecast", "fits_of", "fits_of_curves", "forecast", "planned_fits"]

MANY = 20_000  # fits that deserve a word before they are made


@dataclass(frozen=True)
class Forecast:
    """Fits and seconds expected for one learner."""

    learner: str
    settings: int
    fits: int
    seconds: float


def forecast(
    problems: Mapping[str, Problem],
    methods: Sequence[Any] | None,
    outer: Any,
    learning_curve: Any = None,
) -> list[Forecast]:
    """Count the fits of the very plans that will be run, and time a few of each pass over them.

    The fits are exact. The seconds follow from the pace (`pace.py`) of tuning, of tuning inside
    each outer split, and of testing what was chosen there.
    """
    first = next(iter(problems.values()))
    schedule = Schedule.draw(first, methods, outer, several=len(problems) > 1)
    curves = planned_curves(learning_curve, problems, schedule)
    expected = []
    for name, problem in problems.items():
        with named(name):
            one = _of_one(name, problem, schedule)
            expected.append(_with_curve(one, curves.get(name, "")))
    return expected


def _with_curve(one: Forecast, curve: PlannedCurve | str) -> Forecast:
    """With the fits and seconds of the learning curve, where there will be one."""
    if isinstance(curve, str):
        return one
    return replace(one, fits=one.fits + curve.n_fits, seconds=one.seconds + curve.seconds())


def fits_of_curves(
    given: Any, problems: Mapping[str, Problem], methods: Sequence[Any] | None, outer: Any
) -> int:
    """How many fits the learning curves that were asked for take in all."""
    if given is None:
        return 0
    first = next(iter(problems.values()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `assess` gives the same warnings when it draws
        schedule = Schedule.draw(first, methods, outer, several=len(problems) > 1)
        curves = planned_curves(given, problems, schedule).values()
    return sum(0 if isinstance(curve, str) else curve.n_fits for curve in curves)


def planned_fits(
    problem: Problem, sizes: Sequence[int], methods: Sequence[Any] | None, outer: Any
) -> int:
    """How many fits learners with so many settings need in all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `assess` gives the same warnings when it draws
        schedule = Schedule.draw(problem, methods, outer, several=len(sizes) > 1)
    return sum(schedule.fits(size, twice=refits(problem)) for size in sizes)


def fits_of(problem: Problem, schedule: Schedule) -> int:
    """How many fits a learner needs: those of the plans, and one of a search for its own claim."""
    fits = schedule.fits(len(problem.family), twice=refits(problem))
    return fits + tunes_inside(problem.family)


def _of_one(name: str, problem: Problem, schedule: Schedule) -> Forecast:
    settings, outside, inside = len(problem.family), schedule.outside, schedule.inside
    paces = [(pace_of(problem, plan), plan) for plan in schedule.plans]
    like = paces[0][0]
    tested = pace_of(problem, outside, winners=True, like=like), outside
    paces += [tested] * (refits(problem) + (not schedule.shares_fits))
    if schedule.nested.asks_inside(settings):
        paces.append((pace_of(problem, inside, like=like), inside))
    seconds = sum(pace.seconds(plan.n_fits) for pace, plan in paces) + tested[0].seconds(1)
    seconds += tested[0].each * tunes_inside(problem.family)
    return Forecast(name, settings, fits_of(problem, schedule), seconds)
