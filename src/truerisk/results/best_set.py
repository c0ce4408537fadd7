"""Confidence set for the candidate with the smallest risk, from losses on the same rows.

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
from truerisk.results.evaluation import FOLD_VARIANCE_FACTOR, CandidateLosses

# A candidate's weight decreases exponentially with its risk, at the rate λ. The rate is
# WEIGHT_SHARPNESS divided by a typical standard error of a difference between two risks.
# With this λ a single row hardly changes the weight of a candidate.
WEIGHT_SHARPNESS = 1.0
# A difference of two numbers has lost too many digits to cancellation if it is smaller than
# this share of the numbers.
CANCELLATION_RATIO = 1e-6
# A difference of two losses is rounding error if it is below this share of the largest loss.
ROUNDING_RATIO = 1e-12


def may_be_best(paired: CandidateLosses, level: float) -> np.ndarray:
    """Return a mask of the candidates that may have the smallest true risk (a confidence set).

    The set contains the candidate with the smallest true risk with probability `level`. The
    candidate with the smallest estimated risk is always in the set, and a candidate without a risk
    never is. Candidates with the same losses are either all in the set or all outside.

    >>> rows = np.arange(40)
    >>> losses = np.array([rows % 4 == 0, rows % 5 == 0, rows % 2 == 0], dtype=float)
    >>> may_be_best(CandidateLosses(losses, np.full(40, 1 / 40)), 0.95).tolist()
    [True, True, False]
    """
    check_level("level", level)
    finite_candidates = np.flatnonzero(np.isfinite(paired.losses).all(axis=1))
    is_in_set = np.zeros(len(paired.losses), dtype=bool)
    if not len(finite_candidates):
        return is_in_set
    contributions, unit_shares = replace(
        paired, losses=paired.losses[finite_candidates]
    ).contributions_by_unit()
    rivals = _WeightedCandidates.from_contributions(
        contributions,
        unit_shares,
        ROUNDING_RATIO * float(np.abs(paired.losses[finite_candidates]).max()),
    )
    if rivals is None:
        is_in_set[finite_candidates] = True
        return is_in_set
    variance_factors = (
        np.full(len(finite_candidates), FOLD_VARIANCE_FACTOR)
        if paired.variance_factors is None
        else paired.variance_factors[finite_candidates]
    )
    one_row_effects = (
        np.zeros(len(finite_candidates))
        if paired.one_row is None
        else paired.one_row[finite_candidates]
    )
    best_index = int(contributions.sum(axis=1).argmin())
    for index, (candidate, variance_factor) in enumerate(
        zip(finite_candidates.tolist(), variance_factors.tolist(), strict=True)
    ):
        one_row_variance = 2 * max(one_row_effects[index], one_row_effects[best_index]) ** 2
        noise = _DifferenceNoise(
            unit_shares, variance_factor, float(one_row_variance), level, rivals.rounding_error
        )
        is_removed = index != best_index and all(
            noise.is_exceeded_by_mean(contributions[index] - rival_contributions)
            for rival_contributions in (
                contributions[best_index],
                rivals.mean_without_candidate(index),
            )
        )
        is_in_set[candidate] = not is_removed
    return is_in_set


@frozen(eq=False)
class _DifferenceNoise:
    """Noise of the mean difference between the losses of two candidates.

    It is computed as in the paired test "paired-cv".
    """

    unit_shares: np.ndarray
    variance_factor: float
    one_row_variance: float
    level: float
    rounding_error: float

    def is_exceeded_by_mean(self, contributions: np.ndarray) -> bool:
        """Return True if the mean difference exceeds its noise.

        The mean difference is the sum of `contributions`.
        """
        from scipy.special import stdtrit

        n_units, mean_difference = len(self.unit_shares), float(contributions.sum())
        if mean_difference <= self.rounding_error or n_units <= self.variance_factor:
            return False
        row_variance = (
            n_units
            / (n_units - 1)
            * float(((contributions - self.unit_shares * mean_difference) ** 2).sum())
        )
        std_error = (self.variance_factor * (row_variance + self.one_row_variance)) ** 0.5
        return bool(
            mean_difference > stdtrit(n_units / self.variance_factor - 1, self.level) * std_error
        )


@frozen(eq=False)
class _WeightedCandidates:
    """Contributions of rows or groups to each candidate's risk, and weights of the candidates.

    Each weight is computed once without each row, so that the choice of good rivals does not use
    that row.
    """

    contributions: np.ndarray
    log_weights: np.ndarray
    weights: np.ndarray
    total_weights: np.ndarray
    weighted_sums: np.ndarray
    rounding_error: float

    @classmethod
    def from_contributions(
        cls, contributions: np.ndarray, unit_shares: np.ndarray, rounding_error: float
    ) -> _WeightedCandidates | None:
        """Compute candidates' weights; return None for one candidate, one row or equal losses."""
        n_units = len(unit_shares)
        risks = contributions.sum(axis=1)
        if n_units < 2 or len(contributions) < 2:
            return None
        differences = contributions - contributions[risks.argmin()]
        differences -= unit_shares * differences.sum(axis=1, keepdims=True)
        std_errors = np.sqrt(n_units / (n_units - 1) * (differences**2).sum(axis=1))
        std_errors = std_errors[std_errors > rounding_error]
        if not len(std_errors):
            return None
        log_weights = (
            (risks[:, None] - contributions)
            / (1 - unit_shares)
            * (-WEIGHT_SHARPNESS / np.median(std_errors))
        )
        weights = np.exp(log_weights - log_weights.max(axis=0))
        total_weights, weighted_sums = weights.sum(axis=0), (weights * contributions).sum(axis=0)
        return cls(
            contributions, log_weights, weights, total_weights, weighted_sums, rounding_error
        )

    def mean_without_candidate(self, candidate: int) -> np.ndarray:
        """Return each row's contribution to the weighted mean risk of the other candidates.

        `candidate` is the one that is not included.
        """
        remaining_weight = self.total_weights - self.weights[candidate]
        if (remaining_weight > CANCELLATION_RATIO * self.total_weights).all():
            mean_contributions: np.ndarray = (
                self.weighted_sums - self.weights[candidate] * self.contributions[candidate]
            ) / remaining_weight
            return mean_contributions
        is_rival = np.arange(len(self.contributions)) != candidate
        log_weights = self.log_weights[is_rival]
        weights = np.exp(log_weights - log_weights.max(axis=0))
        return np.asarray(
            (weights * self.contributions[is_rival]).sum(axis=0) / weights.sum(axis=0)
        )
