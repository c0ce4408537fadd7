"""Scores of whole test sets as losses of rows: what each row does to the mean of all scores."""

from __future__ import annotations

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data

__all__ = ["losses_by_influence"]


def losses_by_influence(
    answers: Answers, data: Data, loss: Loss, by_split: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """`(n_candidates, n_positions)`: the mean score plus a row's influence about it.

    The spread of these is that of the mean of all scores to first order, so that they serve as
    losses of rows. It is about the mean of all test sets: the only positive row of a test set would
    have no influence about the AUC of that set. NaN where a fit failed.
    """
    plan = answers.plan
    rows, offsets = plan.positions[0], plan.test_offsets
    mean = by_split.mean(axis=1)
    losses = np.repeat(mean[:, None], len(rows), axis=1)
    ok = np.isfinite(mean)
    for q in range(plan.n_questions if ok.any() else 0):
        part = slice(offsets[q], offsets[q + 1])
        w = None if weights is None else weights[part]
        losses[ok, part] += loss.influences(data, rows[part], answers.of(q)[ok], w, mean[ok])
    return losses
