r"""Expected losses of nearest neighbours over randomly drawn training sets, in closed form.

Row i has N other rows, ranked by distance. Let :math:`y_{(r)}` be the label of rank r, and B the
number of ones among the r − 1 nearer ranks. The k-th neighbour in a drawn training set has some
rank r, and the prediction of the k neighbours depends on the draw only through r, B and
:math:`y_{(r)}`.

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

from truerisk.plan.extras.laws import Law

NOTHING = 1e-16


class RankLaw(Protocol):
    """The distribution of the rank of the k-th neighbour in a drawn training set."""

    def last_rank(self, k: int) -> int:
        """Return the rank beyond which the k-th neighbour has practically no probability."""
        ...

    def table(self, k: int, rank: int, before: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """Return P(k-th neighbour has this rank) times the mean cost, (n_before, 2, n_profiles).

        The second axis is the label of the rank; `costs[s]` are the costs if s of k neighbours are
        ones.
        """
        ...


class Subsets:
    """The subsets of `size` of `n` rows, each with the same probability."""

    def __init__(self, n: int, size: int) -> None:
        self.n, self.size = n, size
        logs = np.log(np.arange(1, n + 1, dtype=np.longdouble))
        self._factorials = np.concatenate([[np.longdouble(0)], np.cumsum(logs)])

    def last_rank(self, k: int) -> int:
        """Return the last rank at which the k-th neighbour lies with a probability that counts."""
        ranks = np.arange(k, self.n - self.size + k + 1)
        beyond = np.cumsum(self._chance(k, ranks)[::-1])[::-1]
        return int(ranks[beyond >= NOTHING].max())

    def table(self, k: int, rank: int, before: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """Return the expected cost of each vote if the k-th neighbour has this rank."""
        if not k <= rank <= self.n - self.size + k:
            return np.zeros((len(before), 2, costs.shape[1]))
        ones = np.arange(k)
        ways = self._choose(before[:, None], ones) + self._choose(
            rank - 1 - before[:, None], k - 1 - ones
        )
        share = np.exp((ways - ways.max(axis=1, keepdims=True)).astype(np.float64))
        share *= float(self._chance(k, np.array([rank]))[0]) / share.sum(axis=1, keepdims=True)
        return np.stack([share @ costs[:-1], share @ costs[1:]], axis=1)

    def _chance(self, k: int, ranks: np.ndarray) -> np.ndarray:
        """Return the probability that the k-th neighbour has each of the ranks."""
        log = self._choose(ranks - 1, np.array(k - 1))
        log += self._choose(self.n - ranks, np.array(self.size - k))
        log -= self._choose(np.array(self.n), np.array(self.size))
        return np.exp(log).astype(np.float64)

    def _choose(self, n: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Return logarithms of binomial coefficients, −∞ where the coefficient is 0."""
        possible = (k >= 0) & (k <= n)
        k = np.where(possible, k, 0)
        factorials = self._factorials
        logs = factorials[n] - factorials[k] - factorials[np.where(possible, n - k, 0)]
        return np.where(possible, logs, -np.inf)


class Bootstraps:
    """Samples of `size` draws with replacement from `n` rows."""

    def __init__(self, n: int, size: int) -> None:
        self.n, self.size = n, size

    def last_rank(self, k: int) -> int:
        """Return the last rank at which the k-th neighbour lies with a probability that counts."""
        from scipy.special import bdtr

        ranks = np.arange(1, self.n + 1)
        # probability of fewer than k copies up to this rank
        beyond = bdtr(k - 1, self.size, ranks / self.n)
        return int(ranks[beyond <= NOTHING].min(initial=self.n))

    def table(self, k: int, rank: int, before: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """Return the expected cost of each vote if the k-th neighbour has this rank."""
        from scipy.special import bdtrc

        taken = np.arange(k)  # number of copies of the nearer ranks
        fills = bdtrc(k - taken - 1, self.size - taken, 1 / (self.n - rank + 1))
        chance = _binomial(taken, self.size, (rank - 1) / self.n) * fills
        ones = np.arange(k)
        share = before[:, None, None] / max(rank - 1, 1)
        of_ones = _binomial(ones[None, None], taken[None, :, None], share) * chance[None, :, None]
        filled = np.minimum(ones[None, :] + (k - taken)[:, None], k)
        zero = of_ones.sum(axis=1) @ costs[:-1]
        one = np.einsum("bts,tsp->bp", of_ones, costs[filled])
        return np.stack([zero, one], axis=1)


def _binomial(successes: np.ndarray, n: np.ndarray | int, p: np.ndarray | float) -> np.ndarray:
    """Return probabilities of the binomial distribution, 0 beyond n."""
    from scipy.special import gammaln, xlog1py, xlogy

    left = np.asarray(n) - successes
    fine = left >= 0
    left = np.where(fine, left, 0)
    log = gammaln(np.asarray(n) + 1.0) - gammaln(successes + 1.0) - gammaln(left + 1.0)
    log = log + xlogy(successes, p) + xlog1py(left, -np.asarray(p))
    return np.where(fine, np.exp(log), 0.0)


def ranks_needed(law: Law, n_others: int, ks: np.ndarray) -> int:
    """Return the number of nearest ranks that matter to the largest k."""
    return _drawing(law, n_others).last_rank(int(ks.max()))


def expected_costs(
    ones: np.ndarray, n_others: int, law: Law, ks: np.ndarray, costs: list[np.ndarray]
) -> np.ndarray:
    """Return the expected cost of every k for every row, `(n_ks, n_rows)`.

    `ones[i, r − 1]` is the label (0 or 1) of the row with rank r from row i. `costs[j]` has shape
    `(ks[j] + 1, n_rows)` and holds the cost for row i if s of its k neighbours are ones.
    """
    drawing = _drawing(law, n_others)
    profiles = [np.unique(each, axis=1, return_inverse=True) for each in costs]
    last = [drawing.last_rank(int(k)) for k in ks]
    total = np.zeros((len(ks), len(ones)))
    before = np.zeros(len(ones), dtype=np.int64)
    for rank in range(1, max(last) + 1):
        label = ones[:, rank - 1].astype(np.int64)
        values, at = np.unique(before, return_inverse=True)
        for j, k in enumerate(ks):
            if rank <= last[j]:
                different, profile = profiles[j]
                table = drawing.table(int(k), rank, values, different)
                total[j] += table[at.ravel(), label, profile.ravel()]
        before += label
    return total


def _drawing(law: Law, n: int) -> RankLaw:
    return Subsets(n, law.size) if law.kind == "subsets" else Bootstraps(n, law.size)
