"""Statements of a document, judged by statistical tests.

A statement claims where one or several quantities lie. Each quantity has an estimate with a
standard error over replicates. A statement holds if every quantity lies in its claimed range, at a
joint level of 99 per cent (Student's t, Bonferroni), and does not hold if one of them lies outside
its range at that level. Any other result is undecided, and so is every result from fewer than ten
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

JOINT_CONFIDENCE_LEVEL = 0.99
# A statement is judged only from this number of replicates on. With nine replicates, the signs of
# nine random differences would all agree in 1 of 256 cases.
MIN_REPLICATES = 10
# Standard errors of quantities other than means use this number of bootstrap samples.
N_BOOTSTRAP_SAMPLES = 200
# A statement with at most this number of quantities prints all of them.
MAX_LISTED_QUANTITIES = 4
LINE_WIDTH = 100

Verdict = Literal["holds", "does not hold", "undecided"]
ClaimSide = Literal["above", "below", "near"]


@dataclass(frozen=True)
class Claim:
    """Claimed range of a quantity: above `null`, below it, or within `tolerance` of it."""

    side: ClaimSide
    null: float = 0.0
    tolerance: float = 0.0

    def compare(self, low: float, high: float) -> tuple[bool, bool]:
        """Return whether an interval lies inside the claimed range, and whether it lies outside.

        Both are False if the interval contains a limit of the range.
        """
        if self.side == "near":
            lowest, highest = self.null - self.tolerance, self.null + self.tolerance
            return low >= lowest and high <= highest, high < lowest or low > highest
        is_above, is_below = low > self.null, high < self.null
        return (is_above, is_below) if self.side == "above" else (is_below, is_above)

    def __str__(self) -> str:
        if self.side != "near":
            return f"{self.side} {self.null:.4g}"
        if self.null == 0:
            return f"within {self.tolerance:.4g} of 0" if self.tolerance else "0"
        return f"from {self.null - self.tolerance:.4g} to {self.null + self.tolerance:.4g}"


# These claims say that a quantity is above zero, or below zero.
ABOVE_ZERO, BELOW_ZERO = Claim("above"), Claim("below")


def share_std_error(share: float, n: int) -> float:
    """Return the standard error, in per cent, of a share among n replicates (Agresti and Coull).

    The standard error is positive even for a share of 0 or 1.
    """
    shrunken_share = (share * n + 2) / (n + 4)
    return 100 * float(np.sqrt(shrunken_share * (1 - shrunken_share) / n))


@dataclass(frozen=True)
class Quantity:
    """Estimate of a quantity with its standard error, and the range claimed for the true value.

    `n_replicates` is the number of replicates behind the standard error. It is None for a number
    without randomness, which is compared with the range directly.
    """

    name: str
    value: float
    std_error: float
    n_replicates: int | None
    claim: Claim = ABOVE_ZERO
    digits: int = 4

    @classmethod
    def mean(
        cls, name: str, values: np.ndarray, claim: Claim = ABOVE_ZERO, *, digits: int = 4
    ) -> Quantity:
        """Return the mean of one value per replicate as a quantity; NaN without replicates."""
        values, n = np.asarray(values, dtype=float), len(values)
        mean = float(values.mean()) if n else float("nan")
        std_error = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else float("inf")
        return cls(name, mean, std_error, n, claim, digits)

    @classmethod
    def share(cls, name: str, is_hit: np.ndarray, claim: Claim = ABOVE_ZERO) -> Quantity:
        """Return the percentage of replicates for which `is_hit` is true, as a quantity."""
        n, share = len(is_hit), float(np.mean(is_hit))
        return cls(name, 100 * share, share_std_error(share, n), n, claim, 1)

    @classmethod
    def from_statistic(
        cls,
        name: str,
        statistic: Callable[[np.ndarray], SupportsFloat],
        values: np.ndarray,
        claim: Claim = ABOVE_ZERO,
        *,
        digits: int = 4,
    ) -> Quantity:
        """Return a statistic of the replicates (first axis), with its bootstrap standard error."""
        n, rng = len(values), np.random.default_rng(0)
        # A bootstrap sample of few replicates may consist of copies of a single value, and the
        # statistic may then divide by 0.
        with np.errstate(invalid="ignore", divide="ignore"):
            bootstrap_values = [
                float(statistic(values[rng.integers(n, size=n)]))
                for _ in range(N_BOOTSTRAP_SAMPLES)
            ]
        std_error = float(np.nanstd(bootstrap_values, ddof=1)) if n > 1 else float("inf")
        return cls(name, float(statistic(values)), std_error, n, claim, digits)

    @classmethod
    def from_bias_difference(
        cls, name: str, paired_values: np.ndarray, *, digits: int = 4
    ) -> Quantity:
        """Return the quantity |mean of column 1| − |mean of column 2|, with the claim "below 0"."""

        def difference(resampled_pairs: np.ndarray) -> float:
            first_mean, second_mean = np.abs(resampled_pairs.mean(axis=0))
            return float(first_mean - second_mean)

        return cls.from_statistic(name, difference, paired_values, BELOW_ZERO, digits=digits)

    @classmethod
    def from_exact_value(
        cls, name: str, value: float, claim: Claim = ABOVE_ZERO, *, digits: int = 4
    ) -> Quantity:
        """Return a quantity without randomness, whose standard error is 0."""
        return cls(name, float(value), 0.0, None, claim, digits)

    def verdict(self, level: float = JOINT_CONFIDENCE_LEVEL) -> Verdict:
        """Judge the claim: "holds" if Student's t interval lies in its range, else "does not hold".

        The verdict is "undecided" if the interval contains a limit of the range.
        """
        n, half_width = self.n_replicates, 0.0
        if n is not None:
            if n < MIN_REPLICATES or not np.isfinite([self.value, self.std_error]).all():
                return "undecided"
            half_width = float(stdtrit(n - 1, (1 + level) / 2)) * self.std_error
        is_inside, is_outside = self.claim.compare(self.value - half_width, self.value + half_width)
        if n is None:
            is_outside = not is_inside
        return "holds" if is_inside else "does not hold" if is_outside else "undecided"

    def __str__(self) -> str:
        value = f"{self.value:.{self.digits}f}"
        error_text = f" ± {self.std_error:.{self.digits}f}" if self.n_replicates is not None else ""
        return f"{self.name}: {value}{error_text}, claimed {self.claim}"


@dataclass(frozen=True)
class Statement:
    """Statement of a document, with the quantities by which it is judged, and the verdict."""

    text: str
    quantities: tuple[Quantity, ...] = field(metadata=UNWRITTEN)
    remark: str = field(default="", metadata=UNWRITTEN)

    level: ClassVar[float] = JOINT_CONFIDENCE_LEVEL
    derived: ClassVar[tuple[str, ...]] = ("verdict", "level", "tests", "evidence")

    @classmethod
    def from_quantities(
        cls,
        text: str,
        *values_or_quantities: Quantity | Mapping[str, np.ndarray],
        claim: Claim = ABOVE_ZERO,
        digits: int = 4,
        remark: str = "",
    ) -> Statement:
        """Return a statement about quantities, or about the means of named values."""
        quantities: list[Quantity] = []
        for values_or_quantity in values_or_quantities:
            if isinstance(values_or_quantity, Quantity):
                quantities.append(values_or_quantity)
            else:
                quantities += [
                    Quantity.mean(name, replicate_values, claim, digits=digits)
                    for name, replicate_values in values_or_quantity.items()
                ]
        return cls(text, tuple(quantities), remark)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Verdict on each quantity, at the level that gives all verdicts a joint level of 99 %."""
        level = 1 - (1 - JOINT_CONFIDENCE_LEVEL) / len(self.quantities)
        return tuple(quantity.verdict(level) for quantity in self.quantities)

    @property
    def verdict(self) -> Verdict:
        """Joint verdict: "does not hold" if any quantity fails, "holds" if all quantities hold."""
        distinct_verdicts = set(self.verdicts)
        if "does not hold" in distinct_verdicts:
            return "does not hold"
        return "holds" if distinct_verdicts == {"holds"} else "undecided"

    @property
    def tests(self) -> list[dict[str, Any]]:
        """Tests of all quantities as dictionaries: the value, the claim, and the verdict."""
        return [
            {
                "name": quantity.name,
                "value": quantity.value,
                "std_error": quantity.std_error,
                "replicates": quantity.n_replicates,
                "claimed": quantity.claim.side,
                "null": quantity.claim.null,
                "tolerance": quantity.claim.tolerance,
                "verdict": verdict,
            }
            for quantity, verdict in zip(self.quantities, self.verdicts, strict=True)
        ]

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines that describe the quantities of the statement and their verdicts.

        Each quantity has a line. If there are many quantities, those whose claim holds are only
        counted.
        """
        pairs, n = zip(self.quantities, self.verdicts, strict=True), len(self.quantities)
        listed_pairs = (pair for pair in pairs if n <= MAX_LISTED_QUANTITIES or pair[1] != "holds")
        quantity_lines = [
            f"{quantity}" + (f": {verdict}" if n > 1 else "") for quantity, verdict in listed_pairs
        ]
        if len(quantity_lines) < n:
            count_text = f"{n - len(quantity_lines)} of {n} numbers"
            quantity_lines.append(
                f"{count_text} lie where they are claimed ({self.quantities[0].claim}, …)"
            )
        return (*quantity_lines, *([self.remark] if self.remark else []))

    @property
    def evidence(self) -> str:
        """Text lines of all quantities, joined into one line by semicolons."""
        return "; ".join(self.lines)

    def __str__(self) -> str:
        heading = wrap_text(f"{self.verdict.upper()}: {self.text}", "  ")
        return "\n".join([heading, *(wrap_text(f"    {line}", "      ") for line in self.lines)])


def wrap_text(text: str, indent: str) -> str:
    """Wrap a text into lines of at most 100 characters, without breaking words."""
    return textwrap.fill(
        text, LINE_WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
