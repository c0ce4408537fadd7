"""Discrimination, calibration and net benefit of a model of two outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.api.assessing.out_of_fold import OVERLAP, POOLED
from truerisk.api.validating.event import Event
from truerisk.api.validating.honest import HonestRun, richest_request
from truerisk.api.validating.rank_estimates import score_of
from truerisk.api.validating.resampled import Resampled, resampled
from truerisk.api.validating.wishes import Wishes
from truerisk.core.contracts import Request
from truerisk.core.errors import Refusal
from truerisk.core.interval import Interval
from truerisk.core.plan.builder import one_fit
from truerisk.core.plan.order import ORDERED
from truerisk.core.statistics.roc import RocCurve
from truerisk.core.validation.calibration_curve import CalibrationFit, grid_of
from truerisk.core.validation.discrimination import Discrimination
from truerisk.core.validation.held_out import HeldOut
from truerisk.core.validation.measured import Measured
from truerisk.core.validation.measures import MEASURES
from truerisk.core.validation.net_benefit import NetBenefit
from truerisk.core.validation.outcomes import Outcomes, clipped
from truerisk.core.validation.profile import Optimism, Profile
from truerisk.core.validation.recalibration import Recalibration
from truerisk.core.validation.smooth_calibration import CalibrationCurve, SmoothCalibration

__all__ = ["Found", "Wishes", "parts_of_two_outcomes"]

N_BINS = 20
NO_PROBABILITIES = (
    "{} gives no probabilities: put sklearn.calibration.CalibratedClassifierCV around it, or take "
    "a learner with predict_proba."
)
OF_THE_LINE = ("r2", "d", "intercept", "slope", "in-the-large", "u", "q")
OF_THE_CURVE = ("ici", "e50", "e90", "emax")
FEW_EVENTS = 200
FEW = (
    "{} rows of the rarer outcome: Van Calster et al. (2016) ask for {} before a curve is read in "
    "its details."
)


def _why_not(run: HonestRun, event: Event | None) -> str | None:
    """Why these parts do not exist, or None."""
    data = run.problem.data
    if data.task != "classification":
        return "it is defined for two outcomes, and y holds numbers."
    if event is None:
        return (
            f"it is defined for two outcomes, and y has {data.n_classes} classes: name the one "
            f"that is the event, such as positive={data.label(1)!r}; the others are the rest."
        )
    if richest_request(run.problem) is None:
        return "the model gives neither probabilities nor decision values."
    return None


@dataclass(frozen=True)
class Found:
    """The parts by name, why others are missing, and notes.

    `own` is what the model of all rows says of them, `samples` what those of bootstrap samples say.
    """

    parts: Mapping[str, Any]
    missing: Mapping[str, str]
    notes: tuple[str, ...] = ()
    own: np.ndarray | None = None
    samples: Resampled | None = None


def parts_of_two_outcomes(
    run: HonestRun, held: HeldOut, wishes: Wishes, event: Event | None
) -> Found:
    """Discrimination, calibration and net benefit of an event, or why there are none."""
    why = _why_not(run, event)
    if why is not None or event is None:
        return Found({}, dict.fromkeys(("discrimination", "calibration", "net_benefit"), why or ""))
    return _TwoOutcomes(run, held, wishes, event).found()


class _TwoOutcomes:
    """The numbers of one validation, each computed once."""

    def __init__(self, run: HonestRun, held: HeldOut, wishes: Wishes, event: Event) -> None:
        self.run, self.wishes, self.of_event = run, wishes, event
        self.held, self.data, self.event = event.held(held), event.data, event.label
        self.ranks_only = held.response != "probability"
        self.honest = Outcomes.held_out(self.held, wishes.clip)
        self.level = run.problem.confidence_level
        self.own = _answers_of_all(run)
        own = self._all_rows(self.own)
        grid = np.empty(0) if self.ranks_only else grid_of(own.given)
        thresholds = np.empty(0) if self.ranks_only else wishes.thresholds
        self.profile = Profile(grid, thresholds, self.ranks_only)
        self.sure = not run.risk.ordered  # answers that go forward in time depend on each other
        self.notes: list[str] = [] if self.sure else [ORDERED]
        self.samples: Resampled | None = None
        self.why_no_curve: str | None = None
        self.optimism = self._optimism(self.profile.of(own))

    def found(self) -> Found:
        """The parts by name, why others are missing, and notes."""
        measures = self._measured()
        parts: dict[str, Any] = {"discrimination": self._discrimination(measures)}
        missing: dict[str, str] = {}
        if self.ranks_only:
            why = NO_PROBABILITIES.format(self.run.problem.family.name)
            missing = {"calibration": why, "net_benefit": why}
        else:
            parts |= {"calibration": self._calibration(measures), "net_benefit": self._benefit()}
        return Found(parts, missing, tuple(self.notes), self.own, self.samples)

    # -- numbers ----------------------------------------------------------------------------------

    def _all_rows(self, answers: np.ndarray, times: np.ndarray | None = None) -> Outcomes:
        """Answers about all rows, each as often as `times` says."""
        answers = self.of_event.read(answers, self.held.response)
        given = answers if answers.ndim == 1 else answers[:, 1]
        given = given if self.ranks_only else clipped(given, self.wishes.clip)
        rows = np.arange(len(given)) if times is None else np.repeat(np.arange(len(given)), times)
        return Outcomes.of(self.data.class_codes[rows] == 1, given[rows], self.data.weights(rows))

    def _optimism(self, apparent: np.ndarray) -> Optimism:
        training, test, wishes = [], [], self.wishes
        if wishes.replicates or wishes.samples is not None:
            wanted = Request(self.held.response)
            try:
                found = resampled(
                    self.run, wanted, wishes.replicates, wishes.samples, wishes.seed,
                    wishes.executor,
                )  # fmt: skip
            except Refusal as refusal:
                self.notes.append(f"no optimism is known: {refusal}")
                return Optimism.of(apparent, [], [])
            self.samples = found
            for times, answers in found:
                training.append(self.profile.of(self._all_rows(answers, times)))
                test.append(self.profile.of(self._all_rows(answers)))
            if found.n_left_out:
                self.notes.append(
                    f"{found.n_left_out} bootstrap samples do not count: they lack a class, "
                    "or their model failed."
                )
        return Optimism.of(apparent, training, test)

    def _measured(self) -> Mapping[str, Measured]:
        """Every measure, honest and otherwise."""
        of = self.profile.measures
        ladder = {
            name: of(getattr(self.optimism, name)) for name in ("apparent", "training", "test")
        }
        n = dict(zip(MEASURES, self.optimism.n.tolist(), strict=False))
        told = self._honest_measures()
        return {
            word: Measured(**{**told[word], **_at(ladder, word)}, n=n[word])
            for word in MEASURES
            if not (self.ranks_only and word not in ("auc", "average-precision"))
        }

    def _honest_measures(self) -> dict[str, dict[str, Any]]:
        """Value, error, interval and reason of every measure of held-out rows."""
        values = self.profile.measures(self.profile.of(self.honest))
        told: dict[str, dict[str, Any]] = {
            word: {"word": word, "honest": _or_none(value)} for word, value in values.items()
        }
        for word in ("auc", "average-precision", "brier"):
            if word == "brier" and self.ranks_only:
                continue
            score = score_of(self.run, word, self.of_event)
            told[word] = {
                "word": word, "honest": score.value, "std_error": score.std_error,
                "interval": score.interval, "reason": score.reason,
            }  # fmt: skip
        if self.ranks_only:
            return told
        try:
            errors = Recalibration.of(self.honest).std_errors(self.honest.members)
            for word, error in errors.items() if self.sure else ():
                told[word] |= {"std_error": error, "interval": self._wald(values[word], error)}
        except Refusal as refusal:
            for word in OF_THE_LINE:
                told[word]["reason"] = str(refusal)
        try:
            CalibrationFit.of(self.honest)
        except Refusal as refusal:
            self.why_no_curve = str(refusal)
            for word in OF_THE_CURVE:
                told[word]["reason"] = str(refusal)
        return told

    def _wald(self, value: float, error: float) -> Interval:
        from scipy.special import ndtri

        half = float(ndtri((1 + self.level) / 2)) * error
        return Interval(value - half, value + half, "sandwich", self.level)

    # -- parts ------------------------------------------------------------------------------------

    def _discrimination(self, measures: Mapping[str, Measured]) -> Discrimination:
        held, roc = self.held, None
        if not self.honest.of_one_class:
            given = held.answers if held.answers.ndim == 1 else held.answers[:, 1]
            roc = RocCurve.of(
                held.truth == 1,
                given,
                weights=held.weights,
                groups=held.rows if held.groups is None else held.groups,
                rows=held.rows,
                confidence_level=self.level,
                method="held-out answers",
                notes=(POOLED, OVERLAP) if self.ranks_only else (OVERLAP,),
            )
            if not self.sure:
                roc = replace(roc, std_error=None, interval=None)
        return Discrimination(self.event, _of_part(measures, "discrimination"), roc)

    def _calibration(self, measures: Mapping[str, Measured]) -> SmoothCalibration:
        honest, curve = self.honest, None
        if self.why_no_curve is None:
            fit, grid = CalibrationFit.of(honest), self.profile.grid
            band = fit.band(grid, honest.members, self.level) if self.sure else (None, None)
            apparent = self.profile.curve(self.optimism.apparent)
            corrected = self.profile.curve(self.optimism.corrected)
            curve = CalibrationCurve(
                predicted=grid,
                observed=fit.at(grid),
                low=band[0],
                high=band[1],
                apparent=apparent if np.isfinite(apparent).all() else None,
                corrected=corrected if np.isfinite(corrected).all() else None,
                confidence_level=self.level,
            )
        edges = np.linspace(0, 1, N_BINS + 1)
        counts = [
            np.histogram(honest.given[side], edges, weights=honest.weights[side])[0]
            for side in (honest.came == 1, honest.came == 0)
        ]
        fewer = min(honest.n_events, honest.n_rows - honest.n_events) // self.held.n_repetitions
        return SmoothCalibration(
            event=self.event,
            measures=_of_part(measures, "calibration"),
            curve=curve,
            counts=np.array(counts),
            missing=self.why_no_curve,
            notes=(OVERLAP, *((FEW.format(fewer, FEW_EVENTS),) if fewer < FEW_EVENTS else ())),
        )

    def _benefit(self) -> NetBenefit:
        corrected = self.profile.net_benefit(self.optimism.corrected)
        return NetBenefit.of(
            self.honest,
            self.wishes.thresholds,
            event=self.event,
            apparent=self.profile.net_benefit(self.optimism.apparent),
            corrected=corrected if np.isfinite(corrected).all() else None,
            confidence_level=self.level,
            sure=self.sure,
            notes=(OVERLAP,),
        )


def _answers_of_all(run: HonestRun) -> np.ndarray:
    """What the model of all rows says of these rows: that of the search, or one more fit."""
    problem, request = run.problem, richest_request(run.problem)
    assert request is not None  # else there are no two outcomes to validate
    fitted = getattr(run.asked.fitted, "best_estimator_", None)
    if fitted is not None:
        ask = "predict_proba" if request.response == "probability" else "decision_function"
        return np.asarray(getattr(fitted, ask)(problem.data.X))
    n = problem.data.n_rows
    only = np.array([run.best])
    return problem.asking(engine="auto").answers(one_fit(n, np.arange(n)), request, only).values[0]


def _of_part(measures: Mapping[str, Measured], part: str) -> dict[str, Measured]:
    return {word: one for word, one in measures.items() if MEASURES[word].part == part}


def _at(ladder: Mapping[str, Mapping[str, float]], word: str) -> dict[str, Any]:
    """One measure on every rung."""
    return {name: _or_none(numbers[word]) for name, numbers in ladder.items()}


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
