"""The learning curves of an assessment: their cost in fits, and their values."""

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
from truerisk.core.formats import named
from truerisk.core.frozen import frozen
from truerisk.core.progress import stage
from truerisk.core.registry import check_known
from truerisk.diagnostics.learner_by_size import LearnerBySize, measure, testing, usual_sizes
from truerisk.engines.generic import Generic
from truerisk.engines.templates.one_fit import OneFit
from truerisk.estimation.problem import Problem
from truerisk.methods.kfold import KFold
from truerisk.methods.parts.averages import Averaged
from truerisk.results.learning_curve import LearningCurve

CHEAP, EVERY = "cheap", "all"


@frozen(eq=False)
class PlannedCurve:
    """The training sizes at which a learner will be measured, and the required number of fits."""

    learner: LearnerBySize
    sizes: tuple[int, ...]
    n_fits: int

    @classmethod
    def from_problem(cls, problem: Problem, schedule: Schedule) -> PlannedCurve:
        """Plan a curve that is tested by the outer folds and tuned as on all rows."""
        alone = replace(problem, scores={}, interval=None, steps=None)
        learner = LearnerBySize(alone, _folds_of(schedule, problem), schedule.methods[0])
        sizes = tuple(usual_sizes(learner, learner.full_size_plan()))
        fits = [plan.n_fits * n for size in sizes for plan, n in learner.plans(size)]
        return cls(learner, sizes, sum(fits))

    def why_dear(self) -> str | None:
        """Return why the curve is not cheap, or None: an engine makes each fit by itself."""
        problem = self.learner.problem
        for size in self.sizes:
            for plan, _ in self.learner.plans(size):
                engine = problem.asking().choose(plan, Request.from_plan(problem.loss, plan))
                if isinstance(engine, Generic | OneFit):
                    return (
                        f"it takes {self.n_fits:,} fits, and engine '{engine.name}' makes each by "
                        "itself; ask for it by the learner's name."
                    )
        return None

    def measured(self, fit_store: FitStore | None) -> LearningCurve | str:
        """Return the curve, or why there is none; warnings of its fits were given by tuning."""
        with stage("learning curve"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return measure(self.learner, self.sizes, fit_store)
            except (BadData, FitFailed, Refusal) as error:
                return str(error)


def _folds_of(schedule: Schedule, problem: Problem) -> Averaged:
    """Return the outer splits; the folds that `pairs` drew are reused, not drawn again."""
    method = testing(schedule.nested.outer_method)
    outside = schedule.nested_plan.part_named("outer")
    if not schedule.nested.shares_folds or outside.repeat.any():
        return method
    folds = np.empty(problem.data.n_rows, dtype=np.int64)
    for question in range(outside.n_questions):
        folds[outside.test_rows(question)[0]] = question
    return KFold(folds=folds, average=method.average_of(problem.loss))


def _requested_curves(wanted: Any, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the learners for which a curve is requested.

    "cheap" and "all" name each.
    """
    if isinstance(wanted, str) and wanted in (CHEAP, EVERY):
        return tuple(names)
    if not isinstance(wanted, list | tuple) or not wanted:
        raise BadArgument(
            f"{mention('learning_curve', wanted)}: give '{CHEAP}' (learners whose fits an engine "
            f"answers together), '{EVERY}', or a list of learners, such as {[*names][:1]}."
        )
    for name in wanted:
        check_known(
            f"{mention('learning_curve', wanted)}: there is no learner", name, names, "Assessed"
        )
    return tuple(dict.fromkeys(wanted))


def planned_curves(
    wanted: Any, problems: Mapping[str, Problem], schedule: Schedule
) -> dict[str, PlannedCurve | str]:
    """Return the curve of each requested learner, or with "cheap" the reason why it is skipped."""
    if wanted is None:
        return {}
    planned: dict[str, PlannedCurve | str] = {}
    for name in _requested_curves(wanted, list(problems)):
        with named(name):
            try:
                curve = PlannedCurve.from_problem(problems[name], schedule)
            except TrueRiskError as error:
                if wanted != CHEAP:
                    raise
                planned[name] = str(error)
            else:
                planned[name] = (curve.why_dear() if wanted == CHEAP else None) or curve
    return planned
