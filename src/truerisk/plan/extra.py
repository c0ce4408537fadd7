"""What a plan may ask besides answers about rows: one object of a type of its own, or nothing.

A type stands in `plan/extras`. It says how what it asks is cut, numbered anew and stored, so that a
plan knows none of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np


class _Held:
    """What a plan, its answers or a task holds as its `extra`."""

    @classmethod
    def of(cls, holder: Any) -> Self | None:
        """Return what the holder has as `extra` if it is of this type, or None."""
        return holder.extra if isinstance(holder.extra, cls) else None


class Extra(_Held, ABC):
    """What a plan asks besides answers about rows as they are.

    `draws` says whether train sets are drawn at random, so that expected losses are the answers.
    """

    draws: ClassVar[bool] = False

    @property
    @abstractmethod
    def needs(self) -> Mapping[str, str]:
        """The words that an engine must serve, each with the sentence of one that does not."""

    @abstractmethod
    def only(self, questions: np.ndarray, fits: np.ndarray) -> Extra | None:
        """What is asked of these questions and fits (ascending), which get the numbers 0, 1, ..."""

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """All that it holds, by the names under which `read` finds it."""

    @classmethod
    @abstractmethod
    def read(cls, arrays: Mapping[str, np.ndarray]) -> Extra:
        """What `arrays` named."""

    @abstractmethod
    def after(self, n_fits: int, n_questions: int) -> Self:
        """The same behind so many fits and questions of other plans."""

    def joined(self, others: Sequence[Self]) -> Self:
        """The same with what further plans ask, whose numbers follow."""
        raise NotImplementedError

    def within(self, rows: np.ndarray) -> Extra:
        """The same of a plan that was drawn on these rows; refused where that has no meaning."""
        return self

    def fit_keys(self, n_fits: int) -> np.ndarray | None:
        """Keys that tell fits on equal train sets apart, None where they do not differ."""
        return None

    def train_sizes(self, sizes: np.ndarray) -> np.ndarray:
        """How many rows each fit sees, given the sizes of the train sets."""
        return sizes

    def without_row(self, fit: np.ndarray) -> np.ndarray:
        """Which questions, put to these fits, are answered by models made without the row."""
        return np.zeros(len(fit), dtype=bool)

    def labels(self, fit: int, labels: np.ndarray, names: np.ndarray | None = None) -> np.ndarray:
        """The labels of all rows as a fit is shown them, as codes or as the names of codes."""
        return labels

    def moved(self, X: Any, question: int, rows: np.ndarray) -> Any:
        """The points that a question is about, given the rows that it asks about."""
        return X

    def copies(self, plan: Any, question: int) -> np.ndarray | None:
        """For each training row the place of its row in a question about the fit's own rows.

        None where a question is not about rows without which the model answers.
        """
        return None

    def gather(self, plan: Any, n_candidates: int, n_classes: int) -> Gathered | None:
        """What the answers to it are gathered in, None where there are none but those of rows."""
        return None


class Gathered(_Held, ABC):
    """Answers to what a plan asks besides, as they come in, fit by fit."""

    @abstractmethod
    def place(self, fit: int, line: int, said: Mapping[str, Any]) -> None:
        """Put what the model of a candidate, a line of the answers, said in a fit."""

    def correct(self, fit: int, line: int, said: Mapping[str, Any]) -> None:
        """Put what a model itself said in the place of what was computed for it."""
        self.place(fit, line, said)

    @abstractmethod
    def finished(self) -> ExtraAnswers:
        """All of them."""


class ExtraAnswers(_Held, ABC):
    """What all candidates answered to what a plan asks besides."""

    @abstractmethod
    def only(self, plan: Any, questions: np.ndarray) -> ExtraAnswers | None:
        """The answers to these questions of the plan alone, None where none of them asks."""

    @abstractmethod
    def joined(self, others: Sequence[tuple[int, Any]]) -> ExtraAnswers:
        """The same with the answers of further candidates, each with the line of its first."""


def end_to_end(parts: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Arrays one after the other, in the type of the first; None where there are none."""
    present = [part for part in parts if part is not None]
    return np.concatenate(present).astype(present[0].dtype) if present else None
