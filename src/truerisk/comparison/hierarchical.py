r"""The hierarchical correlated t test: two methods on many data sets, from their single splits.

For data set i, the differences x of n splits, whose training sets overlap, are normal with mean δᵢ,
standard deviation σᵢ and correlation ρᵢ. The δᵢ have a Student t distribution around μ₀ with scale
σ₀ and ν degrees of freedom (Corani, Benavoli, Demšar, Mangili and Zaffalon 2017). The priors are:
σᵢ and σ₀ are uniform from 0 on, μ₀ is uniform within the largest difference, and ν − 1 is gamma
with a shape uniform in (½, 5) and a rate uniform in (.05, .15).

The posterior is three-dimensional and is summed on a grid, without simulation. With a flat σᵢ the
likelihood of δᵢ is a Student t with n − 2 degrees of freedom around the mean x̄ᵢ,

    scale² = (1 + (n − 1) ρ) / n · Σ (x − x̄)² / ((1 − ρ) (n − 2)),

and a Student t is a normal distribution whose precision is gamma. The convolution of the two t
distributions is therefore a double sum of normal densities over logarithms of precisions, which the
trapezoidal rule computes with an error far below that of the grid. The sum over the precisions of
δᵢ only shifts log σ₀, so that one table over μ₀ and log τ serves all σ₀ and all ν.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.results.records import Share

FEWEST_SETS, FEWEST_SPLITS = 3, 3
N_MEANS, N_DEGREES = 97, 12
STEP = 0.06  # step of log τ in the grid
STRIDE = 3  # steps of log τ in one of log σ₀
# Precisions of a δ, from a small τ to a large one.
LOG_PRECISIONS = np.arange(4.0, -20.0, -2 * STEP)
WIDEST, NARROWEST = 1e3, 1e-3  # σ₀ in standard deviations of the means
NOTHING = 1e-7  # Probability of the posterior that may lie outside the grid.
FLOOR = 1e-6  # scale of a data set whose differences are all equal


@frozen
class Hierarchical:
    """Prediction for another data set of the same kind.

    `better`, `equivalent` and `worse` are the probabilities that each of the three is the most
    likely result on the next data set. `next_better`, `next_equivalent` and `next_worse` are its
    predictive probabilities.
    """

    better: Share
    equivalent: Share
    worse: Share
    next_better: Share
    next_equivalent: Share
    next_worse: Share


@frozen
class _Likelihood:
    """The Student t likelihood of δ of one data set."""

    centre: float
    scale: float
    df: int


def hierarchical(
    differences: Sequence[np.ndarray], correlations: Sequence[float], rope: float
) -> Hierarchical | None:
    """Return the posterior of the splits' differences; None if all of them are equal."""
    largest = max(float(np.abs(x).max()) for x in differences)
    widest_split = max(float(np.ptp(x)) for x in differences)
    if (
        max(widest_split, float(np.ptp([x.mean() for x in differences]))) <= 1e-12 * largest
        or not largest
    ):
        return None
    sets = [_likelihood(x / largest, rho) for x, rho in zip(differences, correlations, strict=True)]
    means, weights = _means(sets)
    # These are logarithms of σ₀ over the orders of magnitude that its prior allows. For large σ₀
    # its density decreases as the power N − 1, so that many data sets need fewer values.
    spread = float(np.std([each.centre for each in sets], ddof=1))
    spread = max(spread, 1e-3 * float(np.mean([each.scale for each in sets])), FLOOR)
    widest = min(WIDEST, 10 * NOTHING ** (-1 / (len(sets) - 2)))
    ends = np.log([NARROWEST * spread, widest * spread])
    log_scales = np.asarray(np.arange(ends[0], ends[1], STRIDE * STEP))
    # These are ν and its prior weights: gamma, averaged over shapes and rates, on a logarithmic
    # grid.
    from scipy.special import gammaln

    excess = np.geomspace(0.02, 300, N_DEGREES)[:, None, None]
    shape = np.linspace(0.5, 5, 46)[:, None]
    rate = np.linspace(0.05, 0.15, 21)
    log_density = shape * np.log(rate) - gammaln(shape) + shape * np.log(excess) - rate * excess
    prior = np.exp(log_density).mean((1, 2))
    degrees, prior = 1 + excess.ravel(), prior / prior.sum()
    scales = np.exp(log_scales)
    posterior = _posterior(sets, means, log_scales, degrees)
    posterior += np.log(weights)[:, None, None] + np.log(prior)
    # Below the smallest σ₀ nothing changes any more, so that its cell extends to 0.
    cells = scales * STRIDE * STEP
    cells[0] += scales[0]
    posterior += np.log(cells)[:, None]
    chances = np.exp(posterior - posterior.max())
    return _next(chances / chances.sum(), means, scales, degrees, rope / largest)


def _likelihood(x: np.ndarray, rho: float) -> _Likelihood:
    n = len(x)
    squares = float(((x - x.mean()) ** 2).sum())
    scale = np.sqrt((1 + (n - 1) * rho) / n * squares / ((1 - rho) * (n - 2)))
    return _Likelihood(float(x.mean()), max(float(scale), FLOOR), n - 2)


def _means(sets: Sequence[_Likelihood]) -> tuple[np.ndarray, np.ndarray]:
    """Return a grid of μ₀ from −1 to 1 (the largest difference) and its weights.

    It is dense near the data sets.
    """
    centres = np.array([likelihood.centre for likelihood in sets])
    middle = float(np.median(centres))
    narrow = 1 / np.sqrt(sum(1 / likelihood.scale**2 for likelihood in sets))
    narrow = max(narrow, 0.05 * float(centres.std()), 1e-5)
    low, high = np.arcsinh((-1 - middle) / narrow), np.arcsinh((1 - middle) / narrow)
    places = np.linspace(low, high, N_MEANS)
    weights = np.cosh(places)
    weights[[0, -1]] /= 2
    return middle + narrow * np.sinh(places), weights


def _log_precision_density(u: np.ndarray, df: np.ndarray | float) -> np.ndarray:
    """Return the log density of u = log g, where g df is χ² with df degrees of freedom."""
    from scipy.special import gammaln

    half = np.asarray(df) / 2
    return np.asarray(half * np.log(half) - gammaln(half) + half * (u - np.exp(u)))


def _posterior(
    sets: Sequence[_Likelihood], means: np.ndarray, log_scales: np.ndarray, degrees: np.ndarray
) -> np.ndarray:
    """Return the log likelihood of μ₀, σ₀ and ν, summed over the data sets."""
    mixed = np.exp(_log_precision_density(LOG_PRECISIONS[:, None], degrees)) * 2 * STEP
    first, n_windows = -LOG_PRECISIONS[0] / 2, STRIDE * (len(log_scales) - 1) + 1
    log_tau = log_scales[0] + first + STEP * np.arange(n_windows + len(LOG_PRECISIONS) - 1)
    total = np.zeros((len(means), len(log_scales), len(degrees)))
    for likelihood in sets:
        table = _table(likelihood, means, np.exp(2 * log_tau))
        windows = np.lib.stride_tricks.sliding_window_view(table, len(LOG_PRECISIONS), axis=1)
        total += np.log(windows[:, ::STRIDE] @ mixed + 1e-300)
    return total


def _table(likelihood: _Likelihood, means: np.ndarray, tau_squared: np.ndarray) -> np.ndarray:
    """Return the density of x̄ − μ₀ for a normal δ of variance τ², summed over precisions of x̄."""
    step = min(0.4, np.sqrt(2 / likelihood.df))
    u = np.arange(3.0 * np.sqrt(2 / likelihood.df) + 1, -24.0 / min(likelihood.df, 2) - 1, -step)
    logs = _log_precision_density(u, float(likelihood.df))
    u, weights = u[logs > -30], np.exp(logs[logs > -30]) * step
    squared = (likelihood.centre - means)[:, None] ** 2
    density = np.zeros((len(means), len(tau_squared)))
    for variance, weight in zip(likelihood.scale**2 * np.exp(-u), weights, strict=True):
        total = variance + tau_squared
        density += weight / np.sqrt(2 * np.pi * total) * np.exp(-squared / (2 * total))
    return density


def _next(
    chances: np.ndarray, means: np.ndarray, scales: np.ndarray, degrees: np.ndarray, rope: float
) -> Hierarchical:
    """Predict the next δ from the posterior of its distribution."""
    from scipy.special import stdtr

    below = (-rope - means[:, None, None]) / scales[:, None]
    above = (means[:, None, None] - rope) / scales[:, None]
    better, worse = stdtr(degrees, below), stdtr(degrees, above)
    equivalent = np.maximum(1 - better - worse, 0)
    lower = _mass(better - np.maximum(equivalent, worse), chances)
    higher = 1 - _mass(np.maximum(equivalent, better) - worse, chances)
    three = [float((chance * chances).sum()) for chance in (better, equivalent, worse)]
    return Hierarchical(lower, max(1 - lower - higher, 0.0), max(higher, 0.0), *three)


def _mass(margin: np.ndarray, chances: np.ndarray) -> float:
    """Return the posterior probability of all μ₀ with a positive margin, which decreases with μ₀.

    The zero crossing lies between two points of the grid, whose cells extend half way to each
    other.
    """
    positive = (margin > 0).sum(0)
    last, first = np.maximum(positive - 1, 0), np.minimum(positive, len(margin) - 1)
    before = np.take_along_axis(margin, last[None], 0)[0]
    after = np.take_along_axis(margin, first[None], 0)[0]
    share = np.where(before > after, before / np.maximum(before - after, 1e-300), 1.0)
    place = np.clip(np.where(positive > 0, last + share + 0.5, 0.0), 0, len(margin))
    below = np.concatenate([np.zeros((1, *positive.shape)), np.cumsum(chances, 0)])
    whole = np.minimum(place.astype(int), len(margin) - 1)
    reached = np.take_along_axis(below, whole[None], 0)[0]
    within = np.take_along_axis(chances, whole[None], 0)[0]
    return float((reached + (place - whole) * within).sum())
