"""Confidence set of the candidates that may be the best, from losses of the same rows.

Candidate r is compared with a weighted mean of its rivals in which good rivals have large weights.
Let μ_s⁻ⁱ be the mean loss of candidate s on all rows except i, and

    Q_i = ℓ_ri − Σ_{s≠r} ω_s⁻ⁱ ℓ_si,   ω_s⁻ⁱ ∝ exp(−λ μ_s⁻ⁱ),

Candidate r is removed from the set if the mean of Q is above 0 by more than its noise. The weights
of row i are computed without row i, so that the choice of good rivals does not use row i twice. The
mean of Q is therefore nearly normal, however many candidates there are and however many of them tie
(Zhang, Lee and Lei, 2024, arXiv 2408.02060). No correction for their number is needed, and bad
candidates cost nothing.

Out-of-fold losses share training rows. The variance of the mean of Q is therefore multiplied by the
factor of a paired difference (`comparison/paired.py`). A candidate is removed only if its
difference from the winner alone exceeds its noise as well: the mean of several rivals varies less
than one of them, and the set must not contradict the paired test that is printed next to it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from truerisk.core.arguments import check_level
from truerisk.core.frozen import frozen
from truerisk.results.evaluation import FOLDS, PairedLosses

# λ relative to the standard error of a difference, so that a single row hardly changes a weight
SHARPNESS = 1.0
# A difference smaller than this share of its operands has too few correct digits.
CANCELLED = 1e-6
# A difference smaller than this share of the largest loss is rounding error.
NOTHING = 1e-12


def may_be_best(paired: PairedLosses, level: float) -> np.ndarray:
    """Return a mask of the candidates in a set that contains the best with probability `level`.

    The candidate with the smallest risk is always in the set, and a candidate without a risk never
    is. Candidates with the same losses are either all in the set or all outside.

    >>> rows = np.arange(40)
    >>> losses = np.array([rows % 4 == 0, rows % 5 == 0, rows % 2 == 0], dtype=float)
    >>> may_be_best(PairedLosses(losses, np.full(40, 1 / 40)), 0.95).tolist()
    [True, True, False]
    """
    check_level("level", level)
    finite = np.flatnonzero(np.isfinite(paired.losses).all(axis=1))
    may_be = np.zeros(len(paired.losses), dtype=bool)
    if not len(finite):
        return may_be
    parts, shares = replace(paired, losses=paired.losses[finite]).by_unit()
    rivals = _Rivals.from_parts(parts, shares, NOTHING * float(np.abs(paired.losses[finite]).max()))
    if rivals is None:
        may_be[finite] = True
        return may_be
    factors = np.full(len(finite), FOLDS) if paired.factors is None else paired.factors[finite]
    one_row = np.zeros(len(finite)) if paired.one_row is None else paired.one_row[finite]
    best = int(parts.sum(axis=1).argmin())
    for c, (place, factor) in enumerate(zip(finite.tolist(), factors.tolist(), strict=True)):
        unseen = 2 * max(one_row[c], one_row[best]) ** 2
        noise = _Noise(shares, factor, float(unseen), level, rivals.nothing)
        leaves = c != best and all(
            noise.is_exceeded_by(parts[c] - other)
            for other in (parts[best], rivals.mean_without(c))
        )
        may_be[place] = not leaves
    return may_be


@frozen(eq=False)
class _Noise:
    """The noise of a mean difference, as in the test "paired-cv"."""

    shares: np.ndarray
    factor: float
    unseen: float
    level: float
    nothing: float

    def is_exceeded_by(self, parts: np.ndarray) -> bool:
        """Return True if the sum of the parts, one for each row or group, exceeds the noise."""
        from scipy.special import stdtrit

        m, mean = len(self.shares), float(parts.sum())
        if mean <= self.nothing or m <= self.factor:
            return False
        plain = m / (m - 1) * float(((parts - self.shares * mean) ** 2).sum())
        error = (self.factor * (plain + self.unseen)) ** 0.5
        return bool(mean > stdtrit(m / self.factor - 1, self.level) * error)


@frozen(eq=False)
class _Rivals:
    """Parts of the risks, and the candidates' weights computed without each row or group."""

    parts: np.ndarray
    logs: np.ndarray
    weights: np.ndarray
    total: np.ndarray
    weighted: np.ndarray
    nothing: float

    @classmethod
    def from_parts(cls, parts: np.ndarray, shares: np.ndarray, nothing: float) -> _Rivals | None:
        """Return the rivals, or None for one candidate, one row or equal losses."""
        m = len(shares)
        values = parts.sum(axis=1)
        if m < 2 or len(parts) < 2:
            return None
        apart = parts - parts[values.argmin()]
        apart -= shares * apart.sum(axis=1, keepdims=True)
        noises = np.sqrt(m / (m - 1) * (apart**2).sum(axis=1))
        noises = noises[noises > nothing]
        if not len(noises):
            return None
        logs = (values[:, None] - parts) / (1 - shares) * (-SHARPNESS / np.median(noises))
        weights = np.exp(logs - logs.max(axis=0))
        total, weighted = weights.sum(axis=0), (weights * parts).sum(axis=0)
        return cls(parts, logs, weights, total, weighted, nothing)

    def mean_without(self, c: int) -> np.ndarray:
        """Return each row's contribution to the mean of the rivals of c."""
        rest = self.total - self.weights[c]
        if (rest > CANCELLED * self.total).all():
            mean: np.ndarray = (self.weighted - self.weights[c] * self.parts[c]) / rest
            return mean
        others = np.arange(len(self.parts)) != c
        logs = self.logs[others]
        weights = np.exp(logs - logs.max(axis=0))
        return np.asarray((weights * self.parts[others]).sum(axis=0) / weights.sum(axis=0))
