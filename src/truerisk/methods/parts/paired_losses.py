"""Losses of several candidates on the same rows, and the covariance of their risks."""

from __future__ import annotations

import numpy as np

from truerisk.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.intervals.calibrated import ONCE
from truerisk.losses.loss import Loss, RowLoss
from truerisk.methods.parts.averages import (
    Averaged,
    average_weights,
    changes_by_one_row,
    losses_by_influence,
    means_by_row,
    of_sets,
    position_weights,
    row_losses,
)
from truerisk.plan.answers import Answers
from truerisk.plan.leaks import IN_TIME, ORDERED, order_of
from truerisk.results.evaluation import PairedLosses
from truerisk.results.interval import Basis

REMEDY = "compare by held-out rows, such as '10-fold'."


def paired_losses(answers: Answers, data: Data, loss: Loss, method: Method) -> PairedLosses:
    """Return the mean loss of every tested row, or raise with the reason why there is none.

    Scores of whole test sets are converted to losses of rows by the influence of each row.
    """
    if not {Basis.LOSSES, Basis.MEAN} <= method.gives:
        raise Refusal(
            f"'{method.name}' gives no mean of losses of rows that were held out: {REMEDY}"
        )
    if data.time is not None or method.respects_time:
        raise Refusal(IN_TIME)
    if order_of(answers.plan) is not None:
        raise Refusal(ORDERED)
    if not loss.tells_influences:
        raise Refusal(f"'{loss.name}' has no formula for what a single row does to it.")
    failed = {failure.candidate for failure in answers.failures}
    lacking = np.flatnonzero(~answers.answered.all(axis=1)).tolist()
    if set(lacking) - failed:
        raise Refusal(
            f"{len(set(lacking) - failed)} of {len(answers.answered)} settings left the "
            f"race before every row had rated them: {REMEDY}"
        )
    average = loss.averaged(None)
    if isinstance(method, Averaged):
        average = method.average_of(loss)
    weights, total = average_weights(data, answers.plan, average)
    changes = None
    if isinstance(loss, RowLoss):
        losses = row_losses(answers, data, loss)
    elif average == "fold" or loss.one_scale:
        values = of_sets(answers, data, loss, average)[1]
        given = position_weights(data, answers.plan)
        losses = losses_by_influence(answers, data, loss, values, given)
        changes = changes_by_one_row(answers, data, loss, values)
    else:
        raise Refusal(
            f"'{loss.name}' of all folds at once ranks answers of several models, and nothing "
            "tells what a row does to it: use average='fold'."
        )
    rows, per_row, shares, _ = means_by_row(losses, weights / total, answers.plan)
    if not isinstance(loss, RowLoss):  # Influences on the pooled score do not add up by folds.
        per_row = per_row + (values - per_row @ shares)[:, None]
    groups = None if data.clusters is None else data.clusters[rows]
    one_row = np.zeros(len(per_row))
    if loss.response == "label" and changes is not None:
        one_row = changes
    elif loss.response == "label" and loss.binary:
        one_row += np.sqrt((shares**2).mean())
    return PairedLosses(per_row, shares, groups, one_row)


def joint_covariance(
    influences: np.ndarray, values: np.ndarray, groups: np.ndarray | None, loss: Loss
) -> np.ndarray | None:
    """Return 1.8 m/(m − 1) Σ_g φ_g φ_gᵀ over m rows or groups; None if a risk has no variance.

    `influences[s]` holds the influence of each row on risk s, whose value is `values[s]`. The
    factor 1.8 is that of a cross-validated risk (`calibrated.py`) and the same for all risks,
    because risks of nested training sets vary together about as the tested rows do. If errors are
    counted and there are fewer than two, the variance is at least that of two (Agresti and Coull,
    1998, add as many). Training sets of different sizes share these added errors, because their
    risks come from the same rows.

    >>> from truerisk.losses.row_losses import Squared
    >>> covariance = joint_covariance(
    ...     np.array([[0.25, -0.25], [0.5, -0.5]]), np.array([0.5, 0.5]), None, Squared()
    ... )
    >>> covariance.round(3).tolist()
    [[0.45, 0.9], [0.9, 1.8]]
    """
    summed = influences
    if groups is not None:
        member = np.unique(groups, return_inverse=True)[1].ravel()
        summed = np.array([np.bincount(member, line) for line in influences])
    m = summed.shape[1]
    if m < 2:
        return None
    covariance = ONCE * m / (m - 1) * summed @ summed.T
    if loss.binary:
        two = 2 / (m + 4)
        lacking = np.maximum(0.0, ONCE * two * (1 - two) / m - np.diag(covariance)) ** 0.5
        lacking[np.asarray(values) * m >= 2] = 0.0
        covariance += np.outer(lacking, lacking)
    return covariance if (np.diag(covariance) > 0).all() else None
