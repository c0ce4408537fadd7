"""What each row does to a cross-validated value: what the difference of two values is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.answers import Answers

__all__ = ["Influences", "Shaken"]


@dataclass(frozen=True, eq=False)
class Shaken:
    """Losses of rows that were tested by models without their own fold and a further one.

    `losses[c, t]` is candidate c's loss of row `rows[t]` by the model that lacks fold `other[t]`
    besides the row's own.
    """

    rows: np.ndarray
    other: np.ndarray
    losses: np.ndarray

    @classmethod
    def of(cls, answers: Answers, losses: np.ndarray) -> Shaken:
        """Those of the "inner" questions of a plan of pairs."""
        plan = answers.plan
        return cls(plan.positions[0], np.repeat(plan.unit, plan.test_sizes), losses)

    def line(self, candidate: int) -> Shaken:
        """Those of one candidate."""
        return Shaken(self.rows, self.other, self.losses[candidate : candidate + 1])

    def by_row(self, candidate: int, rows: np.ndarray) -> np.ndarray:
        """The mean loss of each row by all models of one candidate that answered it."""
        place = np.searchsorted(rows, self.rows)
        sums: np.ndarray = np.bincount(place, self.losses[candidate], len(rows))
        return sums / np.bincount(place, minlength=len(rows))

    def minus(self, other: Shaken) -> Shaken:
        """The differences of two candidates on the same rows and folds."""
        return Shaken(self.rows, self.other, self.losses - other.losses)


@dataclass(frozen=True, eq=False)
class Influences:
    """The losses whose weighted mean is a value, a row each, of rows that were tested once.

    Of a score that rates whole test sets it is the value plus the row's influence. `losses[j]`
    belongs to row `rows[j]`, `weights` add to 1, `groups` are those of the rows. `k` is the number
    of folds. `one_row` is what another answer to a single row does to the value where answers are
    labels, 0 where they are not. `shaken` are the losses by models that lack a further fold.
    """

    losses: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    groups: np.ndarray | None
    k: float
    one_row: float
    shaken: Shaken | None

    @property
    def in_pairs(self) -> bool:
        """Whether fits without a further fold tell how much the losses move."""
        return self.shaken is not None
