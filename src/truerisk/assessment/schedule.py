"""What an assessment will run: the plans, drawn once for all learners, and what they take."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.assessment.out_of_fold import refits
from truerisk.assessment.pace import pace_of
from truerisk.contracts import Keeper, Method, Request
from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, BadData, FitFailed, Refusal, TrueRiskError
from truerisk.core.present import named
from truerisk.core.progress import Count, stage
from truerisk.core.registry import check_known
from truerisk.diagnostics.learner_by_size import LearnerBySize, measure, testing, usual_sizes
from truerisk.engines.generic import Generic
from truerisk.engines.templates.one_fit import OneFit
from truerisk.estimation.outer_splits import usual_word
from truerisk.estimation.problem import Problem, choose_intervals, draw_plan
from truerisk.estimation.run import Computed, compute, tuning_problem
from truerisk.methods.kfold import KFold
from truerisk.methods.pairs import testing_method
from truerisk.methods.parts.averages import Averaged
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.words import USUAL_FOLDS, as_method
from truerisk.models.stated.question import tunes_inside
from truerisk.plan.plan import Plan
from truerisk.results.learning_curve import LearningCurve

MOST_IN_FOLDS = 10_000


def word_by_size(n_rows: int) -> str:
    """How so many rows are usually split: of very many, one test tells enough.

    >>> [word_by_size(n) for n in (100, 5_000, 50_000)]
    ['5-fold', '5-fold', 'holdout']
    """
    return USUAL_FOLDS if n_rows <= MOST_IN_FOLDS else "holdout"


@dataclass(frozen=True, eq=False)
class Schedule:
    """The methods that compare settings, the first of which tunes, and the one that tests."""

    methods: tuple[Method, ...]
    plans: tuple[Plan, ...]
    nested: Procedure
    nested_plan: Plan

    @classmethod
    def draw(
        cls, problems: Mapping[str, Problem], methods: Sequence[Any] | None, outer: Any
    ) -> Schedule:
        """Check the methods and draw their plans; several learners are compared inside, too.

        A method that is None is the usual one for so many rows.
        """
        problem, several = next(iter(problems.values())), len(problems) > 1
        usual = usual_word(problem.data, word_by_size(problem.data.n_rows))
        chosen = tuple(as_method(method) for method in methods or (usual,))
        for method in chosen:
            if method.spares_fits:
                raise Refusal(
                    f"how many fits '{method.word}' takes is known only at its end, and an "
                    "assessment states it beforehand: compare settings by their folds, such as "
                    "'10-fold', or race them in HonestSearchCV."
                )
        nested = testing_method(outer, chosen[0], usual, problem.interval, compare=several)
        plain = replace(problem, interval=None)  # the method that an interval needs is here by now
        *plans, nested_plan = (draw_plan(plain, method)[2] for method in (*chosen, nested))
        return cls(chosen, tuple(plans), nested, nested_plan)

    def tuned(self, problem: Problem, count: Count, keeper: Keeper | None) -> list[Computed]:
        """The risk of every setting on all rows, by each of the methods."""
        computations = []
        for method, plan in zip(self.methods, self.plans, strict=True):
            tuning = tuning_problem(replace(problem, interval=None), method)
            computations.append(compute(tuning, method, plan=plan, keeper=keeper))
            count.finish(computations[-1].n_fits)
        return computations

    def with_intervals(self, problem: Problem) -> Problem:
        """The problem with the words of its intervals, as the plan that tests has them."""
        return choose_intervals(replace(problem, calibrated=True), self.nested, self.nested_plan)

    def fits(self, problem: Problem) -> int:
        """How many fits a learner needs, with that of the apparent risk.

        Where its scores are asked apart from its labels, the outer winners are fitted twice. A
        search is fitted once more, for its own claim.
        """
        n_settings = len(problem.family)
        fits = sum(plan.n_fits for plan in self.plans) * n_settings + 1
        outside, inside = map(self.nested_plan.part_named, ("outer", "inner"))
        fits += outside.n_fits * (refits(problem) + (not self.shares_fits))
        if self.nested.asks_inside(n_settings):
            fits += inside.n_fits * n_settings
        return fits + tunes_inside(problem.family)

    @cached_property
    def shares_fits(self) -> bool:
        """Whether the fits that tune on all rows test, too."""
        outside = self.nested_plan.part_named("outer")
        return self.nested.shares_folds and outside.asks_like(self.plans[0])


CHEAP, EVERY = "cheap", "all"


@dataclass(frozen=True, eq=False)
class PlannedCurve:
    """The sizes at which a learner will be measured, and how many fits that takes."""

    learner: LearnerBySize
    sizes: tuple[int, ...]
    n_fits: int

    @classmethod
    def of(cls, problem: Problem, schedule: Schedule) -> PlannedCurve:
        """Tested by the folds of the outer splits, tuned inside by what tunes on all rows."""
        alone = replace(problem, scores={}, interval=None, steps=None)
        learner = LearnerBySize(alone, _folds_of(schedule, problem), schedule.methods[0])
        sizes = tuple(usual_sizes(learner, learner.whole()))
        fits = [plan.n_fits * n for size in sizes for plan, n in learner.plans(size)]
        return cls(learner, sizes, sum(fits))

    def why_dear(self) -> str | None:
        """Why the curve is not cheap: which engine makes every fit of every setting by itself."""
        problem = self.learner.problem
        for size in self.sizes:
            for plan, _ in self.learner.plans(size):
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
        total, like = 0.0, None
        for size in reversed(self.sizes):
            for plan, n in reversed(self.learner.plans(size)):
                pace = pace_of(self.learner.problem, plan, winners=n == 1, like=like)
                like = pace if like is None else like
                total += pace.seconds(plan.n_fits)
        return total


def _folds_of(schedule: Schedule, problem: Problem) -> Averaged:
    """The outer splits; the folds that `pairs` drew are given, else others would be drawn."""
    method = testing(schedule.nested.outer_method)
    outside = schedule.nested_plan.part_named("outer")
    if not schedule.nested.shares_folds or outside.repeat.any():
        return method
    folds = np.empty(problem.data.n_rows, dtype=np.int64)
    for question in range(outside.n_questions):
        folds[outside.test_rows(question)[0]] = question
    return KFold(folds=folds, average=method.average_of(problem.loss))


def _curves_asked(wanted: Any, names: Sequence[str]) -> tuple[str, ...]:
    """Of which learners a curve is wanted: by "cheap" and "all" of each of them."""
    if isinstance(wanted, str) and wanted in (CHEAP, EVERY):
        return tuple(names)
    if not isinstance(wanted, list | tuple) or not wanted:
        raise BadArgument(
            f"learning_curve={shown(wanted)}: give '{CHEAP}' (learners whose fits an engine "
            f"answers together), '{EVERY}', or a list of learners, such as {[*names][:1]}."
        )
    for name in wanted:
        check_known(f"learning_curve={shown(wanted)}: there is no learner", name, names, "Assessed")
    return tuple(dict.fromkeys(wanted))


def planned_curves(
    wanted: Any, problems: Mapping[str, Problem], schedule: Schedule
) -> dict[str, PlannedCurve | str]:
    """The curves of the learners that were asked for; by "cheap" some have a reason instead."""
    if wanted is None:
        return {}
    planned: dict[str, PlannedCurve | str] = {}
    for name in _curves_asked(wanted, list(problems)):
        with named(name):
            try:
                curve = PlannedCurve.of(problems[name], schedule)
            except TrueRiskError as error:
                if wanted != CHEAP:
                    raise
                planned[name] = str(error)
            else:
                planned[name] = (curve.why_dear() if wanted == CHEAP else None) or curve
    return planned


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
    schedule = Schedule.draw(problems, methods, outer)
    curves = planned_curves(learning_curve, problems, schedule)
    expected = []
    for name, problem in problems.items():
        with named(name):
            fits, seconds = schedule.fits(problem), _seconds(problem, schedule)
            curve = curves.get(name, "")
            if not isinstance(curve, str):
                fits, seconds = fits + curve.n_fits, seconds + curve.seconds()
            expected.append(Forecast(name, len(problem.family), fits, seconds))
    return expected


def planned_fits(
    problems: Mapping[str, Problem],
    methods: Sequence[Any] | None,
    outer: Any,
    learning_curve: Any = None,
) -> tuple[int, int]:
    """How many fits the learners need in all, and how many more their learning curves take."""
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
