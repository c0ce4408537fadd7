"""What an interval is made from, and what all of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from truerisk.core.contracts import Terms
from truerisk.core.errors import Refusal
from truerisk.core.interval import Interval
from truerisk.core.losses import Loss
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data

__all__ = ["NO_SPREAD", "Evidence", "IntervalForm", "Pairs", "Sureness", "clipped", "is_none"]

Sureness = tuple[float | None, Interval | None, tuple[str, ...]]
"""Standard error, interval, and notes that say why there is none."""

NO_SPREAD = (
    "every row has the same loss: their spread is 0 and says nothing about the error of the mean."
)


@dataclass(frozen=True)
class Pairs:
    """What nested cross-validation says of the error of its mean.

    `std_error` is its own, between the `floor` of independent rows and √K times that; `mean` is the
    mean of the losses outside each two folds, `n` counts the tested rows, or groups.
    """

    std_error: float
    floor: float
    mean: float
    n: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the value of one candidate was computed from.

    `losses` are those of the tested rows, one each (their mean where a row was tested
    `repeatedly`), `weights` their shares in the value, which add to 1, and `groups` where they
    belong. `all_losses` are those of all candidates, this one's in row `candidate`; `best` says
    that the rule chose it. `instability` is that of all candidates, where the folds were drawn
    several times, differ, and the form needs it. `pairs`, `halves` and `out_of_bag` (standard error
    and value of Err₁) are there where a method drew them, `marks` (`Data.row_marks`) where the form
    draws rows.
    """

    value: float
    loss: Loss
    terms: Terms
    losses: np.ndarray | None = None
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    repeatedly: bool = False
    split_risks: np.ndarray | None = None
    plan: Plan | None = None
    all_losses: np.ndarray | None = None
    candidate: int = 0
    best: bool = False
    instability: np.ndarray | None = None
    pairs: Pairs | None = None
    halves: np.ndarray | None = None
    out_of_bag: tuple[float | None, float] | None = None
    marks: np.ndarray | None = None


class IntervalForm(ABC):
    """One way to make a standard error and an interval."""

    word: ClassVar[str]
    counts_choice: ClassVar[bool] = False  # whether it must know which candidate was chosen
    draws_rows: ClassVar[bool] = False  # at random, in an order that is theirs
    needs_instability: ClassVar[bool] = False  # whether it looks at how a row's loss varies

    def check(self, data: Data, loss: Loss) -> None:
        """Refuse a loss or data that it is not made for, before anything is drawn."""
        if not loss.per_row:
            raise Refusal(
                f"interval '{self.word}' is made from losses of single rows, and loss "
                f"'{loss.word}' has none: use a K-fold word with interval='conservative-z', or a "
                "loss such as 'zero-one', 'brier' or 'log'."
            )

    @abstractmethod
    def of(self, evidence: Evidence) -> Sureness:
        """The interval of a candidate; None and a note where the numbers justify none."""

    def of_each(
        self,
        common: Evidence,
        candidates: np.ndarray,
        values: np.ndarray,
        by_split: np.ndarray | None,
        best: int | None,
    ) -> list[Sureness]:
        """Those of some candidates; `common` is what all share, with the losses of all.

        `values` and `by_split` are of all candidates, too; `best` is the chosen one.
        """
        assert common.all_losses is not None
        return [
            self.of(
                replace(
                    common,
                    value=float(values[c]),
                    losses=common.all_losses[c],
                    split_risks=None if by_split is None else by_split[c],
                    candidate=int(c),
                    best=bool(c == best),
                )
            )
            for c in candidates
        ]

    def lacks(self, what: str, remedy: str) -> Refusal:
        """What to say of evidence that is of the wrong kind."""
        return Refusal(f"interval '{self.word}' needs {what}: {remedy}.")


def clipped(value: float, half: float, name: str, evidence: Evidence) -> Interval:
    """`value ± half`, cut to the values the loss can take."""
    loss = evidence.loss
    low = value - half if loss.lower is None else max(value - half, loss.lower)
    high = value + half if loss.upper is None else min(value + half, loss.upper)
    return Interval(float(low), float(high), name, evidence.terms.confidence_level)


def is_none(error: float, value: float) -> bool:
    """Whether a spread is 0 up to rounding; relative, so that no unit of a loss counts."""
    return error <= 1e-12 * abs(value)
