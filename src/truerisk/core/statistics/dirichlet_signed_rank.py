r"""The Bayesian signed-rank test: a Dirichlet process in place of a distribution of differences.

The differences z₁ … z_N of N data sets, and z₀ = 0 for the prior, get weights w that are Dirichlet
with parameters (s, 1, …, 1). With r half the width of the region of practical equivalence

    θ_better = Σᵢⱼ wᵢ wⱼ [zᵢ + zⱼ < −2r],  θ_worse = Σᵢⱼ wᵢ wⱼ [zᵢ + zⱼ > 2r],  θ_equal the rest,

and the answer is how probably each of the three is the largest (Benavoli, Mangili, Corani, Zaffalon
and Ruggeri 2014; Benavoli, Corani, Demšar and Zaffalon 2017). The weights are drawn from their
distribution itself, so the only error is that of the number of draws.
"""

from __future__ import annotations

import numpy as np

from truerisk.core.scale import TIE

__all__ = ["DRAWS", "PRIOR", "dirichlet_signed_rank"]

DRAWS = 50_000
PRIOR = 0.5  # the strength s
AT_ONCE = 200_000  # weights, so many as a cache holds


def dirichlet_signed_rank(
    differences: np.ndarray,
    rope: float,
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
    prior: float = PRIOR,
) -> tuple[float, float, float]:
    """How probably "lower by more than `rope`", "no matter" and "higher" is the largest share."""
    z = np.append(np.sort(differences), 0.0)
    lower, higher = _bounds(z, rope)
    won, left = np.zeros(3), draws
    while left:
        some = min(left, max(1, AT_ONCE // len(z)))
        shares = _shares(z, lower, higher, _weights(rng, some, len(z), prior))
        won += np.bincount(shares.argmax(0), minlength=3)
        left -= some
    better, equivalent, worse = (won / draws).tolist()
    return better, equivalent, worse


def _weights(rng: np.random.Generator, draws: int, n: int, prior: float) -> np.ndarray:
    """Dirichlet weights, a column for each draw; the last row is the prior's."""
    drawn = np.empty((n, draws))
    drawn[:-1] = rng.standard_exponential((n - 1, draws))
    drawn[-1] = rng.standard_gamma(prior, draws)
    drawn /= drawn.sum(0)
    return drawn


def _bounds(z: np.ndarray, rope: float) -> tuple[np.ndarray, np.ndarray]:
    """For each zᵢ how many sorted zⱼ lie below −2r − zᵢ, and how many do not exceed 2r − zᵢ.

    A sum that is the end of the region up to rounding lies inside.
    """
    ordered, width = np.sort(z), 2 * rope
    slack = 2 * TIE * max(float(np.abs(z).max()), rope)
    lower = np.searchsorted(ordered, -width - z - slack, side="left")
    higher = np.searchsorted(ordered, width - z + slack, side="right")
    return lower, higher


def _shares(
    z: np.ndarray, lower: np.ndarray, higher: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """θ_better, θ_equal and θ_worse of each draw."""
    below = np.zeros((len(z) + 1, weights.shape[1]))
    np.cumsum(weights[np.argsort(z, kind="stable")], axis=0, out=below[1:])
    better = np.einsum("id,id->d", weights, below[lower])
    worse = np.einsum("id,id->d", weights, 1 - below[higher])
    return np.stack([better, 1 - better - worse, worse])
