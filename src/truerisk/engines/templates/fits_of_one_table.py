"""Shared code for many fits on rows of one table: leave-one-out fits, and fits with weighted rows.

A leave-one-out fit, which differs from the fit on all rows by one row, is tested on that row alone.
For a bootstrap, or for many folds, the product of the weights with the pairwise products of the
columns gives the sums of squares of every fit at once, and the small linear systems are solved in
batches. This pays off for many fits with few columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.settings import NOT_IN_GROUP
from truerisk.engines.templates.task import Task
from truerisk.plan.blocks import ALL, Blocks, RowSets, count_removed_rows, select_lists
from truerisk.plan.extras.flips import Flips
from truerisk.plan.partitions import count_row_copies
from truerisk.plan.plan import Plan

NO_ROW = -1


def find_single_row_fits(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Find the fits that leave out, or flip the label of, one row and are tested on that row.

    Return a mask of these fits and the row of each fit, which is −1 for all other fits. A fit
    counts only if it is tested on that row and on no other row. The result is computed from the
    plan's compact row sets in O(fits + test sets); no row set is written out.
    """
    left_out_rows = _find_left_out_rows(plan.train, plan.blocks)
    label_flips = Flips.from_holder(plan)
    if label_flips is not None:
        n_flips = np.bincount(label_flips.fit, minlength=plan.n_fits)
        flipped_rows = np.full(plan.n_fits, NO_ROW)
        flipped_rows[label_flips.fit] = label_flips.row
        has_all_rows = (plan.train.base == ALL) & (np.diff(plan.train.offsets) == 0)
        left_out_rows = np.where(
            has_all_rows & (n_flips == 1),
            flipped_rows,
            np.where(n_flips == 0, left_out_rows, NO_ROW),
        )
    is_tested_on_other_rows = _find_single_rows(plan.test, plan.blocks) != left_out_rows[plan.fit]
    left_out_rows[plan.fit[is_tested_on_other_rows]] = NO_ROW
    return left_out_rows != NO_ROW, left_out_rows


def _find_left_out_rows(row_sets: RowSets, blocks: Blocks) -> np.ndarray:
    """Return, for each training set that lacks exactly one row, this row; else NO_ROW."""
    if row_sets.leaves_one_block_out:
        return _single_rows_of_blocks(blocks, row_sets.removed_blocks)
    rows = np.full(len(row_sets), NO_ROW)
    sets_lacking_one_block = np.flatnonzero(
        (row_sets.base == ALL) & (np.diff(row_sets.offsets) == 1)
    )
    rows[sets_lacking_one_block] = _single_rows_of_blocks(
        blocks, row_sets.removed_blocks[row_sets.offsets[sets_lacking_one_block]]
    )
    return rows


def _find_single_rows(row_sets: RowSets, blocks: Blocks) -> np.ndarray:
    """Return, for each row set that has exactly one row, this row; else NO_ROW."""
    if not len(row_sets.removed_blocks) and (row_sets.base != ALL).all():
        return _single_rows_of_blocks(blocks, row_sets.base)
    rows = np.full(len(row_sets), NO_ROW)
    single_block_sets = np.flatnonzero((row_sets.base != ALL) & (np.diff(row_sets.offsets) == 0))
    rows[single_block_sets] = _single_rows_of_blocks(blocks, row_sets.base[single_block_sets])
    return rows


def _single_rows_of_blocks(blocks: Blocks, block_numbers: np.ndarray) -> np.ndarray:
    """Return, for each block that has exactly one row, this row; else NO_ROW."""
    if not len(block_numbers):
        return np.empty(0, dtype=np.int64)
    if len(blocks.rows) == len(blocks) and (blocks.sizes == 1).all():
        return blocks.rows[block_numbers].astype(np.int64)
    first_rows = blocks.rows[np.minimum(blocks.offsets[block_numbers], len(blocks.rows) - 1)]
    return np.where(blocks.sizes[block_numbers] == 1, first_rows, NO_ROW)


def store_single_row_predictions(
    task: Task, fits: np.ndarray, predictions: np.ndarray, is_unresolved: np.ndarray
) -> None:
    """Store the predictions of fits that are tested on one row.

    Fits marked in `is_unresolved` are left to the learner itself. `predictions` and `is_unresolved`
    have shape (candidate of the group, fit).
    """
    plan, candidates, values = task.plan, task.group.candidates, task.collected.values
    test_sets_by_fit, fit_starts = plan.questions_of
    offsets, test_set_positions = select_lists(fit_starts, fits)
    value_positions = plan.test_offsets[test_sets_by_fit[test_set_positions]]
    fit_of_test_set = np.repeat(np.arange(len(fits)), np.diff(offsets))
    if task.places is None:
        # If a fit has several test sets, they consist of the same row and get the same prediction.
        if len(fit_of_test_set) != len(fits):
            predictions = predictions[:, fit_of_test_set]
        if len(candidates) == len(values) and np.array_equal(
            value_positions, np.arange(len(fit_of_test_set))
        ):
            values[candidates, : len(fit_of_test_set)] = predictions
        else:
            values[np.ix_(candidates, value_positions)] = predictions
        for j in np.flatnonzero(is_unresolved.any(axis=0)):
            task.leave_open(fits[j], candidates[is_unresolved[:, j]])
        return
    candidate_positions = task.places[fits]
    has_candidate = candidate_positions != NOT_IN_GROUP
    fit_positions = np.arange(len(fits))
    values[0, value_positions[has_candidate[fit_of_test_set]]] = predictions[
        candidate_positions, fit_positions
    ][fit_of_test_set[has_candidate[fit_of_test_set]]]
    for j in np.flatnonzero(has_candidate & is_unresolved[candidate_positions, fit_positions]):
        task.leave_open(fits[j], candidates[candidate_positions[j], None])


FEWEST = 16  # Below this number of fits times settings, fits are solved one by one.
MAX_PRODUCT_CELLS = 1 << 22  # Largest number of cells of a table of all products of two columns.
MOST_WEIGHTS = 1 << 21  # Largest number of row weights that one batch of fits holds.


@frozen(eq=False)
class WeightedFits:
    """Batch of fits of a plan that are computed at once from one table and their row weights."""

    task: Task
    fits: np.ndarray

    @classmethod
    def batches(
        cls, task: Task, is_unresolved: np.ndarray, n_columns: int, n_settings: int = 1
    ) -> Iterator[WeightedFits]:
        """Yield the fits marked in `is_unresolved` in batches, except fits that flip labels.

        Yield nothing if solving each fit by itself costs less: if there are few fits, each with
        `n_settings` linear systems to solve, or if `n_columns` columns have too many products.
        """
        if (label_flips := Flips.from_holder(task.plan)) is not None:
            is_unresolved = is_unresolved.copy()
            is_unresolved[label_flips.fit] = False
        fit_numbers, n = np.flatnonzero(is_unresolved), task.plan.n_rows
        if len(fit_numbers) * n_settings < FEWEST or n * n_columns * n_columns > MAX_PRODUCT_CELLS:
            return
        yield from cls.some(task, fit_numbers, n_columns)

    @classmethod
    def some(cls, task: Task, fits: np.ndarray, n_columns: int) -> Iterator[WeightedFits]:
        """Yield batches of the given fits, small enough for their weights to stay in memory."""
        batch_size = max(1, MOST_WEIGHTS // max(task.plan.n_rows, n_columns * n_columns))
        for batch_start in range(0, len(fits), batch_size):
            yield cls(task, fits[batch_start : batch_start + batch_size])

    @cached_property
    def times(self) -> np.ndarray:
        """Number of copies of each row in the training set of each fit."""
        plan = self.task.plan
        test_sets_by_fit, fit_starts = plan.questions_of
        return count_row_copies(plan, test_sets_by_fit[fit_starts[self.fits]])

    @cached_property
    def weights(self) -> np.ndarray:
        """Weight of each row in each fit: its number of copies times its sample weight."""
        copy_counts = self.times.astype(np.float64)
        return copy_counts if self.task.weights is None else copy_counts * self.task.weights

    def select(self, which: np.ndarray) -> WeightedFits:
        """Return the batch restricted to some of its fits, reusing row counts already computed."""
        selected_samples = WeightedFits(self.task, self.fits[which])
        if "times" in self.__dict__:
            selected_samples.__dict__["times"] = self.times[which]
        return selected_samples

    @cached_property
    def positions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Three arrays with the fit in the batch, row and place in `values` of each prediction."""
        plan = self.task.plan
        test_sets_by_fit, fit_starts = plan.questions_of
        offsets, test_set_positions = select_lists(fit_starts, self.fits)
        test_sets = test_sets_by_fit[test_set_positions]
        n_test_sets = np.diff(offsets)
        row_offsets, prediction_positions = select_lists(plan.test_offsets, test_sets)
        fit_of_prediction = np.repeat(
            np.repeat(np.arange(len(self.fits)), n_test_sets), np.diff(row_offsets)
        )
        return fit_of_prediction, plan.positions[0][prediction_positions], prediction_positions

    def asks(self, place: int) -> np.ndarray:
        """Return a mask of those fits of the batch that have to predict for one candidate.

        `place` is the position of the candidate in the group.
        """
        return self.task.asks(self.fits, place)

    def store_predictions(
        self, candidate_position: int, predictions: np.ndarray, is_unresolved: np.ndarray
    ) -> None:
        """Store the predictions of one candidate, given in the order of the property `positions`.

        The fits of the predictions that are marked in `is_unresolved` are left to the learner
        itself.
        """
        fit_of_prediction, _, prediction_positions = self.positions
        candidate = int(self.task.group.candidates[candidate_position])
        self.task.collected.values[self.task.line_of(candidate), prediction_positions] = predictions
        for fit in np.unique(fit_of_prediction[is_unresolved]):
            self.task.leave_open(self.fits[fit], [candidate])


def fits_lacking_blocks(plan: Plan, fit_mask: np.ndarray) -> np.ndarray:
    """Return those fits in `fit_mask` that are trained on all rows except some disjoint blocks."""
    fits = np.flatnonzero((plan.train.base == ALL) & (np.diff(plan.train.offsets) > 0) & fit_mask)
    if plan.blocks.counts is not None or not len(fits):
        return fits[:0]
    cumulative_sizes = np.concatenate(
        [[0], np.cumsum(plan.blocks.sizes[plan.train.removed_blocks])]
    )
    n_block_rows = (
        cumulative_sizes[plan.train.offsets[fits + 1]] - cumulative_sizes[plan.train.offsets[fits]]
    )
    are_disjoint: np.ndarray = (
        count_removed_rows(plan.n_rows, plan.blocks, plan.train, fits) == n_block_rows
    )
    return fits[are_disjoint]


def products_of(X: np.ndarray) -> np.ndarray:
    """Return all pairwise products of the columns, as a table `(row, column * column)`."""
    n, n_columns = X.shape
    products: np.ndarray = np.einsum("ij,ik->ijk", X, X)
    return products.reshape(n, n_columns * n_columns)
