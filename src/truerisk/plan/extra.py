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
    """Base class of the `extra` field of a plan, of its answers and of a task."""

    @classmethod
    def from_holder(cls, holder: Any) -> Self | None:
        """Return the `extra` field of a plan, answers or task if it is of this type, else None."""
        return holder.extra if isinstance(holder.extra, cls) else None


class Extra(_ExtraField, ABC):
    """Requests of a plan other than predictions for its rows.

    If `draws_training_sets` is true, the training sets are drawn at random, and expected losses are
    requested.
    """

    draws_training_sets: ClassVar[bool] = False

    @property
    @abstractmethod
    def needs(self) -> Mapping[str, str]:
        """Capabilities that an engine needs, each with the reason to refuse if it is lacking."""

    @abstractmethod
    def select(self, questions: np.ndarray, fits: np.ndarray) -> Extra | None:
        """Return the requests for these test sets and fits (ascending), renumbered 0, 1, ..."""

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays of the requests by the names under which `from_arrays` finds them."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Extra:
        """Build the requests from the arrays that `arrays` returned."""

    @abstractmethod
    def shift_numbers(self, n_fits: int, n_questions: int) -> Self:
        """Return the requests with numbers shifted by the fits and test sets of preceding plans."""

    @abstractmethod
    def join(self, others: Sequence[Self]) -> Self:
        """Return these requests joined with those of further plans, whose numbers follow."""

    def map_to_rows(self, rows: np.ndarray) -> Extra:
        """Return the requests for a plan drawn on these rows, or raise Refusal if impossible."""
        return self

    def fit_keys(self, n_fits: int) -> np.ndarray | None:
        """Return keys of fits that differ although their training sets are equal, or None."""
        return None

    def train_sizes(self, sizes: np.ndarray) -> np.ndarray:
        """Return the number of training rows of each fit, given the sizes of the training sets."""
        return sizes

    def is_row_left_out(self, fit: np.ndarray) -> np.ndarray:
        """Return a mask of the test sets whose rows are predicted by models made without them.

        Each row of such a test set is predicted by a model made without this row. `fit` holds the
        fit of each test set.
        """
        return np.zeros(len(fit), dtype=bool)

    def labels(self, fit: int, labels: np.ndarray, names: np.ndarray | None = None) -> np.ndarray:
        """Return the labels of all rows with which a fit is trained, as codes or as class names."""
        return labels

    def moved_points(self, X: Any, question: int, rows: np.ndarray) -> Any:
        """Return the points that a test set predicts, given the rows near which they lie."""
        return X

    def positions_in_test_set(self, plan: Any, question: int) -> np.ndarray | None:
        """Return, for each training row, its position in a test set of the fit's own training rows.

        Return None if the test set does not consist of these rows, each predicted without itself.
        """
        return None

    def make_collector(self, plan: Any, n_candidates: int, n_classes: int) -> ExtraCollector | None:
        """Return a collector of the requested results, or None if only predictions are needed."""
        return None


class ExtraCollector(_ExtraField, ABC):
    """Collector of the results that a plan requests besides predictions, fit by fit."""

    @abstractmethod
    def store_results(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        """Store the results of a candidate's model in a fit, in row `line` of the result arrays."""

    def correct(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        """Replace results that an engine computed by those of the fitted model itself."""
        self.store_results(fit, line, facts)

    @abstractmethod
    def to_answers(self) -> ExtraAnswers:
        """Return all results that were collected."""


class ExtraAnswers(_ExtraField, ABC):
    """Results of all candidates that a plan requests besides predictions."""

    @abstractmethod
    def select(self, plan: Any, questions: np.ndarray) -> ExtraAnswers | None:
        """Return the results for some test sets of the plan only, or None if there are none."""

    @abstractmethod
    def join(self, others: Sequence[tuple[int, Any]]) -> ExtraAnswers:
        """Return these results joined with those of further candidates.

        Each of the further results comes with the number of its first candidate.
        """


def concatenate_non_none(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Concatenate the arrays that are not None, in the type of the first; return None if none."""
    present_arrays = [array for array in arrays if array is not None]
    return (
        np.concatenate(present_arrays).astype(present_arrays[0].dtype) if present_arrays else None
    )
