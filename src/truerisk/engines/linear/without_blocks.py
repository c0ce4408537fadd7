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

from truerisk.engines.linear.fit import DOUBT, SolverSettings, TargetCoding
from truerisk.engines.linear.normal_equations import predict_rows, solve_without
from truerisk.engines.templates.fits_of_one_table import fits_lacking_blocks
from truerisk.engines.templates.task import Task
from truerisk.kernels import why_not
from truerisk.kernels.spectral import CLEARLY, EPS
from truerisk.plan.plan import Plan

FEW = 5  # Fewer fits than FEW are computed one by one, which is as fast.
MANY = 300  # If penalties × columns exceed MANY, decomposing the rows of every fit is faster.
CLEAR = 1e4  # Up to condition number CLEAR, rounding stays below 1e-11 of the targets' spread.
ALIKE = 1e2  # Largest accepted ratio of column scales if directions of small variance are dropped.
NARROW = 1e-3  # Smallest accepted share of a column's variance that remains in a fit.
SHARP = 1e-6  # Default cut-off below which solvers drop directions with little variance.
ROWS = 1 << 16  # The matrix Z is formed for ROWS rows at a time.


def predict_without_blocks(
    task: Task,
    solver: SolverSettings,
    penalties: np.ndarray,
    is_single: np.ndarray,
    *,
    is_standardised: bool = False,
) -> np.ndarray:
    """Store predictions of fits that lack blocks of rows, and return a mask of these fits.

    Fits marked in `is_single` are skipped. With `is_standardised` each fit scales its columns to
    variance 1 before they are penalised.
    """
    plan, coding, y = task.plan, *_target(task)
    is_computed = np.zeros(plan.n_fits, dtype=bool)
    fits = fits_lacking_blocks(plan, ~is_single)
    is_plain = not plan.needs and task.weights is None
    is_sharp = solver.penalised or solver.cutoff <= SHARP
    if len(fits) < FEW or len(penalties) * task.X.shape[1] > MANY or task.run.only is not None:
        return is_computed
    if coding is None or not (is_plain and is_sharp and solver.intercept):
        return is_computed
    column_means, X = task.X.mean(axis=0), task.X
    sums_of_squares = sum(
        ((X[row_slice] - column_means) ** 2).sum(axis=0) for row_slice in _parts(plan.n_rows)
    )
    column_deviations = np.sqrt(sums_of_squares / plan.n_rows)
    # Columns with so small a deviation are constant up to rounding.
    is_constant = column_deviations <= CLEARLY * EPS * np.abs(column_means)
    if is_constant.any() or (
        not solver.penalised and column_deviations.max() > ALIKE * column_deviations.min()
    ):
        return is_computed
    if plan.train_sizes[fits].min() <= task.X.shape[1] + 1:
        return is_computed
    if (missing_kernel := why_not()) is not None:
        note = f"Fits that lack blocks of rows were made one by one: {missing_kernel}."
        task.collected.notes.append(note)
        return is_computed
    target_mean = float(y.mean())

    def rows_of(rows: np.ndarray | slice) -> np.ndarray:
        """Return rows of Z: a one, followed by the scaled columns."""
        scaled_rows = (X[rows] - column_means) / column_deviations
        return np.concatenate([np.ones((*scaled_rows.shape[:-1], 1)), scaled_rows], axis=-1)

    products_of_all, products_of_blocks, missing_blocks, offsets = _products(
        plan, fits, rows_of, y - target_mean
    )
    target_scales = _scales(plan, fits, y, target_mean)
    # Precision is lost if the targets vary less within a fit than in all rows.
    precision_loss = np.maximum(y.std() / target_scales, 1.0)
    distance_from_zero = float(np.linalg.norm(column_means / column_deviations))
    weights, has_variance = (
        np.broadcast_to(1 / column_deviations**2, (len(fits), len(column_deviations))),
        np.True_,
    )
    if is_standardised:
        weights = _variances(products_of_all, products_of_blocks, missing_blocks, offsets)
        # With less variance a column may be constant up to rounding.
        has_variance = weights.min(axis=1) > NARROW
    solutions = []
    for penalty in penalties:
        ridge = np.pad(penalty * weights, ((0, 0), (1, 0)))
        coefficients, condition = solve_without(
            products_of_all, products_of_blocks, missing_blocks, offsets, ridge
        )
        # The intercept is a difference of large numbers, which limits its precision.
        rounding_errors = (
            EPS * distance_from_zero * np.linalg.norm(coefficients[:, 1:], axis=1) / target_scales
        )
        is_certain = (
            (condition * precision_loss <= CLEAR) & (rounding_errors <= DOUBT) & has_variance
        )
        if not is_certain.any():
            return is_computed
        solutions.append((coefficients, is_certain))
    is_computed[fits] = np.all([is_certain for _, is_certain in solutions], axis=0)
    _place(
        task,
        coding,
        is_computed,
        fits,
        [coefficients for coefficients, _ in solutions],
        rows_of,
        target_mean,
    )
    return is_computed


def _target(task: Task) -> tuple[TargetCoding | None, np.ndarray]:
    """Return the numeric coding of the targets, and one number per row.

    The coding is None if there are several targets, or if all rows have the same class.
    """
    y = task.data.y if task.data.codes is None else task.data.codes
    coding = TargetCoding.from_data(task.data, task.request.response, y)
    target_numbers = y[:, None] if coding is None else coding.numbers(y)
    return coding if target_numbers.shape[1] == 1 and y.ndim == 1 else None, target_numbers[:, 0]


def _parts(n_items: int, slice_size: int = ROWS) -> Iterator[slice]:
    """Return consecutive slices that cover `n_items` items, with `slice_size` items each."""
    return (
        slice(first_item, min(first_item + slice_size, n_items))
        for first_item in range(0, n_items, slice_size)
    )


def _products(
    plan: Plan, fits: np.ndarray, rows_of: Callable[..., np.ndarray], y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (Z'Z, Z'y) of all rows and of each block, and the blocks that each fit lacks."""
    training_sets = plan.train.take(fits)
    used_blocks, block_index = np.unique(training_sets.minus, return_inverse=True)

    def product(rows: np.ndarray | slice) -> np.ndarray:
        augmented_rows = rows_of(rows)
        return augmented_rows.swapaxes(-1, -2) @ np.concatenate(
            [augmented_rows, y[rows][..., None]], axis=-1
        )

    products_of_all = np.sum([product(row_slice) for row_slice in _parts(plan.n_rows)], axis=0)
    products_of_blocks = np.zeros((len(used_blocks), *products_of_all.shape))
    for size in np.unique(plan.blocks.sizes[used_blocks]):
        blocks_of_size = np.flatnonzero(plan.blocks.sizes[used_blocks] == size)
        rows = plan.blocks.rows[
            plan.blocks.offsets[used_blocks[blocks_of_size], None] + np.arange(size)
        ]
        for row_slice in _parts(size, max(1, ROWS // len(blocks_of_size))):
            products_of_blocks[blocks_of_size] += product(rows[:, row_slice])
    return products_of_all, products_of_blocks, block_index.ravel(), training_sets.offsets


def _variances(
    products_of_all: np.ndarray,
    products_of_blocks: np.ndarray,
    missing_blocks: np.ndarray,
    offsets: np.ndarray,
) -> np.ndarray:
    """Return column variances `(fit, column)` of the training sets, from the matrix products."""
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


def _scales(plan: Plan, fits: np.ndarray, y: np.ndarray, target_mean: float) -> np.ndarray:
    """Return the targets' standard deviation in each fit, plus a small share of their mean.

    It is the same quantity as in `fit.scales`.
    """
    training_sets, centred_targets = plan.train.take(fits), y - target_mean
    block_of_row = np.repeat(np.arange(len(plan.blocks)), plan.blocks.sizes)
    fit_of_block = np.repeat(np.arange(len(fits)), np.diff(training_sets.offsets))
    n_rows, target_sums, sums_of_squares = (
        target_powers.sum()
        - np.bincount(
            fit_of_block,
            np.bincount(block_of_row, target_powers[plan.blocks.rows])[training_sets.minus],
            len(fits),
        )
        for target_powers in (np.ones(len(y)), centred_targets, centred_targets**2)
    )
    fit_means = target_sums / n_rows
    target_scales = np.sqrt(
        np.maximum(sums_of_squares / n_rows - fit_means**2, 0.0)
    ) + 1e-6 * np.abs(fit_means + target_mean)
    return np.where(target_scales > 0, target_scales, 1.0)


def _place(
    task: Task,
    coding: TargetCoding,
    is_computed: np.ndarray,
    fits: np.ndarray,
    coefficients_by_penalty: list[np.ndarray],
    rows_of: Callable[..., np.ndarray],
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
    for position_slice in _parts(len(rows)):
        positions = np.arange(position_slice.start, position_slice.stop)
        fit = plan.fit[np.searchsorted(plan.test_offsets, positions, side="right") - 1]
        positions, fit = positions[is_computed[fit]], fit[is_computed[fit]]
        augmented_rows, row_numbers = (
            rows_of(rows[positions]),
            np.arange(len(positions), dtype=np.int32),
        )
        for value_row, coefficients in zip(value_rows, coefficients_by_penalty, strict=True):
            predicted_numbers = (
                predict_rows(augmented_rows, row_numbers, coefficients, index_of_fit[fit])
                + target_mean
            )
            predictions, is_tied = coding.to_predictions(predicted_numbers[None, :, None])
            task.collected.values[value_row, positions] = predictions[0]
            for tied_fit in np.unique(fit[is_tied[0]]):
                task.leave_open(tied_fit, [value_row])
