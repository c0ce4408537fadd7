"""Plan and measure the learning curves of an assessment: number of fits, and risks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.assessment.schedule import Schedule
from truerisk.contracts import FitStore, Request
from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData, FitFailed, Refusal, TrueRiskError
from truerisk.core.formats import prefix_errors
from truerisk.core.frozen import frozen
from truerisk.core.progress import stage
from truerisk.core.registry import check_known
from truerisk.diagnostics.learner_by_size import (
    LearnerBySize,
    measure_learning_curve,
    subsampleable_method,
    usual_sizes,
)
from truerisk.engines.generic import Generic
from truerisk.engines.templates.one_fit import OneFit
from truerisk.estimation.problem import EstimationProblem
from truerisk.methods.kfold import KFold
from truerisk.methods.parts.averages import Averaged
from truerisk.results.learning_curve import LearningCurve

CHEAP_LEARNERS, ALL_LEARNERS = "cheap", "all"


@frozen(eq=False)
class PlannedCurve:
    """Plan of a learning curve: the training sizes to measure, and the number of fits required."""

    learner: LearnerBySize
    sizes: tuple[int, ...]
    n_fits: int

    @classmethod
    def from_problem(cls, problem: EstimationProblem, schedule: Schedule) -> PlannedCurve:
        """Plan a learning curve of a learner that is tuned and tested as in the assessment.

        At each training size the learner is tuned as on all rows, and tested by the outer folds.
        """
        simple_problem = replace(problem, scores={}, interval=None, step_cache=None)
        learner = LearnerBySize(
            simple_problem, _outer_folds_as_method(schedule, problem), schedule.methods[0]
        )
        sizes = tuple(usual_sizes(learner, learner.full_size_plan()))
        n_fits_by_plan = [
            plan.n_fits * n_settings
            for training_size in sizes
            for plan, n_settings in learner.plans(training_size)
        ]
        return cls(learner, sizes, sum(n_fits_by_plan))

    def expense_reason(self) -> str | None:
        """Return why the learning curve is expensive, or None if it is cheap.

        The curve is expensive if an engine makes each fit separately.
        """
        problem = self.learner.problem
        for training_size in self.sizes:
            for plan, _ in self.learner.plans(training_size):
                engine = problem.create_asking().choose(plan, Request.from_plan(problem.loss, plan))
                if isinstance(engine, Generic | OneFit):
                    return (
                        f"it takes {self.n_fits:,} fits, and engine '{engine.name}' makes each by "
                        "itself; ask for it by the learner's name."
                    )
        return None

    def measure(self, fit_store: FitStore | None) -> LearningCurve | str:
        """Measure the learning curve, or return a sentence why this fails.

        Warnings are suppressed, because the tuning has already given them.
        """
        with stage("learning curve"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return measure_learning_curve(self.learner, self.sizes, fit_store)
            except (BadData, FitFailed, Refusal) as error:
                return str(error)


def _outer_folds_as_method(schedule: Schedule, problem: EstimationProblem) -> Averaged:
    """Return a method that tests a learning curve by the outer splits of the assessment.

    If method `pairs` drew the outer folds, the same folds are reused.
    """
    method = subsampleable_method(schedule.nested_method.outer_method)
    outer_plan = schedule.nested_plan.part_named("outer")
    if not schedule.nested_method.shares_folds or outer_plan.repeat.any():
        return method
    folds = np.empty(problem.data.n_rows, dtype=np.int64)
    for test_set in range(outer_plan.n_questions):
        folds[outer_plan.test_rows(test_set)[0]] = test_set
    return KFold(folds=folds, average=method.average_of(problem.loss))


def _requested_learner_names(requested_learners: Any, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the learners for which a learning curve is requested.

    "cheap" and "all" stand for all learners.
    """
    if isinstance(requested_learners, str) and requested_learners in (CHEAP_LEARNERS, ALL_LEARNERS):
        return tuple(names)
    if not isinstance(requested_learners, list | tuple) or not requested_learners:
        raise BadArgument(
            f"{mention('learning_curve', requested_learners)}: give '{CHEAP_LEARNERS}' (learners "
            "whose fits "
            f"an engine answers together), '{ALL_LEARNERS}', or a list of learners, such as "
            f"{[*names][:1]}."
        )
    for name in requested_learners:
        check_known(
            f"{mention('learning_curve', requested_learners)}: there is no learner",
            name,
            names,
            "Assessed",
        )
    return tuple(dict.fromkeys(requested_learners))


def planned_curves(
    requested_learners: Any, problems: Mapping[str, EstimationProblem], schedule: Schedule
) -> dict[str, PlannedCurve | str]:
    """Plan the learning curve of each requested learner.

    If "cheap" curves are requested, a learner may be skipped; the result then holds the reason.
    """
    if requested_learners is None:
        return {}
    curves_by_learner: dict[str, PlannedCurve | str] = {}
    for name in _requested_learner_names(requested_learners, list(problems)):
        with prefix_errors(name):
            try:
                curve = PlannedCurve.from_problem(problems[name], schedule)
            except TrueRiskError as error:
                if requested_learners != CHEAP_LEARNERS:
                    raise
                curves_by_learner[name] = str(error)
            else:
                curves_by_learner[name] = (
                    curve.expense_reason() if requested_learners == CHEAP_LEARNERS else None
                ) or curve
    return curves_by_learner
