r"""Estimates of several levels drawn to their mean, as far as noise explains that they differ.

Level g is estimated by :math:`y_g \sim N(\theta_g, s_g^2)`, and the levels themselves spread as
:math:`\theta_g \sim N(\mu, \tau^2)`. With :math:`w_g = 1/(s_g^2 + \tau^2)`,

.. math::
    \hat\mu = \frac{\sum w_g y_g}{\sum w_g}, \qquad
    \hat\theta_g = \frac{\tau^2 y_g + s_g^2 \hat\mu}{\tau^2 + s_g^2},

the empirical Bayes estimates (Efron and Morris, 1975); :math:`\tau^2` is found by restricted
maximum likelihood with Fisher scoring (Harville, 1977; Viechtbauer, 2005).

Efron B, Morris C (1975). Data analysis using Stein's estimator and its generalizations. Journal of
the American Statistical Association 70:311–319.
Harville DA (1977). Maximum likelihood approaches to variance component estimation and to related
problems. Journal of the American Statistical Association 72:320–338.
Viechtbauer W (2005). Bias and efficiency of meta-analytic variance estimators in the random-effects
model. Journal of Educational and Behavioral Statistics 30:261–293.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["FEWEST_LEVELS", "Shrinkage", "shrinkage"]

FEWEST_LEVELS = 3  # of two, the spread between levels is that of a single difference
STEPS = 200
EXACT = 1e-12  # of the mean variance: a smaller step moves nothing


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """The shrunken `values`, the `mean` that they are drawn to, and the spread τ between levels.

    `kept[g]` is the share of the own estimate in level g's value, 0 where all is noise.
    """

    values: np.ndarray
    mean: float
    spread: float
    kept: np.ndarray


def shrinkage(values: np.ndarray, variances: np.ndarray) -> Shrinkage | None:
    """Shrink the estimates of at least three levels; None where there are fewer.

    >>> found = shrinkage(np.array([0.1, 0.2, 0.6]), np.array([0.01, 0.01, 0.02]))
    >>> found.values.round(3).tolist(), round(found.mean, 3), round(found.spread, 3)
    ([0.131, 0.214, 0.51], 0.285, 0.224)
    >>> shrinkage(np.array([0.1, 0.2, 0.3]), np.ones(3)).spread
    0.0
    """
    y, noise = np.asarray(values, dtype=float), np.asarray(variances, dtype=float)
    if len(y) < FEWEST_LEVELS or not (noise > 0).all():
        return None
    between = _between(y, noise)
    weights = 1 / (noise + between)
    mean = float(weights @ y / weights.sum())
    kept = between * weights
    return Shrinkage(kept * y + (1 - kept) * mean, mean, between**0.5, kept)


def _between(y: np.ndarray, noise: np.ndarray) -> float:
    """The restricted maximum likelihood estimate of τ²."""
    between = max(0.0, float(y.var(ddof=1) - noise.mean()))
    for _ in range(STEPS):
        w = 1 / (noise + between)
        total, squares = w.sum(), (w**2).sum()
        away = w * (y - w @ y / total)
        trace = total - squares / total  # of P, whose square has the trace below
        information = squares - 2 * (w**3).sum() / total + (squares / total) ** 2
        before, between = between, max(0.0, between + float((away @ away - trace) / information))
        if abs(between - before) <= EXACT * noise.mean():
            break
    return between
