"""What was found of one learner: its curve, the honest risk of tuning it, and what goes with it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter

import numpy as np

from truerisk.api.assessing.out_of_fold import OutOfFold, calibration_of, out_of_fold, roc_of
from truerisk.api.assessing.own_claim import claimed_by, tunes_inside
from truerisk.api.assessing.reference_risks import AsGiven, as_given
from truerisk.api.assessing.schedule import PlannedCurve, Schedule
from truerisk.core import present
from truerisk.core.answers import Answers
from truerisk.core.contracts import Keeper, Terms
from truerisk.core.errors import FitFailed, NoEngine
from truerisk.core.evaluation import Evaluation, Winners
from truerisk.core.family import Family
from truerisk.core.learning_curve import FURTHEST, ExpectedRisk, LearningCurve
from truerisk.core.progress import Count
from truerisk.core.results import RiskCurve, RiskEstimate
from truerisk.core.statistics.calibration import Calibration
from truerisk.core.statistics.roc import RocCurve
from truerisk.methods.single_fit import Apparent
from truerisk.run.outer_splits import OuterFold, Stability
from truerisk.run.problem import Problem, draw_plan
from truerisk.run.run import Computed, Run, curve_of

__all__ = ["TunedLearner", "honest_learner", "with_curve"]

N_PLACES = 16  # at which the law of a learning curve is read for a picture


@dataclass(frozen=True, eq=False)
class TunedLearner(present.Brief):
    """One learner: its risk curve, the honest risk of tuning it, and how stable the tuning was.

    `claim` is what a learner of one setting says of itself: the risk behind the score by which it
    tunes inside its own fit, or a sentence on why there is none; None where the curve has several.
    `apparent` is the risk on the very rows of the fit, None where that fit failed. `held_out` has
    the probabilities (or scores) of the rows that the outer splits tested, or why there are none.
    `as_given` is the setting that the model was given with, where it is known on the same fits.
    `learning` is its learning curve, or why there is none; None where none was asked for.
    """

    curve: RiskCurve
    criteria: Mapping[str, RiskCurve]
    risk: RiskEstimate
    outer: tuple[OuterFold, ...]
    stability: Stability
    n_fits: int
    seconds: float
    answers: Answers | None = field(repr=False)
    shaken: Answers | None = field(repr=False)
    winners: Winners | None = field(repr=False)
    problem: Problem = field(repr=False)
    apparent: RiskEstimate | None
    held_out: OutOfFold | str = field(repr=False)
    claim: RiskEstimate | str | None = None
    as_given: AsGiven | None = None
    learning: LearningCurve | str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{present.params_text(self.curve.best_params)}: {self.risk}"

    @property
    def selected(self) -> RiskEstimate | None:
        """The risk that was minimised; where None, `no_selected` says why."""
        if self.claim is None:
            return self.curve[self.curve.best]
        return None if isinstance(self.claim, str) else self.claim

    @property
    def no_selected(self) -> str | None:
        """Why it is not known which risk was minimised."""
        return self.claim if isinstance(self.claim, str) else None

    @property
    def tuned(self) -> bool:
        """Whether anything was chosen: among the settings, or inside the learner's own fit."""
        return self.no_selected != present.NOTHING_CHOSEN

    @property
    def claimed(self) -> str:
        """Where `selected` is a claim of its own, what it is; or why there is none."""
        if isinstance(self.claim, RiskEstimate):
            what = self.claim.scale.of(self.claim.loss)
            return present.clean(f"selected is {self.claim.method}, as {what}", 200)
        return present.clean(self.claim or "", 200)

    @property
    def out_of_fold(self) -> OutOfFold | None:
        """Probabilities (or scores) of the rows that the outer splits tested."""
        return None if isinstance(self.held_out, str) else self.held_out

    @cached_property
    def _roc(self) -> RocCurve | str:
        found = self.held_out
        return found if isinstance(found, str) else roc_of(found, self.problem)

    @property
    def roc(self) -> RocCurve | None:
        """The ROC curve of rows without part in tuning or fit; where None, `no_roc` says why."""
        return None if isinstance(self._roc, str) else self._roc

    @property
    def no_roc(self) -> str | None:
        """Why there is no ROC curve."""
        return self._roc if isinstance(self._roc, str) else None

    @cached_property
    def calibration(self) -> Calibration | None:
        """Whether the probabilities of such rows mean what they say; None without any."""
        found = self.out_of_fold
        return None if found is None else calibration_of(found, self.problem)

    @property
    def learning_curve(self) -> LearningCurve | None:
        """The risk of tuning it on fewer rows, and the law; where None, `no_learning_curve`."""
        return None if isinstance(self.learning, str) else self.learning

    @property
    def no_learning_curve(self) -> str | None:
        """Why there is no learning curve, where one was asked for."""
        return self.learning if isinstance(self.learning, str) else None

    @cached_property
    def expected(self) -> tuple[ExpectedRisk, ...]:
        """What the law of the learning curve says up to twice the rows; empty without a law."""
        curve = self.learning_curve
        if curve is None or curve.law is None:
            return ()
        n, first = float(self.problem.data.n_rows), float(curve.sizes[0])
        last = min(2 * n, FURTHEST * float(curve.sizes[-1]))
        places = np.union1d(np.geomspace(first, last, N_PLACES), [min(n, last)])
        return tuple(curve.at(float(place)) for place in places)

    @property
    def optimism(self) -> float | None:
        """Honest minus selected risk; None where they are of two losses."""
        selected = self.selected
        if selected is None or selected.loss != self.risk.loss:
            return None
        if self.risk.value is None or selected.value is None:
            return None
        return self.risk.value - selected.value


def honest_learner(
    problem: Problem,
    tuned: Sequence[Computed],
    schedule: Schedule,
    count: Count,
    keeper: Keeper | None,
) -> TunedLearner:
    """The honest risk of tuning this learner, put beside what the tuning found."""
    started = perf_counter()
    run = Run(problem, schedule.methods[0], schedule.nested, tuned=tuned[0])
    run = run.test(plan=schedule.nested_plan, keeper=keeper)
    count.finish(run.honest.n_made)
    curve, found = run.curve, run.honest.evaluation
    inside = tunes_inside(problem.family)  # one more fit, on all rows
    claim = claimed_by(problem, curve[0]) if inside else None
    if len(curve) == 1 and not inside:
        claim = present.NOTHING_CHOSEN
    with warnings.catch_warnings():  # these models have said before what they warn of
        warnings.simplefilter("ignore")
        held_out = out_of_fold(run, keeper)
        apparent = apparent_risk(problem, curve.best, keeper)
    again = 1 + inside + (0 if isinstance(held_out, str) else held_out.n_fits)
    count.finish(again)
    return TunedLearner(
        curve=curve,
        criteria=_by_word([curve_of(computed) for computed in tuned[1:]]),
        risk=run.risk,
        outer=run.outer,
        stability=run.stability(curve.best),
        n_fits=sum(one.n_made for one in (*tuned, run.honest)) + again,
        seconds=sum(one.seconds for one in tuned) + perf_counter() - started,
        answers=found.answers,
        shaken=found.shaken,
        winners=found.winners,
        problem=problem,
        apparent=apparent,
        held_out=held_out,
        claim=claim,
        as_given=as_given(run, curve),
    )


def with_curve(
    one: TunedLearner, curve: PlannedCurve | str, count: Count, keeper: Keeper | None
) -> TunedLearner:
    """With its learning curve, or with the reason why it has none."""
    if isinstance(curve, str):
        return replace(one, learning=curve)
    started = perf_counter()
    learning, n_fits = curve.measured(keeper), one.n_fits + curve.n_fits
    count.finish(curve.n_fits)
    seconds = one.seconds + perf_counter() - started
    return replace(one, learning=learning, n_fits=n_fits, seconds=seconds)


def _by_word(curves: Sequence[RiskCurve]) -> dict[str, RiskCurve]:
    """Curves by the word of their method; a word that comes again gets a number."""
    found: dict[str, RiskCurve] = {}
    for curve in curves:
        word = curve.common.method
        again = sum(other.common.method == word for other in found.values())
        found[f"{word} ({again + 1})" if again else word] = curve
    return found


def apparent_risk(
    problem: Problem, candidate: int, keeper: Keeper | None = None
) -> RiskEstimate | None:
    """The risk of one setting on the rows of its fit; None where that fails or is refused."""
    started, method = perf_counter(), Apparent()
    problem, _, plan = draw_plan(replace(problem, scores={}, interval=None), method)
    data = problem.data
    asking = problem.asking(keeper=keeper)
    try:
        answers = asking(plan, np.full(plan.n_fits, candidate))
    except (FitFailed, NoEngine):
        return None
    terms = Terms(problem.confidence_level, problem.rule, 1)
    tested = tuple(method.reduce(answers, data, problem.loss, terms))
    alone = Family(problem.family.estimator, (problem.family.candidates[candidate],))
    computed = Computed(
        replace(problem, family=alone),
        method,
        Evaluation(plan, tested, answers.n_fits, answers=answers),
        asking.engine,
        asking.refusals,
        perf_counter() - started,
        answers.n_fits,
    )
    return curve_of(computed)[0]
