"""What an interval declares, the one check of what it needs, and the shapes that several share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar, Generic, NoReturn, TypeVar

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.interval import Basis, Interval
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms.evidence import Evidence

__all__ = [
    "NO_SPREAD",
    "OF_A_MEAN",
    "OF_ROWS",
    "ONE_ROW",
    "IntervalForm",
    "Needs",
    "Sureness",
    "around",
    "beta",
    "bounds_of",
    "is_none",
    "normal",
    "z_of",
]

Needs = Mapping[Basis, str]
"""What an interval rests on, and the remedy where that is lacking."""

Sureness = tuple[float | None, Interval | None, tuple[str, ...]]
"""Standard error, interval, and notes that say why there is none."""

NONE: Sureness = (None, None, ())
NO_SPREAD = (
    "every row has the same loss: their spread is 0 and says nothing about the error of the mean."
)
ONE_ROW = "one tested row has no spread: there is no standard error."
OF_ROWS = {
    Basis.ROW_LOSSES: "use a K-fold word with interval='conservative-z', or a loss such as "
    "'zero-one', 'brier' or 'log'"
}
OF_A_MEAN = {**OF_ROWS, Basis.MEAN: "use a K-fold word such as '10-fold'"}

OF_LOSS_AND_DATA = frozenset(
    {
        Basis.ROW_LOSSES,
        Basis.UPPER_BOUND,
        Basis.NEVER_NEGATIVE,
        Basis.ERROR_COUNT,
        Basis.EQUAL_ROWS,
    }
)

E = TypeVar("E", bound=Evidence)


class IntervalForm(ABC, Generic[E]):
    """One way to make a standard error and an interval.

    It is made only where all that it `needs` is given. `reference` says where it was published, and
    `caution`, the end of a sentence "Intervals ...", what no publication says of it.
    """

    word: ClassVar[str]
    needs: ClassVar[Needs]
    reference: ClassVar[str]
    caution: ClassVar[str] = ""
    counts_choice: ClassVar[bool] = False  # whether it must know which candidate was chosen

    @abstractmethod
    def of(self, evidence: E, c: int) -> Sureness:
        """The interval of candidate c; None and a note where the numbers justify none."""

    def of_each(self, evidence: E) -> list[Sureness]:
        """Those of all candidates, none where there is no value; other evidence is refused."""
        self.require(evidence.gives, "this plan")
        known = np.isfinite(evidence.values).tolist()
        return [self.of(evidence, c) if is_known else NONE for c, is_known in enumerate(known)]

    def check(self, data: Data, loss: Loss) -> None:
        """Refuse a loss or data that it is not made for, before anything is drawn."""
        given = {
            Basis.ROW_LOSSES: loss.per_row,
            Basis.UPPER_BOUND: loss.lower is not None and loss.upper is not None,
            Basis.NEVER_NEGATIVE: loss.lower == 0,
            Basis.ERROR_COUNT: loss.binary,
            Basis.EQUAL_ROWS: data.sample_weight is None,
        }
        lacking = (need for need in self.needs if not given.get(need, True))
        for need in lacking:
            weighted = need is Basis.EQUAL_ROWS
            self._refuse(need, "data with sample_weight" if weighted else f"loss '{loss.word}'")

    def require(self, given: Collection[Basis], who: str) -> None:
        """Refuse a method, or answers, that lack something that it needs."""
        need = self.lacking(given)
        if need is not None:
            self._refuse(need, who)

    def lacking(self, given: Collection[Basis]) -> Basis | None:
        """The first of its needs that a method, or its answers, must give and do not."""
        asked = (need for need in self.needs if need not in OF_LOSS_AND_DATA)
        return next((need for need in asked if need not in given), None)

    def _refuse(self, need: Basis, who: str) -> NoReturn:
        """Say who lacks what, and what to do."""
        raise Refusal(
            f"interval '{self.word}' needs {need.value}, which {who} cannot give: "
            f"{self.needs[need]}."
        )


def around(evidence: Evidence, value: float, half: float, name: str) -> Interval:
    """`value ± half`, cut to the values the loss can take."""
    loss = evidence.loss
    low = value - half if loss.lower is None else max(value - half, loss.lower)
    high = value + half if loss.upper is None else min(value + half, loss.upper)
    return Interval(float(low), float(high), name, evidence.terms.confidence_level)


def normal(evidence: Evidence, value: float, error: float, name: str) -> Interval:
    """`value` ± z times its error, cut to the values the loss can take."""
    return around(evidence, value, z_of(evidence) * error, name)


def z_of(evidence: Evidence) -> float:
    """The quantile of the normal distribution that the level asks for."""
    from scipy.special import ndtri

    return float(ndtri((1 + evidence.terms.confidence_level) / 2))


def bounds_of(evidence: Evidence) -> tuple[float, float]:
    """The smallest loss, and how far the largest lies above it."""
    low, high = evidence.loss.lower, evidence.loss.upper
    assert low is not None and high is not None  # `Basis.UPPER_BOUND` is among the needs
    return low, high - low


def beta(evidence: Evidence, value: float, size: float, name: str) -> Interval:
    """Quantiles of Beta(size m + ½, size (1 − m) + ½), m the value as a share of the bound."""
    from scipy.special import betaincinv

    low, span = bounds_of(evidence)
    share, level = float(np.clip((value - low) / span, 0, 1)), evidence.terms.confidence_level
    tails = np.array([1 - level, 1 + level]) / 2
    ends = low + span * betaincinv(size * share + 0.5, size * (1 - share) + 0.5, tails)
    return Interval(float(ends[0]), float(ends[1]), name, level)


def is_none(error: float, value: float) -> bool:
    """Whether a spread is 0 up to rounding; relative, so that no unit of a loss counts."""
    return error <= 1e-12 * abs(value)
