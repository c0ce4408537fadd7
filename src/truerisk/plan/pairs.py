"""Plans with additional fits that each leave out two folds.

A fit without folds i and j can compare the candidates within both outer splits if inner and outer
questions use the same folds. Only K (K − 1)/2 fits are then added to the K outer fits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.plan.blocks import ALL, RowSets, offsets_of
from truerisk.plan.builder import merge_equal_fits
from truerisk.plan.plan import Plan


def with_pairs(folds: Plan) -> Plan:
    """Add to `folds`, as part "outer", the fits that leave out two folds, as part "inner".

    `folds` leaves out every fold of some partitions of the rows. Unit q is question q of `folds`.
    In the part "inner", the fits of unit q lack its fold and another fold, and are asked about the
    rows of that other fold. The array `fold` holds the question of the other fold.

    >>> from truerisk.plan.builder import leave_out
    >>> plan = with_pairs(leave_out(6, [np.array([0, 0, 1, 1, 2, 2])]))
    >>> plan.n_fits, plan.n_questions
    (6, 9)
    >>> first = plan.questions("inner")[0]
    >>> int(plan.unit[first]), plan.test_rows(first)[0].tolist()
    (0, [2, 3])
    >>> plan.train_rows(int(plan.fit[first]))[0].tolist()
    [4, 5]
    """
    block = folds.test.base
    units, tested, low, high, fits = [], [], [], [], []
    n_fits = folds.n_fits
    for members in partitions_of(folds):
        k = len(members)
        first, second = np.triu_indices(k, 1)
        which = np.zeros((k, k), dtype=np.int64)  # which[i, j] is the fit that lacks folds i and j
        which[first, second] = which[second, first] = n_fits + np.arange(len(first))
        unit, other = np.nonzero(~np.eye(k, dtype=bool))
        units.append(members[unit])
        tested.append(members[other])
        fits.append(which[unit, other])
        low.append(members[first])
        high.append(members[second])
        n_fits += len(first)
    unit, test = np.concatenate(units), np.concatenate(tested)
    pairs = np.column_stack([block[np.concatenate(low)], block[np.concatenate(high)]])
    inner = len(unit)
    plan = replace(
        folds,
        train=RowSets(
            np.full(n_fits, ALL, np.int32),
            np.concatenate([folds.train.minus, pairs.ravel()]).astype(np.int32),
            offsets_of(np.repeat([1, 2], [folds.n_fits, len(pairs)])),
        ),
        test=RowSets(
            np.concatenate([block, block[test]]).astype(np.int32),
            np.empty(0, np.int32),
            np.zeros(folds.n_questions + inner + 1, np.int64),
        ),
        fit=np.concatenate([folds.fit, *fits]).astype(np.int32),
        part=np.repeat([0, 1], [folds.n_questions, inner]).astype(np.int8),
        repeat=np.concatenate([folds.repeat, folds.repeat[unit]]).astype(np.int32),
        fold=np.concatenate([folds.fold, test]).astype(np.int32),
        unit=np.concatenate([folds.unit, unit]).astype(np.int32),
        parts=("outer", "inner"),
    )
    return merge_equal_fits(plan)


def partitions_of(folds: Plan) -> list[np.ndarray]:
    """Return the questions of each partition of the rows; refuse a plan without such partitions."""
    if not _leaves_blocks_out(folds):
        raise Refusal("a model does not train on all the rows that its fold leaves")
    partitions, start = [], 0
    times = np.zeros(folds.n_rows, dtype=np.int64)
    for question in range(folds.n_questions):
        times[folds.blocks[int(folds.test.base[question])]] += 1
        if times.max(initial=0) > 1:
            row = int(times.argmax())
            raise Refusal(f"row {row} is in two folds")
        if times.all():
            partitions.append(np.arange(start, question + 1))
            start = question + 1
            times[:] = 0
    if times.any():
        raise Refusal(f"{np.count_nonzero(times == 0)} of {folds.n_rows} rows are in no fold")
    least = min(map(len, partitions))
    if least < 3:
        raise Refusal(
            f"there are {least} folds, and a model that lacks two of them needs a third to train on"
        )
    return partitions


def _leaves_blocks_out(folds: Plan) -> bool:
    """Return True if every model trains on all rows but one block and is tested on that block."""
    plain = not folds.needs.keys() & {"laws", "flips", "moves"}
    if not plain or folds.blocks.counts is not None or len(folds.test.minus):
        return False
    if not folds.train.leave_one_block_out:
        return False
    left_out, tested = folds.train.minus[folds.fit], folds.test.base
    for q in np.flatnonzero(left_out != tested):  # Equal folds of two partitions share a fit.
        if not np.array_equal(folds.blocks[int(left_out[q])], folds.blocks[int(tested[q])]):
            return False
    return True
