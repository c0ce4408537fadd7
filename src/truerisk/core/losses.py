"""Losses: what an answer costs. A risk is a mean loss, so lower is better, always.

A loss that costs each row by itself (`per_row`) can be pooled, weighted and given a standard
error. One that only rates a whole test set (AUC, a scorer) can be given one where it is told what
each row does to it (`tells_influences`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeVar

import numpy as np

from truerisk.core.answers import Response
from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.table.data import Data, Task

__all__ = ["AUC", "Absolute", "Brier", "Cost", "Log", "Loss", "RowLoss", "Squared", "ZeroOne"]

Risks = TypeVar("Risks", float, np.ndarray)


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
    is_score: bool = False  # whether people state it as a score, larger is better
    tells_influences: bool = False
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
        candidate that a row is compared with: the loss of the set, or of several sets. A loss of
        rows needs none: its losses say it.
        """
        raise Refusal(f"loss '{self.word}' does not tell what each row does to it.")

    def check(self, data: Data) -> None:
        """Refuse data this loss is not defined for."""
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


class RowLoss(Loss):
    """A loss of single rows; the loss of a set is the (weighted) mean."""

    per_row = True
    tells_influences = True

    @abstractmethod
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """`(n_candidates, n_rows)` losses of the given rows."""

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        return np.average(self.of_rows(data, rows, answers), axis=1, weights=weights)


class ZeroOne(RowLoss):
    """1 for a wrong label, 0 for a right one."""

    word, response, binary, upper, perfect = "zero-one", "label", True, 1.0, 1.0

    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        truth = data.codes_of(rows).astype(answers.dtype, copy=False)  # one type compares fastest
        wrong: np.ndarray = answers != truth
        return wrong.astype(np.float64)


class Cost(RowLoss):
    """`matrix[t, p]` for true class t and predicted class p, in the order of the sorted classes."""

    word, response = "cost", "label"

    def __init__(self, matrix: Any) -> None:
        try:
            self.matrix = np.asarray(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise BadArgument(
                f"matrix={shown(matrix)} holds no costs: give a square matrix of numbers, "
                "true classes in rows, such as [[0, 1], [5, 0]]."
            ) from None
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise Refusal(f"a cost matrix is square; this one has shape {self.matrix.shape}.")
        if not np.isfinite(self.matrix).all() or (self.matrix < 0).any():
            raise Refusal("costs are finite and not negative.")
        if self.matrix.diagonal().any():
            raise Refusal("the diagonal of a cost matrix is 0: a right answer costs nothing.")
        if not self.matrix.any():
            raise Refusal("every cost is 0: no answer is wrong. Give what mistakes cost.")
        self.upper = float(self.matrix.max())

    def check(self, data: Data) -> None:
        super().check(data)
        if len(self.matrix) != data.n_classes:
            raise Refusal(
                f"the cost matrix is for {len(self.matrix)} classes and y has {data.n_classes}."
            )

    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        if (answers < 0).any():
            raise Refusal("a model predicted a label that y does not hold: it has no cost.")
        return self.matrix[data.codes_of(rows)[None, :], answers]


class Log(RowLoss):
    """−log of the probability given to the true class, probabilities kept above machine epsilon."""

    word, response = "log", "probability"

    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        truth = data.codes_of(rows)
        given: np.ndarray = answers[:, np.arange(len(rows)), truth]
        given = np.where(np.isfinite(given), given, np.nan)  # clipped, infinity would be certainty
        epsilon = np.finfo(np.float64).eps
        return -np.log(np.clip(given, epsilon, 1.0))


class Brier(RowLoss):
    """Squared distance of the probabilities to the truth; halved for two classes, as (p − y)²."""

    word, response = "brier", "probability"

    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        truth = np.eye(data.n_classes)[data.codes_of(rows)]
        distance: np.ndarray = ((answers - truth) ** 2).sum(axis=2)
        return distance / 2 if data.n_classes == 2 else distance

    def check(self, data: Data) -> None:
        super().check(data)
        self.upper = 1.0 if data.n_classes == 2 else 2.0


class Squared(RowLoss):
    """(y − f)², the mean over targets where there are several."""

    word, response = "squared", "value"
    tasks = ("regression",)

    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        losses: np.ndarray = answers - data.y[rows]
        losses *= losses
        return losses.mean(axis=2) if losses.ndim == 3 else losses


class Absolute(RowLoss):
    """`|y − f|`, the mean over targets where there are several."""

    word, response = "absolute", "value"
    tasks = ("regression",)

    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        losses: np.ndarray = np.abs(answers - data.y[rows])
        return losses.mean(axis=2) if losses.ndim == 3 else losses


class AUC(Loss):
    """1 − AUC: the chance that a negative row is ranked above a positive one, ties counted half."""

    word, response, per_row, upper, perfect = "auc", "score", False, 1.0, 1.0
    tells_influences, is_score = True, True

    def check(self, data: Data) -> None:
        super().check(data)
        if data.n_classes != 2:
            raise Refusal(
                f"loss 'auc' needs two classes and y has {data.n_classes}; use 'log' or 'brier'."
            )

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        positive, w = self._sides(data, rows, weights)
        return np.array([_one_minus_auc(scores, positive, w) for scores in answers])

    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        """Of a positive row (the share of negatives above it − loss) W/W₊, W₊ the weight of these.

        Of a negative row the same with the share of positives below it (LeDell, Petersen and van
        der Laan, 2015).
        """
        positive, w = self._sides(data, rows, weights)
        return np.array(
            [
                _placements(scores, positive, w, value)
                for scores, value in zip(answers, about, strict=True)
            ]
        )

    def _sides(
        self, data: Data, rows: np.ndarray, weights: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which rows are positive, and their weights; a test set of one class is refused."""
        positive = data.codes_of(rows) == 1
        w = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        if not w[positive].any() or not w[~positive].any():
            raise Refusal(
                "loss 'auc' needs both classes in every test set, and one of "
                f"{len(rows)} rows holds a single class; use fewer folds or average='pooled'."
            )
        return positive, w


def _one_minus_auc(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """Weighted share of (positive, negative) pairs in the wrong order; NaN has no order."""
    if not np.isfinite(scores).all():
        return float("nan")
    up, down, _ = _by_level(scores, positive, weights)
    above = down.sum() - np.cumsum(down)
    return float((up * (above + down / 2)).sum() / (up.sum() * down.sum()))


def _placements(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, value: float
) -> np.ndarray:
    """What every row does to the share of pairs in the wrong order, about some value of it."""
    if not np.isfinite(scores).all():
        return np.full(len(scores), np.nan)
    up, down, level = _by_level(scores, positive, weights)
    above = (down.sum() - np.cumsum(down) + down / 2) / down.sum()
    below = (np.cumsum(up) - up / 2) / up.sum()
    by_class = np.where(positive, weights.sum() / up.sum(), weights.sum() / down.sum())
    placed: np.ndarray = by_class * (np.where(positive, above[level], below[level]) - value)
    return placed


def _by_level(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weight of positive and of negative rows at every distinct score, and each row's place."""
    _, level = np.unique(scores, return_inverse=True)
    return np.bincount(level, weights * positive), np.bincount(level, weights * ~positive), level
