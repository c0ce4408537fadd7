r"""Many levels at once: simultaneous intervals, and values that are shrunken to their mean.

All intervals of a family hold simultaneously if each extends over enough standard errors. For
estimates with normal errors of correlation :math:`R`, all intervals :math:`\hat\theta_g \pm c\,
s_g` hold together with the probability that :math:`\max_g |Z_g| \le c`, :math:`Z \sim N(0, R)`. The
quantile c of this maximum is found by simulation with a fixed seed. It is never above that of m
independent estimates at level α, :math:`\Phi^{-1}\left(\frac{1}{2} + \frac{1}{2}
\alpha^{1/m}\right)`, which is sufficient whatever R is (Šidák, 1967).

Estimates of several levels are shrunken to their mean, to the extent that noise explains their
differences. Level g is estimated by :math:`y_g \sim N(\theta_g, s_g^2)`, and the levels themselves
vary as :math:`\theta_g \sim N(\mu, \tau^2)`. With :math:`w_g = 1/(s_g^2 + \tau^2)`,

.. math::
    \hat\mu = \frac{\sum w_g y_g}{\sum w_g}, \qquad
    \hat\theta_g = \frac{\tau^2 y_g + s_g^2 \hat\mu}{\tau^2 + s_g^2},

are the empirical Bayes estimates (Efron and Morris, 1975), where :math:`\tau^2` is estimated by
restricted maximum likelihood with Fisher scoring (Harville, 1977; Viechtbauer, 2005).

This is done on a scale on which the noise of a risk hardly depends on the risk. If the risk is a
share p of its bound, its variance is about :math:`p(1-p)/n`; on the scale :math:`\theta =
\arcsin\sqrt p` it is :math:`1/(4n)` whatever p is (Efron and Morris, 1975, use it for batting
averages). Rank scores, whose errors become much smaller towards their end, use the logit, as their
interval does. A loss that is never negative and has no upper bound uses :math:`\theta = \log r`.
Weights by the variances of the risks themselves would favour those that happened to be small.

Efron B, Morris C (1975). Data analysis using Stein's estimator and its generalizations. Journal of
the American Statistical Association 70:311–319.
Harville DA (1977). Maximum likelihood approaches to variance component estimation and to related
problems. Journal of the American Statistical Association 72:320–338.
Hothorn T, Bretz F, Westfall P (2008). Simultaneous inference in general parametric models.
Biometrical Journal 50:346–363.
Viechtbauer W (2005). Bias and efficiency of meta-analytic variance estimators in the random-effects
model. Journal of Educational and Behavioral Statistics 30:261–293.
Šidák Z (1967). Rectangular confidence regions for the means of multivariate normal distributions.
Journal of the American Statistical Association 62:626–633.
"""

from __future__ import annotations

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.results.interval import normal_quantile

DRAWS = 1 << 16
AT_ONCE = 1 << 20  # how many random numbers are drawn at once
SEED = 1967
# Share of the largest eigenvalue of a correlation. Smaller eigenvalues are rounding errors.
NO_ROOT = 1e-12


def simultaneous_quantile(covariance: np.ndarray, level: float, draws: int = DRAWS) -> float:
    """Return the factor c of all standard errors, simulated with this number of `draws`.

    >>> round(simultaneous_quantile(np.eye(1), 0.95), 3)
    1.96
    >>> round(simultaneous_quantile(np.ones((4, 4)), 0.95), 1)  # all of them are one
    2.0
    >>> round(simultaneous_quantile(np.eye(4), 0.95), 1)
    2.5
    """
    m = len(covariance)
    most = normal_quantile(level ** (1 / m))
    if m == 1:
        return most
    least = normal_quantile(level)
    errors = np.sqrt(np.diag(covariance))
    # The quantile of the largest |Z| is simulated in parts, with Z = L ε for any L such that L Lᵀ =
    # R.
    correlation = np.asarray(covariance / np.outer(errors, errors))
    roots, vectors = np.linalg.eigh(correlation)
    # The symmetric L is unique, whereas eigenvectors of equal eigenvalues differ between
    # processors.
    roots = np.where(roots > NO_ROOT * roots[-1], roots, 0.0)
    spread = (vectors * np.sqrt(roots)) @ vectors.T
    rng = np.random.default_rng(SEED)
    part = max(1, min(draws, AT_ONCE // len(correlation)))
    largest = [
        np.abs(rng.standard_normal((min(part, draws - start), len(spread))) @ spread.T).max(axis=1)
        for start in range(0, draws, part)
    ]
    return min(most, max(least, float(np.quantile(np.concatenate(largest), level))))


def level_of_each(quantile: float, n: int | None = None) -> float:
    """Return the confidence level of a single interval with this half-width in standard errors.

    If the error was estimated from the spread of `n` rows, Student's t replaces the normal
    distribution: the level is that of a normal interval of the same width as that of t.

    >>> round(level_of_each(1.959964), 4), round(level_of_each(1.959964, 12), 4)
    (0.95, 0.9723)
    """
    from scipy.special import ndtr, stdtrit

    tail = float(ndtr(quantile))
    reach = quantile if n is None else float(stdtrit(n - 1, tail))
    return float(2 * ndtr(reach) - 1)


# With two levels the between-level variance is estimated from a single difference.
FEWEST_LEVELS = 3
STEPS = 200
EXACT = 1e-12  # Share of the mean variance. A smaller step changes nothing.


@frozen(eq=False)
class Shrinkage:
    """The shrunken `values`, their common `mean`, and the standard deviation τ between levels.

    `own_shares[g]` is the weight of level g's own estimate in its value, which is 0 if all is
    noise.
    """

    values: np.ndarray
    mean: float
    spread: float
    own_shares: np.ndarray


def shrinkage(values: np.ndarray, variances: np.ndarray) -> Shrinkage | None:
    """Shrink the estimates of at least three levels; return None if there are fewer.

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
    weight_of_own = between * weights
    return Shrinkage(
        weight_of_own * y + (1 - weight_of_own) * mean, mean, between**0.5, weight_of_own
    )


def _between(y: np.ndarray, noise: np.ndarray) -> float:
    """Return the restricted maximum likelihood estimate of τ²."""
    between = max(0.0, float(y.var(ddof=1) - noise.mean()))
    for _ in range(STEPS):
        w = 1 / (noise + between)
        total, squares = w.sum(), (w**2).sum()
        away = w * (y - w @ y / total)
        trace = total - squares / total  # This is the trace of P; the trace of its square follows.
        information = squares - 2 * (w**3).sum() / total + (squares / total) ** 2
        before, between = between, max(0.0, between + float((away @ away - trace) / information))
        if abs(between - before) <= EXACT * noise.mean():
            break
    return between


ENDS = 1e-4  # Share of the bound. Scores are kept this far from perfect for the logit.


@frozen
class StableScale:
    """Variance-stabilising scale for risks from `lower` to `upper` (None if unbounded).

    It is the `logit` if requested.

    >>> scale = StableScale(0.0, 1.0)
    >>> theta = scale.transform(np.array([0.0, 0.25, 1.0]))
    >>> scale.back(theta).round(6).tolist()
    [0.0, 0.25, 1.0]
    """

    lower: float | None
    upper: float | None
    logit: bool = False

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Transform risks to this scale."""
        if self.lower is None or (self.upper is None and self.lower != 0):
            return values
        if self.upper is None:
            return np.log(values)
        shares = np.clip(self._shares(values), 0, 1)
        if self.logit:
            shares = np.clip(shares, ENDS, 1 - ENDS)
            return np.asarray(np.log(shares / (1 - shares)))
        return np.asarray(np.arcsin(np.sqrt(shares)))

    def back(self, theta: np.ndarray) -> np.ndarray:
        """Transform values on this scale to risks."""
        if self.lower is None or (self.upper is None and self.lower != 0):
            return theta
        if self.upper is None:
            return np.exp(theta)
        angles = np.sin(np.clip(theta, 0, np.pi / 2)) ** 2
        shares = 1 / (1 + np.exp(-theta)) if self.logit else angles
        return np.asarray(self.lower + (self.upper - self.lower) * shares)

    def slope(self, values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Return the derivative of the scale; `sizes` keep risks of few rows off the bounds."""
        if self.lower is None or (self.upper is None and self.lower != 0):
            return np.ones(len(values))
        if self.upper is None:
            return np.asarray(1 / values)
        shares = (sizes * self._shares(values) + 1) / (sizes + 2)
        spread = shares * (1 - shares) if self.logit else 2 * np.sqrt(shares * (1 - shares))
        return np.asarray(1 / (spread * (self.upper - self.lower)))

    def shrinkage(
        self, values: np.ndarray, sizes: np.ndarray, variances: np.ndarray
    ) -> Shrinkage | None:
        """Shrink risks of `sizes` rows on this scale; return values, mean and spread as risks."""
        found = shrinkage(self.transform(values), self.slope(values, sizes) ** 2 * variances)
        if found is None:
            return None
        mean = self.back(np.array([found.mean]))
        spread = float(found.spread / self.slope(mean, sizes.mean())[0])
        return Shrinkage(self.back(found.values), float(mean[0]), spread, found.own_shares)

    def _shares(self, values: np.ndarray) -> np.ndarray:
        assert self.lower is not None
        assert self.upper is not None
        return np.asarray((values - self.lower) / (self.upper - self.lower))
