r"""How many standard errors all intervals of a family must reach to hold at once.

Of estimates with normal errors of correlation :math:`R`, all intervals
:math:`\hat\theta_g \pm c\, s_g` hold together with the probability that
:math:`\max_g |Z_g| \le c`, :math:`Z \sim N(0, R)`. The quantile c of that maximum is found by
simulation from one fixed seed, and is never above that of independent estimates,
:math:`\Phi^{-1}\left(\frac{1}{2} + \frac{1}{2} \alpha^{1/m}\right)` for m of them at level α, which
suffices whatever R is (Šidák, 1967).

Hothorn T, Bretz F, Westfall P (2008). Simultaneous inference in general parametric models.
Biometrical Journal 50:346–363.
Šidák Z (1967). Rectangular confidence regions for the means of multivariate normal distributions.
Journal of the American Statistical Association 62:626–633.
"""

from __future__ import annotations

import numpy as np

__all__ = ["level_of_each", "simultaneous_quantile"]

DRAWS = 1 << 16
AT_ONCE = 1 << 20  # numbers that are drawn together
SEED = 1967


def simultaneous_quantile(covariance: np.ndarray, level: float) -> float:
    """The c by which all standard errors are to be multiplied.

    >>> round(simultaneous_quantile(np.eye(1), 0.95), 3)
    1.96
    >>> round(simultaneous_quantile(np.ones((4, 4)), 0.95), 1)  # all of them are one
    2.0
    >>> round(simultaneous_quantile(np.eye(4), 0.95), 1)
    2.5
    """
    from scipy.special import ndtri

    m = len(covariance)
    most = float(ndtri((1 + level ** (1 / m)) / 2))
    if m == 1:
        return most
    least = float(ndtri((1 + level) / 2))
    return min(most, max(least, _quantile(_correlation(covariance), level)))


def level_of_each(quantile: float, n: int | None = None) -> float:
    """The level of one interval that reaches so many standard errors.

    Where the error was estimated from the spread of `n` rows, Student's t takes the place of the
    normal distribution: the level is that of a normal interval as wide as that of t.

    >>> round(level_of_each(1.959964), 4), round(level_of_each(1.959964, 12), 4)
    (0.95, 0.9723)
    """
    from scipy.special import ndtr, stdtrit

    tail = float(ndtr(quantile))
    reach = quantile if n is None else float(stdtrit(n - 1, tail))
    return float(2 * ndtr(reach) - 1)


def _correlation(covariance: np.ndarray) -> np.ndarray:
    errors = np.sqrt(np.diag(covariance))
    return np.asarray(covariance / np.outer(errors, errors))


def _quantile(correlation: np.ndarray, level: float) -> float:
    """Of the largest of |Z|, by draws in parts; Z = L ε for any L with L Lᵀ = R."""
    roots, vectors = np.linalg.eigh(correlation)
    spread = vectors * np.sqrt(np.maximum(roots, 0))
    rng = np.random.default_rng(SEED)
    part = max(1, min(DRAWS, AT_ONCE // len(correlation)))
    largest = [
        np.abs(rng.standard_normal((min(part, DRAWS - start), len(spread))) @ spread.T).max(axis=1)
        for start in range(0, DRAWS, part)
    ]
    return float(np.quantile(np.concatenate(largest), level))
