r"""The no-information risk: what a rule's answers cost when they have nothing to do with y.

.. math:: \gamma = \frac{1}{n^2} \sum_i \sum_j \ell(y_i, f(x_j))

Exact for every loss of single rows. A loss that looks at y's class alone needs one evaluation per
class (zero-one loss: Σ_k p_k (1 − q_k)), squared loss is var y + var f + (mean y − mean f)², and
any other loss is summed row by row of y. The AUC of unrelated answers is ½ by definition. Of a
function that rates whole test sets it is the mean over shifts of y against the answers.
"""

from __future__ import annotations

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.losses import AUC, Brier, Cost, Log, Loss, RowLoss, Squared, ZeroOne
from truerisk.core.table.data import Data

__all__ = ["no_information"]

MOST_SHIFTS = 500


def no_information(loss: Loss, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """γ of each candidate from its answers about these rows."""
    if type(loss) is AUC:
        return np.full(len(answers), 0.5)
    if not isinstance(loss, RowLoss):
        return _over_shifts(loss, data, rows, answers)
    given = data.weights(rows)
    weights = np.ones(len(rows)) if given is None else given
    if type(loss) is Squared:
        return _squared(data.y[rows], answers, weights / weights.sum())
    stand, theirs = rows, weights
    if type(loss) in (ZeroOne, Cost, Log, Brier):
        codes = data.codes_of(rows)
        first, member = np.unique(codes, return_index=True, return_inverse=True)[1:]
        stand, theirs = rows[first], np.bincount(member.ravel(), weights).astype(np.float64)
    total = np.zeros(len(answers))
    for row, weight in zip(stand, theirs, strict=True):  # whole numbers stay whole
        total += weight * (loss.of_rows(data, np.full(len(rows), row), answers) @ weights)
    return total / weights.sum() ** 2


def _squared(y: np.ndarray, answers: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The mean over targets of the two variances and the squared difference of the means."""
    y = y.reshape(len(y), -1)
    answers = answers.reshape(*answers.shape[:2], -1)
    mean, means = share @ y, np.einsum("j,cjt->ct", share, answers)
    spread = share @ (y - mean) ** 2
    spreads = np.einsum("j,cjt->ct", share, (answers - means[:, None]) ** 2)
    return (spread + spreads + (means - mean) ** 2).mean(axis=1)


def _over_shifts(loss: Loss, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Every y meets every answer once over all n shifts; of more than 500 that many, evenly."""
    if loss.response == "scored":
        raise Refusal(
            f"the no-information risk of scorer {loss.word} does not exist: it asks the model "
            "itself, and y cannot be shuffled against its answers. Use a loss of truerisk, '.632', "
            "or a K-fold word."
        )
    shifts = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_SHIFTS)).astype(int))
    found = [loss.of_set(data, np.roll(rows, int(s)), answers, None) for s in shifts]
    return np.mean(found, axis=0)
