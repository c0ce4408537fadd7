"""What a loss says about itself. A risk is a mean loss, so lower is better, always.

A loss that costs each row by itself (`per_row`) can be pooled, weighted and given a standard
error. One that only rates a whole test set (AUC, F1, a scorer) can be given one where it is told
what each row does to it (`tells_influences`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np

from truerisk.core.answers import Response
from truerisk.core.errors import Refusal, UnknownName
from truerisk.core.present import plain
from truerisk.core.scale import Scale
from truerisk.core.table.data import Data, Task

__all__ = ["NO_PREDICTIONS", "Average", "Loss", "RowLoss", "check_average"]

Average = Literal["pooled", "fold", "rows by fold"]
"""All answers of a repetition as one test set, or the mean over folds, which count alike.

"rows by fold" is the mean over folds for losses of rows, and for other losses their usual one.
"""

NO_PREDICTIONS = (
    "{} compares answers with y, and this model makes no predictions of y: rate it by scoring=, a "
    "function of (estimator, X, y)."
)

Risks = TypeVar("Risks", float, np.ndarray)


def check_average(average: str | None) -> None:
    """Refuse an unknown average."""
    if average not in (None, "pooled", "fold", "rows by fold"):
        raise UnknownName(f"average={average!r} is unknown; use 'pooled', 'fold' or None.")


class Loss(ABC):
    """What every loss says about itself; `perfect` is the score of a rule without error."""

    word: str
    response: Response
    tasks: tuple[Task, ...] = ("classification",)
    per_row: ClassVar[bool]
    binary: bool = False  # whether the loss is a count of errors (0 or 1 per row)
    lower: float | None = 0.0
    upper: float | None = None
    perfect: float = 0.0
    is_score: bool = False  # whether it is known by its score, `perfect` minus the loss
    usual_average: Average = "fold"  # how the test sets of a repetition are averaged
    tells_influences: bool = False
    grows_with_few_rows: bool = False  # whether it is too large of few rows, whatever the rule
    holds_in_space: bool = False  # whether an interval of a score kept its promise on fields
    positive: Any = None  # the class that was named for it, where it is a score of one class
    notes: tuple[str, ...] = ()  # on what was taken for granted, for the reader of a result

    @abstractmethod
    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Loss of each candidate (first axis of `answers`) on one test set."""

    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        """`(n_candidates, n_rows)`: what a little more weight on a row does to the loss of a set.

        The derivative by the row's weight, times the weight of all. `about` is a value for each
        candidate that a row is compared with: the loss of the set, or of several sets; scores of a
        confusion table do without it. A loss of rows needs none: its losses say it.
        """
        raise Refusal(f"loss '{self.word}' does not tell what each row does to it.")

    def of_one_row(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """How much another answer to one of the rows changes each candidate's loss, at most.

        By the loss of one row among all, unless the loss knows better: one of few positive rows
        changes the recall by more.
        """
        low, high = self.lower or 0.0, self.upper or 0.0
        return np.full(len(answers), (high - low) / len(rows))

    def counted_twice(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        """The part of Σ (w φ/W)² of each candidate that two rows have in common: pairs have one."""
        return np.zeros(len(answers))

    def rated(self, data: Data) -> int | None:
        """The code of the class that it speaks of; None where it speaks of all."""
        return None

    def label(self, data: Data) -> Any:
        """The class that it speaks of, as a result shows it; None where it speaks of all."""
        code = self.rated(data)
        return None if code is None else plain(data.label(code))

    def of_class(self, positive: Any) -> Self:
        """The same of this class, where it is of one that has not been named yet."""
        return self

    def averaged(self, asked: Average | None) -> Average:
        """How its test sets are averaged where this was asked for."""
        if asked == "rows by fold":
            return "fold" if self.per_row else self.usual_average
        return asked or self.usual_average

    @property
    def one_scale(self) -> bool:
        """Whether answers of several models compare: labels and values do, scores for ranks not."""
        return self.response not in ("score", "scored")

    def check(self, data: Data) -> None:
        """Refuse data this loss is not defined for."""
        if data.task == "other" and data.task not in self.tasks:
            raise Refusal(NO_PREDICTIONS.format(self.word))
        if data.task not in self.tasks:
            fitting = {
                "classification": "zero-one, log or brier",
                "regression": "squared or absolute",
            }
            raise Refusal(
                f"loss '{self.word}' is not defined for {data.task}; use {fitting[data.task]}."
            )

    def score(self, risk: Risks) -> Risks:
        """The risk as scikit-learn counts, higher is better."""
        return self.perfect - risk

    @property
    def scale(self) -> Scale:
        """How people read its risks."""
        return Scale(self.perfect if self.is_score else None)


class RowLoss(Loss):
    """A loss of single rows; the loss of a set is the (weighted) mean."""

    per_row = True
    usual_average = "pooled"
    tells_influences = True

    @abstractmethod
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """`(n_candidates, n_rows)` losses of the given rows."""

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        return np.average(self.of_rows(data, rows, answers), axis=1, weights=weights)
