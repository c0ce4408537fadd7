"""K-fold plans with additional fits that each leave out two folds.

A fit without folds i and j can compare the candidates within both outer splits if inner and outer
test sets are the same folds. Only K (K − 1)/2 fits are then added to the K outer fits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.plan.blocks import ALL, RowSets, offsets_from_lengths
from truerisk.plan.builder import merge_equal_fits
from truerisk.plan.plan import Plan


def add_pair_fits(fold_plan: Plan) -> Plan:
    """Add the fits that leave out two folds to a K-fold plan.

    The added fits form the part "inner", and the fits of the K-fold plan form the part "outer".
    `fold_plan` leaves out every fold of some partitions of the rows. Unit q is test set q of
    `fold_plan`. In the part "inner", the fits of unit q lack its fold and another fold, and are
    tested on the rows of that other fold. The array `fold` holds the number of that other fold's
    test set in `fold_plan`.
    """
    fold_blocks = fold_plan.test.base
    (
        outer_test_set_lists,
        tested_fold_lists,
        first_fold_arrays,
        second_fold_arrays,
        inner_fit_arrays,
    ) = (
        [],
        [],
        [],
        [],
        [],
    )
    n_fits = fold_plan.n_fits
    for fold_test_sets in find_partitions(fold_plan):
        n_folds = len(fold_test_sets)
        first_indices, second_indices = np.triu_indices(n_folds, 1)
        # fit_of_pair[i, j] is the fit that leaves out folds i and j.
        fit_of_pair = np.zeros((n_folds, n_folds), dtype=np.int64)
        fit_of_pair[first_indices, second_indices] = fit_of_pair[second_indices, first_indices] = (
            n_fits + np.arange(len(first_indices))
        )
        outer_test_sets, other_folds = np.nonzero(~np.eye(n_folds, dtype=bool))
        outer_test_set_lists.append(fold_test_sets[outer_test_sets])
        tested_fold_lists.append(fold_test_sets[other_folds])
        inner_fit_arrays.append(fit_of_pair[outer_test_sets, other_folds])
        first_fold_arrays.append(fold_test_sets[first_indices])
        second_fold_arrays.append(fold_test_sets[second_indices])
        n_fits += len(first_indices)
    outer_test_sets, tested_folds = (
        np.concatenate(outer_test_set_lists),
        np.concatenate(tested_fold_lists),
    )
    pair_blocks = np.column_stack(
        [
            fold_blocks[np.concatenate(first_fold_arrays)],
            fold_blocks[np.concatenate(second_fold_arrays)],
        ]
    )
    n_inner_test_sets = len(outer_test_sets)
    plan = replace(
        fold_plan,
        train=RowSets(
            np.full(n_fits, ALL, np.int32),
            np.concatenate([fold_plan.train.removed_blocks, pair_blocks.ravel()]).astype(np.int32),
            offsets_from_lengths(np.repeat([1, 2], [fold_plan.n_fits, len(pair_blocks)])),
        ),
        test=RowSets(
            np.concatenate([fold_blocks, fold_blocks[tested_folds]]).astype(np.int32),
            np.empty(0, np.int32),
            np.zeros(fold_plan.n_questions + n_inner_test_sets + 1, np.int64),
        ),
        fit=np.concatenate([fold_plan.fit, *inner_fit_arrays]).astype(np.int32),
        part=np.repeat([0, 1], [fold_plan.n_questions, n_inner_test_sets]).astype(np.int8),
        repeat=np.concatenate([fold_plan.repeat, fold_plan.repeat[outer_test_sets]]).astype(
            np.int32
        ),
        fold=np.concatenate([fold_plan.fold, tested_folds]).astype(np.int32),
        unit=np.concatenate([fold_plan.unit, outer_test_sets]).astype(np.int32),
        parts=("outer", "inner"),
    )
    return merge_equal_fits(plan)


def find_partitions(fold_plan: Plan) -> list[np.ndarray]:
    """Return the test sets of each partition of the rows; raise Refusal without a partition."""
    if not _leaves_blocks_out(fold_plan):
        raise Refusal("a model does not train on all the rows that its fold leaves")
    partitions, first_test_set = [], 0
    n_folds_with_row = np.zeros(fold_plan.n_rows, dtype=np.int64)
    for test_set in range(fold_plan.n_questions):
        n_folds_with_row[fold_plan.blocks[int(fold_plan.test.base[test_set])]] += 1
        if n_folds_with_row.max(initial=0) > 1:
            row = int(n_folds_with_row.argmax())
            raise Refusal(f"row {row} is in two folds")
        if n_folds_with_row.all():
            partitions.append(np.arange(first_test_set, test_set + 1))
            first_test_set = test_set + 1
            n_folds_with_row[:] = 0
    if n_folds_with_row.any():
        raise Refusal(
            f"{np.count_nonzero(n_folds_with_row == 0)} of {fold_plan.n_rows} rows are in no fold"
        )
    fewest_folds = min(map(len, partitions))
    if fewest_folds < 3:
        raise Refusal(
            f"there are {fewest_folds} folds, and a model that lacks two of them needs a third to "
            "train on"
        )
    return partitions


def _leaves_blocks_out(fold_plan: Plan) -> bool:
    """Return True if every model leaves out exactly one block, and is tested on this block."""
    has_plain_fits = not fold_plan.needs.keys() & {"laws", "flips", "moves"}
    if (
        not has_plain_fits
        or fold_plan.blocks.counts is not None
        or len(fold_plan.test.removed_blocks)
    ):
        return False
    if not fold_plan.train.leaves_one_block_out:
        return False
    left_out_blocks, test_blocks = (
        fold_plan.train.removed_blocks[fold_plan.fit],
        fold_plan.test.base,
    )
    # Two partitions with an equal fold share its fit, although the block numbers may differ.
    for test_set in np.flatnonzero(left_out_blocks != test_blocks):
        if not np.array_equal(
            fold_plan.blocks[int(left_out_blocks[test_set])],
            fold_plan.blocks[int(test_blocks[test_set])],
        ):
            return False
    return True
