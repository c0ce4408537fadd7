"""Convert scores of test rows to predictions, and find predictions that rounding may decide."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from truerisk.core.frozen import frozen
from truerisk.engines.templates.task import Task
from truerisk.plan.answers import class_code_dtype, class_codes_from_scores

MIN_LABEL_MARGIN = 1e-9  # Labels whose margin is below MIN_LABEL_MARGIN are left to scikit-learn.


@frozen(eq=False)
class RowsOfTestSet:
    """Rows of one test set, as row numbers of a table X.

    `training_rows` holds the training rows if each row is left out of them.
    """

    X: Any
    rows: np.ndarray | None
    training_rows: Any = None

    def multiply(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Multiply the test rows by the coefficients of linear functions; return (row, function).

        `coefficients` has the shape (function, column).
        """
        if hasattr(self.X, "tocsr"):
            test_rows = self.X[:, columns]
            test_rows = test_rows if self.rows is None else test_rows.tocsr()[self.rows]
        elif self.rows is None:
            test_rows = self.X[:, columns]
        else:
            test_rows = self.X[np.ix_(self.rows, columns)]
        return np.asarray(test_rows @ coefficients.T)


def predictions_from_scores(
    scores: np.ndarray, present_classes: np.ndarray, task: Task
) -> np.ndarray:
    """Convert scores (candidate, row, function) to predictions (candidate, row, ...).

    Probabilities are computed as in the estimator: LogisticRegression subtracts one of two
    probabilities from 1, which loses digits of a small probability.
    """
    response, n_classes = task.request.response, task.data.n_classes
    if response == "label":
        labels: np.ndarray = present_classes[class_codes_from_scores(scores)]
        return labels.astype(class_code_dtype(n_classes))
    if response == "score":
        return scores[..., 0]
    probabilities = np.zeros((*scores.shape[:2], n_classes))
    if scores.shape[2] == 1:
        probabilities[..., present_classes[1]] = expit(scores[..., 0])
        first_class_probability = (
            expit(-scores[..., 0])
            if "at" in task.group.settings[0]
            else 1 - probabilities[..., present_classes[1]]
        )
        probabilities[..., present_classes[0]] = first_class_probability
    else:
        probabilities[..., present_classes] = softmax(scores, axis=2)
    return probabilities


def class_margins(scores: np.ndarray) -> np.ndarray:
    """Return the margin between the two largest class scores, for each (candidate, row)."""
    if scores.shape[2] == 1:
        margin: np.ndarray = np.abs(scores[..., 0])
    else:
        two_best_scores = np.partition(scores, -2, axis=2)
        margin = two_best_scores[..., -1] - two_best_scores[..., -2]
    return margin


def has_near_ties(scores: np.ndarray, codes: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """Return True for candidates with nearly equal scores for two rows of different classes.

    The scores have shape (candidate, row). "Nearly" means within the candidate's `tolerance`.

    The order of such a pair depends on rounding, which affects losses that compare ranks.
    """
    score_order = np.argsort(scores, axis=1, kind="stable")
    sorted_scores = np.take_along_axis(scores, score_order, axis=1)
    is_small_gap = np.diff(sorted_scores, axis=1) <= tolerance[:, None]
    # In the order of scores, rows linked by small gaps get the same group number.
    tie_groups = np.cumsum(np.pad(~is_small_gap, ((0, 0), (1, 0))), axis=1)
    has_near_tie = np.zeros(len(scores), dtype=bool)
    for candidate_index in np.flatnonzero(is_small_gap.any(axis=1)):
        sorted_codes = codes[score_order[candidate_index]]
        lowest_codes, highest_codes = (
            np.full(tie_groups[candidate_index, -1] + 1, sorted_codes.max()),
            np.full(tie_groups[candidate_index, -1] + 1, sorted_codes.min()),
        )
        np.minimum.at(lowest_codes, tie_groups[candidate_index], sorted_codes)
        np.maximum.at(highest_codes, tie_groups[candidate_index], sorted_codes)
        has_near_tie[candidate_index] = bool((lowest_codes < highest_codes).any())
    return has_near_tie
