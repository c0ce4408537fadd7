"""Predictions that an engine returns for a plan, by candidate, test set and row, in flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.plan.blocks import select_lists
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.plan.extra import ExtraAnswers

Response = Literal["label", "probability", "score", "value", "scored", "loss"]
# These fields of `Answers` are arrays with one row per candidate.
CANDIDATE_ARRAYS = ("values", "answered", "fit_seconds", "answer_seconds")
TIE_TOLERANCE = 1e-10  # Scores that differ by less than this count as equal.


def prediction_shape(response: Response, data: Data) -> tuple[int, ...]:
    """Return the shape of the prediction for one row.

    It consists of the axes of `Answers.values` beyond the second axis.
    """
    is_survival = data.task == "survival"
    if response == "probability":
        return (len(data.horizons) + 1 if is_survival else data.n_classes,)
    return data.y.shape[1:] if response == "value" and not is_survival else ()


def allocate_predictions(
    data: Data, plan: Plan, response: Response, n_candidates: int
) -> np.ndarray:
    """Return an array for the predictions of all candidates, filled with -1 or NaN."""
    if response == "scored":
        return np.full((n_candidates, plan.n_questions), np.nan)
    n_predictions = int(plan.test_offsets[-1])
    if response == "label":
        return np.full((n_candidates, n_predictions), -1, dtype=class_code_dtype(data.n_classes))
    return np.full((n_candidates, n_predictions, *prediction_shape(response, data)), np.nan)


@frozen
class Failure:
    """Error message of the fit of one candidate on one training set."""

    fit: int
    candidate: int
    message: str


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
        """Number of candidates (hyperparameter settings) that were fitted."""
        return len(self.values)

    @property
    def made(self) -> np.ndarray:
        """Boolean array `(n_candidates, n_fits)`: True where a fit was requested and made."""
        return ~np.isnan(self.fit_seconds)

    def for_question(self, question: int) -> np.ndarray:
        """Return all candidates' predictions for one test set of the plan.

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
        """Return the predictions for the given test sets (questions) only.

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
            values = self.values[:, select_lists(self.plan.test_offsets, questions)[1]]
        new_fit_numbers = {int(fit): i for i, fit in enumerate(fits)} if self.failures else {}
        return replace(
            self,
            plan=plan,
            values=values,
            extra=None if self.extra is None else self.extra.select(self.plan, questions),
            answered=self.answered[:, questions],
            fit_seconds=self.fit_seconds[:, fits],
            answer_seconds=self.answer_seconds[:, fits],
            failures=tuple(
                replace(failure, fit=new_fit_numbers[failure.fit])
                for failure in self.failures
                if failure.fit in new_fit_numbers
            ),
            also=tuple(further_answers.select(questions) for further_answers in self.also),
        )

    def part(self, needed: np.ndarray) -> Answers:
        """Return the predictions, keeping those of candidate c in fit f if `needed[c, f]` is true.

        Parameters
        ----------
        needed : array of bool, shape (n_candidates, n_fits)
            True for the fits to keep.

        Returns
        -------
        Answers
            The answers of these fits.
        """
        is_kept = needed & self.made
        return replace(
            self,
            answered=self.answered & is_kept[:, self.plan.fit],
            fit_seconds=np.where(is_kept, self.fit_seconds, np.nan),
            answer_seconds=np.where(is_kept, self.answer_seconds, np.nan),
            failures=tuple(
                failure for failure in self.failures if is_kept[failure.candidate, failure.fit]
            ),
            n_fits=int(is_kept.sum()),
            also=tuple(further_answers.part(needed) for further_answers in self.also),
        )

    def picked(self, chosen: np.ndarray) -> Answers:
        """Return the predictions of one candidate per test set, as if they came from one candidate.

        Test set q gets the predictions of candidate `chosen[q]`. Seconds and failures are reduced
        to those of the chosen candidates; the fits remain those of the whole plan.

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
        test_sets = np.arange(self.plan.n_questions)
        if self.response == "scored":
            values = self.values[chosen, test_sets]
        else:
            values = np.empty_like(self.values[0])
            for candidate in np.unique(chosen):
                uses_candidate = np.repeat(chosen == candidate, self.plan.test_sizes)
                values[uses_candidate] = self.values[candidate][uses_candidate]
        candidate_of_fit = np.zeros(self.plan.n_fits, dtype=np.int64)
        candidate_of_fit[self.plan.fit] = chosen
        fits = np.arange(self.plan.n_fits)
        fit_candidate_pairs = set(zip(self.plan.fit.tolist(), chosen.tolist(), strict=True))
        return replace(
            self,
            values=values[None],
            answered=self.answered[chosen, test_sets][None],
            fit_seconds=self.fit_seconds[candidate_of_fit, fits][None],
            answer_seconds=self.answer_seconds[candidate_of_fit, fits][None],
            failures=tuple(
                replace(failure, candidate=0)
                for failure in self.failures
                if (failure.fit, failure.candidate) in fit_candidate_pairs
            ),
            also=tuple(further_answers.picked(chosen) for further_answers in self.also),
        )

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.for_question(test_set) for test_set in range(self.plan.n_questions))


class Ask(Protocol):
    """Function by which a method requests predictions from a learner and engine unknown to it."""

    def __call__(
        self,
        plan: Plan,
        only: np.ndarray | None = None,
        *,
        extras: bool = True,
        requested: np.ndarray | None = None,
        number: int | None = None,
    ) -> Answers:
        """Return the predictions of all candidates for a plan, or of one candidate per fit.

        With `only`, fit f is made for candidate `only[f]` alone, and the predictions have a single
        row. With `extras=False` only the predictions that the loss needs are returned, and none for
        further scores. With `requested`, candidate c is fitted in fit f only where
        `requested[c, f]`. A plan that is run in several calls counts as one pass, and each call
        gives the same `number`: the fits then draw the same random numbers as if the plan were run
        in one call.
        """
        ...


def class_codes_from_scores(scores: np.ndarray) -> np.ndarray:
    """Return the class codes that scores predict.

    The last axis holds one score, or one score per class. Scores within 1e-10 of each other are
    equal, and the first of their classes is predicted, so that an exact tie does not depend on the
    order of summation.
    """
    if scores.shape[-1] == 1:
        return (scores[..., 0] > TIE_TOLERANCE).astype(np.int64)
    return (scores >= scores.max(axis=-1, keepdims=True) - TIE_TOLERANCE).argmax(axis=-1)


def class_code_dtype(n_classes: int) -> Any:
    """Return the smallest integer type that holds all class codes and -1 (a class not in y)."""
    return np.int8 if n_classes < 127 else np.int16 if n_classes < 32767 else np.int32


def add_further_predictions(
    predictions_so_far: Answers, responses: Sequence[Response], values: Sequence[np.ndarray]
) -> Answers:
    """Add further predictions of the same models, one array per further response.

    The first response and the first array of values belong to `predictions_so_far`, and are
    skipped.
    """
    further_answers = tuple(
        replace(predictions_so_far, response=response, values=predictions)
        for response, predictions in zip(responses[1:], values[1:], strict=True)
    )
    return replace(predictions_so_far, also=further_answers)


def merge_runs(runs: Sequence[Answers]) -> Answers:
    """Join the predictions of several runs of one plan, which made different fits."""
    first_run = runs[0]
    if len(runs) == 1:
        return first_run
    arrays = {name: getattr(first_run, name).copy() for name in CANDIDATE_ARRAYS}
    for run in runs[1:]:
        is_made_fit = run.made
        is_made_test_set = is_made_fit[:, run.plan.fit]
        is_made_value = (
            is_made_test_set
            if run.response == "scored"
            else np.repeat(is_made_test_set, run.plan.test_sizes, axis=1)
        )
        for name, mask in zip(
            CANDIDATE_ARRAYS,
            (is_made_value, is_made_test_set, is_made_fit, is_made_fit),
            strict=True,
        ):
            arrays[name][mask] = getattr(run, name)[mask]
    failures = [failure for run in runs for failure in run.failures]
    return _join(runs, merge_runs, failures, **arrays)


def append_candidates(answers_list: Sequence[Answers]) -> Answers:
    """Append the predictions of further candidates for the same plan."""
    first_answers = answers_list[0]
    if len(answers_list) == 1:
        return first_answers
    first_candidates = np.cumsum([0, *(answers.n_candidates for answers in answers_list)])
    answers_with_starts = list(zip(answers_list, first_candidates.tolist(), strict=False))
    failures = [
        replace(failure, candidate=failure.candidate + first_candidate)
        for answers, first_candidate in answers_with_starts
        for failure in answers.failures
    ]
    further_extras = [
        (first_candidate, answers.extra) for answers, first_candidate in answers_with_starts[1:]
    ]
    joined_extra = None if first_answers.extra is None else first_answers.extra.join(further_extras)
    arrays = {
        name: np.concatenate([getattr(answers, name) for answers in answers_list])
        for name in CANDIDATE_ARRAYS
    }
    engine = ", ".join(dict.fromkeys(answers.engine for answers in answers_list))
    return _join(
        answers_list, append_candidates, failures, engine=engine, extra=joined_extra, **arrays
    )


def _join(
    answers_list: Sequence[Answers],
    join: Callable[[Sequence[Answers]], Answers],
    failures: Sequence[Failure],
    **joined_fields: Any,
) -> Answers:
    """Join several `Answers` of one plan; `join` joins the further predictions in their `also`."""
    return replace(
        answers_list[0],
        failures=tuple(sorted(failures, key=lambda failure: (failure.fit, failure.candidate))),
        n_fits=sum(answers.n_fits for answers in answers_list),
        also=tuple(
            join(further_answers)
            for further_answers in zip(*(answers.also for answers in answers_list), strict=True)
        ),
        notes=tuple(dict.fromkeys(note for answers in answers_list for note in answers.notes)),
        **joined_fields,
    )
