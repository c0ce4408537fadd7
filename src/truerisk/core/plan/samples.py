"""Plans of drawn samples: one fit for each, asked about the rows that it missed, or about all."""

from __future__ import annotations

import numpy as np

from truerisk.core.plan.blocks import ALL, Blocks, RowSets, spread
from truerisk.core.plan.equal_fits import merge_equal_fits
from truerisk.core.plan.plan import Plan

__all__ = ["plan_of_samples", "times_drawn"]


def plan_of_samples(times: np.ndarray, *, missed: bool, apparent: bool) -> Plan:
    """Fit b sees row i `times[b, i]` times and is asked about the rows it missed, or about all.

    With `apparent` a last question asks the fit on all rows, each once, about all rows. A sample
    that missed no row is asked nothing where it would be asked about those.

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
    n_samples, n_asked = len(times), len(times) + apparent
    sizes = [drawn.sum(axis=1)]
    rows = [np.nonzero(drawn)[1]]
    counts = [times[drawn]]
    test = np.full(n_asked, ALL, np.int32)
    if missed:
        sizes.append(n_rows - sizes[0])
        rows.append(np.nonzero(~drawn)[1])
        counts.append(np.ones(len(rows[1]), np.int64))
        test[:n_samples] = n_samples + np.arange(n_samples)
    train = np.full(n_asked, ALL, np.int32)
    train[:n_samples] = np.arange(n_samples)
    nothing = np.empty(0, np.int32), np.zeros(n_asked + 1, np.int64)
    part = np.zeros(n_asked, np.int8)
    part[n_samples:] = 1
    plan = Plan(
        n_rows=n_rows,
        blocks=Blocks(
            np.concatenate(rows).astype(np.int32),
            np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64),
            np.concatenate(counts).astype(np.int32),
        ),
        train=RowSets(train, *nothing),
        test=RowSets(test, *nothing),
        fit=np.arange(n_asked, dtype=np.int32),
        part=part,
        repeat=np.append(number, np.zeros(int(apparent), np.int32)).astype(np.int32),
        fold=np.zeros(n_asked, np.int32),
        unit=np.full(n_asked, -1, np.int32),
        parts=("test", "apparent") if apparent else ("test",),
    )
    return merge_equal_fits(plan)


def times_drawn(plan: Plan, questions: np.ndarray) -> np.ndarray:
    """How often the fit of each question sees each row, `(n_questions, n_rows)`."""
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
