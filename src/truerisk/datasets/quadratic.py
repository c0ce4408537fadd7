"""The Bayes risk of two Gaussians in the plane whose covariances differ."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from truerisk.core.errors import Refusal

__all__ = ["quadratic_bayes_risk"]

_REACHES = (-12, -6, 0, 6, 12)  # standard deviations; beyond them lies 1e-32
_FLAT = 1e-12

Array = NDArray[np.float64]


def quadratic_bayes_risk(difference: Array, first: Array, second: Array) -> float:
    """Half the overlap of N(0, first) and N(difference, second), to about 1e-10.

    In the coordinates z in which the classes are N(0, I) and N(m, diag(d)) the log density
    ratio is a sum of one quadratic per axis. Given z1, class 1 is the more likely where a
    quadratic in z2 is positive: a set bounded by its roots, whose probability under each
    class is known. One integral over z1 remains.
    """
    if len(difference) != 2:
        raise Refusal(
            f"the Bayes risk of {len(difference)} features with unequal covariances is not "
            "covered: only two features are; measure it with true_risk(problem.bayes_rule)."
        )
    m, d = _standardised(difference, first, second)
    a = (1 - 1 / d) / 2
    b = m / d
    c = -(m**2 / d + np.log(d)) / 2  # log ratio = sum_j a z_j^2 + b z_j + c
    if abs(a[1]) < _FLAT:  # let the inner quadratic be a true one where there is one
        m, d, a, b, c = m[::-1], d[::-1], a[::-1], b[::-1], c[::-1]
    return _overlap(m, d, a, b, c) / 2


def _standardised(difference: Array, first: Array, second: Array) -> tuple[Array, Array]:
    inverse_root = np.linalg.inv(np.linalg.cholesky(first))
    d, turn = np.linalg.eigh(inverse_root @ second @ inverse_root.T)
    return turn.T @ inverse_root @ difference, d


def _overlap(m: Array, d: Array, a: Array, b: Array, c: Array) -> float:
    from scipy.integrate import quad

    def wrong(z1: float) -> float:
        inner = _probabilities(a[1], b[1], c[1] + a[0] * z1**2 + b[0] * z1 + c[0], m[1], d[1])
        outside = 1 - inner[1]
        return _density(z1, 0.0, 1.0) * inner[0] + _density(z1, m[0], d[0]) * outside

    cuts = _cuts(m, d)
    pieces = [quad(wrong, low, high, epsabs=1e-12, limit=200)[0] for low, high in cuts]
    return float(sum(pieces))


def _cuts(m: Array, d: Array) -> list[tuple[float, float]]:
    """Intervals of z1 none of which is much wider than the densities in it."""
    laws = ((0.0, 1.0), (float(m[0]), float(np.sqrt(d[0]))))
    steps = {mean + reach * spread for mean, spread in laws for reach in _REACHES}
    return list(pairwise(sorted(steps)))


def _probabilities(a: float, b: float, c: float, m: float, d: float) -> tuple[float, float]:
    """P(a z^2 + b z + c > 0) for z ~ N(0, 1) and for z ~ N(m, d)."""
    if abs(a) < _FLAT:
        return _beyond(b, c, 0.0, 1.0), _beyond(b, c, m, d)
    discriminant = b * b - 4 * a * c
    if discriminant <= 0:
        always = float(a > 0)
        return always, always
    root = np.sqrt(discriminant)
    low, high = sorted(((-b - root) / (2 * a), (-b + root) / (2 * a)))
    between = [_normal(high, *law) - _normal(low, *law) for law in ((0.0, 1.0), (m, d))]
    return (1 - between[0], 1 - between[1]) if a > 0 else (between[0], between[1])


def _beyond(b: float, c: float, m: float, d: float) -> float:
    """P(b z + c > 0) for z ~ N(m, d)."""
    if b == 0:
        return float(c > 0)
    below = _normal(-c / b, m, d)
    return 1 - below if b > 0 else below


def _normal(z: float, mean: float, variance: float) -> float:
    from scipy.special import ndtr

    return float(ndtr((z - mean) / np.sqrt(variance)))


def _density(z: float, mean: float, variance: float) -> float:
    return float(np.exp(-((z - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance))
