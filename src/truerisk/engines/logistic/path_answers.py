"""Scores of the rows that are asked about, what they answer, and what rounding would decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from truerisk.engines.templates.task import Task
from truerisk.plan.answers import code_type, codes_of_scores

OPEN = 1e-9  # scores this close to a tie are asked of the learner itself


@dataclass(frozen=True, eq=False)
class QuestionRows:
    """Rows that a question asks about, read by columns; `own` where each is taken out."""

    X: Any
    rows: np.ndarray | None
    own: Any = None

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
    close = np.zeros(len(scores), dtype=bool)
    for c in np.flatnonzero(near.any(axis=1)):
        kinds = codes[order[c]]
        low, high = np.full(runs[c, -1] + 1, kinds.max()), np.full(runs[c, -1] + 1, kinds.min())
        np.minimum.at(low, runs[c], kinds)
        np.maximum.at(high, runs[c], kinds)
        close[c] = bool((low < high).any())
    return close
