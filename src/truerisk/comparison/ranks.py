r"""Average ranks over data sets, Friedman's test, critical differences, Holm's correction.

With N data sets, k methods and average ranks R̄ⱼ (Friedman 1937; Demšar 2006):

    χ²_F = 12 N / (k (k + 1)) · (Σ R̄ⱼ² − k (k + 1)² / 4)
    F_F  = (N − 1) χ²_F / (N (k − 1) − χ²_F)          (Iman and Davenport 1980)

Ties reduce the spread of the ranks, so that χ²_F is divided by 1 − Σ (t³ − t) / (N (k³ − k)), where
t are the sizes of all groups of ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, inf, sqrt
from typing import Annotated

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.results.interval import tied_groups
from truerisk.results.records import FINITE_RANGE, Count, Share


def rank_rows(values: np.ndarray) -> np.ndarray:
    """Return ranks within each row, 1 for the smallest; tied values share their mean rank.

    >>> rank_rows(np.array([[0.2, 0.1, 0.2, 0.3]])).tolist()
    [[2.5, 1.0, 2.5, 4.0]]
    """
    ranks = np.empty(values.shape)
    for row, ranks_of_row in zip(values, ranks, strict=True):
        n_ranked = 0
        for group in tied_groups(row.tolist()):
            ranks_of_row[group] = n_ranked + (len(group) + 1) / 2
            n_ranked += len(group)
    return ranks


@frozen
class Friedman:
    """Friedman's test of the hypothesis that all methods have equal ranks.

    `p_value` belongs to the statistic F, and `chi_p_value` to the statistic χ².

    The statistics whose names end in `_as_printed` have no correction for ties, as in Demšar
    (2006).
    """

    chi_square: Annotated[float, FINITE_RANGE]
    df: Count
    chi_p_value: Share
    f: float
    f_df: tuple[Count, Count]
    p_value: Share
    chi_square_as_printed: float
    f_as_printed: float

    def __str__(self) -> str:
        # F is infinite if all data sets have the same ranks.
        value = "∞" if self.f == inf else f"{self.f:.2f}"
        return f"F({self.f_df[0]}, {self.f_df[1]}) = {value}"


def friedman_test(ranks: np.ndarray) -> Friedman:
    """Return Friedman's test of ranks `(N, k)`; the p-values are 1 if all ranks are tied."""
    from scipy.special import chdtrc, fdtrc

    n, k = ranks.shape
    chi_uncorrected = 12 * n / (k * (k + 1)) * float(((ranks.mean(0) - (k + 1) / 2) ** 2).sum())
    tie_factor = 1 - sum(_tie_sum(row) for row in ranks) / (n * (k**3 - k))
    chi_square = chi_uncorrected / tie_factor if tie_factor > 1e-12 else 0.0
    f_statistic, f_df = _iman_davenport(chi_square, n, k), (k - 1, (k - 1) * (n - 1))
    # F is infinite if all data sets have the same ranks; the p-value is then exact.
    p_value = (
        _p_value_of_equal_ranks(ranks) if f_statistic == inf else float(fdtrc(*f_df, f_statistic))
    )
    return Friedman(
        chi_square,
        k - 1,
        float(chdtrc(k - 1, chi_square)),
        f_statistic,
        f_df,
        p_value,
        chi_uncorrected,
        _iman_davenport(chi_uncorrected, n, k),
    )


def _tie_sum(row_ranks: np.ndarray) -> float:
    tie_sizes = np.unique(row_ranks, return_counts=True)[1].astype(float)
    return float((tie_sizes**3 - tie_sizes).sum())


def _iman_davenport(chi_square: float, n: int, k: int) -> float:
    denominator = n * (k - 1) - chi_square
    return inf if denominator <= 1e-9 * n * k else (n - 1) * chi_square / denominator


def _p_value_of_equal_ranks(ranks: np.ndarray) -> float:
    """Return the exact p-value of Friedman's test if all rows have the same ranks.

    Each row after the first has k!/∏t! possible orders; t are the sizes of groups of tied ranks.
    """
    n, k = ranks.shape
    n_orders = factorial(k)
    for group_size in np.unique(ranks[0], return_counts=True)[1].tolist():
        n_orders //= factorial(group_size)
    return float(n_orders) ** (1 - n)


def rank_difference_error(n: int, k: int) -> float:
    """Return the standard error of the difference of two average ranks, without ties."""
    return sqrt(k * (k + 1) / (6 * n))


def critical_difference(n: int, k: int, confidence_level: float) -> float:
    """Return the difference of average ranks that is significant for all pairs at once.

    See Nemenyi (1963). It is the quantile of the studentized range with infinite degrees of
    freedom, divided by √2, times the standard error of a difference.
    """
    from scipy.stats import studentized_range

    return (
        float(studentized_range.ppf(confidence_level, k, inf))
        / sqrt(2)
        * rank_difference_error(n, k)
    )


def holm_correction(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for the number of tests by Holm's (1979) step-down method.

    >>> holm_correction([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted_p_values, largest_p, m = [0.0] * len(p_values), 0.0, len(p_values)
    for n_done, index in enumerate(np.argsort(p_values, kind="stable").tolist()):
        largest_p = min(1.0, max(largest_p, (m - n_done) * p_values[index]))
        adjusted_p_values[index] = largest_p
    return adjusted_p_values
