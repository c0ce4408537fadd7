"""What came and what was said of it: the rows that every number of a validation is made of.

`HeldOut` are the answers of models that had not seen the rows, `Event` reads answers about any
classes as those about one class and the rest, and `Outcomes` is what formulas take.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.core import plain_values
from truerisk.core.errors import Brief
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.losses.loss import Loss, class_named
from truerisk.losses.loss_words import AT_HORIZON
from truerisk.losses.row_losses import registry
from truerisk.plan.answers import Answers, Response
from truerisk.results.evaluation import AnsweredRows
from truerisk.validation.calibration_fits import IDENTITY, LOGIT, Link


@frozen(eq=False)
class Outcomes:
    """Whether the event came, what was predicted, the weight of the answer, member and row.

    `predictions` are probabilities of the event, or decision values. Where `link` is the identity,
    `observed` are numbers, `predictions` the answers. Answers of one `member` depend on each other:
    those to one row, or to the rows of one group. `rows` says which row is answered. The `weights`
    add up to the number of rows, whatever unit they were given in.
    """

    observed: np.ndarray
    predictions: np.ndarray
    weights: np.ndarray
    members: np.ndarray
    rows: np.ndarray
    link: Link = LOGIT

    @classmethod
    def of(
        cls,
        observed: np.ndarray,
        predictions: np.ndarray,
        weights: np.ndarray | None = None,
        members: np.ndarray | None = None,
        link: Link = LOGIT,
        rows: np.ndarray | None = None,
    ) -> Outcomes:
        """Those that weigh anything: of rows, and members, of their own unless it is said."""
        w = np.ones(len(observed)) if weights is None else weights
        rows = np.arange(len(observed)) if rows is None else rows
        members = rows if members is None else members
        counts = w > 0
        members, rows = (np.unique(of[counts], return_inverse=True)[1] for of in (members, rows))
        w = w[counts].astype(np.float64)
        w *= (1 + rows.max(initial=-1)) / w.sum()
        return cls(observed[counts].astype(np.float64), predictions[counts], w, members, rows, link)

    @classmethod
    def held_out(cls, held: HeldOut, clip: float | None) -> Outcomes:
        """Of the second class, or of numbers; a row that was answered often weighs as others do."""
        predictions = held.answers if held.answers.ndim == 1 else held.answers[:, 1]
        _, place, times = np.unique(held.rows, return_inverse=True, return_counts=True)
        weights = np.ones(len(predictions)) if held.weights is None else held.weights
        numbers = held.response == "value"
        return cls.of(
            held.truth if numbers else held.truth == 1,
            clipped(predictions, clip) if held.response == "probability" else predictions,
            weights / times[place],
            held.rows if held.groups is None else held.groups,
            IDENTITY if numbers else LOGIT,
            held.rows,
        )

    @property
    def n(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @property
    def n_answers(self) -> int:
        """How many answers there are: several to a row that was tested repeatedly."""
        return len(self.observed)

    @cached_property
    def n_rows(self) -> int:
        """How many rows were answered."""
        return len(np.unique(self.rows))

    @cached_property
    def n_events(self) -> int:
        """Rows in which the event came."""
        return len(np.unique(self.rows[self.observed == 1]))

    @property
    def n_rarer(self) -> int:
        """Rows of the rarer outcome."""
        return min(self.n_events, self.n_rows - self.n_events)

    @property
    def of_one_class(self) -> bool:
        """Whether the event came always, or never."""
        return self.n_events in (0, self.n_rows)

    @cached_property
    def linear(self) -> np.ndarray:
        """What was given, on the scale of the link: log(p/(1 − p)) of probabilities."""
        return self.link.of(self.predictions)

    @property
    def degrees(self) -> float:
        """Degrees of freedom of Student's t: groups − 1, and infinite for independent rows.

        The variance between G groups is estimated from G sums, so that the normal quantile is too
        small where G is.
        """
        n_members = int(self.members.max(initial=0)) + 1
        return math.inf if n_members == self.n_rows else max(n_members - 1, 1)

    def mean(self, values: np.ndarray) -> float:
        """The weighted mean."""
        return float(self.weights @ values / self.n)

    def quantiles(self, values: np.ndarray, shares: Sequence[float]) -> np.ndarray:
        """Weighted quantiles, linear between the middles of weights: NumPy's of equal ones."""
        order = np.argsort(values, kind="stable")
        weights = self.weights[order]
        middle = np.cumsum(weights) - (weights + weights[0]) / 2
        return np.interp(np.asarray(shares) * middle[-1], middle, values[order])


def clipped(probabilities: np.ndarray, clip: float | None) -> np.ndarray:
    """Probabilities between `clip` and 1 − `clip`, or as they are."""
    within = np.clip(probabilities, 0.0, 1.0)
    return within if clip is None else np.clip(within, clip, 1 - clip)


BEST_FIRST: tuple[Response, ...] = ("probability", "score", "value", "label")


@frozen(eq=False)
class HeldOut(Brief):
    """One entry per answer; a row that is tested in several repetitions has several.

    Row `rows[t]` was in test fold `fold[t]` of repetition `repetition[t]`; fit `fit[t]` of the plan
    answered. `answers[t]` is, by `response`, class probabilities in the order of `classes`, a
    decision value of the second class, a number, or a class code; `truth[t]` is the class code or
    the number that came. `weights` and `groups` are those of the rows, None where there are none.
    """

    rows: np.ndarray
    fold: np.ndarray
    repetition: np.ndarray
    fit: np.ndarray
    truth: np.ndarray
    answers: np.ndarray
    response: Response
    classes: np.ndarray | None = None
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None

    def __str__(self) -> str:
        folds = len(np.unique(self.fold))
        return f"{len(self.rows)} answers ({self.response}) about rows held out in {folds} folds"

    @classmethod
    def of(cls, answered: AnsweredRows, data: Data) -> HeldOut:
        """The richest answers of one line: probabilities, else decision values, numbers, labels."""
        by_response = {answers.response: answers for answers in answered.answers}
        response = next(kind for kind in BEST_FIRST if kind in by_response)
        richest, plan = by_response[response], by_response[response].plan
        question: np.ndarray = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
        unseen = np.flatnonzero(answered.unseen)
        rows, question = plan.positions[0][unseen], question[unseen]
        return cls(
            rows=rows,
            fold=plan.fold[question],
            repetition=plan.repeat[question],
            fit=plan.fit[question],
            truth=data.y[rows] if data.codes is None else data.codes[rows],
            answers=richest.values[answered.candidate][unseen],
            response=response,
            classes=data.classes,
            weights=data.weights(rows),
            groups=None if data.groups is None else data.groups[rows],
        )

    @property
    def n_classes(self) -> int:
        """How many classes there are, 0 for numbers."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def n_repetitions(self) -> int:
        """How often the folds were drawn."""
        return len(np.unique(self.repetition))


REST = "the rest"


@frozen(eq=False)
class Event:
    """The class `code` of y; the formulas of two outcomes read it as the second of two classes.

    Of two classes these are the other one and the event, of several the rest and the event, whose
    probability is its own and that of the rest 1 less that. Of an outcome in time the event is that
    it came by a horizon, the `place`-th at which curves are asked.
    """

    code: int
    of: Data
    place: int | None = None
    horizon: float | None = None

    @classmethod
    def named(cls, positive: Any, data: Data, horizon: float | None = None) -> Event | None:
        """The class that a user names, else the second of two; None where there is no such."""
        if horizon is not None:
            return cls(1, data.at(horizon), data.horizons.index(horizon), float(horizon))
        if positive is None:
            return cls(1, data) if data.n_classes == 2 else None
        return cls(class_named(positive, data), data)

    @property
    def label(self) -> str:
        """What the event is called."""
        return str(plain_values.plain(self.of.label(self.code)))

    def is_of(self, positive: Any) -> bool:
        """Whether it is this class that a result speaks of; None speaks of all alike."""
        usual = positive is None and self.usual
        return usual or positive == plain_values.plain(self.of.label(self.code))

    @property
    def usual(self) -> bool:
        """Whether it is the second of two classes, as scores of one class take it."""
        return self.of.n_classes == 2 and self.code == 1

    def score_in_time(self, word: str) -> Loss | None:
        """Return the score of an outcome in time that has this word at the horizon, or None.

        Its interval counts how the censoring weights vary, which a score of two classes does not.
        """
        kind = f"{word}-at"
        if self.horizon is None or kind not in AT_HORIZON:
            return None
        loss: Loss = registry.load(kind)(self.horizon)
        return loss

    @property
    def by_order(self) -> tuple[str, ...]:
        """That the order of two numbers made this the event, where neither 1 nor True is it."""
        kind, label = np.asarray(self.of.classes).dtype.kind, self.of.label(self.code)
        if kind not in "iuf" or label == 1:
            return ()
        other = plain_values.plain(self.of.label(1 - self.code))
        note = (
            f"the event is {self.label}, the greater of {other} and {self.label}: where "
            f"it should be {other}, name it (positive={other}, at the command line --positive)."
        )
        return (note,)

    @property
    def data(self) -> Data:
        """The rows with two outcomes."""
        if self.usual:
            return self.of
        return replace(self.of, classes=self._classes, codes=self._two(self.of.class_codes))

    @property
    def _classes(self) -> np.ndarray:
        two = self.of.n_classes == 2
        other = self.of.label(1 - self.code) if two else REST
        return np.array([other, self.of.label(self.code)], dtype=object)

    def answers(self, answers: Answers) -> Answers:
        """Answers about all classes as those about two."""
        return replace(answers, values=self.read(answers.values, answers.response), also=())

    def held_out(self, held: HeldOut) -> HeldOut:
        """Held-out answers in the same way."""
        if self.usual and self.place is None:
            return held
        answers, truth = self.read(held.answers, held.response), self._two(held.truth)
        return replace(held, answers=answers, truth=truth, classes=self._classes)

    def read(self, values: np.ndarray, response: Response) -> np.ndarray:
        """Values of answers; the last axis of probabilities are the classes."""
        if self.place is not None and values.shape[-1] > 2:
            probability = values[..., -1 - self.place :].sum(axis=-1)
            return np.stack([1 - probability, probability], axis=-1)
        if self.usual:
            return values
        if response == "probability":
            probability = values[..., self.code]
            return np.stack([1 - probability, probability], axis=-1)
        return self._two(values) if response == "label" else -values

    def _two(self, codes: np.ndarray) -> np.ndarray:
        return (codes == self.code).astype(codes.dtype)
