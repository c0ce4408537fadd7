"""Statements of a document, judged by tests.

A statement claims where one or several quantities lie. Each quantity has an estimate with a
standard error over replicates. A statement holds if every quantity lies where it is claimed, at a
joint level of 99 per cent (Student's t, Bonferroni), and does not hold if one of them lies
elsewhere at that level. Anything else is undecided, and so is every result from fewer than ten
replicates.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, SupportsFloat

import numpy as np
from scipy.special import stdtrit

from truerisk.extend import UNWRITTEN

LEVEL = 0.99
FEWEST = 10  # Minimum number of replicates. Nine random signs all agree once in 256 times.
SAMPLES = 200  # number of bootstrap samples for quantities other than means
SHOWN = 4  # number of quantities of a statement that are always printed one by one
WIDTH = 100

Verdict = Literal["holds", "does not hold", "undecided"]
Side = Literal["above", "below", "near"]


@dataclass(frozen=True)
class Claim:
    """The claimed position of a quantity: above `null`, below it, or within `tolerance` of it."""

    side: Side
    null: float = 0.0
    tolerance: float = 0.0

    def met_by(self, low: float, high: float) -> tuple[bool, bool]:
        """Return whether an interval is all where it is claimed, and whether all is elsewhere."""
        if self.side == "near":
            least, most = self.null - self.tolerance, self.null + self.tolerance
            return low >= least and high <= most, high < least or low > most
        over, under = low > self.null, high < self.null
        return (over, under) if self.side == "above" else (under, over)

    def __str__(self) -> str:
        if self.side != "near":
            return f"{self.side} {self.null:.4g}"
        if self.null == 0:
            return f"within {self.tolerance:.4g} of 0" if self.tolerance else "0"
        return f"from {self.null - self.tolerance:.4g} to {self.null + self.tolerance:.4g}"


ABOVE, BELOW = Claim("above"), Claim("below")  # Both claims compare with zero.


def share_error(share: float, n: int) -> float:
    """Return the standard error of a share in per cent (Agresti and Coull).

    It is not 0 for a share of 0 or 1 either.
    """
    middle = (share * n + 2) / (n + 4)
    return 100 * float(np.sqrt(middle * (1 - middle) / n))


@dataclass(frozen=True)
class Quantity:
    """An estimate, and the claimed position of its true value.

    `replicates` is the number behind the standard error; None is for a number without randomness,
    which is compared directly.
    """

    name: str
    value: float
    std_error: float
    replicates: int | None
    claim: Claim = ABOVE
    digits: int = 4

    @classmethod
    def mean(
        cls, name: str, values: np.ndarray, claim: Claim = ABOVE, *, digits: int = 4
    ) -> Quantity:
        """Return the mean of one value per replicate; NaN if there are none."""
        values, n = np.asarray(values, dtype=float), len(values)
        mean = float(values.mean()) if n else float("nan")
        error = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else float("inf")
        return cls(name, mean, error, n, claim, digits)

    @classmethod
    def share(cls, name: str, hits: np.ndarray, claim: Claim = ABOVE) -> Quantity:
        """Return a share in per cent."""
        n, share = len(hits), float(np.mean(hits))
        return cls(name, 100 * share, share_error(share, n), n, claim, 1)

    @classmethod
    def from_statistic(
        cls,
        name: str,
        statistic: Callable[[np.ndarray], SupportsFloat],
        values: np.ndarray,
        claim: Claim = ABOVE,
        *,
        digits: int = 4,
    ) -> Quantity:
        """Return a statistic of the replicates (first axis) with its bootstrap standard error."""
        n, rng = len(values), np.random.default_rng(0)
        # A small sample may contain a single value only.
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = [float(statistic(values[rng.integers(n, size=n)])) for _ in range(SAMPLES)]
        error = float(np.nanstd(drawn, ddof=1)) if n > 1 else float("inf")
        return cls(name, float(statistic(values)), error, n, claim, digits)

    @classmethod
    def nearer(cls, name: str, both: np.ndarray, *, digits: int = 4) -> Quantity:
        """Return how much nearer to 0 the mean of the first column is than that of the second."""

        def gap(some: np.ndarray) -> float:
            first, second = np.abs(some.mean(axis=0))
            return float(first - second)

        return cls.from_statistic(name, gap, both, BELOW, digits=digits)

    @classmethod
    def exact(cls, name: str, value: float, claim: Claim = ABOVE, *, digits: int = 4) -> Quantity:
        """Return a number without randomness."""
        return cls(name, float(value), 0.0, None, claim, digits)

    def verdict(self, level: float = LEVEL) -> Verdict:
        """Return whether Student's t interval lies where it is claimed, elsewhere, or in both."""
        n, reach = self.replicates, 0.0
        if n is not None:
            if n < FEWEST or not np.isfinite([self.value, self.std_error]).all():
                return "undecided"
            reach = float(stdtrit(n - 1, (1 + level) / 2)) * self.std_error
        inside, outside = self.claim.met_by(self.value - reach, self.value + reach)
        if n is None:
            outside = not inside
        return "holds" if inside else "does not hold" if outside else "undecided"

    def __str__(self) -> str:
        value = f"{self.value:.{self.digits}f}"
        error = f" ± {self.std_error:.{self.digits}f}" if self.replicates is not None else ""
        return f"{self.name}: {value}{error}, claimed {self.claim}"


@dataclass(frozen=True)
class Statement:
    """A statement of the document, the quantities that it is about, and the verdict."""

    text: str
    quantities: tuple[Quantity, ...] = field(metadata=UNWRITTEN)
    remark: str = field(default="", metadata=UNWRITTEN)

    level: ClassVar[float] = LEVEL
    derived: ClassVar[tuple[str, ...]] = ("verdict", "level", "tests", "evidence")

    @classmethod
    def from_quantities(
        cls,
        text: str,
        *values_or_quantities: Quantity | Mapping[str, np.ndarray],
        claim: Claim = ABOVE,
        digits: int = 4,
        remark: str = "",
    ) -> Statement:
        """Make a statement of quantities, or of named values whose means it is about."""
        every: list[Quantity] = []
        for one in values_or_quantities:
            if isinstance(one, Quantity):
                every.append(one)
            else:
                every += [Quantity.mean(name, of, claim, digits=digits) for name, of in one.items()]
        return cls(text, tuple(every), remark)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Verdicts on all quantities, at a level that gives them 99 per cent jointly."""
        level = 1 - (1 - LEVEL) / len(self.quantities)
        return tuple(quantity.verdict(level) for quantity in self.quantities)

    @property
    def verdict(self) -> Verdict:
        """The joint verdict: one failed quantity refutes the statement, all together confirm it."""
        every = set(self.verdicts)
        if "does not hold" in every:
            return "does not hold"
        return "holds" if every == {"holds"} else "undecided"

    @property
    def tests(self) -> list[dict[str, Any]]:
        """The numbers, the claim about each, and the verdict on it."""
        return [
            {
                "name": one.name,
                "value": one.value,
                "std_error": one.std_error,
                "replicates": one.replicates,
                "claimed": one.claim.side,
                "null": one.claim.null,
                "tolerance": one.claim.tolerance,
                "verdict": verdict,
            }
            for one, verdict in zip(self.quantities, self.verdicts, strict=True)
        ]

    @property
    def lines(self) -> tuple[str, ...]:
        """A line per quantity; if there are many, those that hold are counted."""
        pairs, n = zip(self.quantities, self.verdicts, strict=True), len(self.quantities)
        shown = (pair for pair in pairs if n <= SHOWN or pair[1] != "holds")
        lines = [f"{quantity}" + (f": {verdict}" if n > 1 else "") for quantity, verdict in shown]
        if len(lines) < n:
            every = f"{n - len(lines)} of {n} numbers"
            lines.append(f"{every} lie where they are claimed ({self.quantities[0].claim}, …)")
        return (*lines, *([self.remark] if self.remark else []))

    @property
    def evidence(self) -> str:
        """The same in one line."""
        return "; ".join(self.lines)

    def __str__(self) -> str:
        head = wrapped(f"{self.verdict.upper()}: {self.text}", "  ")
        return "\n".join([head, *(wrapped(f"    {line}", "      ") for line in self.lines)])


def wrapped(text: str, indent: str) -> str:
    """Break a text into lines of at most 100 characters, without breaking words."""
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
