"""Test whether the candidates of a search depend on the scores of earlier ones.

If they do not, every order of the candidates is equally likely, whatever their scores. Three
statistics of the order are compared with their values in random orders:

- the number of records, trials with a better score than all earlier ones: trial t of a search that
  does not learn sets a record with probability 1/t;
- the trend: the rank correlation of the risk with the number of the trial;
- the resemblance: how similar the losses of each trial are to those of the best trial before it.

A greedy search has many records, falling risks, and candidates that resemble the best so far.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np
from scipy.stats import rankdata

from truerisk.core.frozen import frozen
from truerisk.results.records import Count, Record, Share

# The number of random orders of the candidates. The smallest possible p-value is therefore .001.
N_ORDERS = 999
SIGNIFICANCE = 0.05
MAX_TRIALS_FOR_RESEMBLANCE = 5_000  # The third statistic is computed for at most this many trials.
FEWEST_TRIALS = 10  # With fewer trials, the test finds almost nothing.


@frozen
class OrderTest(Record):
    """Result of the test whether candidates depend on the scores of earlier candidates.

    Parameters
    ----------
    n_trials : int
        The number of candidates.
    n_records : int
        The number of trials that were better than all trials before them.
    expected_records : float
        The number of records to expect if candidates do not depend on earlier scores, Σ 1/t.
    p_records, p_trend, p_resemblance : float
        The p-values of the three statistics.
    """

    n_trials: Count
    n_records: Count
    expected_records: float
    p_records: Share
    p_trend: Share
    p_resemblance: Share = field(metadata={"key": "p_following"})  # its name in version 0.2.0

    @property
    def p_value(self) -> float:
        """The smallest of the three p-values, times three (Bonferroni)."""
        return min(1.0, 3 * min(self.p_records, self.p_trend, self.p_resemblance))

    @property
    def evidence(self) -> str:
        """The statistic that differs most from that of a random order, in words."""
        statistics = {
            f"{self.n_records} records in {self.n_trials} trials, {self.expected_records:.1f} to "
            "expect by chance": self.p_records,
            "later trials are better than earlier ones": self.p_trend,
            "trials err where the best trial before them errs": self.p_resemblance,
        }
        return f"{min(statistics, key=lambda text: statistics[text])}; p = {self.p_value:.3g}"

    def __str__(self) -> str:
        verdict = "not like" if self.is_adaptive else "like"
        return f"the order of {self.n_trials} trials is {verdict} a random order ({self.evidence})"

    @property
    def is_adaptive(self) -> bool:
        """True if the order of the candidates is not like a random order, at the 5 % level."""
        return self.p_value < SIGNIFICANCE


def order_test(
    risks: np.ndarray, losses: np.ndarray, order: np.ndarray, rng: np.random.Generator
) -> OrderTest | None:
    """Test whether later candidates depend on the scores of earlier ones.

    The result is None if there are fewer than ten candidates, or if all candidates have equal
    risks. `order` lists the candidates in the order of their trials. Equal risks are ranked at
    random, so that ties are no records.
    """
    n_trials = len(order)
    tie_breaks = rng.random(n_trials)
    if n_trials < FEWEST_TRIALS or np.ptp(risks) == 0:
        return None
    ranks = np.empty(n_trials)
    ranks[np.lexsort((tie_breaks, risks))] = np.arange(n_trials)
    mid_ranks = rankdata(risks) - (n_trials + 1) / 2
    # The third statistic needs a number for each pair of trials: too many for very long searches.
    resemblances = (
        _resemblances(losses) if n_trials <= MAX_TRIALS_FOR_RESEMBLANCE else np.zeros((1, 1))
    )
    positions = np.arange(n_trials) - (n_trials - 1) / 2
    orders = np.array([order, *(rng.permutation(n_trials) for _ in range(N_ORDERS))])
    records, trends, similarity_sums = np.zeros((3, len(orders)))
    for number, one_order in enumerate(orders):
        ordered_ranks = ranks[one_order]
        best_so_far = np.minimum.accumulate(ordered_ranks)
        is_record = ordered_ranks == best_so_far
        record_trials = np.flatnonzero(is_record)
        records[number] = len(record_trials)
        trends[number] = -(mid_ranks[one_order] @ positions)
        leader = record_trials[np.cumsum(is_record) - 1][:-1]
        if n_trials <= MAX_TRIALS_FOR_RESEMBLANCE:
            similarity_sums[number] = resemblances[one_order[1:], one_order[leader]].sum()
    p_records, p_trend, p_resemblance = (
        float((statistic >= statistic[0] - 1e-9).mean())
        for statistic in (records, trends, similarity_sums)
    )
    return OrderTest(
        n_trials,
        int(records[0]),
        float((1 / np.arange(1, n_trials + 1)).sum()),
        p_records,
        p_trend,
        p_resemblance,
    )


def _resemblances(losses: np.ndarray) -> np.ndarray:
    """Return the correlations between the losses of every two candidates.

    The mean loss of each row over the candidates is subtracted first, because hard rows would make
    all candidates look alike.
    """
    own = losses - losses.mean(axis=0)
    own = own - own.mean(axis=1, keepdims=True)
    lengths = np.sqrt((own**2).sum(axis=1, keepdims=True))
    own = own / np.where(lengths > 0, lengths, 1.0)
    return np.asarray(own @ own.T)
