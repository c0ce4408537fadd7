r"""The posterior of a linear rule's error in one class, given the rows of that class.

A score g(X) of a row of class c is normal with mean m and variance v. Both priors of the Bayesian
error estimator lead to the same form a posteriori: v = b/G with G ~ Gamma(α), and m given v normal
about g* with variance v/ν*. The class error is Φ(−c m/√v). Everything here is arrays in, arrays
out, one entry per rule; the class is c = −1 or +1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property

import numpy as np

from truerisk.core.frozen import frozen

_NEGLIGIBLE = 41.5  # e^-41.5 is 1e-18: the integrand beyond adds nothing to a double


@frozen(eq=False)
class ClassErrors:
    """α, b, ν* and the margin c g* of every rule; b = 0 is a class whose error is 0 or 1 for sure.

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
        """One after the other: what all of them take is computed once."""
        return cls(*(np.concatenate([getattr(e, f.name) for e in parts]) for f in fields(cls)))

    def halves(self) -> tuple[ClassErrors, ClassErrors]:
        """What was joined of two equally long parts."""
        half = len(self.alpha) // 2
        first, second = (
            ClassErrors(*(getattr(self, f.name)[part] for f in fields(self)))
            for part in (slice(half), slice(half, None))
        )
        return first, second

    @property
    def is_sure(self) -> np.ndarray:
        """Where the posterior is a point."""
        return np.asarray(self.b <= 0)

    @cached_property
    def quantity(self) -> np.ndarray:
        r"""h0 = −c g* √(α/b) √(ν*/(ν*+1)): the mean error is Student's T with 2α at h0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            h = -self.margin * np.sqrt(self.alpha / self.b * self.nu / (self.nu + 1))
        certain = np.where(self.margin > 0, -np.inf, np.where(self.margin < 0, np.inf, 0.0))
        return np.where(self.is_sure, certain, h)

    def log_mean(self) -> np.ndarray:
        """The log of E[error], exact in the tail where the error itself would underflow."""
        with np.errstate(divide="ignore"):
            rest = np.log1p(-np.exp(np.minimum(self._tail, np.log(0.5))))
        return np.asarray(np.where(self.quantity <= 0, self._tail, rest))

    @cached_property
    def _tail(self) -> np.ndarray:
        """The log of the mean of the error or of 1 − error, whichever is smaller."""
        return _log_wedge(np.abs(self.quantity), self.alpha, np.zeros(len(self.alpha)))

    def mean(self) -> np.ndarray:
        """E[error]."""
        return np.asarray(np.exp(self.log_mean()))

    def second_moment(self) -> np.ndarray:
        """E[error²]: a bivariate t probability with correlation 1/(ν*+1) at (h0, h0)."""
        return np.asarray(self.variance() + self.mean() ** 2)

    def variance(self) -> np.ndarray:
        """Var[error]; that of 1 − error, whichever lies in the tail."""
        turn = np.arctan(np.sqrt(self.nu / (self.nu + 2)))
        both = np.exp(_log_wedge(np.abs(self.quantity), self.alpha, turn))
        return np.asarray(np.maximum(both - np.exp(2 * self._tail), 0.0))


@frozen(eq=False)
class Scored:
    """What rows of one class and its prior say of every rule: all that its posterior rests on.

    `n` rows have scores of this mean and scatter. The prior weighs `nu` rows at score `centre`, and
    adds βᵀSβ to the scatter; `excess` is κ − p.
    """

    n: np.ndarray
    means: np.ndarray
    scatters: np.ndarray
    excess: np.ndarray
    nu: np.ndarray
    centre: np.ndarray
    prior_scatter: np.ndarray

    @classmethod
    def of(
        cls,
        scores: np.ndarray,
        intercepts: np.ndarray,
        squares: np.ndarray,
        *,
        excess: float = 2.0,
        nu: float = 0.5,
    ) -> Scored:
        """`scores[r, i]` is g of rule r at row i; S is the identity and m is 0 unless replaced.

        `squares` are the squared lengths of the coefficients.
        """
        every = np.ones(len(scores))
        means, scatters = moments(scores)
        n = every * scores.shape[1]
        return cls(n, means, scatters, every * excess, every * nu, intercepts, squares)

    @classmethod
    def joined(cls, parts: Sequence[Scored]) -> Scored:
        """One class after the other."""
        return cls(*(np.concatenate([getattr(e, f.name) for e in parts]) for f in fields(cls)))


def proper(
    scores: np.ndarray, intercepts: np.ndarray, squares: np.ndarray, sign: int
) -> ClassErrors:
    """General covariance, inverse Wishart with κ = p + 2 and S = I, mean 0 with weight 1/2.

    βᵀS*β needs no matrix: it is the scatter of the scores, the length of β, and the pull of the
    mean to 0.
    """
    scored = Scored.of(scores, intercepts, squares)
    return posterior(scored, np.full(len(scores), float(sign)), intercepts, squares)


def moments(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and scatter of every rule's scores."""
    means = scores.mean(axis=1)
    gaps = scores - means[:, None]
    gaps *= gaps
    return means, gaps.sum(axis=1)


def posterior(
    seen: Scored, sign: np.ndarray, intercepts: np.ndarray, squares: np.ndarray
) -> ClassErrors:
    """The posterior under a general covariance, one entry per rule."""
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
    """Scaled identity covariance and the flat prior as the document prints it.

    `traces` are the scatters of the class over the selected features of each rule, `n_selected`
    how many those are. The prior is not the usual reference prior: α grows with the square of their
    number, so the estimate is grossly optimistic for many more features than rows.
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
    """A rule without coefficients is constant; on the boundary it says the first class."""
    constant = squares <= 0
    signs = np.where(intercepts > 0, 1.0, -1.0)
    return ClassErrors(
        found.alpha,
        np.where(constant, 0.0, found.b),
        found.nu,
        np.where(constant, sign * signs, found.margin),
    )


def _log_wedge(h: np.ndarray, alpha: np.ndarray, start: np.ndarray) -> np.ndarray:
    r"""Log :math:`\frac1\pi\int_s^{\pi/2} (1 + h^2 / (2\alpha\cos^2\theta))^{-\alpha} d\theta`.

    From s = 0 it is Student's t with 2α degrees of freedom below −h (Craig's formula, mixed over
    the variance); from s = arctan √((1−ρ)/(1+ρ)) both of a pair with correlation ρ below −h. The
    integrand falls from its start, so that the log of its first value comes out of the integral.
    The variable is φ = π/2 − θ: for small h the integrand falls within √k of φ = 0.
    """
    infinite = np.isinf(h)
    k = np.where(infinite, 1.0, h) ** 2 / (2 * alpha)
    first = k / np.cos(start) ** 2
    log_first = np.log1p(first)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # where the integrand has fallen to 1e-18 of its start
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
    """Mean of the integrand over its range, as a part of its first value; one line per rule."""
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
    """Nodes and weights on (0, 1) that crowd doubly exponentially at both ends (tanh-sinh)."""
    step = 2 * reach / (n - 1)
    u = np.linspace(-reach, reach, n)
    nodes = 1 / (1 + np.exp(-np.pi * np.sinh(u)))
    weights = step * np.pi * np.cosh(u) * nodes * (1 / (1 + np.exp(np.pi * np.sinh(u))))
    return nodes, weights


def _evenly(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss and Legendre on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (1 + nodes) / 2, weights / 2


_NEAR = 0.25  # below it the integrand falls too sharply near φ = 0 for evenly laid nodes
_FAR, _FEW = 1.0, 8.0  # from this h on, and with α this large, fewer nodes reach 1e-14 as well
_SHARP = _ends_first(144, 3.3)
_SMOOTH = _evenly(64)
_SMOOTHER = _evenly(40)
