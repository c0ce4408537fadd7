"""Convert scores of test rows to answers, and find answers that rounding may decide."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from truerisk.core.frozen import frozen
from truerisk.engines.templates.task import Task
from truerisk.plan.answers import code_type, codes_of_scores

OPEN = 1e-9  # scores this close to a tie are computed by the learner itself


@frozen(eq=False)
class QuestionRows:
    """The test rows of a question, read by columns; `own` is set if each row is left out."""

    X: Any
    rows: np.ndarray | None
    own: Any = None

    def times(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return products of some columns with coefficients (…, column), as (row, …)."""
        if hasattr(self.X, "tocsr"):
            part = self.X[:, columns]
            part = part if self.rows is None else part.tocsr()[self.rows]
        elif self.rows is None:
            part = self.X[:, columns]
        else:
            part = self.X[np.ix_(self.rows, columns)]
        return np.asarray(part @ coefficients.T)


def answers_of(scores: np.ndarray, present: np.ndarray, task: Task) -> np.ndarray:
    """Return answers (candidate, row, ...) from scores (candidate, row, f), as the learner does.

    LogisticRegression subtracts one of two probabilities from 1, which loses digits of a small one.
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
    """Return the distance of the largest score from the next one, (candidate, row)."""
    if scores.shape[2] == 1:
        margin: np.ndarray = np.abs(scores[..., 0])
    else:
        top = np.partition(scores, -2, axis=2)
        margin = top[..., -1] - top[..., -2]
    return margin


def ranks_are_close(scores: np.ndarray, codes: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Return the candidates with nearly equal scores for two rows of different classes.

    The scores have shape (candidate, row), and "nearly" means within `gap`.

    The order of such a pair depends on rounding, and a loss of ranks is affected by it.
    """
    order = np.argsort(scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    near = np.diff(ranked, axis=1) <= gap[:, None]
    # numbers of runs of rows that are linked by close scores
    runs = np.cumsum(np.pad(~near, ((0, 0), (1, 0))), axis=1)
    close = np.zeros(len(scores), dtype=bool)
    for c in np.flatnonzero(near.any(axis=1)):
        kinds = codes[order[c]]
        low, high = np.full(runs[c, -1] + 1, kinds.max()), np.full(runs[c, -1] + 1, kinds.min())
        np.minimum.at(low, runs[c], kinds)
        np.maximum.at(high, runs[c], kinds)
        close[c] = bool((low < high).any())
    return close
