"""Agreement of outcomes between pairs of rows, on a scale from 0 (chance) to 1 (equal)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

FEWEST_ROWS = 30
ALL_ROWS = slice(None)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcomes of the rows: class codes, or standardized ranks with one column per target."""

    values: np.ndarray
    is_class: bool

    def take(self, rows: Any) -> Outcome:
        """Return the outcomes of some rows, scaled anew."""
        if self.is_class:
            return Outcome(self.values[rows], is_class=True)
        return Outcome(_standardized_ranks(self.values[rows]), is_class=False)

    def agreement(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        r"""Return the agreement of the outcomes of rows i with those of rows j.

        .. math:: a_{ij} = 1 - \frac{[y_i \neq y_j]}{1 - \sum_c p_c^2}
           \quad\text{or}\quad a_{ij} = 1 - \tfrac12 (r_i - r_j)^2

        with class shares :math:`p_c` and ranks r of mean 0 and variance 1 (averaged over targets).
        Independent rows have expectation 0, equal outcomes have 1. For classes the mean over pairs
        is Cohen's kappa, for numbers it is a rank correlation in von Neumann's form.
        """
        if self.is_class:
            shares = np.bincount(self.values) / len(self.values)
            return 1 - (self.values[i] != self.values[j]) / (1 - (shares**2).sum())
        distance: np.ndarray = ((self.values[i] - self.values[j]) ** 2).mean(axis=-1)
        return 1 - distance / 2

    @property
    def variance(self) -> float:
        r"""Variance of the agreement of one random pair, for means over consecutive pairs.

        For classes it is :math:`(s_2 + s_2^2 - 2 s_3)/(1 - s_2)^2` with
        :math:`s_m = \sum_c p_c^m` (join counts); for one column of ranks it is 1.
        """
        if self.is_class:
            shares = np.bincount(self.values) / len(self.values)
            second, third = (shares**2).sum(), (shares**3).sum()
            return float((second + second**2 - 2 * third) / (1 - second) ** 2)
        q = self.values.shape[1]
        covariance = np.cov(self.values, rowvar=False).reshape(q, q) / q
        return float((covariance**2).sum())

    def columns(self, most: int = 6) -> np.ndarray:
        """Return ranks, or indicators of the largest classes, as columns."""
        if not self.is_class:
            return self.values
        largest = np.argsort(-np.bincount(self.values), kind="stable")[:most]
        return (self.values[:, None] == largest).astype(np.float64)


def outcome_of(
    codes: np.ndarray | None, y: np.ndarray, rows: np.ndarray | slice = ALL_ROWS
) -> Outcome | None:
    """Return the outcomes of some rows, or None if they do not vary or are no numbers.

    Classes have `codes`, numbers are read from `y`.
    """
    if codes is not None:
        codes = np.unique(codes[rows], return_inverse=True)[1].ravel()  # a class may have no row
        return Outcome(codes, is_class=True) if codes.any() else None
    try:
        numbers = np.asarray(y[rows], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    numbers = numbers.reshape(len(numbers), -1)[:, :10]
    if not numbers.size or not np.isfinite(numbers).all():
        return None
    numbers = numbers[:, numbers.min(axis=0) < numbers.max(axis=0)]
    return Outcome(_standardized_ranks(numbers), is_class=False) if numbers.shape[1] else None


def _standardized_ranks(numbers: np.ndarray) -> np.ndarray:
    """Return the mean rank of each value, column by column, with mean 0 and variance 1."""
    ranks = np.empty_like(numbers, dtype=np.float64)
    for column in range(numbers.shape[1]):
        ranks[:, column] = mean_ranks(numbers[:, column])
    ranks -= ranks.mean(axis=0)
    spread = ranks.std(axis=0)
    return ranks / np.where(spread > 0, spread, 1)


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value, the mean rank for ties."""
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: np.ndarray = (np.cumsum(counts) - (counts - 1) / 2)[position.ravel()]
    return ranks
