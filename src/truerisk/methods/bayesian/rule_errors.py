"""Posteriors of the error of linear rules between two classes, and of all pairs of several classes.

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
from truerisk.methods.bayesian.class_errors import ClassErrors, Scored, improper, moments, posterior
from truerisk.methods.bayesian.priors import ClassPrior
from truerisk.methods.bayesian.scaled_rows import ScaledRows
from truerisk.plan.extras.linear_rules import LinearRules
from truerisk.results.interval import Interval

_REACH = 8.5  # Number of standard deviations beyond which a normal has a probability of 1e-17.
_INNER, _INNER_WEIGHTS = np.polynomial.legendre.leggauss(48)
_OUTER, _OUTER_WEIGHTS = np.polynomial.legendre.leggauss(96)
_DEGREE = 128


@frozen
class ScoreLaw:
    """Distribution of W in one class. If b = 0, W is −∞ or +∞ (the error is 1 or 0)."""

    alpha: float
    b: float
    nu: float
    margin: float

    @property
    def certain_error(self) -> float | None:
        """The error if it is known with certainty, else None."""
        return None if self.b > 0 else 0.0 if self.margin > 0 else 1.0

    @property
    def slope(self) -> float:
        """The slope t = c g* / √b."""
        return float(self.margin / np.sqrt(self.b))

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Bounds that contain W with a probability of 1 − 1e-16."""
        from scipy.special import gammainccinv, gammaincinv

        roots = np.sqrt([gammaincinv(self.alpha, 1e-17), gammainccinv(self.alpha, 1e-17)])
        spread = _REACH / np.sqrt(self.nu)
        middle = np.sort(self.slope * roots)
        return float(middle[0] - spread), float(middle[1] + spread)

    def density(self, w: np.ndarray) -> np.ndarray:
        """Return the density of W, an integral over r = √G.

        For each w the nodes are placed about the mode of the integrand.
        """
        from scipy.special import gammaln

        t, a = self.slope, 2 * self.alpha - 1
        curvature = 2 + self.nu * t**2  # The curvature of the log-integrand is at least this large.
        pull = self.nu * t * w
        mode = (pull + np.sqrt(pull**2 + 4 * curvature * a)) / (2 * curvature)
        reach = _REACH / np.sqrt(curvature)
        low = np.maximum(mode - reach, 0.0)
        half = (mode + reach - low)[:, None] / 2
        r = low[:, None] + half * (1 + _INNER)
        root = np.sqrt(self.alpha)  # r² − α and log(r²/α) are small, whereas r² and log Γ are not.
        constant = self.alpha * np.log(self.alpha) - self.alpha - gammaln(self.alpha)
        with np.errstate(divide="ignore"):
            log_r = a * np.log(r / root) - (r**2 - self.alpha)
        log_z = -self.nu * (w[:, None] - t * r) ** 2 / 2
        scale = 2 * np.exp(constant) / root * np.sqrt(self.nu / (2 * np.pi))
        return scale * (half * np.exp(log_r + log_z)) @ _INNER_WEIGHTS

    @cached_property
    def _cumulative(self) -> np.polynomial.Chebyshev:
        density = np.polynomial.Chebyshev.interpolate(self.density, _DEGREE, self.ends)
        return density.integ(lbnd=self.ends[0])

    def below(self, w: np.ndarray) -> np.ndarray:
        """Return P(W ≤ w)."""
        low, high = self.ends
        inside: np.ndarray = self._cumulative(np.clip(w, low, high)) / self._cumulative(high)
        return np.asarray(np.clip(inside, 0.0, 1.0))

    def cdf(self, q: np.ndarray) -> np.ndarray:
        """Return P(ε ≤ q)."""
        from scipy.special import ndtri

        q = np.asarray(q, dtype=np.float64)
        if self.certain_error is not None:
            return np.asarray(q >= self.certain_error, dtype=np.float64)
        return np.where(q < 0, 0.0, 1 - self.below(-ndtri(np.clip(q, 0.0, 1.0))))


@frozen
class ErrorLaw:
    """Posterior of `shares[0]` ε₋ + `shares[1]` ε₊ with independent class errors ε₋ and ε₊."""

    shares: tuple[float, float]
    laws: tuple[ScoreLaw, ScoreLaw]

    @property
    def is_certain(self) -> bool:
        """True if the posterior is a single point."""
        return all(
            share == 0 or law.certain_error is not None
            for share, law in zip(self.shares, self.laws, strict=True)
        )

    def cdf(self, q: float) -> float:
        """Return P(error ≤ q)."""
        (a, one), (b, two) = sorted(
            zip(self.shares, self.laws, strict=True), key=lambda pair: pair[1].certain_error is None
        )
        if one.certain_error is not None or a == 0 or b == 0:
            if b == 0:
                return float(one.cdf(np.array([q / a]))[0])
            certain = 0.0 if a == 0 else a * float(one.certain_error or 0.0)
            return float(two.cdf(np.array([(q - certain) / b]))[0])
        from scipy.special import ndtr, ndtri

        low, high = one.ends
        # ε₁ must not exceed q/a. If it is below (q − b)/a, every ε₂ is possible.
        edge = -float(ndtri(min(q / a, 1.0))) if q > 0 else np.inf
        free = -float(ndtri((q - b) / a)) if q > b else np.inf
        low, top = max(low, edge), min(high, free)
        total = 1 - float(one.below(np.array([free]))[0]) if free < high else 0.0
        if low < top:
            w = (low + top) / 2 + (top - low) / 2 * _OUTER
            rest = np.clip((q - a * ndtr(-w)) / b, 0.0, 1.0)
            total += (top - low) / 2 * float((one.density(w) * two.cdf(rest)) @ _OUTER_WEIGHTS)
        return min(max(total, 0.0), 1.0)

    def quantile(self, probability: float) -> float:
        """Return the error that is not exceeded with this probability; 0 if it is below 1e-300."""
        from scipy.optimize import brentq
        from scipy.special import ndtr, ndtri

        # These are bounds of Φ⁻¹(q), a scale on which small errors can be distinguished.
        low, high = -37.0, 8.2
        if self.cdf(float(ndtr(low))) >= probability:
            return 0.0
        if self.cdf(float(ndtr(high))) <= probability:
            return 1.0

        def gap(z: float) -> float:
            level = min(max(self.cdf(float(ndtr(z))), 1e-300), 1 - 1e-16)
            return float(ndtri(level) - ndtri(probability))

        return float(ndtr(brentq(gap, low, high, xtol=1e-10, rtol=1e-12)))

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Return the credible interval with equal tail probabilities."""
        tail = (1 - confidence_level) / 2
        low = self.quantile(tail)
        # Rounding may put the upper limit of a near-degenerate distribution below the lower one.
        return low, max(low, self.quantile(1 - tail))


# The keys are class codes. None stands for the improper prior.
Priors = Mapping[int, ClassPrior] | None
# Largest excess of N/(2α) over 1, in units of 1/√N. Beyond it intervals covered too rarely (docs).
MOST = 1.0
_TOO_WIDE = (
    "the prior takes features off the rows: the variance along the rule becomes {:.2g} times that "
    "of the rows, which pulls the estimate up, and beyond 1 + 1/√N no interval is stated; "
    "prior='proper' takes none off"
)


@frozen(eq=False)
class RuleErrors:
    """The errors of rules between two classes: the class errors weighted by `shares` and added."""

    shares: tuple[float, float]
    both: ClassErrors  # errors of the first class, followed by those of the second
    from_prior: np.ndarray  # the share of S in βᵀS*β, in the class where it is larger
    # N/(2α), the factor by which κ widens the variance if that is too much, else 0
    inflation: np.ndarray

    @classmethod
    def from_rows(
        cls,
        rows: ScaledRows,
        rules: LinearRules,
        pair: tuple[int, int],
        shares: tuple[float, float],
        priors: Priors,
    ) -> RuleErrors:
        """Compute the errors of every rule from the training rows of two classes, given by code."""
        lines = _Lines.from_rows(rows, *rules.between(*pair))
        if priors is None:
            none = np.zeros(len(lines.starts))
            return cls(shares, _improper(rows, lines, pair), none, none)
        return cls(shares, *_normal(rows, lines, pair, priors))

    @cached_property
    def classes(self) -> tuple[ClassErrors, ClassErrors]:
        """The posteriors of each of the two classes."""
        return self.both.halves()

    def log_means(self) -> np.ndarray:
        """Return log posterior means, which distinguish rules even if their errors are 1e-400."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.shares)[:, None] + self.both.log_mean().reshape(2, -1)
        return np.asarray(np.logaddexp(*logs))

    @cached_property
    def variances(self) -> np.ndarray:
        """Variances of the posteriors."""
        squares = np.square(self.shares)
        return np.asarray(squares @ self.both.variance().reshape(2, -1))

    def are_certain(self) -> np.ndarray:
        """Return a mask of rules whose posterior is a single point."""
        counts_not = np.equal(self.shares, 0)[:, None]
        return np.asarray((self.both.is_certain.reshape(2, -1) | counts_not).all(axis=0))

    def too_wide(self, rule: int) -> str | None:
        """Return why the posterior of one rule gives no valid interval, or None if it does."""
        inflation = float(self.inflation[rule])
        return _TOO_WIDE.format(inflation) if inflation > 0 else None

    def law(self, rule: int) -> ErrorLaw:
        """Return the posterior distribution of one rule's error."""
        one, two = (
            ScoreLaw(*(float(part[rule]) for part in (e.alpha, e.b, e.nu, e.margin)))
            for e in self.classes
        )
        return ErrorLaw(self.shares, (one, two))


@frozen
class Credible:
    """Standard error and credible interval of one of several rules, computed on request."""

    errors: RuleErrors
    rule: int
    confidence_level: float

    def std_error(self) -> float | None:
        """Return the standard deviation of the posterior; None if it underflows to 0."""
        return float(np.sqrt(self.errors.variances[self.rule])) or None

    def interval(self) -> Interval:
        """Return the equal-tailed credible interval."""
        low, high = self.errors.law(self.rule).interval(self.confidence_level)
        return Interval(low, high, "credible", self.confidence_level)


def pairwise(
    rows: ScaledRows, rules: LinearRules, shares: Mapping[int, float], priors: Priors
) -> list[RuleErrors]:
    """Return the errors of every pair of classes. Their sum is the published pairwise error."""
    return [
        RuleErrors.from_rows(rows, rules, (k, m), (shares[k], shares[m]), priors)
        for k, m in rules.class_pairs()
    ]


@frozen(eq=False)
class _Lines:
    """Rules between two classes, in the units of X and for the scaled rows."""

    slopes: np.ndarray
    intercepts: np.ndarray
    scaled: np.ndarray
    starts: np.ndarray
    squares: np.ndarray

    @classmethod
    def from_rows(cls, rows: ScaledRows, slopes: np.ndarray, intercepts: np.ndarray) -> _Lines:
        scaled = rows.slopes(slopes)
        squares = np.einsum("ij,ij->i", scaled, scaled)
        return cls(slopes, intercepts, scaled, rows.intercepts(slopes, intercepts), squares)


def _normal(
    rows: ScaledRows, lines: _Lines, pair: tuple[int, int], priors: Mapping[int, ClassPrior]
) -> tuple[ClassErrors, np.ndarray, np.ndarray]:
    """Return posteriors under a general covariance.

    Also return the prior's share of scatter and variance.
    """
    scores = [rows.scores(lines.slopes, lines.intercepts, code) for code in pair]
    seen = Scored.joined(
        [_scored(scores, place, lines, priors[code]) for place, code in enumerate(pair)]
    )
    signs = np.repeat([-1.0, 1.0], len(lines.starts))
    law = posterior(seen, signs, np.tile(lines.starts, 2), np.tile(lines.squares, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(law.b > 0, seen.prior_scatter / (2 * law.b), 0.0)
    inflation = seen.n / (2 * law.alpha)
    both = part, np.where((inflation - 1) * np.sqrt(seen.n) > MOST, inflation, 0.0)
    return law, *(each.reshape(2, -1).max(axis=0) for each in both)


def _scored(scores: Sequence[np.ndarray], place: int, lines: _Lines, prior: ClassPrior) -> Scored:
    """Summarise one class. S and m that the prior leaves open come from both classes together."""
    seen = Scored.from_scores(
        scores[place], lines.starts, lines.squares, excess=prior.excess, nu=prior.nu
    )
    if prior.is_usual:
        return seen
    centre, scatter = (
        prior.centre(lines.scaled, lines.starts),
        prior.scatter(lines.scaled, lines.squares),
    )
    n = sum(one.shape[1] for one in scores)
    if prior.mean is None:
        centre = np.concatenate(list(scores), axis=1).mean(axis=1)
    if prior.scale is None:
        within = sum(moments(one)[1] for one in scores)
        scatter = np.asarray(within) / max(n - len(scores), 1)
    return replace(seen, centre=centre, prior_scatter=scatter)


def _improper(rows: ScaledRows, lines: _Lines, pair: tuple[int, int]) -> ClassErrors:
    if min(map(rows.size, pair)) < 2:
        raise Refusal(
            "the improper prior has no posterior from a single row of a class: use 'bee', whose "
            "prior is proper."
        )
    selected = lines.scaled != 0
    n_selected = selected.sum(axis=1)
    return ClassErrors.joined(
        [
            improper(
                rows.scores(lines.slopes, lines.intercepts, code),
                lines.starts,
                lines.squares,
                sign,
                traces=rows.traces(selected, code),
                n_selected=n_selected,
            )
            for code, sign in zip(pair, (-1, 1), strict=True)
        ]
    )
