"""Which scores of one candidate rounding would rank: those are asked of the learner itself.

A rule whose slope is 0 gives every row one score, but for the last digits; which row comes first is
then up to the arithmetic, the learner's or the engine's. It matters between rows of two classes
that are ranked together: those of one repetition, inside or outside.
"""

from __future__ import annotations

import numpy as np

from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data

__all__ = ["fits_ranked_by_rounding"]

CLOSE = 1e-9


def fits_ranked_by_rounding(scores: np.ndarray, plan: Plan, data: Data) -> np.ndarray:
    """The fits of which some score is as good as equal to that of a row of the other class."""
    sizes = plan.test_sizes
    together = np.stack([plan.part, plan.repeat, plan.unit], axis=1)
    of_question = np.unique(together, axis=0, return_inverse=True)[1].ravel()
    ranked = np.repeat(of_question, sizes)
    order = np.lexsort((scores, ranked))
    near = CLOSE * (1 + np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
    with np.errstate(invalid="ignore", over="ignore"):
        apart = (np.diff(ranked[order]) != 0) | ~(np.diff(scores[order]) <= near)
    starts = np.concatenate([[0], np.flatnonzero(apart) + 1])
    codes = data.class_codes[plan.positions[0][order]]
    mixed = np.maximum.reduceat(codes, starts) > np.minimum.reduceat(codes, starts)
    tied = order[np.repeat(mixed, np.diff(np.append(starts, len(order))))]
    return np.unique(np.repeat(plan.fit, sizes)[tied])
