r"""Compare two methods over many data sets: tests, size of the difference, and probabilities.

Wilcoxon's signed-rank test comes with an estimate of the shift. The absolute differences are
ranked, ties get the mean of their ranks, and W is the sum of the ranks of positive differences.
Zero differences are ranked with the others and then count for neither side (Pratt 1959). Up to
`MAX_EXACT` differences the p-value is exact, given the ranks: every rank has either sign with
probability one half. For more differences, W is treated as normal.

The Bayesian signed-rank test models the distribution of differences by a Dirichlet process. The
differences z₁ … z_N of N data sets, and z₀ = 0 for the prior, get Dirichlet weights w with
parameters (s, 1, …, 1). With r half the width of the region of practical equivalence

    θ_better = Σᵢⱼ wᵢ wⱼ [zᵢ + zⱼ < −2r],  θ_worse = Σᵢⱼ wᵢ wⱼ [zᵢ + zⱼ > 2r],  θ_equal = 1 − both,

and the result is the probability that each of the three is the largest (Benavoli, Mangili, Corani,
Zaffalon and Ruggeri 2014; Benavoli, Corani, Demšar and Zaffalon 2017). The weights are drawn from
their exact distribution, so that the only error is due to the finite number of draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import sqrt
from typing import Annotated

import numpy as np

from truerisk.comparison.hierarchical import HierarchicalResult, hierarchical_test
from truerisk.comparison.ranks import holm_correction, rank_difference_error
from truerisk.comparison.scores import RankOptions, RankTable
from truerisk.contracts import Streams
from truerisk.core.frozen import frozen
from truerisk.core.progress import report_progress, stage
from truerisk.results.interval import TIE_TOLERANCE, Interval
from truerisk.results.records import FINITE_RANGE, Count, Share

MAX_EXACT = 200


@frozen
class SignedRankTest:
    """Result of the signed-rank test: W of positive and of negative differences, and p-value.

    The p-value is two-sided. `rank_biserial` is the matched-pairs rank-biserial correlation, (W₊ −
    W₋) / (W₊ + W₋) (Kerby 2014).
    """

    positive_rank_sum: float
    negative_rank_sum: float
    n_zero: int
    p_value: float
    rank_biserial: float | None


@frozen
class ShiftEstimate:
    """Hodges–Lehmann estimate of the shift, and its limits if the level can be attained."""

    value: float
    limits: tuple[float, float] | None


def signed_rank_test(differences: np.ndarray, value_scale: float = 1.0) -> SignedRankTest:
    """Test the differences for a shift from 0 by Wilcoxon's signed-rank test.

    Differences within rounding error of 0 count as zero.

    The rounding error is relative to `value_scale`.
    """
    from scipy.stats import rankdata

    absolute_differences = _round_differences(np.abs(differences), value_scale)
    ranks, is_zero = rankdata(absolute_differences), absolute_differences == 0
    positive_rank_sum = float(ranks[(differences > 0) & ~is_zero].sum())
    negative_rank_sum = float(ranks[(differences < 0) & ~is_zero].sum())
    rank_sum = positive_rank_sum + negative_rank_sum
    return SignedRankTest(
        positive_rank_sum,
        negative_rank_sum,
        int(is_zero.sum()),
        _p_value(ranks[~is_zero], positive_rank_sum),
        (positive_rank_sum - negative_rank_sum) / rank_sum if rank_sum else None,
    )


def _round_differences(absolute_differences: np.ndarray, value_scale: float) -> np.ndarray:
    """Round differences, so that values that differ only by rounding errors become ties.

    The steps of rounding are far smaller than any real difference.
    """
    rounding_step = TIE_TOLERANCE * value_scale
    return (
        np.round(absolute_differences / rounding_step) * rounding_step
        if rounding_step
        else absolute_differences
    )


def _p_value(ranks: np.ndarray, positive_rank_sum: float) -> float:
    if not len(ranks):
        return 1.0
    if len(ranks) <= MAX_EXACT:
        probabilities = _rank_sum_probabilities(np.round(2 * ranks).astype(int))
        sum_index = round(2 * positive_rank_sum)
        p_below, p_above = (
            float(probabilities[: sum_index + 1].sum()),
            float(probabilities[sum_index:].sum()),
        )
        return min(1.0, 2 * min(p_below, p_above))
    from scipy.special import ndtr

    z = (positive_rank_sum - ranks.sum() / 2) / (sqrt(float((ranks**2).sum())) / 2)
    return float(2 * ndtr(-abs(z)))


def _rank_sum_probabilities(doubled_ranks: np.ndarray) -> np.ndarray:
    """Return the probability of each possible sum of doubled ranks, if all signs are random."""
    probabilities = np.zeros(int(doubled_ranks.sum()) + 1)
    probabilities[0] = 1.0
    for doubled_rank in doubled_ranks.tolist():
        shifted_probabilities = np.zeros_like(probabilities)
        shifted_probabilities[doubled_rank:] = probabilities[: len(probabilities) - doubled_rank]
        probabilities = (probabilities + shifted_probabilities) / 2
    return probabilities


def median_shift(differences: np.ndarray, confidence_level: float) -> ShiftEstimate:
    """Return the median of the Walsh averages, and an interval between two of them.

    The interval is the set of shifts that the test without ties does not reject (Hodges and Lehmann
    1963). With ties and zeros it covers more often. Few differences cannot attain every level.
    """
    n = len(differences)
    first_index, second_index = np.triu_indices(n)
    walsh_averages = np.sort((differences[first_index] + differences[second_index]) / 2)
    limit_rank = _limit_rank(n, (1 - confidence_level) / 2)
    limits = (
        None
        if limit_rank == 0
        else (
            float(walsh_averages[limit_rank - 1]),
            float(walsh_averages[len(walsh_averages) - limit_rank]),
        )
    )
    return ShiftEstimate(float(np.median(walsh_averages)), limits)


@cache
def _limit_rank(n: int, tail_probability: float) -> int:
    """Return the rank of the Walsh average that is the interval's limit; 0 if there is none."""
    if n <= MAX_EXACT:
        cumulative_probabilities = np.cumsum(_rank_sum_probabilities(2 * np.arange(1, n + 1)))[::2]
        return int(
            np.searchsorted(cumulative_probabilities, tail_probability * (1 - TIE_TOLERANCE))
        )
    from scipy.special import ndtri

    return int(
        n * (n + 1) / 4 + float(ndtri(tail_probability)) * sqrt(n * (n + 1) * (2 * n + 1) / 24)
    )


N_DRAWS = 50_000
PRIOR_STRENGTH = 0.5  # strength s of the Dirichlet prior
WEIGHTS_IN_CACHE = 200_000  # number of Dirichlet weights that fit into the processor's cache


def dirichlet_signed_rank(
    differences: Sequence[np.ndarray],
    rope: float,
    random_state: int,
    *,
    draws: int = N_DRAWS,
    prior: float = PRIOR_STRENGTH,
) -> np.ndarray:
    """Return the posterior probability that each of three outcomes is the most frequent.

    The outcomes are "lower", "equivalent" and "higher"; the most frequent has the largest share.

    Differences within `rope` are equivalent. Each pair of methods has one row of the result, from
    its differences. Pairs with equally many differences share the drawn weights.
    """
    largest_counts, distinct_sizes = (
        np.zeros((len(differences), 3)),
        sorted({len(z) for z in differences}),
    )
    for n_sizes_done, n in enumerate(distinct_sizes):
        sorted_differences = {
            pair_index: np.sort(z) for pair_index, z in enumerate(differences) if len(z) == n
        }
        rng, n_drawn = Streams(random_state).get("dirichlet weights"), 0
        while n_drawn < draws:
            batch_size = min(draws - n_drawn, max(1, WEIGHTS_IN_CACHE // (n + 1)))
            weights = _DirichletWeights(rng, batch_size, n, prior)
            for pair_index, z in sorted_differences.items():
                largest_counts[pair_index] += np.bincount(
                    weights.outcome_shares(z, rope).argmax(0), minlength=3
                )
            n_drawn += batch_size
            report_progress(n_sizes_done * draws + n_drawn, len(distinct_sizes) * draws, "draws")
    return largest_counts / draws


class _DirichletWeights:
    """Dirichlet weights of n sorted differences and of the prior's difference of 0.

    Each column holds the weights of one draw.
    """

    def __init__(self, rng: np.random.Generator, draws: int, n: int, prior: float) -> None:
        exponentials = rng.standard_exponential((n, draws))
        self.prior = rng.standard_gamma(prior, draws)
        weight_totals = exponentials.sum(0) + self.prior
        exponentials /= weight_totals
        self.prior /= weight_totals
        # Weights are summed from the smallest difference upwards, and from the largest downwards.
        self.upward, self.downward = (
            _with_cumulative_weights(exponentials),
            _with_cumulative_weights(exponentials[::-1]),
        )

    def outcome_shares(self, z: np.ndarray, rope: float) -> np.ndarray:
        """Return θ_better, θ_equal and θ_worse for each draw of the weights."""
        better = self._share_below(z, rope, *self.upward)
        worse = self._share_below(-z[::-1], rope, *self.downward)
        return np.stack([better, 1 - better - worse, worse])

    def _share_below(
        self, z: np.ndarray, rope: float, weights: np.ndarray, cumulative_weights: np.ndarray
    ) -> np.ndarray:
        """Return the weight of the pairs of differences below the region of equivalence.

        The weight is Σᵢⱼ wᵢ wⱼ [zᵢ + zⱼ < −2r]. `cumulative_weights[k]` is the weight of the k
        smallest differences.

        The partners j of i are the smallest differences, and i is one of j's partners in turn. Only
        the first m have zᵢ < −r, and one of every two partners is among them. The sum is therefore
        twice their weights times those of their partners, minus the m² pairs among the first m,
        which are counted twice. A sum at the end of the region, up to rounding, counts as inside.
        """
        tolerance = 2 * TIE_TOLERANCE * max(float(np.abs(z).max()), rope)
        n_partners = np.searchsorted(z, -2 * rope - z - tolerance)
        n_first = int((n_partners > np.arange(len(z))).sum())
        prior_share = self.prior * cumulative_weights[np.searchsorted(z, -2 * rope - tolerance)]
        one_order_sum = (
            np.einsum("id,id->d", weights[:n_first], cumulative_weights[n_partners[:n_first]])
            + prior_share
        )
        return np.asarray(2 * one_order_sum - cumulative_weights[n_first] ** 2)


def _with_cumulative_weights(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights, and for k = 0, 1, … the sum of the first k weights."""
    cumulative_weights = np.zeros((len(weights) + 1, weights.shape[1]))
    np.cumsum(weights, axis=0, out=cumulative_weights[1:])
    return weights, cumulative_weights


@frozen
class MethodPair:
    """Comparison of method a with method b: `wins` counts the data sets on which a is better.

    `difference` is the Hodges–Lehmann estimate of a − b with its `interval`, in the units of the
    values. `statistic` is W₊ of the signed-rank test, or z of the average ranks. `p_holm` is
    corrected for all pairs of the comparison. `correlation` is the rank-biserial one, positive if a
    is better. `better`, `equivalent` and `worse` are probabilities that on most data sets a is
    better or worse than b by more than the region, or neither. `favours_a` says which of the two
    methods the test favours. `hierarchical` is the result from single splits, if they are known.
    """

    a: str
    b: str
    n: Count
    wins: Count
    ties: Count
    losses: Count
    rank_difference: float
    statistic: float
    p_value: Share
    p_holm: Share
    difference: Annotated[float, FINITE_RANGE]
    interval: Interval | None
    correlation: float | None
    better: Share
    equivalent: Share
    worse: Share
    favours_a: bool
    hierarchical: HierarchicalResult | None = None


def compare_pairs(
    table: RankTable, ranks: np.ndarray, rank_options: RankOptions
) -> tuple[MethodPair, ...]:
    """Compare all pairs of methods, or those with the control; correct their p-values together."""
    index_pairs = _index_pairs(table.scores.methods, rank_options.control)
    differences_by_pair = [
        _differences_and_scale(table.scores.values[:, indices]) for indices in index_pairs
    ]
    with stage("Bayesian tests"):
        oriented_differences = [
            rank_options.sign * differences_of_pair
            for differences_of_pair, _ in differences_by_pair
        ]
        probabilities = dirichlet_signed_rank(
            oriented_differences, rank_options.rope, rank_options.random_state
        ).tolist()
    pairs = []
    with stage("signed-rank tests"):
        for indices, differences, pair_probabilities in zip(
            index_pairs, differences_by_pair, probabilities, strict=True
        ):
            pairs.append(
                _compare_pair(table, ranks, rank_options, indices, differences, pair_probabilities)
            )
            report_progress(len(pairs), len(index_pairs), "pairs")
    corrected_p_values = holm_correction([pair.p_value for pair in pairs])
    return tuple(replace(pair, p_holm=p) for pair, p in zip(pairs, corrected_p_values, strict=True))


def _differences_and_scale(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Return differences a − b on data sets where both have values, and the largest absolute value.

    Differences within rounding error relative to the largest absolute value count as 0.
    """
    values = values[~np.isnan(values).any(1)]
    value_scale = float(np.abs(values).max())
    raw_differences = values[:, 0] - values[:, 1]
    return np.where(
        np.abs(raw_differences) <= TIE_TOLERANCE * value_scale, 0.0, raw_differences
    ), value_scale


def _index_pairs(methods: Sequence[str], control: str | None) -> list[list[int]]:
    if control is None:
        return [list(pair) for pair in combinations(range(len(methods)), 2)]
    control_index = methods.index(control)
    return [[j, control_index] for j in range(len(methods)) if j != control_index]


def _compare_pair(
    table: RankTable,
    ranks: np.ndarray,
    rank_options: RankOptions,
    indices: list[int],
    differences: tuple[np.ndarray, float],
    probabilities: tuple[float, float, float],
) -> MethodPair:
    (a, b), (raw_differences, value_scale), methods = indices, differences, table.scores.methods
    # The oriented difference is negative where a is better.
    oriented_differences = rank_options.sign * raw_differences
    signed_rank_result, shift_estimate = (
        signed_rank_test(oriented_differences, value_scale),
        median_shift(raw_differences, rank_options.confidence_level),
    )
    rank_difference = float((ranks[:, a] - ranks[:, b]).mean())
    from scipy.special import ndtr

    z = rank_difference / rank_difference_error(len(ranks), len(methods))
    z_and_p_value = z, float(2 * ndtr(-abs(z)))
    statistic, p_value = (
        z_and_p_value
        if rank_options.pairwise == "ranks"
        else (signed_rank_result.positive_rank_sum, signed_rank_result.p_value)
    )
    better, equivalent, worse = probabilities
    return MethodPair(
        a=methods[a],
        b=methods[b],
        n=len(raw_differences),
        wins=int((oriented_differences < 0).sum()),
        ties=int((oriented_differences == 0).sum()),
        losses=int((oriented_differences > 0).sum()),
        rank_difference=rank_difference,
        statistic=statistic,
        p_value=p_value,
        p_holm=p_value,
        difference=shift_estimate.value,
        interval=shift_estimate.limits
        and Interval(*shift_estimate.limits, "signed-rank", rank_options.confidence_level),
        correlation=None
        if signed_rank_result.rank_biserial is None
        else -signed_rank_result.rank_biserial,
        better=better,
        equivalent=equivalent,
        worse=worse,
        favours_a=rank_difference < 0
        if rank_options.pairwise == "ranks"
        else signed_rank_result.positive_rank_sum < signed_rank_result.negative_rank_sum,
        hierarchical=_compare_by_splits(table, rank_options, a, b),
    )


def _compare_by_splits(
    table: RankTable, rank_options: RankOptions, a: int, b: int
) -> HierarchicalResult | None:
    if table.no_hierarchical_reason is not None:
        return None
    scores = table.scores
    differences = [
        rank_options.sign * (values[:, a] - values[:, b])
        for values in scores.split_results
        if values is not None
    ]
    return hierarchical_test(
        differences,
        [correlation for correlation in scores.split_correlations if correlation is not None],
        rank_options.rope,
    )
