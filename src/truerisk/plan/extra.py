"""Requests of a plan beyond predictions for rows: one `Extra` object, or None.

The types are in `plan/extras`. Each type defines how its requests are subset, renumbered and
stored, so that plans need not know the types.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np


class _ExtraField:
    """Base class of the objects in the field `extra` of a plan, of its answers or of a task."""

    @classmethod
    def from_holder(cls, holder: Any) -> Self | None:
        """Return the `extra` field of a plan, answers or task, or None if it has another type.

        Parameters
        ----------
        holder : Plan, Answers or Task
            The object whose field `extra` is read.

        Returns
        -------
        object or None
            The field, if it is an instance of this class.
        """
        return holder.extra if isinstance(holder.extra, cls) else None


class Extra(_ExtraField, ABC):
    """Requests of a plan for results other than predictions of its rows.

    If `draws_training_sets` is true, the training sets are drawn at random, and expected losses are
    requested.
    """

    draws_training_sets: ClassVar[bool] = False

    @property
    @abstractmethod
    def needs(self) -> Mapping[str, str]:
        """Capabilities that an engine needs, each with the reason why it is refused otherwise."""

    @abstractmethod
    def select(self, questions: np.ndarray, fits: np.ndarray) -> Extra | None:
        """Return the requests for these test sets and fits, renumbered 0, 1, ...

        Parameters
        ----------
        questions : array of int
            Numbers of the test sets, ascending.
        fits : array of int
            Numbers of the fits, ascending.

        Returns
        -------
        Extra or None
            The requests, or None if nothing is requested for them.
        """

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays of the requests by name, in the form that `from_arrays` reads.

        Returns
        -------
        dict of str to array
            The arrays; an array that is None is left out.
        """

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Extra:
        """Build the requests from the arrays that `arrays` returned.

        Parameters
        ----------
        arrays : mapping of str to array
            The arrays by name.

        Returns
        -------
        Extra
            The requests.
        """

    @abstractmethod
    def shift_numbers(self, n_fits: int, n_questions: int) -> Self:
        """Shift the numbers of fits and test sets by those of the plans that come before.

        Parameters
        ----------
        n_fits : int
            Number of fits of the plans before.
        n_questions : int
            Number of test sets of the plans before.

        Returns
        -------
        Extra
            The requests with shifted numbers.
        """

    @abstractmethod
    def join(self, others: Sequence[Self]) -> Self:
        """Join these requests with the requests of further plans, whose numbers follow these.

        Parameters
        ----------
        others : sequence of Extra
            Requests of the same type, with shifted numbers.

        Returns
        -------
        Extra
            All requests.
        """

    def map_to_rows(self, rows: np.ndarray) -> Extra:
        """Return the requests for a plan that was made for `rows`, in the numbers of all rows.

        Parameters
        ----------
        rows : array of int
            Numbers of the plan's rows among all rows.

        Returns
        -------
        Extra
            The requests.

        Raises
        ------
        Refusal
            If this is impossible.
        """
        return self

    def fit_keys(self, n_fits: int) -> np.ndarray | None:
        """Return keys of fits that tell apart different fits with equal training sets, or None.

        Parameters
        ----------
        n_fits : int
            Number of fits of the plan.

        Returns
        -------
        array or None
            One key per fit; None if equal training sets mean equal fits.
        """
        return None

    def train_sizes(self, sizes: np.ndarray) -> np.ndarray:
        """Return the number of training rows of each fit, given the sizes of the training sets.

        Parameters
        ----------
        sizes : array of int
            Size of each fit's training set in the plan.

        Returns
        -------
        array of int
            Number of rows on which each fit is trained.
        """
        return sizes

    def is_row_left_out(self, fit: np.ndarray) -> np.ndarray:
        """Return a mask of the test sets in which each row is predicted by a model made without it.

        Parameters
        ----------
        fit : array of int
            Number of the fit of each test set.

        Returns
        -------
        array of bool
            The mask, one entry per test set.
        """
        return np.zeros(len(fit), dtype=bool)

    def labels(self, fit: int, labels: np.ndarray, names: np.ndarray | None = None) -> np.ndarray:
        """Return the labels of all rows with which a fit is trained, as codes or as class names.

        Parameters
        ----------
        fit : int
            Number of the fit.
        labels : array
            Labels of all rows.
        names : array, optional
            Name of each class, if the labels are names; None if they are codes.

        Returns
        -------
        array
            Labels of all rows in this fit.
        """
        return labels

    def moved_points(self, X: Any, question: int, rows: np.ndarray) -> Any:
        """Return the points that are predicted in a test set, given the rows near these points.

        Parameters
        ----------
        X : table
            Features of the test set's rows.
        question : int
            Number of the test set.
        rows : array of int
            Numbers of the test set's rows.

        Returns
        -------
        table
            Features of the points, in the order of the rows.
        """
        return X

    def positions_in_test_set(self, plan: Any, question: int) -> np.ndarray | None:
        """Return the position of each training row in a test set of these rows, or None.

        Parameters
        ----------
        plan : Plan
            The plan that makes these requests.
        question : int
            Number of the test set.

        Returns
        -------
        array of int or None
            The positions. None unless the test set consists of its fit's training rows, each
            predicted without itself.
        """
        return None

    def make_collector(self, plan: Any, n_candidates: int, n_classes: int) -> ExtraCollector | None:
        """Return a collector of the requested results, or None if only predictions are needed.

        Parameters
        ----------
        plan : Plan
            The plan that makes these requests.
        n_candidates : int
            Number of candidates.
        n_classes : int
            Number of classes; 0 in regression.

        Returns
        -------
        ExtraCollector or None
            The collector, still empty.
        """
        return None


class ExtraCollector(_ExtraField, ABC):
    """Collector of the results that a plan requests besides predictions, fit by fit."""

    @abstractmethod
    def store_results(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        """Store the results of a candidate's model in a fit as row `line` of the result arrays."""

    def correct(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        """Replace an engine's results by the results of the fitted model itself."""
        self.store_results(fit, line, facts)

    @abstractmethod
    def to_answers(self) -> ExtraAnswers:
        """Return all results that were collected."""


class ExtraAnswers(_ExtraField, ABC):
    """Results of all candidates that a plan requests besides predictions."""

    @abstractmethod
    def select(self, plan: Any, questions: np.ndarray) -> ExtraAnswers | None:
        """Return the results for the given test sets only, or None if there are no results."""

    @abstractmethod
    def join(self, others: Sequence[tuple[int, Any]]) -> ExtraAnswers:
        """Return these results joined with those of further candidates.

        Each of the further results comes with the number of its first candidate.
        """


def concatenate_non_none(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Concatenate the arrays that are not None; return None if all of them are None.

    The result has the type of the first array.
    """
    present_arrays = [array for array in arrays if array is not None]
    return (
        np.concatenate(present_arrays).astype(present_arrays[0].dtype) if present_arrays else None
    )
