"""Many fits on rows of one table, each as a weight per row: a bootstrap, many folds.

A product of the weights with the products of the columns gives the sums of squares of every fit at
once, and batches of small systems are solved together. It pays for many fits of few columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truerisk.core.plan.blocks import ALL, covered, spread
from truerisk.core.plan.partitions import times_drawn
from truerisk.core.plan.plan import Plan
from truerisk.engines.templates.task import Task

__all__ = ["MOST_PRODUCTS", "Samples", "lacking_blocks", "products_of"]

FEWEST = 16  # fits, times settings; fewer are answered one by one
MOST_PRODUCTS = 1 << 22  # numbers in the table of products of columns
MOST_WEIGHTS = 1 << 21  # numbers in the weights of one batch


@dataclass(frozen=True, eq=False)
class Samples:
    """Some fits of a plan, with their weights `(fit, row)` and the places of their answers."""

    task: Task
    fits: np.ndarray

    @classmethod
    def batches(
        cls, task: Task, open_: np.ndarray, width: int, settings: int = 1
    ) -> Iterator[Samples]:
        """The fits marked in `open_` that see the rows' own labels, a batch after the other.

        None where they are few, each with so many `settings` that would be solved one by one, or
        `width` columns have too many products.
        """
        if task.plan.flips is not None:
            open_ = open_.copy()
            open_[task.plan.flips.fit] = False
        fits, n = np.flatnonzero(open_), task.plan.n_rows
        if len(fits) * settings < FEWEST or n * width * width > MOST_PRODUCTS:
            return
        yield from cls.some(task, fits, width)

    @classmethod
    def some(cls, task: Task, fits: np.ndarray, width: int) -> Iterator[Samples]:
        """These fits, a batch after the other."""
        size = max(1, MOST_WEIGHTS // max(task.plan.n_rows, width * width))
        for start in range(0, len(fits), size):
            yield cls(task, fits[start : start + size])

    @cached_property
    def times(self) -> np.ndarray:
        """How often each fit sees each row."""
        plan = self.task.plan
        order, starts = plan.questions_of
        return times_drawn(plan, order[starts[self.fits]])

    @cached_property
    def weights(self) -> np.ndarray:
        """How much each row counts in each fit."""
        times = self.times.astype(np.float64)
        return times if self.task.weights is None else times * self.task.weights

    def only(self, which: np.ndarray) -> Samples:
        """The samples of some of the fits, without counting their rows again."""
        some = Samples(self.task, self.fits[which])
        if "times" in self.__dict__:
            some.__dict__["times"] = self.times[which]
        return some

    @cached_property
    def positions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every answer the fit's place in the batch, the row, and where the answer goes."""
        plan = self.task.plan
        order, starts = plan.questions_of
        offsets, inside = spread(starts, self.fits)
        questions = order[inside]
        sizes = np.diff(offsets)
        ends, positions = spread(plan.test_offsets, questions)
        line = np.repeat(np.repeat(np.arange(len(self.fits)), sizes), np.diff(ends))
        return line, plan.positions[0][positions], positions

    def asks(self, place: int) -> np.ndarray:
        """In which fits the candidate at this place of the group is asked."""
        return self.task.asks(self.fits, place)

    def answer(self, place: int, answers: np.ndarray, open_: np.ndarray) -> None:
        """Put one candidate's answers, in the order of `positions`, in their place."""
        line, _, positions = self.positions
        candidate = int(self.task.group.candidates[place])
        self.task.values[self.task.line_of(candidate), positions] = answers
        for fit in np.unique(line[open_]):
            self.task.leave_open(self.fits[fit], [candidate])


def lacking_blocks(plan: Plan, among: np.ndarray) -> np.ndarray:
    """Which of the fits marked see all rows but some blocks that share no row."""
    fits = np.flatnonzero((plan.train.base == ALL) & (np.diff(plan.train.offsets) > 0) & among)
    if plan.blocks.counts is not None or not len(fits):
        return fits[:0]
    total = np.concatenate([[0], np.cumsum(plan.blocks.sizes[plan.train.minus])])
    together = total[plan.train.offsets[fits + 1]] - total[plan.train.offsets[fits]]
    apart: np.ndarray = covered(plan.n_rows, plan.blocks, plan.train, fits) == together
    return fits[apart]


def products_of(X: np.ndarray) -> np.ndarray:
    """`(row, column * column)`: the products of the columns with each other."""
    n, width = X.shape
    products: np.ndarray = np.einsum("ij,ik->ijk", X, X)
    return products.reshape(n, width * width)
