r"""How often a normal value exceeds the root of a weighted sum of squares of others.

That is the error of a mean whose standard error is made of a few sums, each normal about 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, sqrt

import numpy as np

__all__ = ["exceeds", "exceeds_first", "least_factor", "mean_of_chi"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_SINES = np.sin((_NODES + 1) * np.pi / 4) ** 2  # of angles from 0 to a quarter turn


def exceeds(weights: np.ndarray) -> np.ndarray:
    """P(z₀² > Σ_j w_j z_j²) of independent standard normal z, for each row of weights.

    >>> from scipy.special import stdtr
    >>> bool(np.isclose(exceeds(np.full(4, 2.5**2 / 4)), 2 * stdtr(4, -2.5)))
    True
    """
    return _tails(np.log1p(weights[..., None] / _SINES).sum(axis=-2))


def _tails(logarithms: np.ndarray) -> np.ndarray:
    r"""The same from Σ_j log(1 + w_j/sin² t), along the nodes t of the last axis.

    By Craig's form of the normal tail it is 2/π ∫₀^{π/2} Π_j (1 + w_j/sin² t)^{−1/2} dt.
    """
    shares: np.ndarray = np.exp(-logarithms / 2) @ _WEIGHTS / 2
    return shares


def exceeds_first(weights: np.ndarray) -> np.ndarray:
    """`exceeds` of the first weight, of the first two, and so on: the last axis counts them."""
    return _tails(np.cumsum(np.log1p(weights[..., None] / _SINES), axis=-2))


def least_factor(errs: Callable[[float], np.ndarray], alpha: float) -> float:
    """The least factor f at which nothing of `errs(f)`, which falls with it, exceeds `alpha`."""
    from scipy.optimize import brentq

    def too_often(log_factor: float) -> float:
        return float(np.log(errs(exp(log_factor)).max() / alpha))

    high = 1.0  # from near the root: far above it rounding counts
    while too_often(high) > 0:
        high += 1
    return exp(brentq(too_often, -5, high, xtol=1e-9))


def mean_of_chi(q: int) -> float:
    """E √(χ²_q/q), to which the expected length of an interval from q sums is proportional."""
    return sqrt(2 / q) * exp(lgamma((q + 1) / 2) - lgamma(q / 2))
