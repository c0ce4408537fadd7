"""Posteriors of the errors of linear rules: of two classes, and of all pairs of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.interval import Interval
from truerisk.core.linear_rules import LinearRules
from truerisk.methods.bayesian.class_errors import ClassErrors, Scored, improper, moments, posterior
from truerisk.methods.bayesian.error_law import ErrorLaw, ScoreLaw
from truerisk.methods.bayesian.priors import ClassPrior
from truerisk.methods.bayesian.scaled_rows import ScaledRows

__all__ = ["Credible", "RuleErrors", "pairwise"]

Priors = Mapping[int, ClassPrior] | None  # by class code; None is the improper one
MOST = 1.0  # times 1/√N, by which N/(2α) may exceed 1: beyond it intervals were seen to miss (docs)
_TOO_WIDE = (
    "the prior takes features off the rows: the variance along the rule becomes {:.2g} times that "
    "of the rows, which pulls the estimate up, and beyond 1 + 1/√N no interval is stated; "
    "prior='proper' takes none off"
)


@dataclass(frozen=True, eq=False)
class RuleErrors:
    """The errors of some rules between two classes: `shares` times those of each class, added."""

    shares: tuple[float, float]
    both: ClassErrors  # those of the first class, then those of the second
    from_prior: np.ndarray  # of βᵀS*β, the share that S is, where it is larger
    inflation: np.ndarray  # N/(2α), by which κ widens the variance, where it is too much; else 0

    @classmethod
    def of(
        cls,
        rows: ScaledRows,
        rules: LinearRules,
        pair: tuple[int, int],
        shares: tuple[float, float],
        priors: Priors,
    ) -> RuleErrors:
        """Of every rule, from the training rows of two classes given by their codes."""
        lines = _Lines.of(rows, *rules.between(*pair))
        if priors is None:
            none = np.zeros(len(lines.starts))
            return cls(shares, _improper(rows, lines, pair), none, none)
        return cls(shares, *_normal(rows, lines, pair, priors))

    @cached_property
    def classes(self) -> tuple[ClassErrors, ClassErrors]:
        """Those of each class."""
        return self.both.halves()

    def log_means(self) -> np.ndarray:
        """The log of the posterior mean: tells rules apart whose errors are 1e-400."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.shares)[:, None] + self.both.log_mean().reshape(2, -1)
        return np.asarray(np.logaddexp(*logs))

    @cached_property
    def variances(self) -> np.ndarray:
        """Of the posterior."""
        squares = np.square(self.shares)
        return np.asarray(squares @ self.both.variance().reshape(2, -1))

    def are_sure(self) -> np.ndarray:
        """Where the posterior is a point."""
        counts_not = np.equal(self.shares, 0)[:, None]
        return np.asarray((self.both.is_sure.reshape(2, -1) | counts_not).all(axis=0))

    def too_wide(self, rule: int) -> str | None:
        """Why the posterior of one rule states no interval, or None."""
        inflation = float(self.inflation[rule])
        return _TOO_WIDE.format(inflation) if inflation > 0 else None

    def law(self, rule: int) -> ErrorLaw:
        """The posterior of one rule."""
        one, two = (
            ScoreLaw(*(float(part[rule]) for part in (e.alpha, e.b, e.nu, e.margin)))
            for e in self.classes
        )
        return ErrorLaw(self.shares, (one, two))


@dataclass(frozen=True)
class Credible:
    """The standard error and the credible interval of one of several rules, when it is asked."""

    errors: RuleErrors
    rule: int
    confidence_level: float

    def std_error(self) -> float | None:
        """The standard deviation of the posterior; None where it underflows to 0."""
        return float(np.sqrt(self.errors.variances[self.rule])) or None

    def interval(self) -> Interval:
        """Equal-tailed."""
        low, high = self.errors.law(self.rule).interval(self.confidence_level)
        return Interval(low, high, "credible", self.confidence_level)


def pairwise(
    rows: ScaledRows, rules: LinearRules, shares: Mapping[int, float], priors: Priors
) -> list[RuleErrors]:
    """Of every pair of classes; the sum over pairs is the pairwise error of the document."""
    return [
        RuleErrors.of(rows, rules, (k, m), (shares[k], shares[m]), priors)
        for k, m in rules.class_pairs()
    ]


@dataclass(frozen=True, eq=False)
class _Lines:
    """Rules between two classes: in the units of X, and what they are for the scaled rows."""

    slopes: np.ndarray
    intercepts: np.ndarray
    scaled: np.ndarray
    starts: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, rows: ScaledRows, slopes: np.ndarray, intercepts: np.ndarray) -> _Lines:
        scaled = rows.slopes(slopes)
        squares = np.einsum("ij,ij->i", scaled, scaled)
        return cls(slopes, intercepts, scaled, rows.intercepts(slopes, intercepts), squares)


def _normal(
    rows: ScaledRows, lines: _Lines, pair: tuple[int, int], priors: Mapping[int, ClassPrior]
) -> tuple[ClassErrors, np.ndarray, np.ndarray]:
    """Posteriors under a general covariance, and what is the prior's of scatter and variance."""
    scores = [rows.scores(lines.slopes, lines.intercepts, code) for code in pair]
    seen = Scored.joined(
        [_scored(scores, place, lines, priors[code]) for place, code in enumerate(pair)]
    )
    signs = np.repeat([-1.0, 1.0], len(lines.starts))
    found = posterior(seen, signs, np.tile(lines.starts, 2), np.tile(lines.squares, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(found.b > 0, seen.prior_scatter / (2 * found.b), 0.0)
    inflation = seen.n / (2 * found.alpha)
    both = part, np.where((inflation - 1) * np.sqrt(seen.n) > MOST, inflation, 0.0)
    return found, *(each.reshape(2, -1).max(axis=0) for each in both)


def _scored(scores: Sequence[np.ndarray], place: int, lines: _Lines, prior: ClassPrior) -> Scored:
    """One class, with S and m of the prior or, where those are None, of both classes together."""
    seen = Scored.of(scores[place], lines.starts, lines.squares, excess=prior.excess, nu=prior.nu)
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
