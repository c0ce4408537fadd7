"""Forecast how many fits and how many seconds an assessment takes, before it begins."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from truerisk.assessment.learning_curves import PlannedCurve, planned_curves
from truerisk.assessment.out_of_fold import needs_refits
from truerisk.assessment.pace import pace_of
from truerisk.assessment.schedule import Schedule
from truerisk.core.family import tunes_inside
from truerisk.core.formats import errors_named
from truerisk.core.frozen import frozen
from truerisk.estimation.problem import Problem

MANY_FITS = 20_000  # number of fits from which the user is told before they are made


@frozen
class Forecast:
    """Numbers of settings, fits and seconds that are expected for one learner."""

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
    """Count the fits of the plans that will be run, and time a few fits of each plan.

    The number of fits is exact. The seconds follow from the pace (`pace.py`) of tuning, of tuning
    inside each outer split, and of testing the setting that was chosen there.
    """
    schedule = Schedule.draw(problems, methods, outer)
    curves = planned_curves(learning_curve, problems, schedule)
    forecasts = []
    for name, problem in problems.items():
        with errors_named(name):
            n_fits, seconds = schedule.n_fits(problem), _learner_seconds(problem, schedule)
            curve = curves.get(name, "")
            if not isinstance(curve, str):
                n_fits, seconds = n_fits + curve.n_fits, seconds + _seconds_of_curve(curve)
            forecasts.append(Forecast(name, len(problem.family), n_fits, seconds))
    return forecasts


def planned_fits(
    problems: Mapping[str, Problem],
    methods: Sequence[Any] | None,
    outer: Any,
    learning_curve: Any = None,
) -> tuple[int, int]:
    """Count the fits that all learners need, and the fits of their learning curves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `assess` gives the same warnings when it draws the plans.
        schedule = Schedule.draw(problems, methods, outer)
        curves = planned_curves(learning_curve, problems, schedule).values()
    n_fits = sum(map(schedule.n_fits, problems.values()))
    return n_fits, sum(0 if isinstance(curve, str) else curve.n_fits for curve in curves)


def _learner_seconds(problem: Problem, schedule: Schedule) -> float:
    n_settings = len(problem.family)
    outer_plan, inner_plan = map(schedule.nested_plan.part_named, ("outer", "inner"))
    paces = [(pace_of(problem, plan), plan) for plan in schedule.plans]
    tuning_pace = paces[0][0]
    test_pace = (
        pace_of(problem, outer_plan, is_winners_only=True, earlier_pace=tuning_pace),
        outer_plan,
    )
    paces += [test_pace] * (needs_refits(problem) + (not schedule.shares_fits))
    if schedule.nested.asks_inside(n_settings):
        paces.append((pace_of(problem, inner_plan, earlier_pace=tuning_pace), inner_plan))
    seconds = sum(pace.seconds(plan.n_fits) for pace, plan in paces) + test_pace[0].seconds(1)
    return seconds + test_pace[0].seconds_each * tunes_inside(problem.family)


def _seconds_of_curve(curve: PlannedCurve) -> float:
    """Forecast the seconds of a learning curve, from the pace of its largest size downwards."""
    total_seconds, previous_pace = 0.0, None
    for training_size in reversed(curve.sizes):
        for plan, n_settings in reversed(curve.learner.plans(training_size)):
            pace = pace_of(
                curve.learner.problem,
                plan,
                is_winners_only=n_settings == 1,
                earlier_pace=previous_pace,
            )
            previous_pace = pace if previous_pace is None else previous_pace
            total_seconds += pace.seconds(plan.n_fits)
    return total_seconds
