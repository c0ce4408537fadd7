"""An interval carries the name of the method that made it; `Basis` names what it may rest on.

A `Breakdown` holds the named numbers that an estimate was made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from math import inf

from truerisk.core import present
from truerisk.core.present import risk
from truerisk.core.records import Share
from truerisk.core.writing import Shown


class Basis(Enum):
    """What an interval may rest on, in words.

    An interval declares what it needs of these; a loss, a table, a method and its drawn plan say
    which of them they give.
    """

    ROW_LOSSES = "losses of single rows"
    INFLUENCES = "a loss with a formula for what a single row does to it"
    UPPER_BOUND = "losses with a largest value"
    NEVER_NEGATIVE = "losses that are never negative"
    ERROR_COUNT = "a loss that counts errors"
    EQUAL_ROWS = "rows that count alike"
    PLACES = "places of the rows"
    TIMES = "rows in the order of time"
    LOSSES = "cross-validated losses"
    MEAN = "a mean of cross-validated losses"
    SPLITS = "risks of several splits"
    ONCE = "rows that are tested once"
    EQUALLY_OFTEN = "rows that are tested equally often"
    PAIRS = "fits without each two folds"
    HALVES = "means over halves of the rows"
    SAMPLES = "bootstrap samples"


OF_PLANS = frozenset({Basis.ONCE, Basis.EQUALLY_OFTEN, Basis.TIMES})
"""What a drawn plan tells, and its data; the rest is a kind of answers, a loss or a table."""


@dataclass(frozen=True)
class Interval:
    """`low` to `high`, by `method`, at `confidence_level`."""

    low: float
    high: float
    method: str
    confidence_level: Share = 0.95

    @property
    def flaw(self) -> tuple[str] | None:
        """What makes it none, where it was read from a file."""
        fits = -inf < self.low <= self.high < inf
        return None if fits else ("an interval",)

    @property
    def width(self) -> float:
        return self.high - self.low

    def below(self, perfect: float) -> Interval:
        """That of `perfect` minus the value: of a score, where this is of a loss.

        >>> print(Interval(0.02, 0.1, "logit-cv").below(1.0))
        [0.9000, 0.9800]
        """
        return replace(self, low=perfect - self.high, high=perfect - self.low)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"[{risk(self.low, self.high)}, {risk(self.high)}]"


@dataclass(frozen=True)
class Breakdown(Mapping[str, float], Shown):
    """A mapping that prints as a table of one line.

    >>> print(Breakdown({"apparent": 0.1, "optimism": 0.025, "corrected": 0.125, "n": 200}))
    apparent  optimism  corrected    n
    ----------------------------------
      0.1000    0.0250     0.1250  200
    """

    numbers: Mapping[str, int | float]

    def __getitem__(self, name: str) -> float:
        return self.numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def __str__(self) -> str:
        return present.text_table(list(self), [self._cells()])

    def blocks(self) -> list[present.Block]:
        return [present.Block("What the risk is made of", list(self), [self._cells()])]

    def _cells(self) -> list[str]:
        return [str(v) if isinstance(v, int) else present.number(v) for v in self.values()]
