"""SHARP: repeated disjoint halves of the rows, which tell themselves how much they correlate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import ClassVar

import numpy as np
from numpy.polynomial import Polynomial

from truerisk.api.comparing.contract import PairedTest, Tolerance
from truerisk.api.comparing.pairing import Basis, Pairs
from truerisk.core.comparison import Comparison
from truerisk.core.interval import Interval

__all__ = ["Sharp", "z_of_halves"]

MOST = 0.499  # of ρ: at ½ the covariance is singular
DOUBLINGS = 60
MODEL = (
    "differences in halves are normal, independent within a repetition, and correlate alike "
    "between repetitions"
)
ALIKE = "both halves have the same difference every time: their spread is 0."


@dataclass(frozen=True)
class _Halves:
    r"""J differences in one half and J in the other, mean and sums of squares.

    Model: variance σ², no correlation within a repetition, ρ between any two. The covariance
    matrix has three eigenvalues (times σ²): λ₁ = 1 + 2(J − 1)ρ of the mean, λ₂ = 1 − 2ρ, J − 1
    times, of the sums of the halves about their mean, 1, J times, of their differences.
    """

    j: int
    mean: float
    of_sums: float
    of_differences: float

    @classmethod
    def of(cls, halves: np.ndarray) -> _Halves:
        sums, apart = halves.sum(axis=1), halves[:, 0] - halves[:, 1]
        squares = float(((sums - sums.mean()) ** 2).sum() / 2)
        return cls(len(halves), float(halves.mean()), squares, float((apart**2).sum() / 2))

    def z(self, about: float) -> float:
        """(mean − about) by its standard error if the true difference is `about`: a score test."""
        own = 2 * self.j * (self.mean - about) ** 2
        rho = self._likeliest(own)
        one, two = 1 + 2 * (self.j - 1) * rho, 1 - 2 * rho
        variance = (own / one + self.of_sums / two + self.of_differences) / (2 * self.j)
        return float((self.mean - about) / np.sqrt(variance * one / (2 * self.j)))

    def _likeliest(self, own: float) -> float:
        """The ρ of greatest likelihood, σ² at its best for each: an end, or a root of a cubic.

        q = Q₁/λ₁ + Q₂/λ₂ + Q₃; the deviance is 2J log q + log λ₁ + (J − 1) log λ₂, and its
        derivative, times q λ₁² λ₂², a polynomial.
        """
        j = self.j
        one, two = Polynomial([1, 2 * (j - 1)]), Polynomial([1, -2])
        q = own * two + self.of_sums * one + self.of_differences * one * two
        slope = 2 * j * (2 * self.of_sums * one**2 - 2 * (j - 1) * own * two**2)
        slope += 2 * (j - 1) * (two - one) * q
        ends = np.clip([0.0, MOST, *np.real(slope.roots())], 0.0, MOST)
        deviance = 2 * j * np.log(q(ends) / one(ends) / two(ends))
        deviance += np.log(one(ends)) + (j - 1) * np.log(two(ends))
        return float(ends[np.argmin(deviance)])

    def end(self, step: float, limit: float) -> float:
        """Where |z| reaches the limit on this side of the mean; infinite where it never does."""
        near = self.mean
        for _ in range(DOUBLINGS):
            far = self.mean + step
            if abs(self.z(far)) > limit:
                return _crossing(lambda at: abs(self.z(at)) - limit, near, far)
            near, step = far, 2 * step
        return inf if step > 0 else -inf


class Sharp(PairedTest):
    """The score test of the mean of repeated split-half differences (Zeng et al., 2026).

    bioRxiv 2026.05.17.724301. Each repetition cuts the rows into two halves and cross-validates
    both rules inside each, so the two differences of a repetition are independent; those of
    different repetitions share rows and correlate by ρ, which likelihood estimates together with
    the variance under the hypothesis. It is about rules that are trained on half of the rows.
    """

    word = "sharp"
    works_on: ClassVar[Basis] = "halves"

    def of(self, pairs: Pairs, asked: Tolerance) -> Comparison:
        halves = pairs.of_halves()
        found = _Halves.of(halves)
        told = Comparison(
            self.word,
            found.mean,
            len(halves),
            pairs.loss,
            assumed=(MODEL, "the difference is that of rules trained on half of the rows"),
        )
        if found.of_differences <= (1e-12 * pairs.scale) ** 2:
            return told.noting(ALIKE)
        from scipy.special import ndtr, ndtri

        z, limit = found.z(0.0), float(ndtri((1 + asked.confidence_level) / 2))
        step = float(np.sqrt(found.of_differences) / found.j)
        ends = found.end(-step, limit), found.end(step, limit)
        told = replace(told, statistic=z, p_value=float(2 * ndtr(-abs(z))))
        if not all(map(isfinite, ends)):
            return told.noting(
                "no difference is rejected at this level, however large: no interval."
            )
        return replace(told, interval=Interval(*ends, "sharp", asked.confidence_level))


def z_of_halves(halves: np.ndarray, about: float = 0.0) -> float:
    """The statistic of the test that the true difference is `about`."""
    return _Halves.of(halves).z(about)


def _crossing(excess: Callable[[float], float], near: float, far: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(excess, *sorted((near, far)), xtol=1e-14, rtol=8.9e-16))
