"""Posterior of the error of a linear rule in one class, given the rows of that class.

The score g(X) of a row of class c is normal with mean m and variance v. Both priors of the Bayesian
error estimator lead to the same form of posterior: v = b/G with G ~ Gamma(α), and m given v is
normal with mean g* and variance v/ν*. The class error is Φ(−c m/√v). All functions take and return
arrays with one entry per rule. The class is coded c = −1 or +1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property

import numpy as np

from truerisk.core.frozen import frozen

_NEGLIGIBLE_LOG = 41.5  # e^-41.5 is 1e-18, which is too small to change a sum of doubles.


@frozen(eq=False)
class ClassErrors:
    """Posterior distributions of the errors of several rules in one class.

    They have the parameters α, b, ν* and the margin c g*, with one entry per rule. If b = 0, the
    class error is known with certainty: it is 0 or 1.

    >>> from truerisk.methods.bayesian.class_errors import ClassErrors
    >>> ClassErrors(*np.array([[2.0], [4.0], [3.0], [0.0]])).mean()
    array([0.5])
    """

    alpha: np.ndarray
    b: np.ndarray
    nu: np.ndarray
    margin: np.ndarray

    @classmethod
    def concatenate(cls, class_errors: Sequence[ClassErrors]) -> ClassErrors:
        """Concatenate the posteriors of several classes, so that one call serves all of them."""
        return cls(
            *(
                np.concatenate([getattr(errors, f.name) for errors in class_errors])
                for f in fields(cls)
            )
        )

    def split_by_class(self) -> tuple[ClassErrors, ClassErrors]:
        """Return the posteriors of each of the two classes that `concatenate` has joined."""
        n_rules = len(self.alpha) // 2
        first_class, second_class = (
            ClassErrors(*(getattr(self, f.name)[rule_slice] for f in fields(self)))
            for rule_slice in (slice(n_rules), slice(n_rules, None))
        )
        return first_class, second_class

    @property
    def is_certain(self) -> np.ndarray:
        """Mask of rules whose posterior is a single point."""
        return np.asarray(self.b <= 0)

    @cached_property
    def mean_quantile(self) -> np.ndarray:
        r"""Quantile h0 of Student's t with 2α degrees of freedom whose probability is E[error].

        h0 = −c g* √(α/b) √(ν*/(ν*+1)).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            finite_quantile = -self.margin * np.sqrt(self.alpha / self.b * self.nu / (self.nu + 1))
        certain_quantile = np.where(
            self.margin > 0, -np.inf, np.where(self.margin < 0, np.inf, 0.0)
        )
        return np.where(self.is_certain, certain_quantile, finite_quantile)

    def log_mean(self) -> np.ndarray:
        """Return log E[error], which is exact even if E[error] itself would underflow to 0."""
        with np.errstate(divide="ignore"):
            log_complement = np.log1p(-np.exp(np.minimum(self._log_tail, np.log(0.5))))
        return np.asarray(np.where(self.mean_quantile <= 0, self._log_tail, log_complement))

    @cached_property
    def _log_tail(self) -> np.ndarray:
        """Logarithm of E[error] or of 1 − E[error], whichever is smaller."""
        return _log_tail_probability(
            np.abs(self.mean_quantile), self.alpha, np.zeros(len(self.alpha))
        )

    def mean(self) -> np.ndarray:
        """Return the posterior mean E[error] of every rule."""
        return np.asarray(np.exp(self.log_mean()))

    def second_moment(self) -> np.ndarray:
        """Return E[error²]: a bivariate t probability at (h0, h0) with correlation 1/(ν*+1)."""
        return np.asarray(self.variance() + self.mean() ** 2)

    def variance(self) -> np.ndarray:
        """Return Var[error] of every rule, computed from 1 − error if that is smaller."""
        lower_angle = np.arctan(np.sqrt(self.nu / (self.nu + 2)))
        joint_probability = np.exp(
            _log_tail_probability(np.abs(self.mean_quantile), self.alpha, lower_angle)
        )
        return np.asarray(np.maximum(joint_probability - np.exp(2 * self._log_tail), 0.0))


@frozen(eq=False)
class ScoreSummary:
    """Sufficient statistics of the scores of one class, and its prior, with one entry per rule.

    The scores of the `n` rows have these `means` and `scatters` (sums of squared deviations). The
    prior counts as `nu` rows with score `prior_centre`, and adds βᵀSβ (`prior_scatter`) to the
    scatter. `kappa_minus_p` is κ − p.
    """

    n: np.ndarray
    means: np.ndarray
    scatters: np.ndarray
    kappa_minus_p: np.ndarray
    nu: np.ndarray
    prior_centre: np.ndarray
    prior_scatter: np.ndarray

    @classmethod
    def from_scores(
        cls,
        scores: np.ndarray,
        intercepts: np.ndarray,
        squared_norms: np.ndarray,
        *,
        excess: float = 2.0,
        nu: float = 0.5,
    ) -> ScoreSummary:
        """Summarise `scores[r, i]`, the score g of rule r for row i, with the default prior.

        The default prior has S = I and m = 0. `squared_norms` holds the squared length of each
        rule's coefficient vector.
        """
        ones = np.ones(len(scores))
        means, scatters = mean_and_scatter(scores)
        n = ones * scores.shape[1]
        return cls(n, means, scatters, ones * excess, ones * nu, intercepts, squared_norms)

    @classmethod
    def concatenate(cls, summaries: Sequence[ScoreSummary]) -> ScoreSummary:
        """Concatenate the sufficient statistics of several classes."""
        return cls(*(np.concatenate([getattr(e, f.name) for e in summaries]) for f in fields(cls)))


def proper_class_errors(
    scores: np.ndarray, intercepts: np.ndarray, squared_norms: np.ndarray, sign: int
) -> ClassErrors:
    """Return class errors' posteriors under the prior "proper": inverse Wishart, κ = p + 2, S = I.

    The prior mean is 0 with weight ν = 1/2. βᵀS*β requires no matrix: it is the sum of the scatter
    of the scores, the squared length of β, and a term that pulls the mean towards 0.
    """
    summary = ScoreSummary.from_scores(scores, intercepts, squared_norms)
    return class_error_posteriors(
        summary, np.full(len(scores), float(sign)), intercepts, squared_norms
    )


def mean_and_scatter(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of every rule's scores, and their sum of squared deviations from it."""
    means = scores.mean(axis=1)
    deviations = scores - means[:, None]
    deviations *= deviations
    return means, deviations.sum(axis=1)


def class_error_posteriors(
    summary: ScoreSummary, sign: np.ndarray, intercepts: np.ndarray, squared_norms: np.ndarray
) -> ClassErrors:
    """Return the class errors' posteriors under an inverse Wishart prior, one entry per rule."""
    nu = summary.n + summary.nu
    mean_difference = summary.means - summary.prior_centre
    b = (
        summary.scatters + summary.prior_scatter + summary.nu * summary.n / nu * mean_difference**2
    ) / 2
    margin = sign * (summary.prior_centre + mean_difference * summary.n / nu)
    alpha = (summary.n + summary.kappa_minus_p + 1) / 2
    return _fix_constant_rules(ClassErrors(alpha, b, nu, margin), intercepts, squared_norms, sign)


def improper_class_errors(
    scores: np.ndarray,
    intercepts: np.ndarray,
    squared_norms: np.ndarray,
    sign: int,
    *,
    traces: np.ndarray,
    n_selected: np.ndarray,
) -> ClassErrors:
    """Return the class errors' posteriors under the published flat prior with covariance σ²I.

    The covariance is a multiple of the identity. `traces` holds the sum of
    squared deviations of the class over the features that each rule selects, and `n_selected` the
    number of these features. The prior is not the usual reference prior: α grows with the square of
    the number of features, so that the estimate is grossly optimistic if there are many more
    features than rows.
    """
    n = scores.shape[1]
    alpha = np.maximum(n_selected * (n + n_selected + 1) / 2 - 1, 0.5)
    margin = sign * scores.mean(axis=1)
    nu = np.full(len(scores), float(n))
    class_errors = ClassErrors(alpha, squared_norms * traces / 2, nu, margin)
    return _fix_constant_rules(class_errors, intercepts, squared_norms, sign)


def _fix_constant_rules(
    class_errors: ClassErrors,
    intercepts: np.ndarray,
    squared_norms: np.ndarray,
    sign: int | np.ndarray,
) -> ClassErrors:
    """Set the error of constant rules, whose coefficients are all 0, to a certain 0 or 1.

    Such a rule predicts the first class if its intercept is 0.
    """
    is_constant = squared_norms <= 0
    intercept_signs = np.where(intercepts > 0, 1.0, -1.0)
    return ClassErrors(
        class_errors.alpha,
        np.where(is_constant, 0.0, class_errors.b),
        class_errors.nu,
        np.where(is_constant, sign * intercept_signs, class_errors.margin),
    )


def _log_tail_probability(h: np.ndarray, alpha: np.ndarray, lower_angle: np.ndarray) -> np.ndarray:
    r"""Return the log of a tail probability of Student's t, or of a bivariate t distribution.

    It is log :math:`\frac1\pi\int_s^{\pi/2} (1 + h^2 / (2\alpha\cos^2\theta))^{-\alpha} d\theta`.
    For s = 0 this is the probability that Student's t with 2α degrees of freedom lies below −h
    (Craig's formula, mixed over the variance). For s = arctan √((1−ρ)/(1+ρ)) it is the probability
    that both components of a bivariate t with correlation ρ lie below −h. The integrand decreases
    from θ = s on, so that the logarithm of its value there is taken out of the integral. The
    variable of integration is φ = π/2 − θ: for small h the integrand decreases within √k of φ = 0,
    where k = h²/(2α).
    """
    is_infinite = np.isinf(h)
    k = np.where(is_infinite, 1.0, h) ** 2 / (2 * alpha)
    k_at_start = k / np.cos(lower_angle) ** 2
    log_base_at_start = np.log1p(k_at_start)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # The integration starts at this φ, below which the integrand is less than 1e-18 of its
        # maximum.
        lower_limit = np.arcsin(np.sqrt(k / np.expm1(log_base_at_start + _NEGLIGIBLE_LOG / alpha)))
    lower_limit = np.where(k > 0, np.fmin(lower_limit, np.pi / 2 - lower_angle), 0.0)
    width = np.pi / 2 - lower_angle - lower_limit
    has_small_h, has_large_h = h <= _SMALL_H, (h >= _LARGE_H) & (alpha >= _LARGE_ALPHA)
    integral = np.empty(len(h))
    for is_in_range, quadrature_rule in (
        (has_small_h, _TANH_SINH_144),
        (~has_small_h & ~has_large_h, _GAUSS_64),
        (has_large_h, _GAUSS_40),
    ):
        if is_in_range.any():
            integrand_arguments = (
                values[is_in_range, None]
                for values in (k, alpha, log_base_at_start, lower_limit, width)
            )
            integral[is_in_range] = width[is_in_range] * _mean_integrand(
                quadrature_rule, *integrand_arguments
            )
    return np.where(is_infinite, -np.inf, np.log(integral / np.pi) - alpha * log_base_at_start)


def _mean_integrand(
    quadrature_rule: tuple[np.ndarray, np.ndarray],
    k: np.ndarray,
    alpha: np.ndarray,
    log_base_at_start: np.ndarray,
    lower_limit: np.ndarray,
    width: np.ndarray,
) -> np.ndarray:
    """Return the mean of the integrand over its range, per rule, relative to its largest value."""
    nodes, weights = quadrature_rule
    integrand = width * nodes
    integrand += lower_limit
    np.sin(integrand, out=integrand)
    integrand *= integrand
    np.divide(k, integrand, out=integrand)
    np.log1p(integrand, out=integrand)
    integrand -= log_base_at_start
    integrand *= -alpha
    return np.asarray(np.exp(integrand, out=integrand) @ weights)


def _tanh_sinh_rule(n: int, half_range: float) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on (0, 1) that cluster at both ends (tanh-sinh quadrature)."""
    step = 2 * half_range / (n - 1)
    grid_points = np.linspace(-half_range, half_range, n)
    nodes = 1 / (1 + np.exp(-np.pi * np.sinh(grid_points)))
    weights = (
        step
        * np.pi
        * np.cosh(grid_points)
        * nodes
        * (1 / (1 + np.exp(np.pi * np.sinh(grid_points))))
    )
    return nodes, weights


def _gauss_legendre_rule(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of Gauss-Legendre quadrature on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (1 + nodes) / 2, weights / 2


# For h below _SMALL_H the integrand decreases too steeply near φ = 0 for evenly spaced nodes.
_SMALL_H = 0.25
# If h is at least _LARGE_H and α at least _LARGE_ALPHA, 40 nodes reach a precision of 1e-14.
_LARGE_H, _LARGE_ALPHA = 1.0, 8.0
_TANH_SINH_144 = _tanh_sinh_rule(144, 3.3)
_GAUSS_64 = _gauss_legendre_rule(64)
_GAUSS_40 = _gauss_legendre_rule(40)
