"""Measures of how much the losses of rows change with the training rows of their models."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from truerisk.plan.plan import Plan
from truerisk.results.evaluation import LOSSES_PER_SLICE, LeftTwoOut

# Two drawings of K folds must exchange at least this share of the training rows, divided by K,
# before the instability is measured. With a smaller share, a learner may look stable only because
# its training sets hardly changed.
MIN_EXCHANGED_SHARE = 0.6


def repeated_cv_instability(
    losses: np.ndarray,
    mean_losses: np.ndarray,
    row_shares: np.ndarray,
    plan: Plan,
) -> np.ndarray | None:
    """Return the instability of every candidate, or None if the drawings cannot show it.

    `mean_losses` are the mean losses of the test rows, in ascending order. There must be at least
    two drawings that test every row, and training sets must change from one to the next.
    """
    n_rows = mean_losses.shape[1]
    position_order = np.argsort(plan.positions[0], kind="stable")
    n_tests = len(position_order) // n_rows
    if n_tests < 2 or (np.bincount(plan.positions[0])[plan.positions[0]] != n_tests).any():
        return None
    test_set_of_loss = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
    if (
        exchanged_training_share(test_set_of_loss[position_order].reshape(n_rows, n_tests).T)
        < MIN_EXCHANGED_SHARE
    ):
        return None
    row_of_loss = np.empty(len(position_order), dtype=np.int64)
    row_of_loss[position_order] = np.repeat(np.arange(n_rows), n_tests)
    return within_row_variance_share(losses, mean_losses, row_shares, row_of_loss)


def within_row_variance_share(
    losses: np.ndarray, mean_losses: np.ndarray, shares: np.ndarray, row_of_loss: np.ndarray
) -> np.ndarray:
    """Return the share of the variance of each candidate's losses that is variance within rows.

    `losses` are those of all tests, `(n_candidates, n_tests)`. `row_of_loss` is the index of their
    row among the columns of `mean_losses`, whose weights `shares` sum to 1. Every row is tested
    equally often, at least twice. A learner that predicts the same for a row whatever the folds has
    instability 0; one whose errors move from row to row with every drawing has 1. One minus the
    instability is the intraclass correlation. It is NaN for a candidate without losses.
    """
    n_tests = losses.shape[1] // mean_losses.shape[1]
    within_variance = np.empty(len(losses))
    for candidate, (candidate_losses, row_means) in enumerate(
        zip(losses, mean_losses, strict=True)
    ):
        squared_deviations = np.bincount(
            row_of_loss, (candidate_losses - row_means[row_of_loss]) ** 2, mean_losses.shape[1]
        )
        within_variance[candidate] = squared_deviations @ shares / (n_tests - 1)
    centred_means = mean_losses - (mean_losses @ shares)[:, None]
    # The variance around an estimated mean is too small by this factor, which is 1 − 1/n for equal
    # weights.
    bias_correction = 1 - shares @ shares
    variance_of_means = (
        centred_means**2 @ shares / (bias_correction if bias_correction > 0 else 1.0)
    )
    # Only a part of the variance within rows is added, because the variance of the row means
    # already contains 1/n_tests of it.
    total_variance = variance_of_means + within_variance * (1 - 1 / n_tests)
    within_share = np.where(np.isnan(total_variance), np.nan, 0.0)
    np.divide(within_variance, total_variance, out=within_share, where=total_variance > 0)
    return np.clip(within_share, 0.0, 1.0, out=within_share)


def exchanged_training_share(fold_labels: np.ndarray) -> float:
    """Return K times the share of training rows that two drawings of K folds exchange.

    `fold_labels` has a row of fold numbers for each drawing. The result is about 1 for large folds
    that are drawn anew, and smaller for small folds, because a row is always in its own fold: 1 −
    1/m for folds of m rows, or of m groups that stay together. It is 0 if the folds do not change.
    Below `MIN_EXCHANGED_SHARE`, the losses do not show how a learner changes with its training
    rows.
    """
    n_rows = fold_labels.shape[1]
    fold_sizes = np.array([_count_same_label(fold_numbers) for fold_numbers in fold_labels])
    shared_sizes = np.array(
        [
            _count_same_label(former_labels * (int(next_labels.max()) + 1) + next_labels)
            for former_labels, next_labels in pairwise(fold_labels)
        ]
    )
    n_exchanged_rows, n_training_rows = fold_sizes[1:] - shared_sizes, n_rows - fold_sizes[:-1]
    # The rows of a fold contribute 1 to the sum, which is therefore the number of folds.
    n_folds = (1 / fold_sizes).sum(axis=1).mean()
    return float(n_exchanged_rows.sum() / n_training_rows.sum() * n_folds)


def _count_same_label(labels: np.ndarray) -> np.ndarray:
    """Return, for each row, the number of rows with the same label."""
    _, label_numbers, n_rows = np.unique(labels, return_inverse=True, return_counts=True)
    return n_rows[label_numbers.ravel()]


def leave_two_out_instability(
    left_two_out: LeftTwoOut,
    residuals: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray,
    groups: np.ndarray | None,
) -> np.ndarray | None:
    """Return each candidate's instability U from models trained without two folds, or None.

    U = W/(Σ φ² + W). φ of a row is its residual (loss minus risk) times its share in the `weights`,
    which belong to `rows` in ascending order; the rows of a group are summed. W is the sum of the
    variances of φ over the models that lack a further fold. U is 0 if nothing changes, and ½ if
    losses change between models as much as they differ between rows. The result is None if a group
    is in several folds.
    """
    unit_of_row = np.arange(len(rows)) if groups is None else _group_numbers(groups)
    unit_fold_shape = int(unit_of_row.max()) + 1, int(left_two_out.second_folds.max()) + 1
    has_test, loss_sums = (
        np.zeros(unit_fold_shape, dtype=bool),
        np.zeros((len(left_two_out.losses), *unit_fold_shape)),
    )
    # Every row is tested by K − 1 models. The losses are read in batches to save memory.
    for batch, row_positions in left_two_out.iterate_slices(rows):
        cell_indices = (
            unit_of_row[row_positions] * unit_fold_shape[1] + left_two_out.second_folds[batch]
        )
        has_test.ravel()[cell_indices] = True
        for candidate_sums, losses in zip(loss_sums, left_two_out.losses, strict=True):
            np.add.at(candidate_sums.ravel(), cell_indices, losses[batch] * weights[row_positions])
    n_tests = has_test.sum(axis=1)
    if np.ptp(n_tests) or n_tests[0] < 2:
        return None
    units_per_batch = 1 + LOSSES_PER_SLICE // unit_fold_shape[1]
    variances = np.empty((len(residuals), unit_fold_shape[0]))
    for first_unit in range(0, unit_fold_shape[0], units_per_batch):
        batch = slice(first_unit, first_unit + units_per_batch)
        for candidate, candidate_sums in enumerate(loss_sums):
            test_losses = candidate_sums[batch][has_test[batch]].reshape(-1, n_tests[0])
            variances[candidate, batch] = test_losses.var(axis=1, ddof=1)
    within_variance = variances.sum(axis=1)
    influences = residuals * weights
    if groups is not None:
        influences = np.array(
            [np.bincount(unit_of_row, candidate_sums) for candidate_sums in influences]
        )
    total_variance = (influences**2).sum(axis=1) + within_variance
    within_share = np.where(np.isnan(total_variance), np.nan, 0.0)
    return np.divide(within_variance, total_variance, out=within_share, where=total_variance > 0)


def _group_numbers(groups: np.ndarray) -> np.ndarray:
    group_indices: np.ndarray = np.unique(groups, return_inverse=True)[1].ravel()
    return group_indices
