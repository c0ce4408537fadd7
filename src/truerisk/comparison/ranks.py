r"""Average ranks over many data sets, Friedman's test, critical differences, Holm's correction.

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
from truerisk.results.records import FINITE, Count, Share


def ranked(values: np.ndarray) -> np.ndarray:
    """Return ranks within each row, 1 for the smallest; tied values share their mean rank.

    >>> ranked(np.array([[0.2, 0.1, 0.2, 0.3]])).tolist()
    [[2.5, 1.0, 2.5, 4.0]]
    """
    ranks = np.empty(values.shape)
    for row, into in zip(values, ranks, strict=True):
        taken = 0
        for group in tied_groups(row.tolist()):
            into[group] = taken + (len(group) + 1) / 2
            taken += len(group)
    return ranks


@frozen
class Friedman:
    """Test for equal ranks of methods; `p_value` is that of F, `chi_p_value` that of χ².

    The statistics whose names end in `_as_printed` have no correction for ties, as in Demšar
    (2006).
    """

    chi_square: Annotated[float, FINITE]
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


def friedman(ranks: np.ndarray) -> Friedman:
    """Return Friedman's test of ranks `(N, k)`; the p-values are 1 if there are only ties."""
    from scipy.special import chdtrc, fdtrc

    n, k = ranks.shape
    plain = 12 * n / (k * (k + 1)) * float(((ranks.mean(0) - (k + 1) / 2) ** 2).sum())
    share = 1 - sum(_tied(row) for row in ranks) / (n * (k**3 - k))
    chi = plain / share if share > 1e-12 else 0.0
    f, degrees = _iman_davenport(chi, n, k), (k - 1, (k - 1) * (n - 1))
    # F is infinite if every data set has the same ranks. Among all permutations within rows, only
    # equal ones remain.
    p = _all_alike(ranks) if f == inf else float(fdtrc(*degrees, f))
    return Friedman(
        chi, k - 1, float(chdtrc(k - 1, chi)), f, degrees, p, plain, _iman_davenport(plain, n, k)
    )


def _tied(row: np.ndarray) -> float:
    sizes = np.unique(row, return_counts=True)[1].astype(float)
    return float((sizes**3 - sizes).sum())


def _iman_davenport(chi: float, n: int, k: int) -> float:
    rest = n * (k - 1) - chi
    return inf if rest <= 1e-9 * n * k else (n - 1) * chi / rest


def _all_alike(ranks: np.ndarray) -> float:
    """Return the exact p-value of equal rows: each of the others had k!/∏t! permutations."""
    n, k = ranks.shape
    orders = factorial(k)
    for size in np.unique(ranks[0], return_counts=True)[1].tolist():
        orders //= factorial(size)
    return float(orders) ** (1 - n)


def rank_errors(n: int, k: int) -> float:
    """Return the standard error of the difference of two average ranks, without ties."""
    return sqrt(k * (k + 1) / (6 * n))


def critical_difference(n: int, k: int, level: float) -> float:
    """Return the difference of average ranks that is significant for all pairs at once.

    See Nemenyi (1963). It is the quantile of the studentized range with infinite degrees of
    freedom, divided by √2, times the standard error of a difference.
    """
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, k, inf)) / sqrt(2) * rank_errors(n, k)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values with Holm's (1979) step-down correction for their number.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, largest, m = [0.0] * len(p_values), 0.0, len(p_values)
    for done, at in enumerate(np.argsort(p_values, kind="stable").tolist()):
        largest = min(1.0, max(largest, (m - done) * p_values[at]))
        adjusted[at] = largest
    return adjusted
