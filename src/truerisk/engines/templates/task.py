"""One group of candidates on one plan: the training data of its fits, and storage for predictions.

A `Task` does not change; the results of its fits are gathered in the `PassResults` of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.contracts import Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.engines.prepared import StepFitter, call_or_none, to_dense_float64
from truerisk.engines.running.doors import known_steps_finder
from truerisk.engines.running.fit_warnings import FitWarning
from truerisk.engines.running.fitting import failure_error, fit_batch
from truerisk.engines.settings import NOT_IN_GROUP, Group, fit_steps
from truerisk.plan.plan import Plan

# Differences of scores below this number times the largest score may be due to rounding.
SCORE_TIE_TOLERANCE = 1e-9
# Fits come in series of this length. Candidates for which a pass fails in the first fit of a
# series are not tried in the others.
FITS_PER_PROBE = 16


@frozen(eq=False)
class Shown:
    """Training data of one fit as the learner gets them: distinct rows, transformed by the steps.

    Parameters
    ----------
    fit : int
        The number of the fit.
    rows : array of int
        The row numbers.
    X : array
        The features of these rows.
    y : array
        The class codes or target values, after labels have been flipped.
    times : array of int or None
        The number of copies of each row; None if each occurs once.
    weights : array or None
        The user's sample weights; None if none were given.

    See Also
    --------
    truerisk.extend.Task : Returns such rows.

    Examples
    --------
    >>> import numpy as np
    >>> from truerisk.extend import Shown
    >>> y, copies = np.array([0, 1]), np.array([1, 2])
    >>> Shown(0, np.arange(2), np.eye(2), y, copies, None).all_weights.tolist()
    [1.0, 2.0]
    """

    fit: int
    rows: np.ndarray
    X: np.ndarray
    y: np.ndarray
    times: np.ndarray | None
    weights: np.ndarray | None

    @property
    def all_weights(self) -> np.ndarray | None:
        """Number of copies of each row times its sample weight; None if every weight is 1."""
        if self.times is None:
            return self.weights
        copy_counts = self.times.astype(np.float64)
        return copy_counts if self.weights is None else copy_counts * self.weights


@dataclass(eq=False)
class PassResults:
    """Predictions of a run so far, and the fits that are left to the learner itself.

    `unresolved_candidates` maps a fit to its unresolved candidates, for which the learner has to be
    fitted. `shared_warnings` lists pairs (fit, candidate) that cause the same warning.
    `learner_fits` holds pairs (fit, candidate) for which the learner was fitted.
    """

    values: np.ndarray
    extra: Any = None  # An `ExtraCollector`, if the plan requests extra outputs.
    unresolved_candidates: dict[int, set[int]] = field(default_factory=dict)
    shared_warnings: list[tuple[int, int]] = field(default_factory=list)
    learner_fits: set[tuple[int, int]] = field(default_factory=set)
    fit_warnings: list[FitWarning] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # Notes for the user who reads the result.
    # Largest value of each measured quantity; the key is the text of the note that reports it.
    largest_values: dict[str, float] = field(default_factory=dict)


@frozen(eq=False)
class Task:
    """Task of predicting for one group of candidates on one plan.

    The method `place` stores the predictions.

    Parameters
    ----------
    family : Family
        The learner and its candidate settings.
    group : Group
        Candidates whose predictions one pass computes together.
    data : Data
        The checked rows of the call.
    plan : Plan
        The fits and the test sets that they predict.
    request : Request
        The type of predictions that the loss needs.
    run : RunOptions
        The executor, the seed, and the fits that are needed.
    X : object
        The features after the steps that treat each row by itself; None if a step learns from the
        rows.
    weights : array or None
        The user's sample weights.
    collected : Collected
        The answers so far.
    places : array of int, optional
        The position in the group of the candidate of each fit; None if every fit answers for all
        candidates.
    read : callable, optional
        Converts the output of a step for the engine.

    See Also
    --------
    truerisk.extend.OnePass : Engine that gets tasks.
    truerisk.extend.Shown : The training rows of a fit.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> class Look(tr.engines.LeastSquares):
    ...     def answer_together(self, task):
    ...         print(task.plan.n_fits, task.group.values("alpha").tolist(), task.X.shape)
    ...         return super().answer_together(task)
    >>> X, y = tr.datasets.FieldProblem(task="regression")(60, random_state=0)
    >>> curve = tr.risk_curve(Ridge(), {"alpha": [0.1, 1.0]}, X, y, engine=Look())
    5 [0.1, 1.0] (60, 4)
    """

    family: Family
    group: Group
    data: Data
    plan: Plan
    request: Request
    run: RunOptions
    X: Any  # X after steps that treat each row by itself; None if a step learns from the rows.
    weights: np.ndarray | None
    collected: PassResults
    # For each fit the position of its candidate in the group; None if fits predict for all of them.
    places: np.ndarray | None = None
    # Function that converts the output of the steps to an array for the engine.
    read: Callable[[Any], np.ndarray] = to_dense_float64

    def prepared_by_all_rows(self) -> np.ndarray | None:
        """Return X transformed by the group's steps, fitted on all rows, or None if they fail.

        Returns
        -------
        array or None
            The prepared X.
        """
        from sklearn.base import clone

        steps, all_rows = clone(self.group.preparation), self.data.rows(np.arange(self.data.n_rows))
        return call_or_none(lambda: to_dense_float64(steps.fit_transform(all_rows)))

    def of_fit(self, fit: int) -> Group | None:
        """Return those candidates of the group for which a fit has to predict, or None.

        They are the whole group or one candidate.

        Parameters
        ----------
        fit : int
            The number of the fit.

        Returns
        -------
        Group or None
            The candidates.
        """
        if self.places is None:
            return self.group
        candidate_position = int(self.places[fit])
        return (
            None
            if candidate_position == NOT_IN_GROUP
            else self.group.part(np.array([candidate_position]))
        )

    def worth_trying(self, fit: int) -> Group | None:
        """Return the fit's candidates for which a pass is worth trying.

        Left out are the candidates that a recent fit left to the learner itself. The recent fit
        is the first of FITS_PER_PROBE successive fits. The reason why a pass fails, such as a
        solver that does not converge or a singular scatter matrix, usually lies in the table. The
        learner itself is then fitted at once, instead of after a pass in vain.

        Parameters
        ----------
        fit : int
            The number of the fit.

        Returns
        -------
        Group or None
            The candidates.
        """
        group, first_fit = self.of_fit(fit), fit - fit % FITS_PER_PROBE
        if (
            group is None
            or fit == first_fit
            or not self.collected.unresolved_candidates.get(first_fit)
        ):
            return group
        is_unresolved = np.isin(
            group.candidates, list(self.collected.unresolved_candidates[first_fit])
        )
        self.leave_open(fit, group.candidates[is_unresolved])
        return None if is_unresolved.all() else group.part(np.flatnonzero(~is_unresolved))

    def asks(self, fits: np.ndarray, place: int) -> np.ndarray:
        """Return a mask of those fits that have to predict for one candidate.

        Parameters
        ----------
        fits : array of int
            Numbers of fits.
        place : int
            The position in the group.

        Returns
        -------
        array of bool
            True for the fits that answer for that candidate.
        """
        return np.ones(len(fits), dtype=bool) if self.places is None else self.places[fits] == place

    def questions(self, fit: int) -> np.ndarray:
        """Return the numbers of the test sets that a fit predicts.

        Parameters
        ----------
        fit : int
            The number of the fit.

        Returns
        -------
        array of int
            The numbers of the questions.
        """
        test_sets_by_fit, fit_starts = self.plan.questions_of
        return test_sets_by_fit[fit_starts[fit] : fit_starts[fit + 1]]

    def place(self, question: int, group: Group, answers: np.ndarray) -> None:
        """Store the predictions of a test set for all candidates of a group in `values`.

        Parameters
        ----------
        question : int
            The number of the question.
        group : Group
            Candidates whose predictions one pass computes together.
        answers : array
            The predictions, one row per candidate of the group.
        """
        prediction_slice = slice(*self.plan.test_offsets[question : question + 2])
        self.collected.values[self.lines_of(group), prediction_slice] = answers

    def measure(self, what: str, value: float) -> None:
        """Record the value of a quantity in one fit; a note will report the largest value.

        Parameters
        ----------
        what : str
            The note, with a placeholder for the quantity.
        value : float
            The quantity in one fit.
        """
        largest_values = self.collected.largest_values
        largest_values[what] = max(value, largest_values.get(what, value))

    def leave_open(self, fit: int, candidates: Iterable[int]) -> None:
        """Record that the learner itself has to be fitted for these candidates in a fit.

        Parameters
        ----------
        fit : int
            The number of the fit.
        candidates : iterable of int
            Numbers of candidates.
        """
        self.collected.unresolved_candidates.setdefault(int(fit), set()).update(
            map(int, candidates)
        )

    def warn_alike(self, fit: int, candidates: Iterable[int]) -> None:
        """Record that fitting the learner for these candidates would issue the same warning.

        The learner is fitted only for the first of them, and its warning counts for all.

        Parameters
        ----------
        fit : int
            The number of the fit.
        candidates : iterable of int
            Numbers of candidates.
        """
        self.collected.shared_warnings.extend(
            (int(fit), int(candidate)) for candidate in candidates
        )

    def all_open(self) -> np.ndarray:
        """Leave all predictions to the learner itself; return a mask that is True for every fit.

        Returns
        -------
        array of bool, shape (n_fits,)
            True for every fit.
        """
        for fit in range(self.plan.n_fits):
            group = self.of_fit(fit)
            self.leave_open(fit, () if group is None else group.candidates)
        return np.ones(self.plan.n_fits, dtype=bool)

    def ask_the_learner(self) -> None:
        """Fit the learner itself for every unresolved candidate.

        Candidates with a shared warning are fitted only once, to issue it.
        """
        results = self.collected
        for fit, candidate in results.shared_warnings[:1]:
            self.leave_open(fit, [candidate])
        for fit, candidates in sorted(results.unresolved_candidates.items()):
            if candidates:
                self._fit_learner(fit, sorted(candidates))
            results.learner_fits.update((fit, candidate) for candidate in candidates)
        results.unresolved_candidates.clear()
        results.shared_warnings.clear()

    def _fit_learner(self, fit: int, candidates: list[int]) -> None:
        jobs, seed, results = [(fit, candidates)], self.run.seed, self.collected
        for fit_result in fit_batch(
            self.family, self.data, self.plan, self.request, seed, True, jobs
        ):
            if fit_result.failure is not None:
                raise failure_error(fit_result)
            is_shared_warning = (fit, fit_result.candidate) in results.shared_warnings[:1]
            results.fit_warnings.extend(
                fit_result.warnings * (len(results.shared_warnings) if is_shared_warning else 1)
            )
            value_row = self.line_of(fit_result.candidate)
            if results.extra is not None:
                results.extra.correct(fit, value_row, fit_result.extra)
            for test_set, test_predictions in zip(
                self.questions(fit), fit_result.answers, strict=True
            ):
                prediction_slice = slice(*self.plan.test_offsets[test_set : test_set + 2])
                results.values[value_row, prediction_slice] = test_predictions

    def ask_for_ranks(self) -> None:
        """Fit the learner itself where rounding may decide which rows have the higher scores.

        Candidates for which the learner was fitted already are skipped.
        """
        for value_row, scores in enumerate(self.collected.values):
            for fit in fits_ranked_by_rounding(scores, self.plan, self.data).tolist():
                candidate = (
                    value_row
                    if self.run.candidate_by_fit is None
                    else int(self.run.candidate_by_fit[fit])
                )
                if (fit, candidate) not in self.collected.learner_fits:
                    self.leave_open(fit, [candidate])
        self.ask_the_learner()

    def lines_of(self, group: Group) -> Any:
        """Return the rows of `values` that belong to the candidates of a group.

        Parameters
        ----------
        group : Group
            Candidates whose predictions one pass computes together.

        Returns
        -------
        array of int or slice
            The rows.
        """
        return group.candidates if self.run.candidate_by_fit is None else slice(0, 1)

    def line_of(self, candidate: int) -> int:
        """Return the row of `values` that belongs to one candidate.

        Parameters
        ----------
        candidate : int
            The number of the candidate.

        Returns
        -------
        int
            The row.
        """
        return candidate if self.run.candidate_by_fit is None else 0

    @cached_property
    def _find_known_steps(self) -> Callable[[Plan, int], StepFitter | None]:
        candidate = int(self.group.candidates[0])
        return known_steps_finder(
            self.run.step_cache, self.family, self.group.preparation, candidate
        )

    def labels(self, fit: int) -> np.ndarray:
        """Return the class codes or targets of all rows, with the labels that this fit flips.

        Parameters
        ----------
        fit : int
            The number of the fit.

        Returns
        -------
        array, shape (n_rows,)
            The codes or targets.
        """
        codes_or_targets = self.data.y if self.data.codes is None else self.data.codes
        return (
            codes_or_targets
            if self.plan.extra is None
            else self.plan.extra.labels(fit, codes_or_targets)
        )

    def shown(self, fit: int) -> tuple[Shown, list[np.ndarray]]:
        """Return the training data of a fit and its test sets, both transformed by earlier steps.

        Parameters
        ----------
        fit : int
            The number of the fit.

        Returns
        -------
        shown : Shown
            The training rows.
        test_tables : list of arrays
            The rows of each test set.
        """
        rows, copy_counts = self.plan.train_rows(fit)
        test_row_lists = [self.plan.test_rows(int(test_set))[0] for test_set in self.questions(fit)]
        y = self.labels(fit)[rows]
        weights = None if self.weights is None else self.weights[rows]
        if self.X is not None:
            return Shown(fit, rows, self.X[rows], y, copy_counts, weights), [
                self.X[test_rows] for test_rows in test_row_lists
            ]
        fit_arguments = self.group.preparation, self.data, (rows, copy_counts), y
        X, test_tables = fit_steps(
            *fit_arguments, test_row_lists, self.read, self._find_known_steps(self.plan, fit)
        )
        return Shown(fit, rows, X, y, copy_counts, weights), test_tables


def fits_ranked_by_rounding(scores: np.ndarray, plan: Plan, data: Data) -> np.ndarray:
    """Find fits in which rows of different classes have nearly equal scores.

    A model with slope 0 gives every row the same score except for the last digits. Which row ranks
    first then depends on rounding in the learner or in the engine. This matters for rows of two
    classes that are ranked together. Test sets are ranked together if they belong to the same
    repetition and to the same part of the plan (inside or outside).
    """
    test_sizes = plan.test_sizes
    rank_group_keys = np.stack([plan.part, plan.repeat, plan.unit], axis=1)
    rank_group_of_test_set = np.unique(rank_group_keys, axis=0, return_inverse=True)[1].ravel()
    rank_group = np.repeat(rank_group_of_test_set, test_sizes)
    score_order = np.lexsort((scores, rank_group))
    tolerance = SCORE_TIE_TOLERANCE * (1 + np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
    with np.errstate(invalid="ignore", over="ignore"):
        is_new_tie = (np.diff(rank_group[score_order]) != 0) | ~(
            np.diff(scores[score_order]) <= tolerance
        )
    tie_starts = np.concatenate([[0], np.flatnonzero(is_new_tie) + 1])
    class_codes = data.class_codes[plan.positions[0][score_order]]
    has_both_classes = np.maximum.reduceat(class_codes, tie_starts) > np.minimum.reduceat(
        class_codes, tie_starts
    )
    tied_predictions = score_order[
        np.repeat(has_both_classes, np.diff(np.append(tie_starts, len(score_order))))
    ]
    return np.unique(np.repeat(plan.fit, test_sizes)[tied_predictions])
