"""Scores of whole test sets as losses of rows: what each row does to the score of its fold."""

from __future__ import annotations

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data

__all__ = ["losses_by_influence"]


def losses_by_influence(
    answers: Answers, data: Data, loss: Loss, by_split: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """`(n_candidates, n_positions)`: the score of a row's test set plus the row's influence on it.

    Their weighted mean over a test set is its score, and their spread that of the score to first
    order, so that they serve as losses of rows. NaN where a fit failed.
    """
    plan = answers.plan
    rows, offsets = plan.positions[0], plan.test_offsets
    losses = np.repeat(by_split, plan.test_sizes, axis=1)
    for q in range(plan.n_questions):
        part = slice(offsets[q], offsets[q + 1])
        ok = np.isfinite(by_split[:, q])
        if ok.any():
            w = None if weights is None else weights[part]
            losses[ok, part] += loss.influences(data, rows[part], answers.of(q)[ok], w)
    return losses
