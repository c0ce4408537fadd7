"""All numbers of a validation: of held-out rows, apparent, of samples, and without each fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.api.validating.honest import HonestRun, pair_answers
from truerisk.api.validating.resampled import Resampled, resampled
from truerisk.api.validating.wishes import Wishes
from truerisk.core.answers import Answers, Response
from truerisk.core.contracts import Request, Terms
from truerisk.core.errors import Refusal
from truerisk.core.interval import Interval
from truerisk.core.loss_words import as_loss
from truerisk.core.plan.builder import one_fit
from truerisk.core.plan.order import ORDERED
from truerisk.core.validation.calibration_curve import CalibrationFit, grid_of
from truerisk.core.validation.fold_jackknife import FoldJackknife
from truerisk.core.validation.held_out import HeldOut
from truerisk.core.validation.link import IDENTITY
from truerisk.core.validation.measured import Measured
from truerisk.core.validation.measures import MEASURES, OF_EVENTS, OF_NUMBERS, OF_RANKS
from truerisk.core.validation.outcomes import Outcomes, clipped
from truerisk.core.validation.profile import Optimism, Profile
from truerisk.core.validation.recalibration import Recalibration
from truerisk.methods.parts.interval_choice import choose
from truerisk.run.event import Event

__all__ = ["Rating", "ScoreTold", "score_of"]

SCORED = ("auc", "average-precision", "brier", "squared")
OF_THE_LINE = ("r2", "d", "intercept", "slope", "in-the-large", "u", "q", "explained")
OF_THE_CURVE = ("ici", "e50", "e90", "emax")
LACKS = "without one of the folds it does not exist, so that its interval is not known."


class Rating:
    """The numbers of one validation, each computed once; of an `event`, or of numbers."""

    def __init__(
        self, run: HonestRun, held: HeldOut, wishes: Wishes, event: Event | None = None
    ) -> None:
        self.run, self.wishes, self.of_event = run, wishes, event
        self.held = held if event is None else event.held(held)
        self.data = run.problem.data if event is None else event.data
        self.ranks_only = held.response == "score"
        self.honest = Outcomes.held_out(self.held, wishes.clip)
        self.level = run.problem.confidence_level
        self.own = _answers_of_all(run)
        own = self._all_rows(self.own)
        bare = self.ranks_only
        self.profile = Profile(
            np.empty(0) if bare else grid_of(own),
            np.empty(0) if bare or event is None else wishes.thresholds,
            OF_NUMBERS if event is None else OF_RANKS if bare else OF_EVENTS,
        )
        self.notes: list[str] = []
        self.sure = self._independent()
        self.samples: Resampled | None = None
        self.why_no_curve: str | None = None
        self.optimism = self._optimism(self.profile.of(own))
        self.values = self.profile.of(self.honest)
        self.jackknife = self._without_each_fold() if self.sure and not bare else None

    def _independent(self) -> bool:
        """Whether rows, or their groups, are independent tests; a note says why not."""
        data = self.run.problem.data
        if self.run.risk.ordered:
            self.notes.append(ORDERED if data.time is None else IN_TIME)
        elif data.dependent:
            self.notes.append(DEPENDENT)
        return not self.notes

    # -- outcomes ---------------------------------------------------------------------------------

    def _outcomes(
        self, answers: np.ndarray, rows: np.ndarray, members: np.ndarray | None = None
    ) -> Outcomes:
        """Answers about these rows."""
        weights = self.data.weights(rows)
        if self.of_event is None:
            return Outcomes.of(self.data.y[rows], answers, weights, members, IDENTITY)
        given = self.of_event.read(answers, self.held.response)
        if not self.ranks_only:
            given = clipped(given[:, 1], self.wishes.clip)
        return Outcomes.of(self.data.class_codes[rows] == 1, given, weights, members)

    def _all_rows(self, answers: np.ndarray, times: np.ndarray | None = None) -> Outcomes:
        """Answers about all rows, each as often as `times` says."""
        rows = np.arange(len(answers))
        rows = rows if times is None else np.repeat(rows, times)
        return self._outcomes(answers[rows], rows)

    # -- numbers ----------------------------------------------------------------------------------

    def _optimism(self, apparent: np.ndarray) -> Optimism:
        training, test, wishes = [], [], self.wishes
        if wishes.replicates or wishes.samples is not None:
            try:
                wanted = Request(self.held.response)
                found = resampled(self.run, wanted, wishes.replicates, wishes.samples, wishes.seed)
            except Refusal as refusal:
                self.notes.append(f"no optimism is known: {refusal}")
                return Optimism.of(apparent, [], [])
            self.samples = found
            for times, answers in found:
                training.append(self.profile.of(self._all_rows(answers, times)))
                test.append(self.profile.of(self._all_rows(answers)))
            if found.n_left_out:
                self.notes.append(
                    f"{found.n_left_out} bootstrap samples do not count: they lack a class, or "
                    "their model failed."
                )
        return Optimism.of(apparent, training, test)

    def _without_each_fold(self) -> FoldJackknife | None:
        """The numbers without every fold, by the models of pairs; None where there are none."""
        try:
            answers = pair_answers(self.run, self.held.response)
        except Refusal:
            return None
        self.run = self.run.with_moved(answers)
        plan = answers.plan
        other = np.repeat(plan.unit, plan.test_sizes)
        rows, groups, told = plan.positions[0], self.data.groups, []
        for fold in np.unique(other):
            mine = np.flatnonzero(other == fold)
            if len(np.unique(rows[mine])) < len(mine):
                return None  # rows are tested more than once: folds of several drawings
            members = None if groups is None else groups[rows[mine]]
            found = self._outcomes(answers.values[0][mine], rows[mine], members)
            told.append(self.profile.of(found))
        return FoldJackknife.of(self.values, told)

    def measured(self) -> Mapping[str, Measured]:
        """Every measure, honest and otherwise."""
        of, words = self.profile.measures, self.profile.words
        ladder = {
            name: of(getattr(self.optimism, name)) for name in ("apparent", "training", "test")
        }
        n, told = dict(zip(words, self.optimism.n.tolist(), strict=False)), self._honest()
        for name, numbers in ladder.items():
            for word in words:
                told[word][name] = _or_none(numbers[word])
        return {word: Measured(**told[word], n=n[word]) for word in words}

    def _honest(self) -> dict[str, dict[str, Any]]:
        """Value, error, interval and reason of every measure of held-out rows."""
        told: dict[str, dict[str, Any]] = {
            word: {"word": word, "honest": _or_none(value)}
            for word, value in self.profile.measures(self.values).items()
        }
        for word in SCORED:
            if word in told:
                score = score_of(self.run, word, self.of_event)
                told[word] |= {
                    "honest": score.value, "std_error": score.std_error,
                    "interval": score.interval, "reason": score.reason,
                }  # fmt: skip
        if self.ranks_only:
            return told
        try:
            line = Recalibration.of(self.honest)
            for word, error in line.std_errors(self.honest.members).items() if self.sure else ():
                told[word] |= self._sureness(word, error)
        except Refusal as refusal:
            for word in told.keys() & set(OF_THE_LINE):
                told[word]["reason"] = str(refusal)
        try:
            CalibrationFit.of(self.honest)
        except Refusal as refusal:
            self.why_no_curve = str(refusal)
            for word in OF_THE_CURVE:
                told[word]["reason"] = str(refusal)
        return told

    def _sureness(self, word: str, error: float) -> dict[str, Any]:
        """That of the rows as tests of one rule, and of the rules of the folds besides."""
        from scipy.special import ndtri

        place, one = self.profile.words.index(word), self.jackknife
        if one is None:
            middle, spread = self.values[place], error**2
        else:
            middle, spread = one.carried[place], error**2 + one.variance[place]
        if not np.isfinite(spread):
            return {"std_error": error, "reason": LACKS}
        half = float(ndtri((1 + self.level) / 2)) * float(spread) ** 0.5
        name = "sandwich" if one is None else "sandwich-pairs"
        interval = Interval(float(middle) - half, float(middle) + half, name, self.level)
        return {"std_error": error, "interval": interval}

    def of_part(self, measures: Mapping[str, Measured], part: str) -> dict[str, Measured]:
        """Those of a part of the validation."""
        return {word: one for word, one in measures.items() if MEASURES[word].part == part}


DEPENDENT = (
    "rows that were taken near each other may depend on each other: losses of rows and the AUC "
    "have intervals that count it, and nothing else has an interval or a band."
)
IN_TIME = (
    "the rows were tested in the order of time, and a row may depend on those before it: losses of "
    "rows have intervals that count it, and nothing else has an interval or a band."
)


def _answers_of_all(run: HonestRun) -> np.ndarray:
    """What the model of all rows says of these rows: that of the search, or one more fit."""
    problem, request = run.problem, run.problem.richest
    assert request is not None  # else there is nothing to rate
    fitted = getattr(run.fitted, "best_estimator_", None)
    if fitted is not None:
        ask = ASK[request.response]
        return np.asarray(getattr(fitted, ask)(problem.data.X))
    n = problem.data.n_rows
    only = np.array([run.best])
    return problem.asking().answers(one_fit(n, np.arange(n)), request, only).values[0]


ASK = {"probability": "predict_proba", "score": "decision_function", "value": "predict"}


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


# Average precision is not among them: in fields that reach far its intervals hold too rarely,
# since it moves with the share of the event, which differs from field to field.
CALIBRATED = ("auc",)  # of whole test sets, for rows that may depend on each other
UNCALIBRATED = "no interval of it was calibrated for rows that may depend on each other."


@dataclass(frozen=True)
class ScoreTold:
    """A score on its own scale; `reason` says why there is none."""

    value: float | None = None
    std_error: float | None = None
    interval: Interval | None = None
    reason: str | None = None


def score_of(run: HonestRun, word: str, event: Event | None) -> ScoreTold:
    """A score of the held-out answers, averaged over folds as the search averages it.

    That of the search itself where it was asked for, else from the answers, without a fit. Where
    rows may depend on each other it has an interval if one was calibrated for that.
    """
    found, data = _told(run, word, event), run.problem.data
    if not data.dependent or found.reason is not None:
        return found
    if found.interval is not None and (as_loss(word, data).per_row or word in CALIBRATED):
        return found
    return replace(found, std_error=None, interval=None, reason=UNCALIBRATED)


def _told(run: HonestRun, word: str, event: Event | None) -> ScoreTold:
    """The score, with the interval that its method gives."""
    for told in (run.risk, *run.risk.scores.values()):
        if told.loss == word and (event is None or event.is_of(told.positive)):
            shown = told.own_scale
            return ScoreTold(shown.value, told.std_error, shown.interval)
    problem, testing = run.problem, run.testing
    data = problem.data if event is None else event.data
    loss = as_loss(word, data)
    told_rows, moved = list(run.answered.told), list(run.moved.values())
    if event is not None:
        told_rows, moved = ([event.answers(one) for one in some] for some in (told_rows, moved))
    answers = _with_response(told_rows, loss.response)
    shaken = _with_response(moved, loss.response)
    if answers is None:
        return ScoreTold(reason=f"the model gives no answers that '{word}' could rate.")
    interval = choose(None, loss, data, testing.outer_method, answers.plan, calibrated=True)
    terms = Terms(problem.confidence_level, problem.rule, interval=interval)
    try:
        tested = testing.risk(answers, shaken, data, loss, terms)
    except Refusal as refusal:
        return ScoreTold(reason=str(refusal))
    shown = loss.scale.shown(float(tested.value), tested.read_interval())
    return ScoreTold(shown.value, tested.read_std_error(), shown.interval)


def _with_response(told: Sequence[Answers], response: Response) -> Answers | None:
    """Answers of that kind; a probability of the second class is a score, too."""
    known = {one.response: one for one in told}
    if response in known:
        return known[response]
    if response == "score" and "probability" in known:
        given = known["probability"]
        return replace(given, response="score", values=np.ascontiguousarray(given.values[..., 1]))
    return None
