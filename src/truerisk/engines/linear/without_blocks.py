"""Least squares without one or several blocks of rows, for many fits at once.

Let Z be the rows (with a column of ones first) and Z_b the rows of block b. The fit that lacks the
blocks B solves (Z'Z − Σ_{b∈B} Z_b'Z_b) β = Z'y − Σ_{b∈B} Z_b'y. A compiled function solves the
systems of all fits with the same penalty in one call. Only solutions of well-conditioned systems
are used. Ill-conditioned systems, and long lists of penalties, for which one decomposition is
faster, are left to `shared_rows.py`. Z is formed for some rows at a time, so that a tall table is
not copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from truerisk.engines.linear.fit import MAX_ROUNDING_ERROR, SolverSettings, TargetCoding
from truerisk.engines.linear.normal_equations import predict_rows, solve_without_blocks
from truerisk.engines.templates.fits_of_one_table import fits_lacking_blocks
from truerisk.engines.templates.task import Task
from truerisk.kernels import unavailability_reason
from truerisk.kernels.spectral import EPS, ROUNDING_SAFETY_FACTOR
from truerisk.plan.plan import Plan

MIN_FITS = 5  # If there are fewer than MIN_FITS fits, computing them one by one is as fast.
# If penalties × columns exceed MAX_PENALTIES_TIMES_COLUMNS, decomposing the rows of every fit is
# faster.
MAX_PENALTIES_TIMES_COLUMNS = 300
# Up to this condition number, rounding errors of predictions are below 1e-11 times the targets'
# spread.
MAX_CONDITION_NUMBER = 1e4
# Largest accepted ratio of column scales for solvers that drop directions of small variance.
MAX_COLUMN_SCALE_RATIO = 1e2
MIN_VARIANCE_SHARE = 1e-3  # Smallest accepted share of a column's variance left in a fit.
# Default cut-off of solvers, below which they drop directions with little variance.
MAX_SOLVER_CUTOFF = 1e-6
ROWS_PER_SLICE = 1 << 16  # Z is formed for this number of rows at a time.


def predict_without_blocks(
    task: Task,
    solver: SolverSettings,
    penalties: np.ndarray,
    is_single_row_fit: np.ndarray,
    *,
    is_standardised: bool = False,
) -> np.ndarray:
    """Store the predictions of fits on all rows minus blocks; return a mask of completed fits.

    Fits marked in `is_single_row_fit` are skipped. With `is_standardised` each fit scales its
    columns to variance 1 before they are penalised.
    """
    plan, coding, y = task.plan, *_code_target(task)
    is_computed = np.zeros(plan.n_fits, dtype=bool)
    fits = fits_lacking_blocks(plan, ~is_single_row_fit)
    has_plain_fits = not plan.needs and task.weights is None
    has_small_cutoff = solver.is_penalised or solver.cutoff <= MAX_SOLVER_CUTOFF
    if (
        len(fits) < MIN_FITS
        or len(penalties) * task.X.shape[1] > MAX_PENALTIES_TIMES_COLUMNS
        or task.run.candidate_by_fit is not None
    ):
        return is_computed
    if coding is None or not (has_plain_fits and has_small_cutoff and solver.intercept):
        return is_computed
    column_means, X = task.X.mean(axis=0), task.X
    sums_of_squares = sum(
        ((X[row_slice] - column_means) ** 2).sum(axis=0) for row_slice in _row_slices(plan.n_rows)
    )
    column_deviations = np.sqrt(sums_of_squares / plan.n_rows)
    # A column whose standard deviation is so small relative to its mean is constant up to rounding.
    is_constant = column_deviations <= ROUNDING_SAFETY_FACTOR * EPS * np.abs(column_means)
    if is_constant.any() or (
        not solver.is_penalised
        and column_deviations.max() > MAX_COLUMN_SCALE_RATIO * column_deviations.min()
    ):
        return is_computed
    if plan.train_sizes[fits].min() <= task.X.shape[1] + 1:
        return is_computed
    if (missing_module_reason := unavailability_reason()) is not None:
        refusal_note = (
            f"Fits that lack blocks of rows were made one by one: {missing_module_reason}."
        )
        task.collected.notes.append(refusal_note)
        return is_computed
    target_mean = float(y.mean())

    def augment_rows(rows: np.ndarray | slice) -> np.ndarray:
        """Return the given rows of Z; a row of Z is a one followed by the scaled columns."""
        scaled_rows = (X[rows] - column_means) / column_deviations
        return np.concatenate([np.ones((*scaled_rows.shape[:-1], 1)), scaled_rows], axis=-1)

    products_of_all, products_of_blocks, missing_blocks, offsets = _matrix_products(
        plan, fits, augment_rows, y - target_mean
    )
    target_scales = _target_scales(plan, fits, y, target_mean)
    # If the targets vary less in a fit than in all rows, the fit loses precision.
    precision_loss = np.maximum(y.std() / target_scales, 1.0)
    distance_from_zero = float(np.linalg.norm(column_means / column_deviations))
    weights, has_variance = (
        np.broadcast_to(1 / column_deviations**2, (len(fits), len(column_deviations))),
        np.True_,
    )
    if is_standardised:
        weights = _variances(products_of_all, products_of_blocks, missing_blocks, offsets)
        # If a column keeps a smaller share of its variance in a fit, it may be constant up to
        # rounding.
        has_variance = weights.min(axis=1) > MIN_VARIANCE_SHARE
    solutions = []
    for penalty in penalties:
        ridge = np.pad(penalty * weights, ((0, 0), (1, 0)))
        coefficients, condition_numbers = solve_without_blocks(
            products_of_all, products_of_blocks, missing_blocks, offsets, ridge
        )
        # The intercept is a difference of large numbers, which limits its precision.
        rounding_errors = (
            EPS * distance_from_zero * np.linalg.norm(coefficients[:, 1:], axis=1) / target_scales
        )
        is_certain = (
            (condition_numbers * precision_loss <= MAX_CONDITION_NUMBER)
            & (rounding_errors <= MAX_ROUNDING_ERROR)
            & has_variance
        )
        if not is_certain.any():
            return is_computed
        solutions.append((coefficients, is_certain))
    is_computed[fits] = np.all([is_certain for _, is_certain in solutions], axis=0)
    _store_predictions(
        task,
        coding,
        is_computed,
        fits,
        [coefficients for coefficients, _ in solutions],
        augment_rows,
        target_mean,
    )
    return is_computed


def _code_target(task: Task) -> tuple[TargetCoding | None, np.ndarray]:
    """Return the coding of the targets as numbers, and the coded target of each row.

    The coding is None if there are several targets, or if all rows have the same class.
    """
    y = task.data.y if task.data.codes is None else task.data.codes
    coding = TargetCoding.from_data(task.data, task.request.response, y)
    target_numbers = y[:, None] if coding is None else coding.to_numbers(y)
    return coding if target_numbers.shape[1] == 1 and y.ndim == 1 else None, target_numbers[:, 0]


def _row_slices(n_items: int, slice_size: int = ROWS_PER_SLICE) -> Iterator[slice]:
    """Return consecutive slices that cover `n_items` items, with `slice_size` items each."""
    return (
        slice(first_item, min(first_item + slice_size, n_items))
        for first_item in range(0, n_items, slice_size)
    )


def _matrix_products(
    plan: Plan, fits: np.ndarray, augment_rows: Callable[..., np.ndarray], y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (Z'Z, Z'y) of all rows, the same of each block, and the blocks that each fit lacks."""
    training_sets = plan.train.take(fits)
    used_blocks, block_index = np.unique(training_sets.removed_blocks, return_inverse=True)

    def multiply_rows(rows: np.ndarray | slice) -> np.ndarray:
        augmented_rows = augment_rows(rows)
        return augmented_rows.swapaxes(-1, -2) @ np.concatenate(
            [augmented_rows, y[rows][..., None]], axis=-1
        )

    products_of_all = np.sum(
        [multiply_rows(row_slice) for row_slice in _row_slices(plan.n_rows)], axis=0
    )
    products_of_blocks = np.zeros((len(used_blocks), *products_of_all.shape))
    for block_size in np.unique(plan.blocks.sizes[used_blocks]):
        blocks_of_size = np.flatnonzero(plan.blocks.sizes[used_blocks] == block_size)
        rows = plan.blocks.rows[
            plan.blocks.offsets[used_blocks[blocks_of_size], None] + np.arange(block_size)
        ]
        for row_slice in _row_slices(block_size, max(1, ROWS_PER_SLICE // len(blocks_of_size))):
            products_of_blocks[blocks_of_size] += multiply_rows(rows[:, row_slice])
    return products_of_all, products_of_blocks, block_index.ravel(), training_sets.offsets


def _variances(
    products_of_all: np.ndarray,
    products_of_blocks: np.ndarray,
    missing_blocks: np.ndarray,
    offsets: np.ndarray,
) -> np.ndarray:
    """Return the variance of each column in each training set, computed from matrix products.

    The result has shape `(fit, column)`.
    """
    fit_of_block = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    moments = []
    for sums_of_all, sums_of_blocks in (
        (products_of_all[0, :-1], products_of_blocks[:, 0, :-1]),
        (products_of_all.diagonal(), np.diagonal(products_of_blocks, axis1=1, axis2=2)),
    ):
        missing_sums = np.zeros((len(offsets) - 1, len(sums_of_all)))
        np.add.at(missing_sums, fit_of_block, sums_of_blocks[missing_blocks])
        moments.append(sums_of_all - missing_sums)
    column_sums, sums_of_squares = moments
    variances: np.ndarray = (
        sums_of_squares / column_sums[:, :1] - (column_sums / column_sums[:, :1]) ** 2
    )
    return variances[:, 1:]


def _target_scales(plan: Plan, fits: np.ndarray, y: np.ndarray, target_mean: float) -> np.ndarray:
    """Return the scale of the target in each fit: its standard deviation plus a share of its mean.

    It is the same quantity as in `fit.scales`.
    """
    training_sets, centred_targets = plan.train.take(fits), y - target_mean
    block_of_row = np.repeat(np.arange(len(plan.blocks)), plan.blocks.sizes)
    fit_of_block = np.repeat(np.arange(len(fits)), np.diff(training_sets.offsets))
    n_rows, target_sums, sums_of_squares = (
        target_powers.sum()
        - np.bincount(
            fit_of_block,
            np.bincount(block_of_row, target_powers[plan.blocks.rows])[
                training_sets.removed_blocks
            ],
            len(fits),
        )
        for target_powers in (np.ones(len(y)), centred_targets, centred_targets**2)
    )
    fit_means = target_sums / n_rows
    target_scales = np.sqrt(
        np.maximum(sums_of_squares / n_rows - fit_means**2, 0.0)
    ) + 1e-6 * np.abs(fit_means + target_mean)
    return np.where(target_scales > 0, target_scales, 1.0)


def _store_predictions(
    task: Task,
    coding: TargetCoding,
    is_computed: np.ndarray,
    fits: np.ndarray,
    coefficients_by_penalty: list[np.ndarray],
    augment_rows: Callable[..., np.ndarray],
    target_mean: float,
) -> None:
    """Compute and store the predictions of the solved fits.

    `coefficients_by_penalty` has one array of coefficients per penalty.
    """
    plan = task.plan
    rows, _ = plan.positions
    index_of_fit = np.zeros(plan.n_fits, dtype=np.int64)
    index_of_fit[fits] = np.arange(len(fits))
    value_rows = np.arange(len(task.collected.values))[task.lines_of(task.group)]
    for position_slice in _row_slices(len(rows)):
        test_positions = np.arange(position_slice.start, position_slice.stop)
        fit_of_position = plan.fit[
            np.searchsorted(plan.test_offsets, test_positions, side="right") - 1
        ]
        test_positions, fit_of_position = (
            test_positions[is_computed[fit_of_position]],
            fit_of_position[is_computed[fit_of_position]],
        )
        augmented_rows, row_numbers = (
            augment_rows(rows[test_positions]),
            np.arange(len(test_positions), dtype=np.int32),
        )
        for value_row, coefficients in zip(value_rows, coefficients_by_penalty, strict=True):
            predicted_numbers = (
                predict_rows(
                    augmented_rows, row_numbers, coefficients, index_of_fit[fit_of_position]
                )
                + target_mean
            )
            predictions, is_tied = coding.to_predictions(predicted_numbers[None, :, None])
            task.collected.values[value_row, test_positions] = predictions[0]
            for tied_fit in np.unique(fit_of_position[is_tied[0]]):
                task.leave_open(tied_fit, [value_row])
