"""Plans of many fits built at once: fits without pairs of folds, and fits on bootstrap samples.

The builder in `builder.py` takes one test set at a time; these functions build thousands with array
operations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truerisk.plan.blocks import ALL, Blocks, RowSets, offsets_from_lengths, select_lists
from truerisk.plan.builder import merge_equal_fits, sort_rows_by_label
from truerisk.plan.plan import Plan


def leave_pairs_out(n_rows: int, partitions: Sequence[np.ndarray]) -> Plan:
    """Plan, for every partition into K folds, the fits without one fold and without two folds.

    Test set i K + j is fold i, predicted by the fit without folds i and j. Test set i K + i is fold
    i, predicted by the fit that lacks only fold i. So K + K (K - 1) / 2 fits predict K² test sets
    per partition.
    """
    (
        fold_rows_and_sizes,
        removed_blocks,
        n_removed_blocks,
        test_blocks,
        fit_arrays,
        repeats,
        test_set_numbers,
    ) = ([] for _ in range(7))
    first_block = first_fit = 0
    for repeat, labels in enumerate(partitions):
        sorted_rows, fold_sizes = sort_rows_by_label(labels)
        n_folds = len(fold_sizes)
        first_indices, second_indices = np.triu_indices(n_folds, 1)
        # fit_of_pair[i, j] is the fit that leaves out folds i and j.
        fit_of_pair = np.diag(np.arange(n_folds))
        fit_of_pair[first_indices, second_indices] = fit_of_pair[second_indices, first_indices] = (
            n_folds + np.arange(len(first_indices))
        )
        fold_rows_and_sizes.append((sorted_rows, fold_sizes))
        pair_folds = np.column_stack([first_indices, second_indices]).ravel()
        removed_blocks.append(first_block + np.concatenate([np.arange(n_folds), pair_folds]))
        n_removed_blocks.append(np.repeat([1, 2], [n_folds, len(first_indices)]))
        test_blocks.append(first_block + np.repeat(np.arange(n_folds), n_folds))
        fit_arrays.append(first_fit + fit_of_pair.ravel())
        repeats.append(np.full(n_folds * n_folds, repeat))
        test_set_numbers.append(np.arange(n_folds * n_folds))
        first_block, first_fit = first_block + n_folds, first_fit + n_folds + len(first_indices)
    test_block_numbers = np.concatenate(test_blocks).astype(np.int32)
    plan = Plan.from_folds(
        n_rows=n_rows,
        blocks=Blocks(
            np.concatenate([sorted_rows for sorted_rows, _ in fold_rows_and_sizes]).astype(
                np.int32
            ),
            offsets_from_lengths(
                np.concatenate([fold_sizes for _, fold_sizes in fold_rows_and_sizes])
            ),
        ),
        train=RowSets(
            np.full(first_fit, ALL, np.int32),
            np.concatenate(removed_blocks).astype(np.int32),
            offsets_from_lengths(np.concatenate(n_removed_blocks)),
        ),
        test=RowSets(
            test_block_numbers,
            np.empty(0, np.int32),
            np.zeros(len(test_block_numbers) + 1, np.int64),
        ),
        fit=np.concatenate(fit_arrays).astype(np.int32),
        repeat=np.concatenate(repeats).astype(np.int32),
        fold=np.concatenate(test_set_numbers).astype(np.int32),
    )
    return plan if len(partitions) == 1 else merge_equal_fits(plan)


def plan_sample_fits(
    copy_counts: np.ndarray, *, tests_missed_rows: bool, adds_apparent_fit: bool
) -> Plan:
    """Plan fits on samples of the rows: sample b contains row i `copy_counts[b, i]` times.

    Each fit is tested on the rows that its sample missed (`tests_missed_rows`), or on all rows.

    With `adds_apparent_fit`, a last fit on all rows is tested on all rows. If `tests_missed_rows`
    is true, a sample that contains every row has no test set.
    """
    n_rows = copy_counts.shape[1]
    is_drawn = copy_counts > 0
    sample_numbers = np.arange(len(copy_counts), dtype=np.int32)
    if tests_missed_rows:
        has_missed_rows = ~is_drawn.all(axis=1)
        copy_counts, is_drawn, sample_numbers = (
            copy_counts[has_missed_rows],
            is_drawn[has_missed_rows],
            sample_numbers[has_missed_rows],
        )
    n_samples, n_test_sets = len(copy_counts), len(copy_counts) + adds_apparent_fit
    block_sizes = [is_drawn.sum(axis=1)]
    row_lists = [np.nonzero(is_drawn)[1]]
    count_lists = [copy_counts[is_drawn]]
    test_bases = np.full(n_test_sets, ALL, np.int32)
    if tests_missed_rows:
        block_sizes.append(n_rows - block_sizes[0])
        row_lists.append(np.nonzero(~is_drawn)[1])
        count_lists.append(np.ones(len(row_lists[1]), np.int64))
        test_bases[:n_samples] = n_samples + np.arange(n_samples)
    train_bases = np.full(n_test_sets, ALL, np.int32)
    train_bases[:n_samples] = np.arange(n_samples)
    no_removed_blocks = np.empty(0, np.int32), np.zeros(n_test_sets + 1, np.int64)
    part_numbers = np.zeros(n_test_sets, np.int8)
    part_numbers[n_samples:] = 1
    plan = Plan.from_folds(
        n_rows=n_rows,
        blocks=Blocks(
            np.concatenate(row_lists).astype(np.int32),
            np.concatenate([[0], np.cumsum(np.concatenate(block_sizes))]).astype(np.int64),
            np.concatenate(count_lists).astype(np.int32),
        ),
        train=RowSets(train_bases, *no_removed_blocks),
        test=RowSets(test_bases, *no_removed_blocks),
        fit=np.arange(n_test_sets, dtype=np.int32),
        part=part_numbers,
        repeat=np.append(sample_numbers, np.zeros(int(adds_apparent_fit), np.int32)).astype(
            np.int32
        ),
        parts=("test", "apparent") if adds_apparent_fit else ("test",),
    )
    return merge_equal_fits(plan)


def count_row_copies(plan: Plan, test_sets: np.ndarray) -> np.ndarray:
    """Return the number of copies of each row that each test set's fit sees: `(test set, row)`."""
    copies = np.zeros((len(test_sets), plan.n_rows), dtype=np.int32)
    fits = plan.fit[test_sets]
    base_blocks, blocks = plan.train.base[fits], plan.blocks
    removes_no_block = np.diff(plan.train.offsets)[fits] == 0
    copies[removes_no_block & (base_blocks == ALL)] = 1
    block_test_sets = np.flatnonzero(removes_no_block & (base_blocks != ALL))
    offsets, block_row_positions = select_lists(blocks.offsets, base_blocks[block_test_sets])
    counts = 1 if blocks.counts is None else blocks.counts[block_row_positions]
    copies[np.repeat(block_test_sets, np.diff(offsets)), blocks.rows[block_row_positions]] = counts
    for test_set in np.flatnonzero(~removes_no_block):
        rows, row_counts = plan.train_rows(int(fits[test_set]))
        copies[test_set, rows] = 1 if row_counts is None else row_counts
    return copies
