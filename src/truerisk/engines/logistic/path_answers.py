"""Scores of the rows that are asked about, what they answer, and what rounding would decide.

The scores of a train set's own rows are taken out of the fit to first order, for every penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from truerisk.core.answers import code_type
from truerisk.engines.templates.task import Task
from truerisk.models.logistic_places import codes_of_scores
from truerisk.models.stated.without_a_row import logistic_without, row_variances


@dataclass(frozen=True, eq=False)
class QuestionRows:
    """Rows that a question asks about, read by columns; `own` where each is taken out."""

    X: Any
    rows: np.ndarray | None
    own: OwnRows | None = None

    def times(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Products of some columns with coefficients (…, column): (row, …)."""
        if hasattr(self.X, "tocsr"):
            part = self.X[:, columns]
            part = part if self.rows is None else part.tocsr()[self.rows]
        elif self.rows is None:
            part = self.X[:, columns]
        else:
            part = self.X[np.ix_(self.rows, columns)]
        return np.asarray(part @ coefficients.T)


def answers_of(scores: np.ndarray, present: np.ndarray, task: Task) -> np.ndarray:
    """Answers (candidate, row, ...) from scores (candidate, row, f), as the learner forms them.

    Of two probabilities LogisticRegression takes one from 1, which loses a small one's digits.
    """
    response, n_classes = task.request.response, task.data.n_classes
    if response == "label":
        labels: np.ndarray = present[codes_of_scores(scores)]
        return labels.astype(code_type(n_classes))
    if response == "score":
        return scores[..., 0]
    shares = np.zeros((*scores.shape[:2], n_classes))
    if scores.shape[2] == 1:
        shares[..., present[1]] = expit(scores[..., 0])
        less = (
            expit(-scores[..., 0])
            if "at" in task.group.settings[0]
            else 1 - shares[..., present[1]]
        )
        shares[..., present[0]] = less
    else:
        shares[..., present] = softmax(scores, axis=2)
    return shares


def least_margin(scores: np.ndarray) -> np.ndarray:
    """How far the largest score is from the next, (candidate, row)."""
    if scores.shape[2] == 1:
        margin: np.ndarray = np.abs(scores[..., 0])
    else:
        top = np.partition(scores, -2, axis=2)
        margin = top[..., -1] - top[..., -2]
    return margin


def ranks_are_close(scores: np.ndarray, codes: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """For which candidates two rows of different classes have scores (candidate, row) that close.

    Such a pair is in the order that rounding gave it, and a loss by ranks sees that.
    """
    order = np.argsort(scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    near = np.diff(ranked, axis=1) <= gap[:, None]
    runs = np.cumsum(np.pad(~near, ((0, 0), (1, 0))), axis=1)  # rows linked by close scores
    found = np.zeros(len(scores), dtype=bool)
    for c in np.flatnonzero(near.any(axis=1)):
        kinds = codes[order[c]]
        low, high = np.full(runs[c, -1] + 1, kinds.max()), np.full(runs[c, -1] + 1, kinds.min())
        np.minimum.at(low, runs[c], kinds)
        np.maximum.at(high, runs[c], kinds)
        found[c] = bool((low < high).any())
    return found


@dataclass(frozen=True, eq=False)
class Penalty:
    """Of each candidate the weight of the half squares beside the total likelihood.

    With `standardize` each square is multiplied by the variance of its column; with `selects` only
    columns with a coefficient are in the fit.
    """

    ridge: np.ndarray
    selects: bool
    standardize: bool


@dataclass(frozen=True, eq=False)
class OwnRows:
    """The rows that a fit saw, with their classes (0, 1) and weights."""

    X: Any
    rows: np.ndarray
    codes: np.ndarray
    weights: np.ndarray

    def without(self, scores: np.ndarray, coefficients: np.ndarray, penalty: Penalty) -> np.ndarray:
        """From scores (candidate, row, 1) of all rows to those without each row."""
        used = np.flatnonzero(coefficients.any(axis=(0, 1))) if penalty.selects else slice(None)
        part = self.X[:, used]
        part = part.tocsr()[self.rows].toarray() if hasattr(part, "tocsr") else part[self.rows]
        slopes = coefficients[:, 0, used]
        scale = row_variances(part, self.weights) if penalty.standardize else np.ones(part.shape[1])
        found = np.empty_like(scores)
        for c, ridge in enumerate(penalty.ridge):
            mine = np.flatnonzero(slopes[c]) if penalty.selects else np.arange(part.shape[1])
            found[c, :, 0] = logistic_without(
                part[:, mine], self.codes, self.weights, scores[c, :, 0], ridge * scale[mine]
            )
        return found
