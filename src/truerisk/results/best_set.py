"""Which candidates may be the best: a confidence set, from losses of the same rows alone.

Candidate r is held against a mean of its rivals that is drawn to the good ones: with μ_s⁻ⁱ the mean
loss of candidate s on all rows but i,

    Q_i = ℓ_ri − Σ_{s≠r} ω_s⁻ⁱ ℓ_si,   ω_s⁻ⁱ ∝ exp(−λ μ_s⁻ⁱ),

and it leaves the set where the mean of Q is above 0 by more than its noise. The weights of row i
are made without row i, so that picking the good rivals is no double use of it: the mean of Q is
nearly normal however many candidates there are and however many of them tie (Zhang, Lee and Lei,
2024, arXiv 2408.02060). No correction for their number is needed, and bad candidates cost nothing.

Out-of-fold losses share training rows, so that the variance of the mean of Q is enlarged by the
factor of a paired difference (`comparison/paired.py`). A candidate leaves the set only if its
difference from the winner alone exceeds its noise as well: the mean of several rivals varies less
than one of them, and a set must not contradict the paired test that is printed beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from truerisk.core.arguments import check_level
from truerisk.results.evaluation import FOLDS, PairedLosses

SHARPNESS = 1.0  # λ in standard errors of a difference: a single row moves no weight by much
CANCELLED = 1e-6  # of a sum: what is left of it has too few digits
NOTHING = 1e-12  # of the largest loss: a smaller difference is rounding


def may_be_best(paired: PairedLosses, level: float) -> np.ndarray:
    """Which candidates are in the set that holds the best one with probability `level`.

    The one with the smallest risk always is; one without a risk never. Candidates with the same
    losses are in it together.

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
    rivals = _Rivals.of(parts, shares, NOTHING * float(np.abs(paired.losses[finite]).max()))
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


@dataclass(frozen=True, eq=False)
class _Noise:
    """What the mean of a difference may be by chance, as the test "paired-cv" has it."""

    shares: np.ndarray
    factor: float
    unseen: float
    level: float
    nothing: float

    def is_exceeded_by(self, parts: np.ndarray) -> bool:
        """Return True if the sum of the parts, one for each row or group, is more than noise."""
        from scipy.special import stdtrit

        m, mean = len(self.shares), float(parts.sum())
        if mean <= self.nothing or m <= self.factor:
            return False
        plain = m / (m - 1) * float(((parts - self.shares * mean) ** 2).sum())
        error = (self.factor * (plain + self.unseen)) ** 0.5
        return bool(mean > stdtrit(m / self.factor - 1, self.level) * error)


@dataclass(frozen=True, eq=False)
class _Rivals:
    """Parts of the risks, and the weight of every candidate before each row, or group, is seen."""

    parts: np.ndarray
    logs: np.ndarray
    weights: np.ndarray
    total: np.ndarray
    weighted: np.ndarray
    nothing: float

    @classmethod
    def of(cls, parts: np.ndarray, shares: np.ndarray, nothing: float) -> _Rivals | None:
        """None where nothing tells the candidates apart: one of them, one row, the same losses."""
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
        """What each row adds to the mean of the rivals of c."""
        rest = self.total - self.weights[c]
        if (rest > CANCELLED * self.total).all():
            mean: np.ndarray = (self.weighted - self.weights[c] * self.parts[c]) / rest
            return mean
        others = np.arange(len(self.parts)) != c
        logs = self.logs[others]
        weights = np.exp(logs - logs.max(axis=0))
        return np.asarray((weights * self.parts[others]).sum(axis=0) / weights.sum(axis=0))
