"""Minus twice the log-likelihood of a fit, constants included: what the criteria add a price to."""

from __future__ import annotations

from typing import Literal

import numpy as np

from truerisk.core.answers import Response
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data, Task

__all__ = ["Likelihood", "has_exact_fit", "squares"]


class Likelihood(Loss):
    r"""Of a set of rows, as R counts it.

    Numbers are Gaussian about the answers, the variance at its own maximum RSS/n:
    :math:`n \log(2\pi\,\mathrm{RSS}/n) + n`, less :math:`\sum \log w_i` where rows have weights
    (precisions). Classes have :math:`-2 \sum_i \log \hat p_{y_i}(x_i)`.
    """

    word = "-2 log L"
    tasks: tuple[Task, ...] = ("classification", "regression")
    per_row = False
    lower = None

    def __init__(self, task: Task) -> None:
        self.response: Response = response_of(task)

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Of every candidate; infinite where the fit is exact or a label has probability 0."""
        if data.task == "classification":
            given = answers[:, np.arange(len(rows)), data.codes_of(rows)]
            with np.errstate(divide="ignore"):
                of_labels: np.ndarray = -2 * np.log(given).sum(axis=1)
            return of_labels
        n = len(rows)
        rss = squares(data, rows, answers, weights)
        constant = 0.0 if weights is None else float(np.log(weights).sum())
        with np.errstate(divide="ignore"):
            of_numbers: np.ndarray = n * np.log(2 * np.pi * rss / n) + n - constant
        return np.where(has_exact_fit(data, rows, rss, weights), -np.inf, of_numbers)


def response_of(task: Task) -> Literal["probability", "value"]:
    """The response that a likelihood is computed from."""
    return "probability" if task == "classification" else "value"


def squares(
    data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """The (weighted) residual sum of squares of every candidate."""
    residuals = (answers - data.y[rows]) ** 2
    return residuals.sum(axis=1) if weights is None else residuals @ weights


def has_exact_fit(
    data: Data, rows: np.ndarray, rss: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Whether the residuals are those of rounding: no more than 2^-46 of the labels."""
    y = data.y[rows].astype(np.float64)
    size = (y**2).sum() if weights is None else (y**2 * weights).sum()
    return rss <= size * 2.0**-92
