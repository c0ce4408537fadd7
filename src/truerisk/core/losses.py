"""Losses of single rows, and a list of all losses; scores of whole test sets stand in `scores/`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from truerisk.core.arguments import as_array, check_clip, shown
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.loss import Loss, RowLoss
from truerisk.core.scores.confusion import (
    MCC,
    BalancedAccuracy,
    FBeta,
    GMean,
    Kappa,
    Precision,
    Recall,
    Sensitivity,
    Specificity,
)
from truerisk.core.scores.explained import R2
from truerisk.core.scores.ranked import AUC, AveragePrecision
from truerisk.core.scores.reliability import ECE
from truerisk.core.table.data import Data

__all__ = [
    "AUC",
    "ECE",
    "MCC",
    "R2",
    "Absolute",
    "AveragePrecision",
    "BalancedAccuracy",
    "Brier",
    "Cost",
    "FBeta",
    "GMean",
    "Kappa",
    "Log",
    "Loss",
    "Precision",
    "Recall",
    "RowLoss",
    "Sensitivity",
    "Specificity",
    "Squared",
    "ZeroOne",
]


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
            self.matrix = as_array(matrix, np.float64)
        except ValueError:
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
    """−log of the probability given to the true class, which counts as `clip` where it is less.

    Without `clip` it counts as machine epsilon at least, and a sure and wrong answer costs 36.04.
    With it no answer costs more than −log(clip), and the loss has a bound.
    """

    word, response = "log", "probability"

    def __init__(self, clip: float | None = None) -> None:
        if clip is not None:
            check_clip(clip)
            self.word, self.upper = f"log clipped at {clip:g}", -math.log(clip)
        self.clip = clip

    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        truth = data.codes_of(rows)
        given: np.ndarray = answers[:, np.arange(len(rows)), truth]
        given = np.where(np.isfinite(given), given, np.nan)  # clipped, infinity would be certainty
        return -np.log(np.clip(given, self.clip or np.finfo(np.float64).eps, 1.0))


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
