"""Wilcoxon's signed-rank test of paired differences, and the shift that it goes with.

The absolute differences are ranked, ties share the mean of their ranks, and W is the sum of the
ranks of positive differences. Zero differences are ranked with the others and then speak for
neither side (Pratt 1959). Up to `EXACT` differences the p-value is exact, given the ranks: every
rank has either sign with probability one half. Beyond, W is taken as normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from truerisk.core.scale import TIE

__all__ = ["EXACT", "Shift", "SignedRank", "median_shift", "signed_rank"]

EXACT = 200


@dataclass(frozen=True)
class SignedRank:
    """W of the positive and of the negative differences, and the two-sided p-value.

    `correlation` is the matched-pairs rank-biserial one, (W₊ − W₋) / (W₊ + W₋) (Kerby 2014).
    """

    positive: float
    negative: float
    n_zero: int
    p_value: float
    correlation: float | None


@dataclass(frozen=True)
class Shift:
    """The Hodges–Lehmann estimate, and the ends of its interval where the level can be kept."""

    value: float
    ends: tuple[float, float] | None


def signed_rank(differences: np.ndarray, scale: float = 1.0) -> SignedRank:
    """The test; differences that are rounding beside `scale` are zero."""
    from scipy.stats import rankdata

    sizes = _rounded(np.abs(differences), scale)
    ranks, zero = rankdata(sizes), sizes == 0
    positive = float(ranks[(differences > 0) & ~zero].sum())
    negative = float(ranks[(differences < 0) & ~zero].sum())
    total = positive + negative
    return SignedRank(
        positive,
        negative,
        int(zero.sum()),
        _p_value(ranks[~zero], positive),
        (positive - negative) / total if total else None,
    )


def _rounded(sizes: np.ndarray, scale: float) -> np.ndarray:
    """Sizes in steps that are far below any difference: what rounding tells apart is tied."""
    steps = TIE * scale
    return np.round(sizes / steps) * steps if steps else sizes


def _p_value(ranks: np.ndarray, positive: float) -> float:
    if not len(ranks):
        return 1.0
    if len(ranks) <= EXACT:
        chances = _chances(np.round(2 * ranks).astype(int))
        at = round(2 * positive)
        below, above = float(chances[: at + 1].sum()), float(chances[at:].sum())
        return min(1.0, 2 * min(below, above))
    from scipy.special import ndtr

    z = (positive - ranks.sum() / 2) / (sqrt(float((ranks**2).sum())) / 2)
    return float(2 * ndtr(-abs(z)))


def _chances(doubled: np.ndarray) -> np.ndarray:
    """The chances of each sum of doubled ranks, every rank taken or left by a fair coin."""
    chances = np.zeros(int(doubled.sum()) + 1)
    chances[0] = 1.0
    for rank in doubled.tolist():
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: len(chances) - rank]
        chances = (chances + moved) / 2
    return chances


def median_shift(differences: np.ndarray, level: float) -> Shift:
    """The median of the Walsh averages, and their order statistics as interval.

    The interval is the set of shifts that the test without ties does not reject (Hodges and Lehmann
    1963); with ties and zeros it covers more often. Few differences cannot keep every level.
    """
    n = len(differences)
    first, second = np.triu_indices(n)
    walsh = np.sort((differences[first] + differences[second]) / 2)
    out = _left_out(n, (1 - level) / 2)
    ends = None if out == 0 else (float(walsh[out - 1]), float(walsh[len(walsh) - out]))
    return Shift(float(np.median(walsh)), ends)


def _left_out(n: int, tail: float) -> int:
    """The order of the Walsh average that ends the interval; 0 where no average does."""
    if n <= EXACT:
        below = np.cumsum(_chances(2 * np.arange(1, n + 1)))[::2]
        return int(np.searchsorted(below, tail * (1 - TIE)))
    from scipy.special import ndtri

    return int(n * (n + 1) / 4 + float(ndtri(tail)) * sqrt(n * (n + 1) * (2 * n + 1) / 24))
