"""Build plans of many fits at once: fits without pairs of blocks, and bootstrap samples.

The builder in `builder.py` takes one question at a time; these functions build thousands with array
operations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truerisk.plan.blocks import ALL, Blocks, RowSets, offsets_of, spread
from truerisk.plan.builder import blocks_of, merge_equal_fits
from truerisk.plan.plan import Plan


def leave_pairs_out(n_rows: int, partitions: Sequence[np.ndarray]) -> Plan:
    """Plan, for every partition into K folds, the fits without one fold and without two folds.

    Question i K + j asks the fit without folds i and j about fold i. Question i K + i asks the fit
    that lacks only fold i. So K + K (K - 1) / 2 fits answer K² questions per partition.

    >>> plan = leave_pairs_out(6, [np.array([0, 0, 1, 1, 2, 2])])
    >>> plan.n_fits, plan.n_questions
    (6, 9)
    >>> plan.train_rows(int(plan.fit[1]))[0].tolist(), plan.test_rows(1)[0].tolist()
    ([4, 5], [0, 1])
    """
    blocks, minus, lengths, tests, fits, repeats, codes = ([] for _ in range(7))
    first_block = first_fit = 0
    for repeat, labels in enumerate(partitions):
        order, counts = blocks_of(labels)
        k = len(counts)
        low, high = np.triu_indices(k, 1)
        without = np.diag(np.arange(k))  # without[i, j] is the fit that lacks folds i and j
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
    plan = Plan.from_folds(
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
        repeat=np.concatenate(repeats).astype(np.int32),
        fold=np.concatenate(codes).astype(np.int32),
    )
    return plan if len(partitions) == 1 else merge_equal_fits(plan)


def plan_of_samples(times: np.ndarray, *, missed: bool, apparent: bool) -> Plan:
    """Plan fits on samples: fit b sees row i `times[b, i]` times.

    Each fit is tested on the rows that its sample missed (`missed`), or on all rows.

    With `apparent`, a last question asks the fit on all rows about all rows. If `missed` is true, a
    sample that contains every row has no question.

    >>> plan = plan_of_samples(np.array([[2, 0, 1], [0, 3, 0]]), missed=True, apparent=True)
    >>> [plan.test_rows(q)[0].tolist() for q in range(3)], plan.train_rows(0)[1].tolist()
    ([[1], [0, 2], [0, 1, 2]], [2, 1])
    """
    n_rows = times.shape[1]
    drawn = times > 0
    number = np.arange(len(times), dtype=np.int32)
    if missed:
        asks = ~drawn.all(axis=1)
        times, drawn, number = times[asks], drawn[asks], number[asks]
    n_samples, n_requested = len(times), len(times) + apparent
    sizes = [drawn.sum(axis=1)]
    rows = [np.nonzero(drawn)[1]]
    counts = [times[drawn]]
    test = np.full(n_requested, ALL, np.int32)
    if missed:
        sizes.append(n_rows - sizes[0])
        rows.append(np.nonzero(~drawn)[1])
        counts.append(np.ones(len(rows[1]), np.int64))
        test[:n_samples] = n_samples + np.arange(n_samples)
    train = np.full(n_requested, ALL, np.int32)
    train[:n_samples] = np.arange(n_samples)
    nothing = np.empty(0, np.int32), np.zeros(n_requested + 1, np.int64)
    part = np.zeros(n_requested, np.int8)
    part[n_samples:] = 1
    plan = Plan.from_folds(
        n_rows=n_rows,
        blocks=Blocks(
            np.concatenate(rows).astype(np.int32),
            np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64),
            np.concatenate(counts).astype(np.int32),
        ),
        train=RowSets(train, *nothing),
        test=RowSets(test, *nothing),
        fit=np.arange(n_requested, dtype=np.int32),
        part=part,
        repeat=np.append(number, np.zeros(int(apparent), np.int32)).astype(np.int32),
        parts=("test", "apparent") if apparent else ("test",),
    )
    return merge_equal_fits(plan)


def times_drawn(plan: Plan, questions: np.ndarray) -> np.ndarray:
    """Count how often the fit of each question sees each row, `(n_questions, n_rows)`."""
    times = np.zeros((len(questions), plan.n_rows), dtype=np.int32)
    fits = plan.fit[questions]
    base, blocks = plan.train.base[fits], plan.blocks
    whole = np.diff(plan.train.offsets)[fits] == 0
    times[whole & (base == ALL)] = 1
    lines = np.flatnonzero(whole & (base != ALL))
    offsets, places = spread(blocks.offsets, base[lines])
    counts = 1 if blocks.counts is None else blocks.counts[places]
    times[np.repeat(lines, np.diff(offsets)), blocks.rows[places]] = counts
    for line in np.flatnonzero(~whole):
        rows, counted = plan.train_rows(int(fits[line]))
        times[line, rows] = 1 if counted is None else counted
    return times
