"""The learning curves of an assessment: of which learners, at what price, and what they say."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.api.assessing.pace import pace_of
from truerisk.api.assessing.plans import Schedule
from truerisk.api.learning.measured import measure
from truerisk.api.learning.sizes import usual_sizes
from truerisk.api.learning.tested_learner import TestedLearner, testing
from truerisk.api.road.problem import Problem
from truerisk.core.arguments import shown
from truerisk.core.contracts import Keeper, Request
from truerisk.core.errors import (
    BadArgument,
    BadData,
    FitFailed,
    Refusal,
    TrueRiskError,
    UnknownName,
    named,
)
from truerisk.core.learning_curve import LearningCurve
from truerisk.core.progress import stage
from truerisk.core.registry import closest
from truerisk.engines.generic import Generic
from truerisk.engines.templates.one_fit import OneFit
from truerisk.methods.kfold import KFold
from truerisk.methods.parts.averages import Averaged

__all__ = ["CHEAP", "EVERY", "PlannedCurve", "curves_asked", "planned_curves"]

CHEAP, EVERY = "cheap", "all"


@dataclass(frozen=True, eq=False)
class PlannedCurve:
    """The sizes at which a learner will be measured, and how many fits that takes."""

    learner: TestedLearner
    sizes: tuple[int, ...]
    n_fits: int

    @classmethod
    def of(cls, problem: Problem, schedule: Schedule) -> PlannedCurve:
        """Tested by the folds of the outer splits, tuned inside by what tunes on all rows."""
        alone = replace(problem, scores={}, interval=None)
        learner = TestedLearner(alone, _folds_of(schedule, problem), schedule.methods[0])
        sizes = tuple(usual_sizes(learner, learner.whole()))
        fits = [plan.n_fits * n for size in sizes for plan, n in learner.asked(size)]
        return cls(learner, sizes, sum(fits))

    def why_dear(self) -> str | None:
        """Why the curve is not cheap: which engine makes every fit of every setting by itself."""
        problem = self.learner.problem
        for size in self.sizes:
            for plan, _ in self.learner.asked(size):
                engine = problem.asking().choose(plan, Request.of(problem.loss, plan))
                if isinstance(engine, Generic | OneFit):
                    return (
                        f"it takes {self.n_fits:,} fits, and engine '{engine.word}' makes each by "
                        "itself; ask for it by the learner's name."
                    )
        return None

    def measured(self, keeper: Keeper | None) -> LearningCurve | str:
        """The curve, or why some of its fits gave none; what they warn of was said by tuning."""
        with stage("learning curve"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return measure(self.learner, self.sizes, keeper)
            except (BadData, FitFailed, Refusal) as error:
                return str(error)

    def seconds(self) -> float:
        """About how long it takes, by the pace of the largest size and of the smaller ones."""
        found, like = 0.0, None
        for size in reversed(self.sizes):
            for plan, n in reversed(self.learner.asked(size)):
                one = pace_of(self.learner.problem, plan, winners=n == 1, like=like)
                like = one if like is None else like
                found += one.seconds(plan.n_fits)
        return found


def _folds_of(schedule: Schedule, problem: Problem) -> Averaged:
    """The outer splits; the folds that `pairs` drew are given, else others would be drawn."""
    method, outside = testing(schedule.nested.outer_method), schedule.outside
    if not schedule.nested.shares_folds or outside.repeat.any():
        return method
    folds = np.empty(problem.data.n_rows, dtype=np.int64)
    for question in range(outside.n_questions):
        folds[outside.test_rows(question)[0]] = question
    return KFold(folds=folds, average=method.average_of(problem.loss))


def curves_asked(given: Any, names: Sequence[str]) -> tuple[str, ...]:
    """Of which learners a curve is wanted: by "cheap" and "all" of each of them."""
    if given is None:
        return ()
    if isinstance(given, str) and given in (CHEAP, EVERY):
        return tuple(names)
    if not isinstance(given, list | tuple) or not given:
        raise BadArgument(
            f"learning_curve={shown(given)}: give '{CHEAP}' (learners whose fits an engine answers "
            f"together), '{EVERY}', or a list of learners, such as {[*names][:1]}."
        )
    for name in given:
        if name not in list(names):
            raise UnknownName(
                f"learning_curve={shown(given)}: there is no learner {shown(name)}"
                f"{closest(name, names) or '.'} "
                f"Assessed: {', '.join(names)}."
            )
    return tuple(dict.fromkeys(given))


def planned_curves(
    given: Any, problems: Mapping[str, Problem], schedule: Schedule
) -> dict[str, PlannedCurve | str]:
    """The curves of the learners that were asked for; by "cheap" some have a reason instead."""
    found: dict[str, PlannedCurve | str] = {}
    for name in curves_asked(given, list(problems)):
        with named(name):
            try:
                one = PlannedCurve.of(problems[name], schedule)
            except TrueRiskError as error:
                if given != CHEAP:
                    raise
                found[name] = str(error)
            else:
                found[name] = (one.why_dear() if given == CHEAP else None) or one
    return found
