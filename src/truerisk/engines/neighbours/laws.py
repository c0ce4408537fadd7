r"""Expected losses of nearest neighbours over randomly drawn training sets, in closed form.

Row i has N other rows, ranked by their distance from row i. Let :math:`y_{(r)}` be the label (0 or
1) of the row with rank r, and B the number of ones among the r − 1 nearer rows. The k-th nearest
neighbour in a random training set has some rank r, and the distribution of the prediction depends
only on r, B and :math:`y_{(r)}`.

- Subsets of size m (Mullin and Sukthankar): rank r is the k-th neighbour with probability
  C(r−1, k−1) C(N−r, m−k) / C(N, m). The k − 1 nearer neighbours are a random subset of r − 1
  ranks, so that their number of ones is hypergeometric.
- Bootstrap samples of size m, where copies are counted: the r − 1 nearer ranks have
  T ~ Bin(m, (r−1)/N) copies, and rank r has Bin(m − T, 1/(N−r+1)) copies. Rank r contains the k-th
  neighbour if its copies fill the remaining k − T places. Given T, every copy belongs to each
  nearer rank with equal probability, so that the number of ones among them is Bin(T, B/(r−1)).

Ranks beyond which the probability is less than 10⁻¹⁶ are omitted.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from truerisk.plan.extras.laws import SampleDistribution

NEGLIGIBLE_PROBABILITY = 1e-16


class RankDistribution(Protocol):
    """Distribution of the rank of the k-th nearest neighbour in a random training set."""

    def last_rank(self, k: int) -> int:
        """Return a rank that the k-th neighbour's rank exceeds with probability about 1e-16."""
        ...

    def costs_at_rank(
        self, k: int, rank: int, n_ones_before: np.ndarray, costs: np.ndarray
    ) -> np.ndarray:
        """Return the mean cost at this rank, times the probability of this rank for neighbour k.

        The shape of the result is (n_before, 2, n_profiles). `n_ones_before` holds numbers of ones
        among nearer rows. The second axis is the label of the row with this rank. `costs[s]` are
        the costs if s of the k neighbours have label 1.
        """
        ...


class SubsetRankDistribution:
    """Distribution of neighbour ranks if training rows are drawn from `n` without replacement."""

    def __init__(self, n: int, size: int) -> None:
        self.n, self.sample_size = n, size
        log_numbers = np.log(np.arange(1, n + 1, dtype=np.longdouble))
        self._log_factorials = np.concatenate([[np.longdouble(0)], np.cumsum(log_numbers)])

    def last_rank(self, k: int) -> int:
        """Return the largest rank of the k-th neighbour with more than negligible probability."""
        ranks = np.arange(k, self.n - self.sample_size + k + 1)
        tail_probability = np.cumsum(self._rank_probability(k, ranks)[::-1])[::-1]
        return int(ranks[tail_probability >= NEGLIGIBLE_PROBABILITY].max())

    def costs_at_rank(
        self, k: int, rank: int, n_ones_before: np.ndarray, costs: np.ndarray
    ) -> np.ndarray:
        """Return the mean cost at this rank, times the probability of this rank for neighbour k."""
        if not k <= rank <= self.n - self.sample_size + k:
            return np.zeros((len(n_ones_before), 2, costs.shape[1]))
        n_ones = np.arange(k)
        log_n_subsets = self._log_binomial(n_ones_before[:, None], n_ones) + self._log_binomial(
            rank - 1 - n_ones_before[:, None], k - 1 - n_ones
        )
        probability = np.exp(
            (log_n_subsets - log_n_subsets.max(axis=1, keepdims=True)).astype(np.float64)
        )
        probability *= float(self._rank_probability(k, np.array([rank]))[0]) / probability.sum(
            axis=1, keepdims=True
        )
        return np.stack([probability @ costs[:-1], probability @ costs[1:]], axis=1)

    def _rank_probability(self, k: int, ranks: np.ndarray) -> np.ndarray:
        """Return, for each given rank, the probability that the k-th neighbour has this rank."""
        log_probability = self._log_binomial(ranks - 1, np.array(k - 1))
        log_probability += self._log_binomial(self.n - ranks, np.array(self.sample_size - k))
        log_probability -= self._log_binomial(np.array(self.n), np.array(self.sample_size))
        return np.exp(log_probability).astype(np.float64)

    def _log_binomial(self, n_items: np.ndarray, n_chosen: np.ndarray) -> np.ndarray:
        """Return logarithms of binomial coefficients, or −∞ if a coefficient is 0."""
        is_possible = (n_chosen >= 0) & (n_chosen <= n_items)
        n_chosen = np.where(is_possible, n_chosen, 0)
        log_factorials = self._log_factorials
        log_coefficients = (
            log_factorials[n_items]
            - log_factorials[n_chosen]
            - log_factorials[np.where(is_possible, n_items - n_chosen, 0)]
        )
        return np.where(is_possible, log_coefficients, -np.inf)


class BootstrapRankDistribution:
    """Distribution of neighbour ranks if the training set is a bootstrap sample of `n` rows."""

    def __init__(self, n: int, size: int) -> None:
        self.n, self.sample_size = n, size

    def last_rank(self, k: int) -> int:
        """Return the largest rank of the k-th neighbour with more than negligible probability."""
        from scipy.special import bdtr

        ranks = np.arange(1, self.n + 1)
        # The k-th neighbour lies beyond rank r if the sample has fewer than k copies of the first r
        # rows.
        tail_probability = bdtr(k - 1, self.sample_size, ranks / self.n)
        return int(ranks[tail_probability <= NEGLIGIBLE_PROBABILITY].min(initial=self.n))

    def costs_at_rank(
        self, k: int, rank: int, n_ones_before: np.ndarray, costs: np.ndarray
    ) -> np.ndarray:
        """Return the mean cost at this rank, times the probability of this rank for neighbour k."""
        from scipy.special import bdtrc

        n_copies = np.arange(k)  # possible numbers of copies of nearer rows in the sample
        fill_probability = bdtrc(
            k - n_copies - 1, self.sample_size - n_copies, 1 / (self.n - rank + 1)
        )
        copy_probability = (
            _binomial_probability(n_copies, self.sample_size, (rank - 1) / self.n)
            * fill_probability
        )
        n_ones = np.arange(k)
        share_of_ones = n_ones_before[:, None, None] / max(rank - 1, 1)
        ones_probability = (
            _binomial_probability(n_ones[None, None], n_copies[None, :, None], share_of_ones)
            * copy_probability[None, :, None]
        )
        n_ones_among_k = np.minimum(n_ones[None, :] + (k - n_copies)[:, None], k)
        cost_if_zero = ones_probability.sum(axis=1) @ costs[:-1]
        cost_if_one = np.einsum("bts,tsp->bp", ones_probability, costs[n_ones_among_k])
        return np.stack([cost_if_zero, cost_if_one], axis=1)


def _binomial_probability(
    n_successes: np.ndarray, n_trials: np.ndarray | int, probability: np.ndarray | float
) -> np.ndarray:
    """Return binomial probabilities, which are 0 for more successes than trials."""
    from scipy.special import gammaln, xlog1py, xlogy

    n_failures = np.asarray(n_trials) - n_successes
    is_possible = n_failures >= 0
    n_failures = np.where(is_possible, n_failures, 0)
    log_probability = (
        gammaln(np.asarray(n_trials) + 1.0) - gammaln(n_successes + 1.0) - gammaln(n_failures + 1.0)
    )
    log_probability = (
        log_probability
        + xlogy(n_successes, probability)
        + xlog1py(n_failures, -np.asarray(probability))
    )
    return np.where(is_possible, np.exp(log_probability), 0.0)


def count_ranks_needed(
    draw_distribution: SampleDistribution, n_other_rows: int, k_values: np.ndarray
) -> int:
    """Return the number of nearest other rows that must be known for the largest k.

    One of these rows is the k-th neighbour, except with negligible probability.
    """
    return _rank_distribution(draw_distribution, n_other_rows).last_rank(int(k_values.max()))


def expected_costs(
    labels_by_rank: np.ndarray,
    n_other_rows: int,
    draw_distribution: SampleDistribution,
    k_values: np.ndarray,
    costs: list[np.ndarray],
) -> np.ndarray:
    """Return each row's expected cost for every number k of neighbours, `(n_ks, n_rows)`.

    `labels_by_rank[i, r − 1]` is the label (0 or 1) of the row with rank r from row i. `costs[j]`
    has shape `(ks[j] + 1, n_rows)` and holds the cost for row i if s of its k neighbours have label
    1.
    """
    rank_distribution = _rank_distribution(draw_distribution, n_other_rows)
    cost_profiles = [np.unique(cost_table, axis=1, return_inverse=True) for cost_table in costs]
    last_ranks = [rank_distribution.last_rank(int(k)) for k in k_values]
    total_costs = np.zeros((len(k_values), len(labels_by_rank)))
    n_ones_before = np.zeros(len(labels_by_rank), dtype=np.int64)
    for rank in range(1, max(last_ranks) + 1):
        label = labels_by_rank[:, rank - 1].astype(np.int64)
        distinct_n_ones, n_ones_index = np.unique(n_ones_before, return_inverse=True)
        for j, k in enumerate(k_values):
            if rank <= last_ranks[j]:
                distinct_costs, profile_of_row = cost_profiles[j]
                rank_costs = rank_distribution.costs_at_rank(
                    int(k), rank, distinct_n_ones, distinct_costs
                )
                total_costs[j] += rank_costs[n_ones_index.ravel(), label, profile_of_row.ravel()]
        n_ones_before += label
    return total_costs


def _rank_distribution(draw_distribution: SampleDistribution, n_rows: int) -> RankDistribution:
    return (
        SubsetRankDistribution(n_rows, draw_distribution.size)
        if draw_distribution.kind == "subsets"
        else BootstrapRankDistribution(n_rows, draw_distribution.size)
    )
