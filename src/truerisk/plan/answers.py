"""The answers of an engine: one prediction per candidate, question and row, in flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.plan.blocks import spread
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.plan.extra import ExtraAnswers

Response = Literal["label", "probability", "score", "value", "scored", "loss"]
# fields of `Answers` that are arrays with one row per candidate
ARRAYS = ("values", "answered", "fit_seconds", "answer_seconds")
TIE = 1e-10  # scores that differ by less count as equal


def row_message(response: Response, data: Data) -> tuple[int, ...]:
    """Return the shape of one answer, that is, the axes of `Answers.values` beyond the second."""
    in_time = data.task == "survival"
    if response == "probability":
        return (len(data.horizons) + 1 if in_time else data.n_classes,)
    return data.y.shape[1:] if response == "value" and not in_time else ()


def empty_values(data: Data, plan: Plan, response: Response, n_candidates: int) -> np.ndarray:
    """Return an array for all answers, filled with -1 or NaN until they arrive."""
    if response == "scored":
        return np.full((n_candidates, plan.n_questions), np.nan)
    total = int(plan.test_offsets[-1])
    if response == "label":
        return np.full((n_candidates, total), -1, dtype=code_type(data.n_classes))
    return np.full((n_candidates, total, *row_message(response, data)), np.nan)


@frozen
class Failure:
    """Error of one candidate's model in one fit."""

    fit: int
    candidate: int
    sentence: str


@frozen(eq=False)
class Answers:
    """Predictions of all candidates for one plan.

    The position of a prediction is its position in the plan's flat list of tested rows
    (`plan.positions`).

    Parameters
    ----------
    plan : Plan
        The plan.
    response : {"label", "probability", "score", "value", "scored", "loss"}
        The type of the predictions.
    values : array, shape (n_candidates, n_positions, ...)
        The predictions: class codes for "label", class probabilities (on a further axis) for
        "probability", decision values for "score", numbers for "value". For survival the classes
        are the intervals between the horizons of the data, the latest first. For "scored",
        `values[c, q]` is the score that a scikit-learn scorer gave question q. For "loss" it is the
        expected loss of the row over all training sets without it that a distribution can draw.
    answered : array of bool, shape (n_candidates, n_questions)
        False if the fit failed or was not requested.
    engine : str
        Name of the engine.
    fit_seconds : array, shape (n_candidates, n_fits)
        The seconds of each fit; NaN if it was not requested.
    answer_seconds : array, shape (n_candidates, n_fits)
        The seconds of its predictions; NaN if they were not requested.
    failures : tuple of Failure, optional
        The fits that failed.
    n_fits : int, default=0
        The number of fits.
    extra : ExtraAnswers, optional
        The answers to the additional questions of the plan, in the type that belongs to
        `plan.extra`.
    also : tuple of Answers, optional
        Further predictions of the same models for the same questions, in the order in which they
        were requested.
    notes : tuple of str, optional
        Notes for the reader.

    See Also
    --------
    truerisk.extend.Plan : The questions.
    truerisk.extend.Asking : Computes the answers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import truerisk as tr
    >>> from truerisk.extend import Asking, Data, Family, Streams
    >>> data = Data.check(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1], task="classification")
    >>> ask = Asking(Family.from_grid(GaussianNB()), data, tr.losses.ZeroOne())
    >>> answers = ask(tr.methods.KFold(3).plan(data, Streams(0)))
    >>> answers.response, answers.n_fits, answers.for_question(0).shape
    ('label', 3, (1, 2))
    """

    plan: Plan
    response: Response
    values: np.ndarray
    answered: np.ndarray
    engine: str
    fit_seconds: np.ndarray
    answer_seconds: np.ndarray
    failures: tuple[Failure, ...] = ()
    n_fits: int = 0
    extra: ExtraAnswers | None = None
    also: tuple[Answers, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return len(self.values)

    @property
    def made(self) -> np.ndarray:
        """Boolean array `(n_candidates, n_fits)`: the fits that were requested and made."""
        return ~np.isnan(self.fit_seconds)

    def for_question(self, question: int) -> np.ndarray:
        """Return all candidates' answers to one question.

        Parameters
        ----------
        question : int
            The number of the question.

        Returns
        -------
        array, shape (n_candidates, n_rows, ...)
            The predictions.
        """
        if self.response == "scored":
            return self.values[:, question]
        offsets = self.plan.test_offsets
        return self.values[:, offsets[question] : offsets[question + 1]]

    def select(self, questions: np.ndarray) -> Answers:
        """Return the answers to these questions only.

        Parameters
        ----------
        questions : array of int
            Numbers of questions.

        Returns
        -------
        Answers
            The answers to these questions.
        """
        plan = self.plan.select(questions)
        fits = np.unique(self.plan.fit[questions])
        if self.response == "scored":
            values = self.values[:, questions]
        else:
            values = self.values[:, spread(self.plan.test_offsets, questions)[1]]
        place = {int(fit): i for i, fit in enumerate(fits)} if self.failures else {}
        return replace(
            self,
            plan=plan,
            values=values,
            extra=None if self.extra is None else self.extra.select(self.plan, questions),
            answered=self.answered[:, questions],
            fit_seconds=self.fit_seconds[:, fits],
            answer_seconds=self.answer_seconds[:, fits],
            failures=tuple(replace(f, fit=place[f.fit]) for f in self.failures if f.fit in place),
            also=tuple(other.select(questions) for other in self.also),
        )

    def part(self, needed: np.ndarray) -> Answers:
        """Return only the answers of candidate c in those fits f where `needed[c, f]`.

        Parameters
        ----------
        needed : array of bool, shape (n_candidates, n_fits)
            True for the fits to keep.

        Returns
        -------
        Answers
            The answers of these fits.
        """
        taken = needed & self.made
        return replace(
            self,
            answered=self.answered & taken[:, self.plan.fit],
            fit_seconds=np.where(taken, self.fit_seconds, np.nan),
            answer_seconds=np.where(taken, self.answer_seconds, np.nan),
            failures=tuple(f for f in self.failures if taken[f.candidate, f.fit]),
            n_fits=int(taken.sum()),
            also=tuple(other.part(needed) for other in self.also),
        )

    def picked(self, chosen: np.ndarray) -> Answers:
        """Return answers with a single row: for question q those of candidate `chosen[q]`.

        Seconds and failures are reduced to those of the chosen candidates; the fits remain those of
        the whole plan.

        Parameters
        ----------
        chosen : array of int, shape (n_questions,)
            The candidate of each question.

        Returns
        -------
        Answers
            The answers of the chosen candidates.
        """
        chosen = np.asarray(chosen, dtype=np.int64)
        questions = np.arange(self.plan.n_questions)
        if self.response == "scored":
            values = self.values[chosen, questions]
        else:
            values = np.empty_like(self.values[0])
            for c in np.unique(chosen):
                mine = np.repeat(chosen == c, self.plan.test_sizes)
                values[mine] = self.values[c][mine]
        of_fit = np.zeros(self.plan.n_fits, dtype=np.int64)
        of_fit[self.plan.fit] = chosen
        fits = np.arange(self.plan.n_fits)
        pairs = set(zip(self.plan.fit.tolist(), chosen.tolist(), strict=True))
        return replace(
            self,
            values=values[None],
            answered=self.answered[chosen, questions][None],
            fit_seconds=self.fit_seconds[of_fit, fits][None],
            answer_seconds=self.answer_seconds[of_fit, fits][None],
            failures=tuple(
                replace(f, candidate=0) for f in self.failures if (f.fit, f.candidate) in pairs
            ),
            also=tuple(other.picked(chosen) for other in self.also),
        )

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.for_question(q) for q in range(self.plan.n_questions))


class Ask(Protocol):
    """Function that a method calls for answers; learner and engine are hidden from the method."""

    def __call__(
        self,
        plan: Plan,
        only: np.ndarray | None = None,
        *,
        extras: bool = True,
        requested: np.ndarray | None = None,
        number: int | None = None,
    ) -> Answers:
        """Return the answers of all candidates, or in fit f of candidate `only[f]` alone (one row).

        With `extras=False` only the answers that the loss needs are returned, and none for further
        scores. With `requested`, candidate c is fitted in fit f only where `requested[c, f]`. A
        plan that is answered in parts counts as one pass, and each call gives the same `number`:
        the fits then draw the same random numbers as if the plan were answered at once.
        """
        ...


def codes_of_scores(scores: np.ndarray) -> np.ndarray:
    """Return the predicted class codes for scores; the last axis is one score, or one per class.

    Scores within 1e-10 of each other are equal, and the first of their classes is predicted, so
    that an exact tie does not depend on the order of summation.

    >>> codes_of_scores(np.array([[0.0], [3.0]])), codes_of_scores(np.array([[1.0, 2.0, 2.0]]))
    (array([0, 1]), array([1]))
    """
    if scores.shape[-1] == 1:
        return (scores[..., 0] > TIE).astype(np.int64)
    return (scores >= scores.max(axis=-1, keepdims=True) - TIE).argmax(axis=-1)


def code_type(n_classes: int) -> Any:
    """Return the smallest integer type that holds the class codes and -1 (no class of y)."""
    return np.int8 if n_classes < 127 else np.int16 if n_classes < 32767 else np.int32


def with_extras(
    answers: Answers, responses: Sequence[Response], values: Sequence[np.ndarray]
) -> Answers:
    """Add further predictions of the same models.

    The first of the responses and of the values are those of the answers themselves, and are
    skipped.
    """
    also = tuple(
        replace(answers, response=response, values=predictions)
        for response, predictions in zip(responses[1:], values[1:], strict=True)
    )
    return replace(answers, also=also)


def filled(parts: Sequence[Answers]) -> Answers:
    """Join the answers of a plan answered in parts, where each part made other fits."""
    first = parts[0]
    if len(parts) == 1:
        return first
    arrays = {name: getattr(first, name).copy() for name in ARRAYS}
    for part in parts[1:]:
        mine = part.made
        taken = mine[:, part.plan.fit]
        at = taken if part.response == "scored" else np.repeat(taken, part.plan.test_sizes, axis=1)
        for name, places in zip(ARRAYS, (at, taken, mine, mine), strict=True):
            arrays[name][places] = getattr(part, name)[places]
    failures = [failure for part in parts for failure in part.failures]
    return _join(parts, filled, failures, **arrays)


def joined(parts: Sequence[Answers]) -> Answers:
    """Append the answers of further candidates to the questions of one plan."""
    first = parts[0]
    if len(parts) == 1:
        return first
    starts = np.cumsum([0, *(each.n_candidates for each in parts)])
    placed = list(zip(parts, starts.tolist(), strict=False))
    failures = [
        replace(f, candidate=f.candidate + at) for each, at in placed for f in each.failures
    ]
    further = [(at, each.extra) for each, at in placed[1:]]
    extra = None if first.extra is None else first.extra.joined(further)
    arrays = {name: np.concatenate([getattr(each, name) for each in parts]) for name in ARRAYS}
    engine = ", ".join(dict.fromkeys(each.engine for each in parts))
    return _join(parts, joined, failures, engine=engine, extra=extra, **arrays)


def _join(
    parts: Sequence[Answers],
    join: Callable[[Sequence[Answers]], Answers],
    failures: Sequence[Failure],
    **joined_fields: Any,
) -> Answers:
    """Return the first part with joined fields; `join` does the same for further answers."""
    return replace(
        parts[0],
        failures=tuple(sorted(failures, key=lambda f: (f.fit, f.candidate))),
        n_fits=sum(part.n_fits for part in parts),
        also=tuple(join(also) for also in zip(*(part.also for part in parts), strict=True)),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        **joined_fields,
    )
