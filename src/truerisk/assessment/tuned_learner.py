"""Result of one learner: its risk curve, and the honest risk of tuning it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from operator import attrgetter
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truerisk.assessment.door import load_from_assessment
from truerisk.assessment.out_of_fold import OutOfFoldPredictions, predict_out_of_fold
from truerisk.assessment.schedule import Schedule
from truerisk.contracts import FitStore, Terms
from truerisk.core import formats
from truerisk.core.errors import BadData, FitFailed, NoEngine, Refusal
from truerisk.core.family import Family, tunes_inside
from truerisk.core.frozen import frozen
from truerisk.core.progress import FitCounter as Progress
from truerisk.estimation.outer_splits import OuterFold, Stability, choice_stability, outer_folds
from truerisk.estimation.problem import EstimationProblem, draw_plan
from truerisk.estimation.run import Computation, compute_risks, to_procedure_estimate, to_risk_curve
from truerisk.methods.apparent import Apparent
from truerisk.plan.answers import Answers
from truerisk.results import sentences
from truerisk.results.evaluation import ChosenCandidates
from truerisk.results.records import UNWRITTEN, Count, NonNegative, Record
from truerisk.results.results import RiskCurve, RiskEstimate
from truerisk.search.as_given import UntunedComparison, compare_with_untuned
from truerisk.search.door import load_from_search as load_part_of_search

if TYPE_CHECKING:
    from truerisk.assessment.learning_curves import PlannedCurve
    from truerisk.diagnostics.risk_over_time import RiskOverTime
    from truerisk.results.calibration import Calibration
    from truerisk.results.learning_curve import ExpectedRisk, LearningCurve
    from truerisk.results.roc import RocCurve


@frozen(eq=False)
class TunedLearner(Record):
    """One learner: its risk curve, the honest risk of tuning it, and how stable the tuning was.

    `selected` is the risk or score that chose the setting: that of the chosen setting, or, if a
    learner tunes inside its own fit, the score that it reports of itself; if it is None,
    `no_selected` says why. `apparent` is the risk on the training rows of the fit itself, None if
    that fit failed. `learning_curve` is the risk of tuning the learner on fewer rows, and its power
    law; if it was requested and is None, `no_learning_curve` says why. The following fields are not
    written: `held_out` has the probabilities (or scores) of the rows that the outer splits tested,
    or why there are none. `as_given` compares with the setting that the model was given with, if
    its risk is known from the same fits.
    """

    derived: ClassVar[Mapping[str, str]] = {"setting": "setting", "optimism": "optimism"}
    stored: ClassVar[Mapping[str, str]] = {"over_time": "over_time", "no_over_time": "no_over_time"}

    _types_elsewhere: ClassVar[Mapping[str, str]] = {
        "LearningCurve": "truerisk.results.learning_curve:LearningCurve",
        "RiskOverTime": "truerisk.diagnostics.risk_over_time:RiskOverTime",
    }

    curve: RiskCurve
    risk: RiskEstimate
    outer: tuple[OuterFold, ...]
    stability: Stability
    n_fits: Count
    seconds: NonNegative
    criteria: Mapping[str, RiskCurve]
    selected: RiskEstimate | None
    no_selected: str | None = None
    apparent: RiskEstimate | None = None
    learning_curve: LearningCurve | None = field(default=None, repr=False)
    no_learning_curve: str | None = None
    answers: Answers | None = field(default=None, repr=False, metadata=UNWRITTEN)
    left_two_out: Answers | None = field(default=None, repr=False, metadata=UNWRITTEN)
    winners: ChosenCandidates | None = field(default=None, repr=False, metadata=UNWRITTEN)
    problem: EstimationProblem | None = field(default=None, repr=False, metadata=UNWRITTEN)
    held_out: OutOfFoldPredictions | str | None = field(
        default=None, repr=False, metadata=UNWRITTEN
    )
    as_given: UntunedComparison | None = field(default=None, metadata=UNWRITTEN)

    def __str__(self) -> str:
        return f"{formats.format_params(self.setting)}: {self.risk}"

    @property
    def setting(self) -> dict[str, Any]:
        """Hyperparameter setting that was chosen on all rows."""
        return self.curve.best_params

    @property
    def tuned(self) -> bool:
        """True if the learner was tuned, either among its settings or inside its own fit."""
        return self.no_selected != sentences.NO_SELECTION_TEXT

    @property
    def claim_text(self) -> str:
        """Description of the `selected` value if the learner itself reports this value.

        If there is no `selected` value, the text says why. The text is empty if the value comes
        from the learner's risk curve.
        """
        claim = self.selected
        if claim is None:
            return formats.escape_and_truncate(self.no_selected or "", 200)
        if claim.method == self.curve.common.method:
            return ""
        score_name = claim.scale.name_for(claim.scoring)
        return f"selected is {formats.escape_and_truncate(claim.method, 100)}, as {score_name}"

    @property
    def out_of_fold(self) -> OutOfFoldPredictions | None:
        """Probabilities (or scores) predicted in the outer splits for held-out rows, or None."""
        return self.held_out if isinstance(self.held_out, OutOfFoldPredictions) else None

    @cached_property
    def _roc_or_reason(self) -> RocCurve | str | None:
        held_out = self.held_out
        if self.problem is None or not isinstance(held_out, OutOfFoldPredictions):
            return held_out if isinstance(held_out, str) else None
        curve: RocCurve | str = load_from_assessment("roc")(held_out, self.problem)
        return curve

    @property
    def roc(self) -> RocCurve | None:
        """ROC curve of rows used neither for tuning nor for fitting; if None, `no_roc` says why."""
        return None if isinstance(self._roc_or_reason, str) else self._roc_or_reason

    @property
    def no_roc(self) -> str | None:
        """Reason why there is no ROC curve, or None."""
        return self._roc_or_reason if isinstance(self._roc_or_reason, str) else None

    @cached_property
    def calibration(self) -> Calibration | None:
        """Calibration of the probabilities of held-out rows; None without probabilities."""
        held_out_predictions, problem = self.out_of_fold, self.problem
        if held_out_predictions is None or problem is None:
            return None
        calibration: Calibration | None = load_from_assessment("calibration")(
            held_out_predictions, problem
        )
        return calibration

    @cached_property
    def _over_time_or_reason(self) -> RiskOverTime | str | None:
        row_times = None if self.problem is None else self.problem.data.time
        if row_times is None:
            return None
        try:
            risk_over_time: RiskOverTime = load_from_assessment("over-time")(self.risk, row_times)
            return risk_over_time
        except (BadData, Refusal) as error:
            return str(error)

    @cached_property
    def over_time(self) -> RiskOverTime | None:
        """Honest risk in periods of time, if rows have times; if None, see `no_over_time`."""
        return None if isinstance(self._over_time_or_reason, str) else self._over_time_or_reason

    @cached_property
    def no_over_time(self) -> str | None:
        """Reason why rows with times have no risk over time, or None."""
        return self._over_time_or_reason if isinstance(self._over_time_or_reason, str) else None

    @property
    def has_learning_curve(self) -> bool:
        """True if a learning curve was requested, whether it was measured or refused."""
        return self.learning_curve is not None or self.no_learning_curve is not None

    @property
    def expected(self) -> tuple[ExpectedRisk, ...]:
        """Risks that the learning curve predicts for up to twice the rows; () without a curve."""
        return () if self.learning_curve is None else self.learning_curve.expected

    @property
    def optimism(self) -> float | None:
        """Amount by which the selected value is better than the honest value.

        It is None if the two values are of different scores or averages.
        """
        selected_risk = self.selected
        if selected_risk is None or selected_risk.scoring != self.risk.scoring:
            return None
        if selected_risk.pooled != self.risk.pooled:
            return None
        return self.risk.scale.compute_optimism(self.risk.value, selected_risk.value)

    def _metrics(self) -> Mapping[str, Any]:
        return {
            **self.risk.to_metrics(),
            "selected": None if self.selected is None else self.selected.value,
            "optimism": self.optimism,
            "n_fits": self.n_fits,
            "seconds": self.seconds,
        }


def assess_learner(
    problem: EstimationProblem,
    computations: Sequence[Computation],
    schedule: Schedule,
    fit_counter: Progress,
    fit_store: FitStore | None,
) -> TunedLearner:
    """Test the tuning of a learner, and collect its honest risk and the results of the tuning."""
    start_time = perf_counter()
    tuning_predictions, plan = [computations[0].answers], schedule.nested_plan
    calibrated_problem = replace(problem, uses_calibrated_interval=True)
    computation = compute_risks(
        calibrated_problem,
        schedule.nested_method,
        plan=plan,
        fit_store=fit_store,
        known=tuning_predictions,
    )
    fit_counter.finish(computation.n_new_fits)
    curve, risk, folds = (
        to_risk_curve(computations[0]),
        to_procedure_estimate(computation),
        outer_folds(problem, computation),
    )
    assert risk is not None  # The method tests a procedure, so there is a risk.
    # A learner that tunes inside its own fit needs one more fit, on all rows.
    has_inner_tuning = tunes_inside(problem.family)
    selected_or_reason: RiskEstimate | str = (
        sentences.NO_SELECTION_TEXT if len(curve) == 1 else curve[curve.best]
    )
    if has_inner_tuning:
        selected_or_reason = load_part_of_search("claim-of-model")(problem, curve[0])
    # The same models were fitted before, so their warnings have already been given.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held_out = predict_out_of_fold(problem, computation, fit_store)
        apparent_estimate = apparent_risk(problem, curve.best, fit_store)
    n_further_fits = 1 + has_inner_tuning + (0 if isinstance(held_out, str) else held_out.n_fits)
    fit_counter.finish(n_further_fits)
    return TunedLearner(
        curve=curve,
        criteria=_curves_by_method(list(map(to_risk_curve, computations[1:]))),
        risk=risk,
        outer=folds,
        stability=choice_stability(folds, curve.best, problem.family),
        n_fits=sum(map(attrgetter("n_new_fits"), (*computations, computation))) + n_further_fits,
        seconds=sum(map(attrgetter("seconds"), computations)) + perf_counter() - start_time,
        answers=computation.answers,
        left_two_out=computation.left_two_out,
        winners=computation.winners,
        problem=problem,
        apparent=apparent_estimate,
        held_out=held_out,
        selected=None if isinstance(selected_or_reason, str) else selected_or_reason,
        no_selected=selected_or_reason if isinstance(selected_or_reason, str) else None,
        as_given=compare_with_untuned(problem, computations[0], curve, computation, risk),
    )


def add_learning_curve(
    learner: TunedLearner,
    planned_curve: PlannedCurve | str,
    fit_counter: Progress,
    fit_store: FitStore | None,
) -> TunedLearner:
    """Measure the learning curve of a learner and add it, or the reason why there is none."""
    if isinstance(planned_curve, str):
        return replace(learner, no_learning_curve=planned_curve)
    start_time = perf_counter()
    learning_curve, n_fits = planned_curve.measure(fit_store), learner.n_fits + planned_curve.n_fits
    fit_counter.finish(planned_curve.n_fits)
    learner = replace(learner, n_fits=n_fits, seconds=learner.seconds + perf_counter() - start_time)
    if isinstance(learning_curve, str):
        return replace(learner, no_learning_curve=learning_curve)
    return replace(learner, learning_curve=learning_curve)


def _curves_by_method(curves: Sequence[RiskCurve]) -> dict[str, RiskCurve]:
    """Map the name of each method to the risk curve that the method computed.

    If a name is repeated, a number is appended, as in "5-fold (2)".
    """
    curves_by_name: dict[str, RiskCurve] = {}
    for curve in curves:
        name = curve.common.method
        n_earlier = sum(
            other_curve.common.method == name for other_curve in curves_by_name.values()
        )
        curves_by_name[f"{name} ({n_earlier + 1})" if n_earlier else name] = curve
    return curves_by_name


def apparent_risk(
    problem: EstimationProblem, candidate: int, fit_store: FitStore | None = None
) -> RiskEstimate | None:
    """Return the risk of a setting on the rows of its own fit; None if the fit fails."""
    start_time, method = perf_counter(), Apparent()
    problem, _, plan = draw_plan(replace(problem, scores={}, interval=None), method)
    data = problem.data
    ask = problem.create_asking(fit_store=fit_store)
    try:
        training_predictions = ask(plan, np.full(plan.n_fits, candidate))
    except (FitFailed, NoEngine):
        return None
    risk_terms = Terms(problem.confidence_level, problem.rule, 1)
    single_family = Family(problem.family.estimator, (problem.family.candidates[candidate],))
    computation = Computation(
        plan=plan,
        tested=tuple(method.reduce(training_predictions, data, problem.loss, risk_terms)),
        n_fits=training_predictions.n_fits,
        answers=training_predictions,
        problem=replace(problem, family=single_family),
        method=method,
        engine=ask.engine,
        refusals=ask.refusals,
        seconds=perf_counter() - start_time,
        n_new_fits=training_predictions.n_fits - ask.n_known,
    )
    return to_risk_curve(computation)[0]
