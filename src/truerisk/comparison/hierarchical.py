r"""The hierarchical correlated t test compares two methods by their splits on many data sets.

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

FEWEST_DATA_SETS, FEWEST_SPLITS = 3, 3
N_MEANS, N_DEGREES = 97, 12
LOG_TAU_STEP = 0.06  # step of log τ in the grid of the posterior
STEPS_PER_SCALE = 3  # number of steps of log τ in one step of log σ₀
# Logarithms of the precision of a mean difference δ, in the order of increasing τ.
LOG_PRECISIONS = np.arange(4.0, -20.0, -2 * LOG_TAU_STEP)
# largest and smallest σ₀, in standard deviations of the data sets' mean differences
LARGEST_SCALE, SMALLEST_SCALE = 1e3, 1e-3
NEGLIGIBLE_PROBABILITY = 1e-7  # The posterior probability outside the grid is below this.
MIN_LIKELIHOOD_SCALE = 1e-6  # likelihood scale if all differences of a data set are equal


@frozen
class HierarchicalResult:
    """Probabilities that one method is better than, equivalent to or worse than another.

    The probabilities refer to the next data set of the same kind.

    `better`, `equivalent` and `worse` are the probabilities that each of the three is the most
    likely result on the next data set. `next_better`, `next_equivalent` and `next_worse` are the
    predictive probabilities of its result.
    """

    better: Share
    equivalent: Share
    worse: Share
    next_better: Share
    next_equivalent: Share
    next_worse: Share


@frozen
class _Likelihood:
    """Student t likelihood of the mean difference δ on one data set."""

    centre: float
    scale: float
    df: int


def hierarchical_test(
    differences: Sequence[np.ndarray], correlations: Sequence[float], rope: float
) -> HierarchicalResult | None:
    """Run the hierarchical Bayesian test on the differences in single splits.

    The result is None if all differences are equal.
    """
    largest_difference = max(
        float(np.abs(set_differences).max()) for set_differences in differences
    )
    largest_range = max(float(np.ptp(set_differences)) for set_differences in differences)
    if (
        max(
            largest_range,
            float(np.ptp([set_differences.mean() for set_differences in differences])),
        )
        <= 1e-12 * largest_difference
        or not largest_difference
    ):
        return None
    likelihoods = [
        _student_t_likelihood(set_differences / largest_difference, rho)
        for set_differences, rho in zip(differences, correlations, strict=True)
    ]
    means, weights = _mean_grid(likelihoods)
    # The grid of log σ₀ covers the orders of magnitude that the prior of σ₀ allows. For large σ₀
    # the density decreases as the power N − 1, so many data sets need a smaller range.
    center_spread = float(np.std([likelihood.centre for likelihood in likelihoods], ddof=1))
    center_spread = max(
        center_spread,
        1e-3 * float(np.mean([likelihood.scale for likelihood in likelihoods])),
        MIN_LIKELIHOOD_SCALE,
    )
    largest_scale = min(LARGEST_SCALE, 10 * NEGLIGIBLE_PROBABILITY ** (-1 / (len(likelihoods) - 2)))
    log_scale_limits = np.log([SMALLEST_SCALE * center_spread, largest_scale * center_spread])
    log_scales = np.asarray(
        np.arange(log_scale_limits[0], log_scale_limits[1], STEPS_PER_SCALE * LOG_TAU_STEP)
    )
    # This is the grid of the degrees of freedom ν, with prior weights: a gamma density, averaged
    # over its shapes and rates.
    from scipy.special import gammaln

    dof_above_one = np.geomspace(0.02, 300, N_DEGREES)[:, None, None]
    gamma_shape = np.linspace(0.5, 5, 46)[:, None]
    gamma_rate = np.linspace(0.05, 0.15, 21)
    log_density = (
        gamma_shape * np.log(gamma_rate)
        - gammaln(gamma_shape)
        + gamma_shape * np.log(dof_above_one)
        - gamma_rate * dof_above_one
    )
    dof_prior = np.exp(log_density).mean((1, 2))
    dof, dof_prior = 1 + dof_above_one.ravel(), dof_prior / dof_prior.sum()
    scales = np.exp(log_scales)
    log_posterior = _total_log_likelihood(likelihoods, means, log_scales, dof)
    log_posterior += np.log(weights)[:, None, None] + np.log(dof_prior)
    # The posterior is constant below the smallest σ₀, so the first grid cell extends to 0.
    scale_cell_widths = scales * STEPS_PER_SCALE * LOG_TAU_STEP
    scale_cell_widths[0] += scales[0]
    log_posterior += np.log(scale_cell_widths)[:, None]
    posterior_weights = np.exp(log_posterior - log_posterior.max())
    return _predict_next(
        posterior_weights / posterior_weights.sum(),
        means,
        scales,
        dof,
        rope / largest_difference,
    )


def _student_t_likelihood(differences: np.ndarray, rho: float) -> _Likelihood:
    n = len(differences)
    square_sum = float(((differences - differences.mean()) ** 2).sum())
    scale = np.sqrt((1 + (n - 1) * rho) / n * square_sum / ((1 - rho) * (n - 2)))
    return _Likelihood(float(differences.mean()), max(float(scale), MIN_LIKELIHOOD_SCALE), n - 2)


def _mean_grid(likelihoods: Sequence[_Likelihood]) -> tuple[np.ndarray, np.ndarray]:
    """Return a grid of μ₀ from −1 to 1 (the largest difference) and its weights.

    The grid is dense near the means of the data sets.
    """
    centres = np.array([likelihood.centre for likelihood in likelihoods])
    center = float(np.median(centres))
    grid_width = 1 / np.sqrt(sum(1 / likelihood.scale**2 for likelihood in likelihoods))
    grid_width = max(grid_width, 0.05 * float(centres.std()), 1e-5)
    low, high = np.arcsinh((-1 - center) / grid_width), np.arcsinh((1 - center) / grid_width)
    grid_points = np.linspace(low, high, N_MEANS)
    weights = np.cosh(grid_points)
    weights[[0, -1]] /= 2
    return center + grid_width * np.sinh(grid_points), weights


def _log_precision_density(log_precision: np.ndarray, df: np.ndarray | float) -> np.ndarray:
    """Return the log density of u = log g for a variable g.

    The product of g and `df` has a χ² distribution with `df` degrees of freedom.
    """
    from scipy.special import gammaln

    half_df = np.asarray(df) / 2
    return np.asarray(
        half_df * np.log(half_df)
        - gammaln(half_df)
        + half_df * (log_precision - np.exp(log_precision))
    )


def _total_log_likelihood(
    likelihoods: Sequence[_Likelihood],
    means: np.ndarray,
    log_scales: np.ndarray,
    degrees: np.ndarray,
) -> np.ndarray:
    """Return the log likelihood of μ₀, σ₀ and ν, summed over the data sets."""
    precision_weights = (
        np.exp(_log_precision_density(LOG_PRECISIONS[:, None], degrees)) * 2 * LOG_TAU_STEP
    )
    first_log_tau, n_windows = -LOG_PRECISIONS[0] / 2, STEPS_PER_SCALE * (len(log_scales) - 1) + 1
    log_tau = (
        log_scales[0]
        + first_log_tau
        + LOG_TAU_STEP * np.arange(n_windows + len(LOG_PRECISIONS) - 1)
    )
    log_likelihoods = np.zeros((len(means), len(log_scales), len(degrees)))
    for likelihood in likelihoods:
        density_table = _density_table(likelihood, means, np.exp(2 * log_tau))
        density_windows = np.lib.stride_tricks.sliding_window_view(
            density_table, len(LOG_PRECISIONS), axis=1
        )
        log_likelihoods += np.log(
            density_windows[:, ::STEPS_PER_SCALE] @ precision_weights + 1e-300
        )
    return log_likelihoods


def _density_table(
    likelihood: _Likelihood, means: np.ndarray, tau_squared: np.ndarray
) -> np.ndarray:
    """Return the density of x̄ − μ₀ for each μ₀ and τ².

    The mean difference δ is normal with variance τ². The density is summed over the precisions of
    x̄.
    """
    log_precision_step = min(0.4, np.sqrt(2 / likelihood.df))
    log_precisions = np.arange(
        3.0 * np.sqrt(2 / likelihood.df) + 1, -24.0 / min(likelihood.df, 2) - 1, -log_precision_step
    )
    log_densities = _log_precision_density(log_precisions, float(likelihood.df))
    log_precisions, weights = (
        log_precisions[log_densities > -30],
        np.exp(log_densities[log_densities > -30]) * log_precision_step,
    )
    squared_distances = (likelihood.centre - means)[:, None] ** 2
    density = np.zeros((len(means), len(tau_squared)))
    for variance, weight in zip(
        likelihood.scale**2 * np.exp(-log_precisions), weights, strict=True
    ):
        total_variance = variance + tau_squared
        density += (
            weight
            / np.sqrt(2 * np.pi * total_variance)
            * np.exp(-squared_distances / (2 * total_variance))
        )
    return density


def _predict_next(
    posterior_weights: np.ndarray,
    means: np.ndarray,
    scales: np.ndarray,
    dof: np.ndarray,
    rope: float,
) -> HierarchicalResult:
    """Predict the next data set's mean difference δ from the posterior of its distribution."""
    from scipy.special import stdtr

    lower_limits = (-rope - means[:, None, None]) / scales[:, None]
    upper_limits = (means[:, None, None] - rope) / scales[:, None]
    better, worse = stdtr(dof, lower_limits), stdtr(dof, upper_limits)
    equivalent = np.maximum(1 - better - worse, 0)
    p_better = _positive_margin_probability(
        better - np.maximum(equivalent, worse), posterior_weights
    )
    p_worse = 1 - _positive_margin_probability(
        np.maximum(equivalent, better) - worse, posterior_weights
    )
    predictive_probabilities = [
        float((probability * posterior_weights).sum())
        for probability in (better, equivalent, worse)
    ]
    return HierarchicalResult(
        p_better, max(1 - p_better - p_worse, 0.0), max(p_worse, 0.0), *predictive_probabilities
    )


def _positive_margin_probability(margin: np.ndarray, posterior_weights: np.ndarray) -> float:
    """Return the posterior probability that the margin at μ₀ is positive.

    The margin decreases with μ₀. Its zero crossing lies between two points of the grid, whose cells
    extend half way to each other.
    """
    n_positive = (margin > 0).sum(0)
    last_positive_index, first_negative_index = (
        np.maximum(n_positive - 1, 0),
        np.minimum(n_positive, len(margin) - 1),
    )
    margin_before = np.take_along_axis(margin, last_positive_index[None], 0)[0]
    margin_after = np.take_along_axis(margin, first_negative_index[None], 0)[0]
    crossing_share = np.where(
        margin_before > margin_after,
        margin_before / np.maximum(margin_before - margin_after, 1e-300),
        1.0,
    )
    zero_crossing = np.clip(
        np.where(n_positive > 0, last_positive_index + crossing_share + 0.5, 0.0), 0, len(margin)
    )
    cumulative_weights = np.concatenate(
        [np.zeros((1, *n_positive.shape)), np.cumsum(posterior_weights, 0)]
    )
    cell_index = np.minimum(zero_crossing.astype(int), len(margin) - 1)
    weight_before_cell = np.take_along_axis(cumulative_weights, cell_index[None], 0)[0]
    cell_weight = np.take_along_axis(posterior_weights, cell_index[None], 0)[0]
    return float((weight_before_cell + (zero_crossing - cell_index) * cell_weight).sum())
