"""Plans of many fits at once: leave every block out, flip every label, draw every train set.

The builder of `builder.py` takes one question at a time; these do the same for thousands, array
by array.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truerisk.core.plan.blocks import ALL, Blocks, RowSets, offsets_of
from truerisk.core.plan.equal_fits import merge_equal_fits
from truerisk.core.plan.plan import Plan
from truerisk.core.plan.special_fits import LAWS, Flips, Laws

__all__ = ["draw_every", "flip_each", "leave_out", "leave_pairs_out"]


def leave_out(n_rows: int, partitions: Sequence[np.ndarray]) -> Plan:
    """For every partition (a label per row) and every label: all rows but its own, tested on these.

    >>> plan = leave_out(4, [np.array([1, 0, 1, 0])])
    >>> [plan.test_rows(q)[0].tolist() for q in range(2)]
    [[1, 3], [0, 2]]
    """
    orders, sizes, repeats, folds = [], [], [], []
    for repeat, labels in enumerate(partitions):
        order, counts = _blocks_of(labels)
        orders.append(order)
        sizes.append(counts)
        repeats.append(np.full(len(counts), repeat))
        folds.append(np.arange(len(counts)))
    n_blocks = sum(map(len, sizes))
    each = np.arange(n_blocks, dtype=np.int32)
    nothing = RowSets(each, np.empty(0, np.int32), np.zeros(n_blocks + 1, np.int64))
    plan = Plan(
        n_rows=n_rows,
        blocks=Blocks(np.concatenate(orders).astype(np.int32), offsets_of(np.concatenate(sizes))),
        train=RowSets(np.full(n_blocks, ALL, np.int32), each, np.arange(n_blocks + 1)),
        test=nothing,
        fit=each,
        part=np.zeros(n_blocks, np.int8),
        repeat=np.concatenate(repeats).astype(np.int32),
        fold=np.concatenate(folds).astype(np.int32),
        unit=np.full(n_blocks, -1, np.int32),
        parts=("test",),
    )
    return plan if len(partitions) == 1 else merge_equal_fits(plan)


def leave_pairs_out(n_rows: int, partitions: Sequence[np.ndarray]) -> Plan:
    """For every partition into K folds: all rows but each fold, and all rows but each two of them.

    Question i K + j asks the fit without folds i and j about fold i, and i K + i the fit that lacks
    fold i alone: K + K (K - 1) / 2 fits answer K K questions a partition.

    >>> plan = leave_pairs_out(6, [np.array([0, 0, 1, 1, 2, 2])])
    >>> plan.n_fits, plan.n_questions
    (6, 9)
    >>> plan.train_rows(int(plan.fit[1]))[0].tolist(), plan.test_rows(1)[0].tolist()
    ([4, 5], [0, 1])
    """
    blocks, minus, lengths, tests, fits, repeats, codes = ([] for _ in range(7))
    first_block = first_fit = 0
    for repeat, labels in enumerate(partitions):
        order, counts = _blocks_of(labels)
        k = len(counts)
        low, high = np.triu_indices(k, 1)
        without = np.diag(np.arange(k))  # which fit lacks folds i and j
        without[low, high] = without[high, low] = k + np.arange(len(low))
        blocks.append((order, counts))
        pairs = np.column_stack([low, high]).ravel()
        minus.append(first_block + np.concatenate([np.arange(k), pairs]))
        lengths.append(np.repeat([1, 2], [k, len(low)]))
        tests.append(first_block + np.repeat(np.arange(k), k))
        fits.append(first_fit + without.ravel())
        repeats.append(np.full(k * k, repeat))
        codes.append(np.arange(k * k))
        first_block, first_fit = first_block + k, first_fit + k + len(low)
    test = np.concatenate(tests).astype(np.int32)
    plan = Plan(
        n_rows=n_rows,
        blocks=Blocks(
            np.concatenate([order for order, _ in blocks]).astype(np.int32),
            offsets_of(np.concatenate([counts for _, counts in blocks])),
        ),
        train=RowSets(
            np.full(first_fit, ALL, np.int32),
            np.concatenate(minus).astype(np.int32),
            offsets_of(np.concatenate(lengths)),
        ),
        test=RowSets(test, np.empty(0, np.int32), np.zeros(len(test) + 1, np.int64)),
        fit=np.concatenate(fits).astype(np.int32),
        part=np.zeros(len(test), np.int8),
        repeat=np.concatenate(repeats).astype(np.int32),
        fold=np.concatenate(codes).astype(np.int32),
        unit=np.full(len(test), -1, np.int32),
        parts=("test",),
    )
    return plan if len(partitions) == 1 else merge_equal_fits(plan)


def _blocks_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows sorted by label, and how many have each; one row per label needs no sorting."""
    each = np.arange(len(labels))
    if labels.dtype.kind in "iu" and np.array_equal(labels, each):
        return each, np.ones(len(labels), dtype=np.int64)
    codes = np.unique(labels, return_inverse=True)[1].ravel()
    return np.argsort(codes, kind="stable"), np.bincount(codes)


def flip_each(codes: np.ndarray) -> Plan:
    """All rows, asked about all of them and counted; and row i shown as `codes[i]`, asked about i.

    >>> plan = flip_each(np.array([1, 0, 0]))
    >>> [(plan.flips_of(f)[0].tolist(), plan.flips_of(f)[1].tolist()) for f in range(3)]
    [([], []), ([0], [1]), ([1], [0])]
    """
    n = len(codes)
    rows, fits = np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int32)
    no_minus = np.empty(0, np.int32), np.zeros(n + 2, np.int64)
    return Plan(
        n_rows=n,
        blocks=Blocks(np.concatenate([rows, rows]), np.append(np.arange(n + 1), 2 * n)),
        train=RowSets(np.full(n + 1, ALL, np.int32), *no_minus),
        test=RowSets(np.append(np.int32(n), rows).astype(np.int32), *no_minus),
        fit=fits,
        part=(fits > 0).astype(np.int8),
        repeat=np.zeros(n + 1, np.int32),
        fold=np.maximum(fits - 1, 0).astype(np.int32),
        unit=np.full(n + 1, -1, np.int32),
        parts=("apparent", "swap"),
        flips=Flips(fits[1:], rows, np.asarray(codes).astype(np.int32)),
        counted=np.zeros(1, np.int32),
    )


def draw_every(n_rows: int, kind: str, size: int) -> Plan:
    """Every train set that a law can draw from all rows, asked about the rows it does not hold.

    >>> draw_every(5, "subsets", 3).law_of(0)
    Law(kind='subsets', size=3)
    """
    zero = np.zeros(1, np.int32)
    no_minus = np.empty(0, np.int32), np.zeros(2, np.int64)
    return Plan(
        n_rows=n_rows,
        blocks=Blocks(np.arange(n_rows, dtype=np.int32), np.array([0, n_rows])),
        train=RowSets(np.full(1, ALL, np.int32), *no_minus),
        test=RowSets(zero, *no_minus),
        fit=zero,
        part=np.zeros(1, np.int8),
        repeat=zero,
        fold=zero,
        unit=np.full(1, -1, np.int32),
        parts=("test",),
        laws=Laws(zero, np.array([LAWS.index(kind)], np.int8), np.array([size], np.int32)),
    )
