"""Forecast how many fits and how many seconds an assessment takes, before it begins."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from truerisk.assessment.learning_curves import PlannedCurve, planned_curves
from truerisk.assessment.out_of_fold import needs_refits
from truerisk.assessment.pace import measure_pace
from truerisk.assessment.schedule import Schedule
from truerisk.core.family import tunes_inside
from truerisk.core.formats import prefix_errors
from truerisk.core.frozen import frozen
from truerisk.estimation.problem import EstimationProblem

# If more fits are planned, the user is told their number before the fits are made.
MANY_FITS = 20_000


@frozen
class Forecast:
    """Expected cost of assessing one learner: the numbers of settings, fits and seconds."""

    learner: str
    settings: int
    fits: int
    seconds: float


def forecast(
    problems: Mapping[str, EstimationProblem],
    methods: Sequence[Any] | None,
    outer: Any,
    learning_curve: Any = None,
) -> list[Forecast]:
    """Forecast the fits and the seconds of an assessment by timing a few fits of each plan.

    The number of fits is exact. The seconds follow from the pace (`pace.py`) of tuning, of tuning
    inside each outer split, and of testing the setting that was chosen there.
    """
    schedule = Schedule.draw(problems, methods, outer)
    curves = planned_curves(learning_curve, problems, schedule)
    forecasts = []
    for name, problem in problems.items():
        with prefix_errors(name):
            n_fits, seconds = schedule.n_fits(problem), _learner_seconds(problem, schedule)
            curve = curves.get(name, "")
            if not isinstance(curve, str):
                n_fits, seconds = n_fits + curve.n_fits, seconds + _seconds_of_curve(curve)
            forecasts.append(Forecast(name, len(problem.family), n_fits, seconds))
    return forecasts


def planned_fits(
    problems: Mapping[str, EstimationProblem],
    methods: Sequence[Any] | None,
    outer: Any,
    learning_curve: Any = None,
) -> tuple[int, int]:
    """Count the fits that all learners need, and the fits of their learning curves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `assess` will give the same warnings.
        schedule = Schedule.draw(problems, methods, outer)
        curves = planned_curves(learning_curve, problems, schedule).values()
    n_fits = sum(map(schedule.n_fits, problems.values()))
    return n_fits, sum(0 if isinstance(curve, str) else curve.n_fits for curve in curves)


def _learner_seconds(problem: EstimationProblem, schedule: Schedule) -> float:
    n_settings = len(problem.family)
    outer_plan, inner_plan = map(schedule.nested_plan.part_named, ("outer", "inner"))
    paces_with_plans = [(measure_pace(problem, plan), plan) for plan in schedule.plans]
    tuning_pace = paces_with_plans[0][0]
    test_pace_with_plan = (
        measure_pace(problem, outer_plan, is_winners_only=True, earlier_pace=tuning_pace),
        outer_plan,
    )
    paces_with_plans += [test_pace_with_plan] * (needs_refits(problem) + (not schedule.shares_fits))
    if schedule.nested_method.asks_inside(n_settings):
        paces_with_plans.append(
            (measure_pace(problem, inner_plan, earlier_pace=tuning_pace), inner_plan)
        )
    seconds = sum(
        pace.seconds(plan.n_fits) for pace, plan in paces_with_plans
    ) + test_pace_with_plan[0].seconds(1)
    return seconds + test_pace_with_plan[0].seconds_each * tunes_inside(problem.family)


def _seconds_of_curve(curve: PlannedCurve) -> float:
    """Forecast the seconds that a learning curve takes, starting with its largest training size."""
    total_seconds, first_pace = 0.0, None
    for training_size in reversed(curve.sizes):
        for plan, n_settings in reversed(curve.learner.plans(training_size)):
            pace = measure_pace(
                curve.learner.problem,
                plan,
                is_winners_only=n_settings == 1,
                earlier_pace=first_pace,
            )
            first_pace = pace if first_pace is None else first_pace
            total_seconds += pace.seconds(plan.n_fits)
    return total_seconds
