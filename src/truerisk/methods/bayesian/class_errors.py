"""Posterior of the error of a linear rule in one class, given the rows of that class.

A score g(X) of a row of class c is normal with mean m and variance v. Both priors of the Bayesian
error estimator lead to the same form of posterior: v = b/G with G ~ Gamma(α), and m given v is
normal about g* with variance v/ν*. The class error is Φ(−c m/√v). All functions take and return
arrays with one entry per rule. The class is coded c = −1 or +1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property

import numpy as np

from truerisk.core.frozen import frozen

_NEGLIGIBLE = 41.5  # e^-41.5 is 1e-18, too small to change a sum of doubles


@frozen(eq=False)
class ClassErrors:
    """α, b, ν* and the margin c g* of every rule; b = 0 is a class whose error is certainly 0 or 1.

    >>> from truerisk.methods.bayesian.class_errors import ClassErrors
    >>> ClassErrors(*np.array([[2.0], [4.0], [3.0], [0.0]])).mean()
    array([0.5])
    """

    alpha: np.ndarray
    b: np.ndarray
    nu: np.ndarray
    margin: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[ClassErrors]) -> ClassErrors:
        """Concatenate posteriors, so that quantities that all of them need are computed once."""
        return cls(*(np.concatenate([getattr(e, f.name) for e in parts]) for f in fields(cls)))

    def halves(self) -> tuple[ClassErrors, ClassErrors]:
        """Split posteriors that were joined from two equally long parts."""
        half = len(self.alpha) // 2
        first, second = (
            ClassErrors(*(getattr(self, f.name)[part] for f in fields(self)))
            for part in (slice(half), slice(half, None))
        )
        return first, second

    @property
    def is_certain(self) -> np.ndarray:
        """Mask of rules whose posterior is a single point."""
        return np.asarray(self.b <= 0)

    @cached_property
    def quantity(self) -> np.ndarray:
        r"""h0 = −c g* √(α/b) √(ν*/(ν*+1)): the mean error is Student's T with 2α at h0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            h = -self.margin * np.sqrt(self.alpha / self.b * self.nu / (self.nu + 1))
        certain = np.where(self.margin > 0, -np.inf, np.where(self.margin < 0, np.inf, 0.0))
        return np.where(self.is_certain, certain, h)

    def log_mean(self) -> np.ndarray:
        """Return log E[error]. It is exact in the tail, where the error itself would underflow."""
        with np.errstate(divide="ignore"):
            rest = np.log1p(-np.exp(np.minimum(self._tail, np.log(0.5))))
        return np.asarray(np.where(self.quantity <= 0, self._tail, rest))

    @cached_property
    def _tail(self) -> np.ndarray:
        """Logarithm of the mean of the error or of 1 − error, whichever is smaller."""
        return _log_wedge(np.abs(self.quantity), self.alpha, np.zeros(len(self.alpha)))

    def mean(self) -> np.ndarray:
        """Return E[error]."""
        return np.asarray(np.exp(self.log_mean()))

    def second_moment(self) -> np.ndarray:
        """Return E[error²]: a bivariate t probability at (h0, h0) with correlation 1/(ν*+1)."""
        return np.asarray(self.variance() + self.mean() ** 2)

    def variance(self) -> np.ndarray:
        """Return Var[error], computed from 1 − error if that is the smaller one."""
        turn = np.arctan(np.sqrt(self.nu / (self.nu + 2)))
        both = np.exp(_log_wedge(np.abs(self.quantity), self.alpha, turn))
        return np.asarray(np.maximum(both - np.exp(2 * self._tail), 0.0))


@frozen(eq=False)
class Scored:
    """Summary of the rows and the prior of one class, from which its posteriors follow.

    `n` rows have scores with these `means` and `scatters`, one entry per rule. The prior counts as
    `nu` rows with score `centre` and adds βᵀSβ (`prior_scatter`) to the scatter. `excess` is κ − p.
    """

    n: np.ndarray
    means: np.ndarray
    scatters: np.ndarray
    excess: np.ndarray
    nu: np.ndarray
    centre: np.ndarray
    prior_scatter: np.ndarray

    @classmethod
    def from_scores(
        cls,
        scores: np.ndarray,
        intercepts: np.ndarray,
        squares: np.ndarray,
        *,
        excess: float = 2.0,
        nu: float = 0.5,
    ) -> Scored:
        """Summarise `scores[r, i]`, the score g of rule r for row i, with the default prior.

        The default prior has S = I and m = 0. `squares` are the squared lengths of the
        coefficients.
        """
        every = np.ones(len(scores))
        means, scatters = moments(scores)
        n = every * scores.shape[1]
        return cls(n, means, scatters, every * excess, every * nu, intercepts, squares)

    @classmethod
    def joined(cls, parts: Sequence[Scored]) -> Scored:
        """Concatenate the summaries of several classes."""
        return cls(*(np.concatenate([getattr(e, f.name) for e in parts]) for f in fields(cls)))


def proper(
    scores: np.ndarray, intercepts: np.ndarray, squares: np.ndarray, sign: int
) -> ClassErrors:
    """Return posteriors under a general covariance: inverse Wishart with κ = p + 2 and S = I.

    The prior mean is 0 with weight 1/2. βᵀS*β requires no matrix: it is the sum of the scatter of
    the scores, the squared length of β, and a term that pulls the mean towards 0.
    """
    scored = Scored.from_scores(scores, intercepts, squares)
    return posterior(scored, np.full(len(scores), float(sign)), intercepts, squares)


def moments(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the scatter (sum of squared deviations) of every rule's scores."""
    means = scores.mean(axis=1)
    gaps = scores - means[:, None]
    gaps *= gaps
    return means, gaps.sum(axis=1)


def posterior(
    seen: Scored, sign: np.ndarray, intercepts: np.ndarray, squares: np.ndarray
) -> ClassErrors:
    """Return the posterior under a general covariance, one entry per rule."""
    nu = seen.n + seen.nu
    away = seen.means - seen.centre
    b = (seen.scatters + seen.prior_scatter + seen.nu * seen.n / nu * away**2) / 2
    margin = sign * (seen.centre + away * seen.n / nu)
    alpha = (seen.n + seen.excess + 1) / 2
    return _with_constants(ClassErrors(alpha, b, nu, margin), intercepts, squares, sign)


def improper(
    scores: np.ndarray,
    intercepts: np.ndarray,
    squares: np.ndarray,
    sign: int,
    *,
    traces: np.ndarray,
    n_selected: np.ndarray,
) -> ClassErrors:
    """Return posteriors under a scaled identity covariance with the flat prior as it was published.

    `traces` are the scatters of the class over the selected features of each rule, and `n_selected`
    the numbers of these features. The prior is not the usual reference prior: α grows with the
    square of the number of features, so that the estimate is grossly optimistic if there are many
    more features than rows.
    """
    n = scores.shape[1]
    alpha = np.maximum(n_selected * (n + n_selected + 1) / 2 - 1, 0.5)
    margin = sign * scores.mean(axis=1)
    nu = np.full(len(scores), float(n))
    errors = ClassErrors(alpha, squares * traces / 2, nu, margin)
    return _with_constants(errors, intercepts, squares, sign)


def _with_constants(
    found: ClassErrors, intercepts: np.ndarray, squares: np.ndarray, sign: int | np.ndarray
) -> ClassErrors:
    """Replace the errors of rules without coefficients, which always predict the same class.

    Such a rule predicts the first class if it is on the boundary.
    """
    constant = squares <= 0
    signs = np.where(intercepts > 0, 1.0, -1.0)
    return ClassErrors(
        found.alpha,
        np.where(constant, 0.0, found.b),
        found.nu,
        np.where(constant, sign * signs, found.margin),
    )


def _log_wedge(h: np.ndarray, alpha: np.ndarray, start: np.ndarray) -> np.ndarray:
    r"""Return the logarithm of a probability of Student's t, or of a pair of them.

    It is log :math:`\frac1\pi\int_s^{\pi/2} (1 + h^2 / (2\alpha\cos^2\theta))^{-\alpha} d\theta`.
    For s = 0 this is the probability that Student's t with 2α degrees of freedom lies below −h
    (Craig's formula, mixed over the variance). For s = arctan √((1−ρ)/(1+ρ)) it is the probability
    that both of a pair with correlation ρ lie below −h. The integrand decreases from its start, so
    that the logarithm of its first value is taken out of the integral. The variable of integration
    is φ = π/2 − θ: for small h the integrand decreases within √k of φ = 0.
    """
    infinite = np.isinf(h)
    k = np.where(infinite, 1.0, h) ** 2 / (2 * alpha)
    first = k / np.cos(start) ** 2
    log_first = np.log1p(first)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # At this point the integrand has decreased to 1e-18 of its first value.
        least = np.arcsin(np.sqrt(k / np.expm1(log_first + _NEGLIGIBLE / alpha)))
    least = np.where(k > 0, np.fmin(least, np.pi / 2 - start), 0.0)
    width = np.pi / 2 - start - least
    near, far = h <= _NEAR, (h >= _FAR) & (alpha >= _FEW)
    total = np.empty(len(h))
    for those, rule in ((near, _SHARP), (~near & ~far, _SMOOTH), (far, _SMOOTHER)):
        if those.any():
            columns = (part[those, None] for part in (k, alpha, log_first, least, width))
            total[those] = width[those] * _fallen(rule, *columns)
    return np.where(infinite, -np.inf, np.log(total / np.pi) - alpha * log_first)


def _fallen(
    rule: tuple[np.ndarray, np.ndarray],
    k: np.ndarray,
    alpha: np.ndarray,
    log_first: np.ndarray,
    least: np.ndarray,
    width: np.ndarray,
) -> np.ndarray:
    """Return the mean of the integrand over its range, relative to its first value, per rule."""
    nodes, weights = rule
    at = width * nodes
    at += least
    np.sin(at, out=at)
    at *= at
    np.divide(k, at, out=at)
    np.log1p(at, out=at)
    at -= log_first
    at *= -alpha
    return np.asarray(np.exp(at, out=at) @ weights)


def _ends_first(n: int, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on (0, 1) that cluster at both ends (tanh-sinh quadrature)."""
    step = 2 * reach / (n - 1)
    u = np.linspace(-reach, reach, n)
    nodes = 1 / (1 + np.exp(-np.pi * np.sinh(u)))
    weights = step * np.pi * np.cosh(u) * nodes * (1 / (1 + np.exp(np.pi * np.sinh(u))))
    return nodes, weights


def _evenly(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of Gauss-Legendre quadrature on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (1 + nodes) / 2, weights / 2


_NEAR = 0.25  # Below it the integrand decreases too steeply near φ = 0 for evenly spaced nodes.
# With h and α at least this large, fewer nodes also reach a precision of 1e-14.
_FAR, _FEW = 1.0, 8.0
_SHARP = _ends_first(144, 3.3)
_SMOOTH = _evenly(64)
_SMOOTHER = _evenly(40)
