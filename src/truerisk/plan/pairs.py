"""K-fold plans with additional fits that each leave out two folds.

A fit without folds i and j can compare the candidates within both outer splits if inner and outer
test sets are the same folds. Only K (K − 1)/2 fits are then added to the K outer fits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.plan.blocks import ALL, RowSets, offsets_of
from truerisk.plan.builder import merge_equal_fits
from truerisk.plan.plan import Plan


def with_pairs(folds: Plan) -> Plan:
    """Add the fits that leave out two folds, as part "inner", to a K-fold plan, as part "outer".

    `folds` leaves out every fold of some partitions of the rows. Unit q is test set q of `folds`.
    In the part "inner", the fits of unit q lack its fold and another fold, and are tested on the
    rows of that other fold. The array `fold` holds the number of that other fold's test set in
    `folds`.
    """
    fold_blocks = folds.test.base
    units, tested_questions, first_folds, second_folds, fits = [], [], [], [], []
    n_fits = folds.n_fits
    for fold_questions in partitions_of(folds):
        n_folds = len(fold_questions)
        first_fold, second_fold = np.triu_indices(n_folds, 1)
        # pair_fit[i, j] is the fit that lacks folds i and j.
        pair_fit = np.zeros((n_folds, n_folds), dtype=np.int64)
        pair_fit[first_fold, second_fold] = pair_fit[second_fold, first_fold] = n_fits + np.arange(
            len(first_fold)
        )
        unit, other_fold = np.nonzero(~np.eye(n_folds, dtype=bool))
        units.append(fold_questions[unit])
        tested_questions.append(fold_questions[other_fold])
        fits.append(pair_fit[unit, other_fold])
        first_folds.append(fold_questions[first_fold])
        second_folds.append(fold_questions[second_fold])
        n_fits += len(first_fold)
    unit, test = np.concatenate(units), np.concatenate(tested_questions)
    pairs = np.column_stack(
        [fold_blocks[np.concatenate(first_folds)], fold_blocks[np.concatenate(second_folds)]]
    )
    n_inner = len(unit)
    plan = replace(
        folds,
        train=RowSets(
            np.full(n_fits, ALL, np.int32),
            np.concatenate([folds.train.minus, pairs.ravel()]).astype(np.int32),
            offsets_of(np.repeat([1, 2], [folds.n_fits, len(pairs)])),
        ),
        test=RowSets(
            np.concatenate([fold_blocks, fold_blocks[test]]).astype(np.int32),
            np.empty(0, np.int32),
            np.zeros(folds.n_questions + n_inner + 1, np.int64),
        ),
        fit=np.concatenate([folds.fit, *fits]).astype(np.int32),
        part=np.repeat([0, 1], [folds.n_questions, n_inner]).astype(np.int8),
        repeat=np.concatenate([folds.repeat, folds.repeat[unit]]).astype(np.int32),
        fold=np.concatenate([folds.fold, test]).astype(np.int32),
        unit=np.concatenate([folds.unit, unit]).astype(np.int32),
        parts=("outer", "inner"),
    )
    return merge_equal_fits(plan)


def partitions_of(folds: Plan) -> list[np.ndarray]:
    """Return the test sets of each partition of the rows; raise Refusal if there are none."""
    if not _leaves_blocks_out(folds):
        raise Refusal("a model does not train on all the rows that its fold leaves")
    partitions, start = [], 0
    n_folds_with_row = np.zeros(folds.n_rows, dtype=np.int64)
    for question in range(folds.n_questions):
        n_folds_with_row[folds.blocks[int(folds.test.base[question])]] += 1
        if n_folds_with_row.max(initial=0) > 1:
            row = int(n_folds_with_row.argmax())
            raise Refusal(f"row {row} is in two folds")
        if n_folds_with_row.all():
            partitions.append(np.arange(start, question + 1))
            start = question + 1
            n_folds_with_row[:] = 0
    if n_folds_with_row.any():
        raise Refusal(
            f"{np.count_nonzero(n_folds_with_row == 0)} of {folds.n_rows} rows are in no fold"
        )
    fewest_folds = min(map(len, partitions))
    if fewest_folds < 3:
        raise Refusal(
            f"there are {fewest_folds} folds, and a model that lacks two of them needs a third to "
            "train on"
        )
    return partitions


def _leaves_blocks_out(folds: Plan) -> bool:
    """Return True if every model trains on all rows but one block and is tested on that block."""
    has_plain_fits = not folds.needs.keys() & {"laws", "flips", "moves"}
    if not has_plain_fits or folds.blocks.counts is not None or len(folds.test.minus):
        return False
    if not folds.train.leave_one_block_out:
        return False
    left_out, test_blocks = folds.train.minus[folds.fit], folds.test.base
    # Equal folds of two partitions share a fit, so that their block numbers may differ.
    for question in np.flatnonzero(left_out != test_blocks):
        if not np.array_equal(
            folds.blocks[int(left_out[question])], folds.blocks[int(test_blocks[question])]
        ):
            return False
    return True
