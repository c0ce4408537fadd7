"""Forecast how many fits an assessment takes, and about how long, before it begins."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from truerisk.assessment.learning_curves import PlannedCurve, planned_curves
from truerisk.assessment.out_of_fold import refits
from truerisk.assessment.pace import pace_of
from truerisk.assessment.schedule import Schedule
from truerisk.core.family import tunes_inside
from truerisk.core.formats import named
from truerisk.core.frozen import frozen
from truerisk.estimation.problem import Problem

MANY = 20_000  # fits that deserve a word before they are made


@frozen
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
    schedule = Schedule.draw(problems, methods, outer)
    curves = planned_curves(learning_curve, problems, schedule)
    expected = []
    for name, problem in problems.items():
        with named(name):
            fits, seconds = schedule.fits(problem), _seconds(problem, schedule)
            curve = curves.get(name, "")
            if not isinstance(curve, str):
                fits, seconds = fits + curve.n_fits, seconds + _seconds_of_curve(curve)
            expected.append(Forecast(name, len(problem.family), fits, seconds))
    return expected


def planned_fits(
    problems: Mapping[str, Problem],
    methods: Sequence[Any] | None,
    outer: Any,
    learning_curve: Any = None,
) -> tuple[int, int]:
    """Count the fits that all learners need, and the further fits of their learning curves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `assess` gives the same warnings when it draws
        schedule = Schedule.draw(problems, methods, outer)
        curves = planned_curves(learning_curve, problems, schedule).values()
    fits = sum(map(schedule.fits, problems.values()))
    return fits, sum(0 if isinstance(curve, str) else curve.n_fits for curve in curves)


def _seconds(problem: Problem, schedule: Schedule) -> float:
    settings = len(problem.family)
    outside, inside = map(schedule.nested_plan.part_named, ("outer", "inner"))
    paces = [(pace_of(problem, plan), plan) for plan in schedule.plans]
    like = paces[0][0]
    tested = pace_of(problem, outside, winners=True, like=like), outside
    paces += [tested] * (refits(problem) + (not schedule.shares_fits))
    if schedule.nested.asks_inside(settings):
        paces.append((pace_of(problem, inside, like=like), inside))
    seconds = sum(pace.seconds(plan.n_fits) for pace, plan in paces) + tested[0].seconds(1)
    return seconds + tested[0].each * tunes_inside(problem.family)


def _seconds_of_curve(curve: PlannedCurve) -> float:
    """About how long it takes, by the pace of the largest size and of the smaller ones."""
    total, like = 0.0, None
    for size in reversed(curve.sizes):
        for plan, n in reversed(curve.learner.plans(size)):
            pace = pace_of(curve.learner.problem, plan, winners=n == 1, like=like)
            like = pace if like is None else like
            total += pace.seconds(plan.n_fits)
    return total
