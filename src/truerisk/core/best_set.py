r"""The confidence set of the candidates that may be the best, from losses of the same rows alone.

Candidate r is held against a mean of its rivals that is drawn to the good ones: with μ_s⁻ⁱ the mean
loss of candidate s on all rows but i,

    Q_i = ℓ_ri − Σ_{s≠r} ω_s⁻ⁱ ℓ_si,   ω_s⁻ⁱ ∝ exp(−λ μ_s⁻ⁱ),

and it leaves the set where the mean of Q is above 0 by more than its noise. The weights of row i
are made without row i, so that picking the good rivals is no double use of it: the mean of Q is
nearly normal however many candidates there are and however many of them tie (Zhang, Lee and Lei,
2024, arXiv 2408.02060). No correction for their number is needed, and bad candidates cost nothing.

Out-of-fold losses share training rows, so that the variance of the mean of Q is enlarged (`FOLDS`),
as that of a risk is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from truerisk.core.arguments import check_level

__all__ = ["Comparable", "PairedLosses", "may_be_best"]

SHARPNESS = 1.0  # λ in standard errors of a difference: a single row moves no weight by much
FOLDS = 1.4  # times the variance of independent rows; calibrated (`benchmarks.best_set`)
CANCELLED = 1e-6  # of a sum: what is left of it has too few digits
NOTHING = 1e-12  # of the largest loss: a smaller difference is rounding


@dataclass(frozen=True, eq=False)
class PairedLosses:
    """`losses[c, j]` of candidate c on row j, whose `shares` in the risk add to 1.

    A candidate without a risk has NaN. Rows of one of the `groups` may depend on each other.
    """

    losses: np.ndarray
    shares: np.ndarray
    groups: np.ndarray | None = None

    def by_unit(self) -> tuple[np.ndarray, np.ndarray]:
        """What each row, or group, adds to every risk, and its share; those without any are out."""
        parts, shares = self.losses * self.shares, self.shares
        if self.groups is not None:
            member = np.unique(self.groups, return_inverse=True)[1].ravel()
            parts = np.array([np.bincount(member, line) for line in parts])
            shares = np.bincount(member, shares)
        counts = shares > 0
        return parts[:, counts], shares[counts]


class Comparable(Protocol):
    """What holds losses of several candidates on the same rows."""

    def losses(self) -> PairedLosses:
        """The losses; a refusal says why there are none."""
        ...


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
    known = np.flatnonzero(np.isfinite(paired.losses).all(axis=1))
    kept = np.zeros(len(paired.losses), dtype=bool)
    if not len(known):
        return kept
    parts, shares = PairedLosses(paired.losses[known], paired.shares, paired.groups).by_unit()
    scale = float(np.abs(paired.losses[known]).max())
    kept[known] = _not_worse(parts, shares, NOTHING * scale, level)
    return kept


def _not_worse(parts: np.ndarray, shares: np.ndarray, nothing: float, level: float) -> np.ndarray:
    """Of which candidates it is not shown that their rivals do better."""
    rivals = _Rivals.of(parts, shares, nothing)
    if rivals is None:
        return np.ones(len(parts), dtype=bool)
    from scipy.special import stdtrit

    m = len(shares)
    most = float(stdtrit(m - 1, level)) * (FOLDS * m / (m - 1)) ** 0.5
    kept = np.empty(len(parts), dtype=bool)
    for c, mine in enumerate(parts):
        behind = mine - rivals.mean_without(c)
        mean = behind.sum()
        noise = np.sqrt(((behind - shares * mean) ** 2).sum())
        kept[c] = mean <= max(most * noise, nothing)
    kept[parts.sum(axis=1).argmin()] = True
    return kept


@dataclass(frozen=True, eq=False)
class _Rivals:
    """Parts of the risks, and the weight of every candidate before each row, or group, is seen."""

    parts: np.ndarray
    logs: np.ndarray
    weights: np.ndarray
    total: np.ndarray
    weighted: np.ndarray

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
        return cls(parts, logs, weights, weights.sum(axis=0), (weights * parts).sum(axis=0))

    def mean_without(self, c: int) -> np.ndarray:
        """What each row adds to the mean of the rivals of c."""
        rest = self.total - self.weights[c]
        if (rest > CANCELLED * self.total).all():
            found: np.ndarray = (self.weighted - self.weights[c] * self.parts[c]) / rest
            return found
        others = np.arange(len(self.parts)) != c
        logs = self.logs[others]
        weights = np.exp(logs - logs.max(axis=0))
        return np.asarray((weights * self.parts[others]).sum(axis=0) / weights.sum(axis=0))
