r"""Many levels at once: intervals that hold together, and values drawn to their mean.

All intervals of a family hold at once if each reaches enough standard errors.
Of estimates with normal errors of correlation :math:`R`, all intervals
:math:`\hat\theta_g \pm c\, s_g` hold together with the probability that
:math:`\max_g |Z_g| \le c`, :math:`Z \sim N(0, R)`. The quantile c of that maximum is found by
simulation from one fixed seed, and is never above that of independent estimates,
:math:`\Phi^{-1}\left(\frac{1}{2} + \frac{1}{2} \alpha^{1/m}\right)` for m of them at level α, which
suffices whatever R is (Šidák, 1967).

Estimates of several levels are drawn to their mean, as far as noise explains that they differ.
Level g is estimated by :math:`y_g \sim N(\theta_g, s_g^2)`, and the levels themselves spread as
:math:`\theta_g \sim N(\mu, \tau^2)`. With :math:`w_g = 1/(s_g^2 + \tau^2)`,

.. math::
    \hat\mu = \frac{\sum w_g y_g}{\sum w_g}, \qquad
    \hat\theta_g = \frac{\tau^2 y_g + s_g^2 \hat\mu}{\tau^2 + s_g^2},

the empirical Bayes estimates (Efron and Morris, 1975); :math:`\tau^2` is found by restricted
maximum likelihood with Fisher scoring (Harville, 1977; Viechtbauer, 2005).

That is done on a scale on which the noise of a risk hardly depends on how large the risk is.
Of a share p of its bound the variance is about :math:`p(1-p)/n`; on the scale
:math:`\theta = \arcsin\sqrt p` it is :math:`1/(4n)` whatever p is (Efron and Morris, 1975, take it
for batting averages). A score of ranks, whose errors become far smaller towards its end, has the
logit, as its interval does; a loss without a bound that is never negative :math:`\theta = \log r`.
Weights by the variances of the risks themselves would favour those that came out small.

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
AT_ONCE = 1 << 20  # numbers that are drawn together
SEED = 1967
NO_ROOT = 1e-12  # of the largest root of a correlation: a smaller one is rounding


def simultaneous_quantile(covariance: np.ndarray, level: float, draws: int = DRAWS) -> float:
    """Return the c by which all standard errors are to be multiplied, from so many `draws`.

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
    # the quantile of the largest of |Z|, by draws in parts; Z = L ε for any L with L Lᵀ = R
    correlation = np.asarray(covariance / np.outer(errors, errors))
    roots, vectors = np.linalg.eigh(correlation)
    # the symmetric L is unique; eigenvectors of equal roots differ between processors
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


FEWEST_LEVELS = 3  # of two, the spread between levels is that of a single difference
STEPS = 200
EXACT = 1e-12  # of the mean variance: a smaller step moves nothing


@frozen(eq=False)
class Shrinkage:
    """The shrunken `values`, the `mean` that they are drawn to, and the spread τ between levels.

    `own_shares[g]` is the share of the own estimate in level g's value, 0 where all is noise.
    """

    values: np.ndarray
    mean: float
    spread: float
    own_shares: np.ndarray


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


ENDS = 1e-4  # of the bound: no score is nearer to perfect where its logit is taken


@frozen
class StableScale:
    """For risks from `lower` to `upper`, None where there is no bound; the `logit` where asked.

    >>> scale = StableScale(0.0, 1.0)
    >>> theta = scale.of(np.array([0.0, 0.25, 1.0]))
    >>> scale.back(theta).round(6).tolist()
    [0.0, 0.25, 1.0]
    """

    lower: float | None
    upper: float | None
    logit: bool = False

    def of(self, values: np.ndarray) -> np.ndarray:
        """The risks on this scale."""
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
        """From this scale to risks."""
        if self.lower is None or (self.upper is None and self.lower != 0):
            return theta
        if self.upper is None:
            return np.exp(theta)
        angles = np.sin(np.clip(theta, 0, np.pi / 2)) ** 2
        shares = 1 / (1 + np.exp(-theta)) if self.logit else angles
        return np.asarray(self.lower + (self.upper - self.lower) * shares)

    def slope(self, values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """By how much a risk's error is multiplied; `sizes` keep risks of few rows off the ends."""
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
        """Risks of `sizes` rows shrunk on this scale; values, mean and spread are risks again."""
        found = shrinkage(self.of(values), self.slope(values, sizes) ** 2 * variances)
        if found is None:
            return None
        mean = self.back(np.array([found.mean]))
        spread = float(found.spread / self.slope(mean, sizes.mean())[0])
        return Shrinkage(self.back(found.values), float(mean[0]), spread, found.own_shares)

    def _shares(self, values: np.ndarray) -> np.ndarray:
        assert self.lower is not None
        assert self.upper is not None
        return np.asarray((values - self.lower) / (self.upper - self.lower))
