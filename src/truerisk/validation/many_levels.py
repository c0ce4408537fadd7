r"""Simultaneous intervals of the risks of many subgroups, and risks shrunken to their mean.

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

N_DRAWS = 1 << 16
MAX_NUMBERS_IN_MEMORY = 1 << 20  # number of random numbers that are drawn at once
SEED = 1967
# Eigenvalues of a correlation below this share of the largest eigenvalue are rounding errors.
EIGENVALUE_TOLERANCE = 1e-12


def simultaneous_quantile(
    covariance: np.ndarray, confidence_level: float, n_draws: int = N_DRAWS
) -> float:
    """Return the factor c for which all intervals of ± c standard errors hold simultaneously.

    The factor is a quantile, simulated with `n_draws` draws.

    >>> round(simultaneous_quantile(np.eye(1), 0.95), 3)
    1.96
    >>> round(simultaneous_quantile(np.ones((4, 4)), 0.95), 1)  # perfectly correlated errors
    2.0
    >>> round(simultaneous_quantile(np.eye(4), 0.95), 1)
    2.5
    """
    n_levels = len(covariance)
    upper_bound = normal_quantile(confidence_level ** (1 / n_levels))
    if n_levels == 1:
        return upper_bound
    lower_bound = normal_quantile(confidence_level)
    std_errors = np.sqrt(np.diag(covariance))
    # The largest |Z| is simulated in batches, with Z = L ε and an L such that L Lᵀ = R.
    correlation = np.asarray(covariance / np.outer(std_errors, std_errors))
    eigenvalues, eigenvectors = np.linalg.eigh(correlation)
    # The symmetric L is unique; eigenvectors of equal eigenvalues differ between processors.
    eigenvalues = np.where(eigenvalues > EIGENVALUE_TOLERANCE * eigenvalues[-1], eigenvalues, 0.0)
    matrix_root = (eigenvectors * np.sqrt(eigenvalues)) @ eigenvectors.T
    rng = np.random.default_rng(SEED)
    batch_size = max(1, min(n_draws, MAX_NUMBERS_IN_MEMORY // len(correlation)))
    maxima = [
        np.abs(
            rng.standard_normal((min(batch_size, n_draws - first_draw), len(matrix_root)))
            @ matrix_root.T
        ).max(axis=1)
        for first_draw in range(0, n_draws, batch_size)
    ]
    return min(
        upper_bound, max(lower_bound, float(np.quantile(np.concatenate(maxima), confidence_level)))
    )


def single_interval_level(quantile: float, n_rows: int | None = None) -> float:
    """Return the confidence level of one interval whose half-width is `quantile` standard errors.

    If the error was estimated from the spread of `n_rows` rows, Student's t replaces the normal
    distribution: the level is that of a normal interval of the same width as that of t.

    >>> round(single_interval_level(1.959964), 4), round(single_interval_level(1.959964, 12), 4)
    (0.95, 0.9723)
    """
    from scipy.special import ndtr, stdtrit

    probability = float(ndtr(quantile))
    half_width = quantile if n_rows is None else float(stdtrit(n_rows - 1, probability))
    return float(2 * ndtr(half_width) - 1)


# With two levels the between-level variance is estimated from a single difference.
MIN_LEVELS = 3
MAX_STEPS = 200
STEP_TOLERANCE = 1e-12  # Iteration stops at a change of τ² below this share of the mean variance.


@frozen(eq=False)
class Shrinkage:
    """Shrunken estimates (`values`), their common `mean`, and the standard deviation τ of levels.

    `own_weights[g]` is the weight of level g's own estimate in its shrunken value, which is 0 if
    all differences between levels are noise.
    """

    values: np.ndarray
    mean: float
    between_level_std: float
    own_weights: np.ndarray


def shrink_to_mean(estimates: np.ndarray, variances: np.ndarray) -> Shrinkage | None:
    """Shrink the estimates of three or more levels to their mean; return None for fewer levels.

    >>> found = shrink_to_mean(np.array([0.1, 0.2, 0.6]), np.array([0.01, 0.01, 0.02]))
    >>> found.values.round(3).tolist(), round(found.mean, 3), round(found.between_level_std, 3)
    ([0.131, 0.214, 0.51], 0.285, 0.224)
    >>> shrink_to_mean(np.array([0.1, 0.2, 0.3]), np.ones(3)).between_level_std
    0.0
    """
    y, noise_variances = np.asarray(estimates, dtype=float), np.asarray(variances, dtype=float)
    if len(y) < MIN_LEVELS or not (noise_variances > 0).all():
        return None
    between_variance = _between_level_variance(y, noise_variances)
    weights = 1 / (noise_variances + between_variance)
    mean = float(weights @ y / weights.sum())
    own_weights = between_variance * weights
    return Shrinkage(
        own_weights * y + (1 - own_weights) * mean, mean, between_variance**0.5, own_weights
    )


def _between_level_variance(y: np.ndarray, noise_variances: np.ndarray) -> float:
    """Estimate the variance τ² between levels by restricted maximum likelihood."""
    tau2 = max(0.0, float(y.var(ddof=1) - noise_variances.mean()))
    for _ in range(MAX_STEPS):
        weights = 1 / (noise_variances + tau2)
        weight_sum, square_sum = weights.sum(), (weights**2).sum()
        residuals = weights * (y - weights @ y / weight_sum)
        # `trace` is that of the REML projection matrix P, and `information` is the trace of P².
        trace = weight_sum - square_sum / weight_sum
        information = (
            square_sum - 2 * (weights**3).sum() / weight_sum + (square_sum / weight_sum) ** 2
        )
        old_tau2, tau2 = (
            tau2,
            max(0.0, tau2 + float((residuals @ residuals - trace) / information)),
        )
        if abs(tau2 - old_tau2) <= STEP_TOLERANCE * noise_variances.mean():
            break
    return tau2


MIN_DISTANCE_FROM_BOUNDS = (
    1e-4  # The logit is taken of shares that are at least this far from 0 and 1.
)


@frozen
class StableScale:
    """Variance-stabilising scale for risks from `lower` to `upper` (None if unbounded).

    It is the logit if `is_logit` is True, and otherwise the arcsine of the square root.

    >>> scale = StableScale(0.0, 1.0)
    >>> theta = scale.transform(np.array([0.0, 0.25, 1.0]))
    >>> scale.inverse_transform(theta).round(6).tolist()
    [0.0, 0.25, 1.0]
    """

    lower: float | None
    upper: float | None
    is_logit: bool = False

    def transform(self, risks: np.ndarray) -> np.ndarray:
        """Transform risks to this variance-stabilising scale."""
        if self.lower is None or (self.upper is None and self.lower != 0):
            return risks
        if self.upper is None:
            return np.log(risks)
        shares = np.clip(self._shares_of_range(risks), 0, 1)
        if self.is_logit:
            shares = np.clip(shares, MIN_DISTANCE_FROM_BOUNDS, 1 - MIN_DISTANCE_FROM_BOUNDS)
            return np.asarray(np.log(shares / (1 - shares)))
        return np.asarray(np.arcsin(np.sqrt(shares)))

    def inverse_transform(self, theta: np.ndarray) -> np.ndarray:
        """Transform values on this scale back to risks."""
        if self.lower is None or (self.upper is None and self.lower != 0):
            return theta
        if self.upper is None:
            return np.exp(theta)
        squared_sines = np.sin(np.clip(theta, 0, np.pi / 2)) ** 2
        shares = 1 / (1 + np.exp(-theta)) if self.is_logit else squared_sines
        return np.asarray(self.lower + (self.upper - self.lower) * shares)

    def derivative(self, risks: np.ndarray, n_rows_by_level: np.ndarray) -> np.ndarray:
        """Return the derivative of the scale at these risks.

        Risks of few rows are moved off the bounds, according to `n_rows_by_level`.
        """
        if self.lower is None or (self.upper is None and self.lower != 0):
            return np.ones(len(risks))
        if self.upper is None:
            return np.asarray(1 / risks)
        shares = (n_rows_by_level * self._shares_of_range(risks) + 1) / (n_rows_by_level + 2)
        derivative = shares * (1 - shares) if self.is_logit else 2 * np.sqrt(shares * (1 - shares))
        return np.asarray(1 / (derivative * (self.upper - self.lower)))

    def shrink_risks(
        self, risks: np.ndarray, n_rows_by_level: np.ndarray, variances: np.ndarray
    ) -> Shrinkage | None:
        """Shrink the risks of a column's levels on this scale, and transform them back to risks."""
        scale_shrinkage = shrink_to_mean(
            self.transform(risks), self.derivative(risks, n_rows_by_level) ** 2 * variances
        )
        if scale_shrinkage is None:
            return None
        mean = self.inverse_transform(np.array([scale_shrinkage.mean]))
        between_level_spread = float(
            scale_shrinkage.between_level_std / self.derivative(mean, n_rows_by_level.mean())[0]
        )
        return Shrinkage(
            self.inverse_transform(scale_shrinkage.values),
            float(mean[0]),
            between_level_spread,
            scale_shrinkage.own_weights,
        )

    def _shares_of_range(self, risks: np.ndarray) -> np.ndarray:
        assert self.lower is not None
        assert self.upper is not None
        return np.asarray((risks - self.lower) / (self.upper - self.lower))
