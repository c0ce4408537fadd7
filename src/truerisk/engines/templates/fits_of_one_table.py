"""Many fits on rows of one table: leave-one-out fits, or fits with a weight per row.

A fit that differs from the fit on all rows by one row is tested on that row alone. For a bootstrap,
or for many folds, the product of the weights with the pairwise products of the columns gives the
sums of squares of every fit at once, and the small linear systems are solved in batches. This pays
off for many fits with few columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.settings import ELSEWHERE
from truerisk.engines.templates.task import Task
from truerisk.plan.blocks import ALL, Blocks, RowSets, covered, spread
from truerisk.plan.extras.flips import Flips
from truerisk.plan.partitions import times_drawn
from truerisk.plan.plan import Plan

NOTHING = -1


def single_row_fits(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Find the fits that leave one row out or flip one label, and that row; −1 for other fits.

    Such a fit is tested on its row and on no other row. The result is read from the codes of the
    plan in O(fits + questions); no row set is written out.
    """
    row = _only_one_taken(plan.train, plan.blocks)
    flips = Flips.from_holder(plan)
    if flips is not None:
        times = np.bincount(flips.fit, minlength=plan.n_fits)
        flipped = np.full(plan.n_fits, NOTHING)
        flipped[flips.fit] = flips.row
        whole = (plan.train.base == ALL) & (np.diff(plan.train.offsets) == 0)
        row = np.where(whole & (times == 1), flipped, np.where(times == 0, row, NOTHING))
    elsewhere = _only_row(plan.test, plan.blocks) != row[plan.fit]
    row[plan.fit[elsewhere]] = NOTHING
    return row != NOTHING, row


def _only_one_taken(sets: RowSets, blocks: Blocks) -> np.ndarray:
    """Return the row that a set lacks if it holds all rows but one, else NOTHING."""
    if sets.leave_one_block_out:
        return _row_of(blocks, sets.minus)
    rows = np.full(len(sets), NOTHING)
    one = np.flatnonzero((sets.base == ALL) & (np.diff(sets.offsets) == 1))
    rows[one] = _row_of(blocks, sets.minus[sets.offsets[one]])
    return rows


def _only_row(sets: RowSets, blocks: Blocks) -> np.ndarray:
    """Return the row of each set that consists of one block of one row, else NOTHING."""
    if not len(sets.minus) and (sets.base != ALL).all():
        return _row_of(blocks, sets.base)
    rows = np.full(len(sets), NOTHING)
    plain = np.flatnonzero((sets.base != ALL) & (np.diff(sets.offsets) == 0))
    rows[plain] = _row_of(blocks, sets.base[plain])
    return rows


def _row_of(blocks: Blocks, which: np.ndarray) -> np.ndarray:
    """Return, for each block, its row if it has exactly one, else NOTHING."""
    if not len(which):
        return np.empty(0, dtype=np.int64)
    if len(blocks.rows) == len(blocks) and (blocks.sizes == 1).all():
        return blocks.rows[which].astype(np.int64)
    first = blocks.rows[np.minimum(blocks.offsets[which], len(blocks.rows) - 1)]
    return np.where(blocks.sizes[which] == 1, first, NOTHING)


def place_singles(task: Task, fits: np.ndarray, answers: np.ndarray, open_: np.ndarray) -> None:
    """Store `answers[candidate of the group, fit]` in the values, and record the open ones."""
    plan, candidates, values = task.plan, task.group.candidates, task.collected.values
    order, starts = plan.questions_of
    offsets, inside = spread(starts, fits)
    position = plan.test_offsets[order[inside]]
    requested = np.repeat(np.arange(len(fits)), np.diff(offsets))
    if task.places is None:
        if len(requested) != len(fits):  # Some fit has several questions.
            answers = answers[:, requested]
        if len(candidates) == len(values) and np.array_equal(position, np.arange(len(requested))):
            values[candidates, : len(requested)] = answers
        else:
            values[np.ix_(candidates, position)] = answers
        for j in np.flatnonzero(open_.any(axis=0)):
            task.leave_open(fits[j], candidates[open_[:, j]])
        return
    line = task.places[fits]
    mine = line != ELSEWHERE
    number = np.arange(len(fits))
    values[0, position[mine[requested]]] = answers[line, number][requested[mine[requested]]]
    for j in np.flatnonzero(mine & open_[line, number]):
        task.leave_open(fits[j], candidates[line[j], None])


FEWEST = 16  # fits times settings; fewer are answered one by one
MOST_PRODUCTS = 1 << 22  # numbers in the table of products of columns
MOST_WEIGHTS = 1 << 21  # numbers in the weights of one batch


@frozen(eq=False)
class Samples:
    """Some fits of a plan, with their weights `(fit, row)` and the positions of their answers."""

    task: Task
    fits: np.ndarray

    @classmethod
    def batches(
        cls, task: Task, open_: np.ndarray, width: int, settings: int = 1
    ) -> Iterator[Samples]:
        """Yield the fits marked in `open_` that are trained on the original labels, batch by batch.

        Yield nothing if solving them one by one costs less: if there are few fits, each with
        `settings` systems to solve, or if the products of `width` columns are too many.
        """
        if (flips := Flips.from_holder(task.plan)) is not None:
            open_ = open_.copy()
            open_[flips.fit] = False
        fits, n = np.flatnonzero(open_), task.plan.n_rows
        if len(fits) * settings < FEWEST or n * width * width > MOST_PRODUCTS:
            return
        yield from cls.some(task, fits, width)

    @classmethod
    def some(cls, task: Task, fits: np.ndarray, width: int) -> Iterator[Samples]:
        """Yield these fits batch by batch."""
        size = max(1, MOST_WEIGHTS // max(task.plan.n_rows, width * width))
        for start in range(0, len(fits), size):
            yield cls(task, fits[start : start + size])

    @cached_property
    def times(self) -> np.ndarray:
        """Number of times that each fit sees each row."""
        plan = self.task.plan
        order, starts = plan.questions_of
        return times_drawn(plan, order[starts[self.fits]])

    @cached_property
    def weights(self) -> np.ndarray:
        """Weight of each row in each fit."""
        times = self.times.astype(np.float64)
        return times if self.task.weights is None else times * self.task.weights

    def select(self, which: np.ndarray) -> Samples:
        """Return the samples of some of the fits, reusing the counts of their rows."""
        some = Samples(self.task, self.fits[which])
        if "times" in self.__dict__:
            some.__dict__["times"] = self.times[which]
        return some

    @cached_property
    def positions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position of each answer: its fit in the batch, its row, and its place in the values."""
        plan = self.task.plan
        order, starts = plan.questions_of
        offsets, inside = spread(starts, self.fits)
        questions = order[inside]
        sizes = np.diff(offsets)
        ends, positions = spread(plan.test_offsets, questions)
        line = np.repeat(np.repeat(np.arange(len(self.fits)), sizes), np.diff(ends))
        return line, plan.positions[0][positions], positions

    def asks(self, place: int) -> np.ndarray:
        """Return a mask of the fits that need the candidate at this position of the group."""
        return self.task.asks(self.fits, place)

    def answer(self, place: int, answers: np.ndarray, open_: np.ndarray) -> None:
        """Store the answers of one candidate, which are in the order of `positions`."""
        line, _, positions = self.positions
        candidate = int(self.task.group.candidates[place])
        self.task.collected.values[self.task.line_of(candidate), positions] = answers
        for fit in np.unique(line[open_]):
            self.task.leave_open(self.fits[fit], [candidate])


def lacking_blocks(plan: Plan, among: np.ndarray) -> np.ndarray:
    """Return the fits in `among` that are trained on all rows but some disjoint blocks."""
    fits = np.flatnonzero((plan.train.base == ALL) & (np.diff(plan.train.offsets) > 0) & among)
    if plan.blocks.counts is not None or not len(fits):
        return fits[:0]
    total = np.concatenate([[0], np.cumsum(plan.blocks.sizes[plan.train.minus])])
    together = total[plan.train.offsets[fits + 1]] - total[plan.train.offsets[fits]]
    apart: np.ndarray = covered(plan.n_rows, plan.blocks, plan.train, fits) == together
    return fits[apart]


def products_of(X: np.ndarray) -> np.ndarray:
    """Return the products of the columns with each other, as a table `(row, column * column)`."""
    n, width = X.shape
    products: np.ndarray = np.einsum("ij,ik->ijk", X, X)
    return products.reshape(n, width * width)
