"""Posterior distributions of the errors of linear rules between two classes, or of every pair.

In one class the error is ε = Φ(−W) with W = t √G + Z/√ν*, t = c g*/√b, G ~ Gamma(α) and Z standard
normal; W is related to a noncentral t. Its density is an integral over √G whose integrand is
log-concave with a mode in closed form. Its distribution function is the integral of a Chebyshev
interpolant of the density.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.methods.bayesian.class_errors import (
    ClassErrors,
    ScoreSummary,
    class_error_posteriors,
    improper_class_errors,
    mean_and_scatter,
)
from truerisk.methods.bayesian.priors import ClassPrior
from truerisk.methods.bayesian.scaled_rows import ScaledRows
from truerisk.plan.extras.linear_rules import LinearRules
from truerisk.results.interval import Interval

# The probability that a normal variable is further from its mean than this number of standard
# deviations is 1e-17.
_MAX_STD_DEVIATIONS = 8.5
_DENSITY_NODES, _DENSITY_WEIGHTS = np.polynomial.legendre.leggauss(48)
_CDF_NODES, _CDF_WEIGHTS = np.polynomial.legendre.leggauss(96)
_CHEBYSHEV_DEGREE = 128


@frozen
class ClassErrorDistribution:
    """Posterior distribution of W = Φ⁻¹(1 − error) in one class.

    If b = 0, W is −∞ or +∞, and the error is 1 or 0.
    """

    alpha: float
    b: float
    nu: float
    margin: float

    @property
    def certain_error(self) -> float | None:
        """Error of the class if it is known with certainty, else None."""
        return None if self.b > 0 else 0.0 if self.margin > 0 else 1.0

    @property
    def slope(self) -> float:
        """Factor t = c g*/√b of √G in W = t √G + Z/√ν*."""
        return float(self.margin / np.sqrt(self.b))

    @cached_property
    def w_limits(self) -> tuple[float, float]:
        """Lower and upper limit that contain W with a probability of 1 − 1e-16."""
        from scipy.special import gammainccinv, gammaincinv

        sqrt_g_limits = np.sqrt([gammaincinv(self.alpha, 1e-17), gammainccinv(self.alpha, 1e-17)])
        half_width = _MAX_STD_DEVIATIONS / np.sqrt(self.nu)
        centres = np.sort(self.slope * sqrt_g_limits)
        return float(centres[0] - half_width), float(centres[1] + half_width)

    def density(self, w: np.ndarray) -> np.ndarray:
        """Return the density of W at each w, computed as an integral over r = √G.

        For each w the quadrature nodes are placed about the mode of the integrand.
        """
        from scipy.special import gammaln

        slope, exponent = self.slope, 2 * self.alpha - 1
        curvature = (
            2 + self.nu * slope**2
        )  # This is a lower bound of the log-integrand's curvature.
        linear_term = self.nu * slope * w
        modes = (linear_term + np.sqrt(linear_term**2 + 4 * curvature * exponent)) / (2 * curvature)
        half_range = _MAX_STD_DEVIATIONS / np.sqrt(curvature)
        lower_limits = np.maximum(modes - half_range, 0.0)
        half_width = (modes + half_range - lower_limits)[:, None] / 2
        r = lower_limits[:, None] + half_width * (1 + _DENSITY_NODES)
        sqrt_alpha = np.sqrt(
            self.alpha
        )  # r² − α and log(r²/α) are small, whereas r² and log Γ are not.
        log_constant = self.alpha * np.log(self.alpha) - self.alpha - gammaln(self.alpha)
        with np.errstate(divide="ignore"):
            log_density_r = exponent * np.log(r / sqrt_alpha) - (r**2 - self.alpha)
        log_density_z = -self.nu * (w[:, None] - slope * r) ** 2 / 2
        density_factor = 2 * np.exp(log_constant) / sqrt_alpha * np.sqrt(self.nu / (2 * np.pi))
        return (
            density_factor * (half_width * np.exp(log_density_r + log_density_z)) @ _DENSITY_WEIGHTS
        )

    @cached_property
    def _cdf_polynomial(self) -> np.polynomial.Chebyshev:
        density = np.polynomial.Chebyshev.interpolate(
            self.density, _CHEBYSHEV_DEGREE, self.w_limits
        )
        return density.integ(lbnd=self.w_limits[0])

    def w_cdf(self, w: np.ndarray) -> np.ndarray:
        """Return P(W ≤ w) for each w."""
        low, high = self.w_limits
        probability: np.ndarray = self._cdf_polynomial(
            np.clip(w, low, high)
        ) / self._cdf_polynomial(high)
        return np.asarray(np.clip(probability, 0.0, 1.0))

    def cdf(self, q: np.ndarray) -> np.ndarray:
        """Return the posterior probability that the class error is at most q."""
        from scipy.special import ndtri

        q = np.asarray(q, dtype=np.float64)
        if self.certain_error is not None:
            return np.asarray(q >= self.certain_error, dtype=np.float64)
        return np.where(q < 0, 0.0, 1 - self.w_cdf(-ndtri(np.clip(q, 0.0, 1.0))))


@frozen
class ErrorDistribution:
    """Posterior of a rule's error, which is the weighted sum of two independent class errors.

    The weights are the `class_shares` of the two classes.
    """

    class_shares: tuple[float, float]
    class_distributions: tuple[ClassErrorDistribution, ClassErrorDistribution]

    @property
    def is_certain(self) -> bool:
        """True if the posterior is a single point."""
        return all(
            share == 0 or class_distribution.certain_error is not None
            for share, class_distribution in zip(
                self.class_shares, self.class_distributions, strict=True
            )
        )

    def cdf(self, q: float) -> float:
        """Return the posterior probability that the rule's error is at most q."""
        (first_share, first_distribution), (second_share, second_distribution) = sorted(
            zip(self.class_shares, self.class_distributions, strict=True),
            key=lambda pair: pair[1].certain_error is None,
        )
        if first_distribution.certain_error is not None or first_share == 0 or second_share == 0:
            if second_share == 0:
                return float(first_distribution.cdf(np.array([q / first_share]))[0])
            first_error = (
                0.0
                if first_share == 0
                else first_share * float(first_distribution.certain_error or 0.0)
            )
            return float(second_distribution.cdf(np.array([(q - first_error) / second_share]))[0])
        from scipy.special import ndtr, ndtri

        low, high = first_distribution.w_limits
        # With class shares a and b, the probability of the event a ε₁ + b ε₂ ≤ q is computed.
        # If the class error ε₁ is below (q − b)/a, the event happens for every ε₂ in [0, 1].
        lower_w = -float(ndtri(min(q / first_share, 1.0))) if q > 0 else np.inf
        upper_w = -float(ndtri((q - second_share) / first_share)) if q > second_share else np.inf
        low, high_w = max(low, lower_w), min(high, upper_w)
        probability = (
            1 - float(first_distribution.w_cdf(np.array([upper_w]))[0]) if upper_w < high else 0.0
        )
        if low < high_w:
            w = (low + high_w) / 2 + (high_w - low) / 2 * _CDF_NODES
            second_error = np.clip((q - first_share * ndtr(-w)) / second_share, 0.0, 1.0)
            probability += (
                (high_w - low)
                / 2
                * float(
                    (first_distribution.density(w) * second_distribution.cdf(second_error))
                    @ _CDF_WEIGHTS
                )
            )
        return min(max(probability, 0.0), 1.0)

    def quantile(self, probability: float) -> float:
        """Return the posterior quantile of the error; 0 if it is below 1e-300."""
        from scipy.optimize import brentq
        from scipy.special import ndtr, ndtri

        # The quantile q is searched as Φ⁻¹(q), because small errors differ clearly on this scale.
        low, high = -37.0, 8.2
        if self.cdf(float(ndtr(low))) >= probability:
            return 0.0
        if self.cdf(float(ndtr(high))) <= probability:
            return 1.0

        def quantile_gap(z: float) -> float:
            probability_at_z = min(max(self.cdf(float(ndtr(z))), 1e-300), 1 - 1e-16)
            return float(ndtri(probability_at_z) - ndtri(probability))

        return float(ndtr(brentq(quantile_gap, low, high, xtol=1e-10, rtol=1e-12)))

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Return the limits of the credible interval with equal tail probabilities."""
        tail_probability = (1 - confidence_level) / 2
        low = self.quantile(tail_probability)
        # Rounding may put the upper limit of a near-degenerate distribution below the lower one.
        return low, max(low, self.quantile(1 - tail_probability))


# Priors of the classes by class code, or None for the improper prior of all classes.
PriorByClassCode = Mapping[int, ClassPrior] | None
# The prior multiplies the variance of the scores by N/(2α), where N is the number of rows.
# If this factor exceeds 1 + MAX_EXCESS_VARIANCE/√N, no interval is given.
# Such intervals covered the error too rarely (see the documentation).
MAX_EXCESS_VARIANCE = 1.0
_TOO_WIDE_NOTE = (
    "the prior takes features off the rows: the variance along the rule becomes {:.2g} times that "
    "of the rows, which pulls the estimate up, and beyond 1 + 1/√N no interval is stated; "
    "prior='proper' takes none off"
)


@frozen(eq=False)
class RuleErrors:
    """Posterior errors of rules between two classes.

    The error of a rule is the sum of its two class errors, weighted by `class_shares`.
    """

    class_shares: tuple[float, float]
    class_errors: (
        ClassErrors  # errors of all rules in the first class, followed by those in the second
    )
    prior_share: np.ndarray  # share of S in the posterior βᵀS*β, the larger of both classes
    # Factor N/(2α) by which κ increases the variance of the scores of each rule. It is 0 if the
    # increase is too small to withhold the interval.
    variance_factor: np.ndarray

    @classmethod
    def from_rows(
        cls,
        rows: ScaledRows,
        rules: LinearRules,
        class_pair: tuple[int, int],
        shares: tuple[float, float],
        priors: PriorByClassCode,
    ) -> RuleErrors:
        """Compute the errors of every rule from the training rows of two classes, given by code."""
        scaled_rules = _ScaledRules.from_rows(rows, *rules.between(*class_pair))
        if priors is None:
            zeros = np.zeros(len(scaled_rules.scaled_intercepts))
            return cls(shares, _improper_errors(rows, scaled_rules, class_pair), zeros, zeros)
        return cls(shares, *_proper_errors(rows, scaled_rules, class_pair, priors))

    @cached_property
    def classes(self) -> tuple[ClassErrors, ClassErrors]:
        """Pair of the posteriors of the errors in the first and in the second class."""
        return self.class_errors.split_by_class()

    def log_means(self) -> np.ndarray:
        """Return the logarithms of the mean errors, which differ even for errors such as 1e-400."""
        with np.errstate(divide="ignore"):
            log_class_means = np.log(self.class_shares)[
                :, None
            ] + self.class_errors.log_mean().reshape(2, -1)
        return np.asarray(np.logaddexp(*log_class_means))

    @cached_property
    def variances(self) -> np.ndarray:
        """Posterior variance of the error of each rule."""
        squared_shares = np.square(self.class_shares)
        return np.asarray(squared_shares @ self.class_errors.variance().reshape(2, -1))

    def are_certain(self) -> np.ndarray:
        """Return a mask of the rules whose error is known with certainty."""
        has_no_share = np.equal(self.class_shares, 0)[:, None]
        return np.asarray((self.class_errors.is_certain.reshape(2, -1) | has_no_share).all(axis=0))

    def no_interval_reason(self, rule: int) -> str | None:
        """Return why there is no valid interval for one rule, or None if there is one."""
        variance_factor = float(self.variance_factor[rule])
        return _TOO_WIDE_NOTE.format(variance_factor) if variance_factor > 0 else None

    def error_distribution(self, rule: int) -> ErrorDistribution:
        """Return the posterior distribution of one rule's error."""
        first_distribution, second_distribution = (
            ClassErrorDistribution(
                *(
                    float(values[rule])
                    for values in (
                        class_errors.alpha,
                        class_errors.b,
                        class_errors.nu,
                        class_errors.margin,
                    )
                )
            )
            for class_errors in self.classes
        )
        return ErrorDistribution(self.class_shares, (first_distribution, second_distribution))


@frozen
class CredibleInterval:
    """Standard error and credible interval of one rule's error, computed on request."""

    errors: RuleErrors
    rule: int
    confidence_level: float

    def std_error(self) -> float | None:
        """Return the standard deviation of the posterior; None if it underflows to 0."""
        return float(np.sqrt(self.errors.variances[self.rule])) or None

    def interval(self) -> Interval:
        """Return the equal-tailed credible interval."""
        low, high = self.errors.error_distribution(self.rule).interval(self.confidence_level)
        return Interval(low, high, "credible", self.confidence_level)


def errors_by_class_pair(
    rows: ScaledRows, rules: LinearRules, shares: Mapping[int, float], priors: PriorByClassCode
) -> list[RuleErrors]:
    """Return the errors of the rules between the two classes of every pair of classes.

    The sum over all pairs is the pairwise error.
    """
    return [
        RuleErrors.from_rows(
            rows,
            rules,
            (first_code, second_code),
            (shares[first_code], shares[second_code]),
            priors,
        )
        for first_code, second_code in rules.class_pairs()
    ]


@frozen(eq=False)
class _ScaledRules:
    """Coefficients of rules between two classes, both for rows of X and for standardised rows.

    `slopes` and `intercepts` are for X. `scaled_slopes` and `scaled_intercepts` are the slopes and
    intercepts for standardised rows, and `squared_norms` the squared length of each row of
    `scaled_slopes`.
    """

    slopes: np.ndarray
    intercepts: np.ndarray
    scaled_slopes: np.ndarray
    scaled_intercepts: np.ndarray
    squared_norms: np.ndarray

    @classmethod
    def from_rows(
        cls, rows: ScaledRows, slopes: np.ndarray, intercepts: np.ndarray
    ) -> _ScaledRules:
        scaled_slopes = rows.slopes(slopes)
        squared_norms = np.einsum("ij,ij->i", scaled_slopes, scaled_slopes)
        return cls(
            slopes, intercepts, scaled_slopes, rows.intercepts(slopes, intercepts), squared_norms
        )


def _proper_errors(
    rows: ScaledRows,
    scaled_rules: _ScaledRules,
    class_pair: tuple[int, int],
    priors: Mapping[int, ClassPrior],
) -> tuple[ClassErrors, np.ndarray, np.ndarray]:
    """Return the class errors' posteriors under an inverse Wishart prior.

    Also return, for each rule, the prior's share of the scatter, and the factor by which the prior
    increases the variance, or 0 if that factor is small enough for an interval.
    """
    scores = [
        rows.scores(scaled_rules.slopes, scaled_rules.intercepts, class_code)
        for class_code in class_pair
    ]
    summary = ScoreSummary.concatenate(
        [
            _class_summary(scores, class_index, scaled_rules, priors[class_code])
            for class_index, class_code in enumerate(class_pair)
        ]
    )
    signs = np.repeat([-1.0, 1.0], len(scaled_rules.scaled_intercepts))
    posteriors = class_error_posteriors(
        summary,
        signs,
        np.tile(scaled_rules.scaled_intercepts, 2),
        np.tile(scaled_rules.squared_norms, 2),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        prior_share = np.where(posteriors.b > 0, summary.prior_scatter / (2 * posteriors.b), 0.0)
    variance_factor = summary.n / (2 * posteriors.alpha)
    shares_and_factors = (
        prior_share,
        np.where(
            (variance_factor - 1) * np.sqrt(summary.n) > MAX_EXCESS_VARIANCE, variance_factor, 0.0
        ),
    )
    return posteriors, *(values.reshape(2, -1).max(axis=0) for values in shares_and_factors)


def _class_summary(
    scores: Sequence[np.ndarray], class_index: int, scaled_rules: _ScaledRules, prior: ClassPrior
) -> ScoreSummary:
    """Summarise the scores of the first (`class_index` 0) or second class (1) of a pair.

    If the prior's S or m is None, it is estimated from both classes together.
    """
    summary = ScoreSummary.from_scores(
        scores[class_index],
        scaled_rules.scaled_intercepts,
        scaled_rules.squared_norms,
        excess=prior.kappa_minus_p,
        nu=prior.nu,
    )
    if prior.is_default:
        return summary
    centre, scatter = (
        prior.score_at_mean(scaled_rules.scaled_slopes, scaled_rules.scaled_intercepts),
        prior.scatter(scaled_rules.scaled_slopes, scaled_rules.squared_norms),
    )
    n_rows = sum(class_scores.shape[1] for class_scores in scores)
    if prior.mean is None:
        centre = np.concatenate(list(scores), axis=1).mean(axis=1)
    if prior.scale is None:
        within_class_scatter = sum(mean_and_scatter(class_scores)[1] for class_scores in scores)
        scatter = np.asarray(within_class_scatter) / max(n_rows - len(scores), 1)
    return replace(summary, prior_centre=centre, prior_scatter=scatter)


def _improper_errors(
    rows: ScaledRows, scaled_rules: _ScaledRules, class_pair: tuple[int, int]
) -> ClassErrors:
    if min(map(rows.class_size, class_pair)) < 2:
        raise Refusal(
            "the improper prior has no posterior from a single row of a class: use 'bee', whose "
            "prior is proper."
        )
    is_selected = scaled_rules.scaled_slopes != 0
    n_selected = is_selected.sum(axis=1)
    return ClassErrors.concatenate(
        [
            improper_class_errors(
                rows.scores(scaled_rules.slopes, scaled_rules.intercepts, class_code),
                scaled_rules.scaled_intercepts,
                scaled_rules.squared_norms,
                sign,
                traces=rows.traces(is_selected, class_code),
                n_selected=n_selected,
            )
            for class_code, sign in zip(class_pair, (-1, 1), strict=True)
        ]
    )
