"""Losses of several candidates on the same rows, and the covariance of their risks."""

from __future__ import annotations

import numpy as np

from truerisk.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.intervals.calibrated import SINGLE_DRAW_VARIANCE_FACTOR
from truerisk.losses.loss import Loss, RowLoss
from truerisk.methods.parts.averages import (
    Averaged,
    average_weights,
    losses_from_influences,
    means_by_row,
    prediction_weights,
    risks_of_test_sets,
    row_losses,
    single_row_changes,
)
from truerisk.plan.answers import Answers
from truerisk.plan.leaks import ORDERED_SPLITS_REASON, TIME_ORDER_REASON, find_split_order
from truerisk.results.evaluation import CandidateLosses
from truerisk.results.interval import Basis

REMEDY = "compare by held-out rows, such as '10-fold'."


def paired_losses(predictions: Answers, data: Data, loss: Loss, method: Method) -> CandidateLosses:
    """Return each candidate's mean loss of every tested row, for comparisons of candidates.

    Scores of whole test sets are converted to losses of rows by the influence of each row. Raise
    Refusal if the losses of rows do not exist or do not allow a comparison.
    """
    if not {Basis.LOSSES, Basis.MEAN} <= method.gives:
        raise Refusal(
            f"'{method.name}' gives no mean of losses of rows that were held out: {REMEDY}"
        )
    if data.time is not None or method.respects_time:
        raise Refusal(TIME_ORDER_REASON)
    if find_split_order(predictions.plan) is not None:
        raise Refusal(ORDERED_SPLITS_REASON)
    if not loss.tells_influences:
        raise Refusal(f"'{loss.name}' has no formula for what a single row does to it.")
    failed_candidates = {failure.candidate for failure in predictions.failures}
    incomplete_candidates = np.flatnonzero(~predictions.answered.all(axis=1)).tolist()
    if set(incomplete_candidates) - failed_candidates:
        raise Refusal(
            f"{len(set(incomplete_candidates) - failed_candidates)} of {len(predictions.answered)} "
            f"settings left the race before every row had rated them: {REMEDY}"
        )
    average = loss.averaged(None)
    if isinstance(method, Averaged):
        average = method.average_of(loss)
    weights, weight_sum = average_weights(data, predictions.plan, average)
    risk_changes = None
    if isinstance(loss, RowLoss):
        losses = row_losses(predictions, data, loss)
    elif average == "fold" or loss.one_scale:
        values = risks_of_test_sets(predictions, data, loss, average)[1]
        sample_weights = prediction_weights(data, predictions.plan)
        losses = losses_from_influences(predictions, data, loss, values, sample_weights)
        risk_changes = single_row_changes(predictions, data, loss, values)
    else:
        raise Refusal(
            f"'{loss.name}' of all folds at once ranks answers of several models, and nothing "
            "tells what a row does to it: use average='fold'."
        )
    rows, row_means, row_shares, _ = means_by_row(losses, weights / weight_sum, predictions.plan)
    # Row losses that come from influences are shifted, so that their mean equals the score.
    if not isinstance(loss, RowLoss):
        row_means = row_means + (values - row_means @ row_shares)[:, None]
    groups = None if data.clusters is None else data.clusters[rows]
    one_row_changes = np.zeros(len(row_means))
    if loss.response == "label" and risk_changes is not None:
        one_row_changes = risk_changes
    elif loss.response == "label" and loss.binary:
        one_row_changes += np.sqrt((row_shares**2).mean())
    return CandidateLosses(row_means, row_shares, groups, one_row_changes)


def joint_covariance(
    influences: np.ndarray, values: np.ndarray, groups: np.ndarray | None, loss: Loss
) -> np.ndarray | None:
    """Return the covariance matrix of several risks that are estimated on the same rows.

    Return None if a variance is 0.

    The matrix is 1.8 m/(m − 1) Σ_g φ_g φ_gᵀ, where φ_g are the influences of row or group g of m.
    `influences[s]` holds the influence of each row on risk s, whose value is `values[s]`. The
    factor 1.8 is the variance factor of a cross-validated risk (`calibrated.py`). It is the same
    for all risks, because risks of nested training sets vary together about as the tested rows do.
    If the loss counts errors and there are fewer than two, the variance is at least that of two
    errors (Agresti and Coull, 1998, add as many). Training sets of different sizes share these
    added errors, because their risks come from the same rows.

    >>> from truerisk.losses.row_losses import Squared
    >>> covariance = joint_covariance(
    ...     np.array([[0.25, -0.25], [0.5, -0.5]]), np.array([0.5, 0.5]), None, Squared()
    ... )
    >>> covariance.round(3).tolist()
    [[0.45, 0.9], [0.9, 1.8]]
    """
    unit_influences = influences
    if groups is not None:
        group_numbers = np.unique(groups, return_inverse=True)[1].ravel()
        unit_influences = np.array(
            [np.bincount(group_numbers, risk_influences) for risk_influences in influences]
        )
    n_units = unit_influences.shape[1]
    if n_units < 2:
        return None
    covariance = (
        SINGLE_DRAW_VARIANCE_FACTOR * n_units / (n_units - 1) * unit_influences @ unit_influences.T
    )
    if loss.binary:
        agresti_coull_rate = 2 / (n_units + 4)
        added_std = (
            np.maximum(
                0.0,
                SINGLE_DRAW_VARIANCE_FACTOR
                * agresti_coull_rate
                * (1 - agresti_coull_rate)
                / n_units
                - np.diag(covariance),
            )
            ** 0.5
        )
        added_std[np.asarray(values) * n_units >= 2] = 0.0
        covariance += np.outer(added_std, added_std)
    return covariance if (np.diag(covariance) > 0).all() else None
