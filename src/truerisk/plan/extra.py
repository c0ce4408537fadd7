"""Additional questions of a plan, beyond predictions for rows: one `Extra` object, or None.

The types are in `plan/extras`. Each type defines how its questions are subset, renumbered and
stored, so that plans need not know the types.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np


class _Held:
    """Base of the `extra` of a plan, of its answers and of a task."""

    @classmethod
    def from_holder(cls, holder: Any) -> Self | None:
        """Return the `extra` of the holder if it is of this type, or None."""
        return holder.extra if isinstance(holder.extra, cls) else None


class Extra(_Held, ABC):
    """Questions of a plan other than predictions for its rows.

    If `draws` is true, the training sets are drawn at random, and the answers are expected losses.
    """

    draws: ClassVar[bool] = False

    @property
    @abstractmethod
    def needs(self) -> Mapping[str, str]:
        """The capabilities an engine needs, each with the reason to refuse one that lacks it."""

    @abstractmethod
    def select(self, questions: np.ndarray, fits: np.ndarray) -> Extra | None:
        """Return the part for these questions and fits (ascending), renumbered 0, 1, ..."""

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays by the names under which `read` finds them."""

    @classmethod
    @abstractmethod
    def read(cls, arrays: Mapping[str, np.ndarray]) -> Extra:
        """Build the object from the arrays that `arrays` returned."""

    @abstractmethod
    def after(self, n_fits: int, n_questions: int) -> Self:
        """Return the object renumbered to follow so many fits and questions of other plans."""

    @abstractmethod
    def joined(self, others: Sequence[Self]) -> Self:
        """Return the object joined with those of further plans, whose numbers follow."""

    def within(self, rows: np.ndarray) -> Extra:
        """Return the object for a plan drawn on these rows; refuse where this has no meaning."""
        return self

    def fit_keys(self, n_fits: int) -> np.ndarray | None:
        """Return keys by which fits on equal training sets differ, or None if they do not."""
        return None

    def train_sizes(self, sizes: np.ndarray) -> np.ndarray:
        """Return the number of rows that each fit sees, given the sizes of the training sets."""
        return sizes

    def without_row(self, fit: np.ndarray) -> np.ndarray:
        """Return a mask of the questions whose models are made without the tested row.

        `fit` holds the fit of each question.
        """
        return np.zeros(len(fit), dtype=bool)

    def labels(self, fit: int, labels: np.ndarray, names: np.ndarray | None = None) -> np.ndarray:
        """Return the labels of all rows that a fit is given, as codes or as the names of codes."""
        return labels

    def moved(self, X: Any, question: int, rows: np.ndarray) -> Any:
        """Return the points that a question is about, given the rows that it is about."""
        return X

    def copies(self, plan: Any, question: int) -> np.ndarray | None:
        """Return, for each training row, its position in a question about the fit's own rows.

        Return None if the question is not about the fit's own rows, each predicted without itself.
        """
        return None

    def gather(self, plan: Any, n_candidates: int, n_classes: int) -> Gathered | None:
        """Return an object that collects the answers, or None if all answers are about rows."""
        return None


class Gathered(_Held, ABC):
    """Collects the answers to additional questions of a plan as they arrive, fit by fit."""

    @abstractmethod
    def place(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        """Store the answers of a candidate's model in a fit; `line` is the candidate's row."""

    def correct(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        """Replace answers that were computed for a model by those that the model itself gave."""
        self.place(fit, line, facts)

    @abstractmethod
    def finished(self) -> ExtraAnswers:
        """Return all answers."""


class ExtraAnswers(_Held, ABC):
    """Answers of all candidates to the additional questions of a plan."""

    @abstractmethod
    def select(self, plan: Any, questions: np.ndarray) -> ExtraAnswers | None:
        """Return the answers to these questions of the plan only, or None if there are none."""

    @abstractmethod
    def joined(self, others: Sequence[tuple[int, Any]]) -> ExtraAnswers:
        """Return the answers joined with those of further candidates.

        Each of the others comes with the number of its first candidate.
        """


def end_to_end(parts: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Concatenate arrays in the type of the first; return None if there are none."""
    present = [part for part in parts if part is not None]
    return np.concatenate(present).astype(present[0].dtype) if present else None
