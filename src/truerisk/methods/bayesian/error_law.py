r"""The exact posterior of γ ε₋ + (1 − γ) ε₊, by convolution of two class posteriors.

Of one class, ε = Φ(−W) with W = t √G + Z/√ν*, t = c g*/√b, G ~ Gamma(α), Z standard normal; that is
a noncentral t in another dress. Its density is an integral over √G
whose integrand is log-concave with a mode in closed form; the distribution function is the integral
of a Chebyshev interpolant of the density.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

__all__ = ["ErrorLaw", "ScoreLaw"]

_REACH = 8.5  # standard deviations: beyond lies 1e-17 of a normal
_INNER, _INNER_WEIGHTS = np.polynomial.legendre.leggauss(48)
_OUTER, _OUTER_WEIGHTS = np.polynomial.legendre.leggauss(96)
_DEGREE = 128


@dataclass(frozen=True)
class ScoreLaw:
    """W of one class; with b = 0 it is at −∞ or +∞ (error 1 or 0)."""

    alpha: float
    b: float
    nu: float
    margin: float

    @property
    def sure_error(self) -> float | None:
        """The error where it is known for sure."""
        return None if self.b > 0 else 0.0 if self.margin > 0 else 1.0

    @property
    def slope(self) -> float:
        """The slope t = c g* / √b."""
        return float(self.margin / np.sqrt(self.b))

    @cached_property
    def ends(self) -> tuple[float, float]:
        """All but 1e-16 of W lies between."""
        from scipy.special import gammainccinv, gammaincinv

        roots = np.sqrt([gammaincinv(self.alpha, 1e-17), gammainccinv(self.alpha, 1e-17)])
        spread = _REACH / np.sqrt(self.nu)
        middle = np.sort(self.slope * roots)
        return float(middle[0] - spread), float(middle[1] + spread)

    def density(self, w: np.ndarray) -> np.ndarray:
        """Of W: the integral over r = √G, each w with nodes about the mode of its integrand."""
        from scipy.special import gammaln

        t, a = self.slope, 2 * self.alpha - 1
        curvature = 2 + self.nu * t**2  # the integrand is at least as concave
        pull = self.nu * t * w
        mode = (pull + np.sqrt(pull**2 + 4 * curvature * a)) / (2 * curvature)
        reach = _REACH / np.sqrt(curvature)
        low = np.maximum(mode - reach, 0.0)
        half = (mode + reach - low)[:, None] / 2
        r = low[:, None] + half * (1 + _INNER)
        root = np.sqrt(self.alpha)  # r² − α and log(r²/α) are small, r² and log Γ are not
        constant = self.alpha * np.log(self.alpha) - self.alpha - gammaln(self.alpha)
        with np.errstate(divide="ignore"):
            log_r = a * np.log(r / root) - (r**2 - self.alpha)
        log_z = -self.nu * (w[:, None] - t * r) ** 2 / 2
        scale = 2 * np.exp(constant) / root * np.sqrt(self.nu / (2 * np.pi))
        return scale * (half * np.exp(log_r + log_z)) @ _INNER_WEIGHTS

    @cached_property
    def _cumulative(self) -> np.polynomial.Chebyshev:
        found = np.polynomial.Chebyshev.interpolate(self.density, _DEGREE, self.ends)
        return found.integ(lbnd=self.ends[0])

    def below(self, w: np.ndarray) -> np.ndarray:
        """P(W ≤ w)."""
        low, high = self.ends
        inside: np.ndarray = self._cumulative(np.clip(w, low, high)) / self._cumulative(high)
        return np.asarray(np.clip(inside, 0.0, 1.0))

    def cdf(self, q: np.ndarray) -> np.ndarray:
        """P(ε ≤ q)."""
        from scipy.special import ndtri

        q = np.asarray(q, dtype=np.float64)
        if self.sure_error is not None:
            return np.asarray(q >= self.sure_error, dtype=np.float64)
        return np.where(q < 0, 0.0, 1 - self.below(-ndtri(np.clip(q, 0.0, 1.0))))


@dataclass(frozen=True)
class ErrorLaw:
    """The posterior of `shares[0]` ε₋ + `shares[1]` ε₊, the class errors being independent."""

    shares: tuple[float, float]
    laws: tuple[ScoreLaw, ScoreLaw]

    @property
    def is_sure(self) -> bool:
        """Whether the posterior is a point."""
        return all(
            share == 0 or law.sure_error is not None
            for share, law in zip(self.shares, self.laws, strict=True)
        )

    def cdf(self, q: float) -> float:
        """P(error ≤ q)."""
        (a, one), (b, two) = sorted(
            zip(self.shares, self.laws, strict=True), key=lambda pair: pair[1].sure_error is None
        )
        if one.sure_error is not None or a == 0 or b == 0:
            return self._of_one(q, a, one, b, two)
        from scipy.special import ndtr, ndtri

        low, high = one.ends
        # ε₁ must not exceed q/a; where it is below (q − b)/a, every ε₂ will do
        edge = -float(ndtri(min(q / a, 1.0))) if q > 0 else np.inf
        free = -float(ndtri((q - b) / a)) if q > b else np.inf
        low, top = max(low, edge), min(high, free)
        total = 1 - float(one.below(np.array([free]))[0]) if free < high else 0.0
        if low < top:
            w = (low + top) / 2 + (top - low) / 2 * _OUTER
            rest = np.clip((q - a * ndtr(-w)) / b, 0.0, 1.0)
            total += (top - low) / 2 * float((one.density(w) * two.cdf(rest)) @ _OUTER_WEIGHTS)
        return min(max(total, 0.0), 1.0)

    @staticmethod
    def _of_one(q: float, a: float, one: ScoreLaw, b: float, two: ScoreLaw) -> float:
        """Where one class error is sure or does not count."""
        if b == 0:
            return float(one.cdf(np.array([q / a]))[0])
        sure = 0.0 if a == 0 else a * float(one.sure_error or 0.0)
        return float(two.cdf(np.array([(q - sure) / b]))[0])

    def quantile(self, probability: float) -> float:
        """The error that is not exceeded with this probability; 0 where it is below 1e-300."""
        from scipy.optimize import brentq
        from scipy.special import ndtr, ndtri

        low, high = -37.0, 8.2  # on the scale of Φ⁻¹(q), where small errors are told apart
        if self.cdf(float(ndtr(low))) >= probability:
            return 0.0
        if self.cdf(float(ndtr(high))) <= probability:
            return 1.0

        def gap(z: float) -> float:
            level = min(max(self.cdf(float(ndtr(z))), 1e-300), 1 - 1e-16)
            return float(ndtri(level) - ndtri(probability))

        return float(ndtr(brentq(gap, low, high, xtol=1e-10, rtol=1e-12)))

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Equal tails."""
        tail = (1 - confidence_level) / 2
        low = self.quantile(tail)
        return low, max(low, self.quantile(1 - tail))  # a law that is nearly a point has noise
