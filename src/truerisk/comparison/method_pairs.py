r"""Two methods over many data sets: tests, the size of the difference, and probabilities.

Wilcoxon's signed-rank test comes with an estimate of the shift. The absolute differences are
ranked, ties get the mean of their ranks, and W is the sum of the ranks of positive differences.
Zero differences are ranked with the others and then count for neither side (Pratt 1959). Up to
`EXACT` differences the p-value is exact, given the ranks: every rank has either sign with
probability one half. For more differences, W is treated as normal.

The Bayesian signed-rank test models the distribution of differences by a Dirichlet process. The
differences z₁ … z_N of N data sets, and z₀ = 0 for the prior, get Dirichlet weights w with
parameters (s, 1, …, 1). With r half the width of the region of practical equivalence

    θ_better = Σᵢⱼ wᵢ wⱼ [zᵢ + zⱼ < −2r],  θ_worse = Σᵢⱼ wᵢ wⱼ [zᵢ + zⱼ > 2r],  θ_equal the rest,

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

from truerisk.comparison.hierarchical import Hierarchical, hierarchical
from truerisk.comparison.ranks import holm, rank_errors
from truerisk.comparison.scores import RankTable, RankTerms
from truerisk.contracts import Streams
from truerisk.core.frozen import frozen
from truerisk.core.progress import stage, tell
from truerisk.results.interval import TIE, Interval
from truerisk.results.records import FINITE, Count, Share

EXACT = 200


@frozen
class SignedRank:
    """W of the positive and of the negative differences, and the two-sided p-value.

    `correlation` is the matched-pairs rank-biserial one, (W₊ − W₋) / (W₊ + W₋) (Kerby 2014).
    """

    positive: float
    negative: float
    n_zero: int
    p_value: float
    correlation: float | None


@frozen
class Shift:
    """The Hodges–Lehmann estimate, and the ends of its interval where the level can be kept."""

    value: float
    ends: tuple[float, float] | None


def signed_rank(differences: np.ndarray, scale: float = 1.0) -> SignedRank:
    """Test the differences; those within rounding error relative to `scale` count as zero."""
    from scipy.stats import rankdata

    sizes = _rounded(np.abs(differences), scale)
    ranks, zero = rankdata(sizes), sizes == 0
    positive = float(ranks[(differences > 0) & ~zero].sum())
    negative = float(ranks[(differences < 0) & ~zero].sum())
    total = positive + negative
    return SignedRank(
        positive,
        negative,
        int(zero.sum()),
        _p_value(ranks[~zero], positive),
        (positive - negative) / total if total else None,
    )


def _rounded(sizes: np.ndarray, scale: float) -> np.ndarray:
    """Round sizes in steps far below any real difference, so that rounding errors become ties."""
    steps = TIE * scale
    return np.round(sizes / steps) * steps if steps else sizes


def _p_value(ranks: np.ndarray, positive: float) -> float:
    if not len(ranks):
        return 1.0
    if len(ranks) <= EXACT:
        chances = _chances(np.round(2 * ranks).astype(int))
        at = round(2 * positive)
        below, above = float(chances[: at + 1].sum()), float(chances[at:].sum())
        return min(1.0, 2 * min(below, above))
    from scipy.special import ndtr

    z = (positive - ranks.sum() / 2) / (sqrt(float((ranks**2).sum())) / 2)
    return float(2 * ndtr(-abs(z)))


def _chances(doubled: np.ndarray) -> np.ndarray:
    """Return the probability of each sum of doubled ranks with random signs."""
    chances = np.zeros(int(doubled.sum()) + 1)
    chances[0] = 1.0
    for rank in doubled.tolist():
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: len(chances) - rank]
        chances = (chances + moved) / 2
    return chances


def median_shift(differences: np.ndarray, level: float) -> Shift:
    """Return the median of the Walsh averages, and an interval of their order statistics.

    The interval is the set of shifts that the test without ties does not reject (Hodges and Lehmann
    1963). With ties and zeros it covers more often. Few differences cannot attain every level.
    """
    n = len(differences)
    first, second = np.triu_indices(n)
    walsh = np.sort((differences[first] + differences[second]) / 2)
    out = _left_out(n, (1 - level) / 2)
    ends = None if out == 0 else (float(walsh[out - 1]), float(walsh[len(walsh) - out]))
    return Shift(float(np.median(walsh)), ends)


@cache
def _left_out(n: int, tail: float) -> int:
    """Return the order of the Walsh average that limits the interval; 0 if there is none."""
    if n <= EXACT:
        below = np.cumsum(_chances(2 * np.arange(1, n + 1)))[::2]
        return int(np.searchsorted(below, tail * (1 - TIE)))
    from scipy.special import ndtri

    return int(n * (n + 1) / 4 + float(ndtri(tail)) * sqrt(n * (n + 1) * (2 * n + 1) / 24))


DRAWS = 50_000
PRIOR = 0.5  # strength s of the prior
AT_ONCE = 200_000  # number of weights that fit into the cache


def dirichlet_signed_rank(
    differences: Sequence[np.ndarray],
    rope: float,
    random_state: int,
    *,
    draws: int = DRAWS,
    prior: float = PRIOR,
) -> np.ndarray:
    """Return the probabilities that lower, equivalent or higher has the largest share.

    Differences within `rope` are equivalent. Each pair of methods has one line, from its
    differences. Pairs with equally many differences share the drawn weights.
    """
    largest, lengths = np.zeros((len(differences), 3)), sorted({len(z) for z in differences})
    for before, n in enumerate(lengths):
        ordered = {at: np.sort(z) for at, z in enumerate(differences) if len(z) == n}
        rng, done = Streams(random_state).get("dirichlet weights"), 0
        while done < draws:
            some = min(draws - done, max(1, AT_ONCE // (n + 1)))
            weights = _Weights(rng, some, n, prior)
            for at, z in ordered.items():
                largest[at] += np.bincount(weights.shares(z, rope).argmax(0), minlength=3)
            done += some
            tell(before * draws + done, len(lengths) * draws, "draws")
    return largest / draws


class _Weights:
    """Dirichlet weights of n sorted differences and of the prior's 0, one column per draw."""

    def __init__(self, rng: np.random.Generator, draws: int, n: int, prior: float) -> None:
        drawn = rng.standard_exponential((n, draws))
        self.prior = rng.standard_gamma(prior, draws)
        total = drawn.sum(0) + self.prior
        drawn /= total
        self.prior /= total
        # The sums run from the smallest difference on, and from the largest one on.
        self.upward, self.downward = _with_sums(drawn), _with_sums(drawn[::-1])

    def shares(self, z: np.ndarray, rope: float) -> np.ndarray:
        """Return θ_better, θ_equal and θ_worse of each draw."""
        better = self._share_below(z, rope, *self.upward)
        worse = self._share_below(-z[::-1], rope, *self.downward)
        return np.stack([better, 1 - better - worse, worse])

    def _share_below(
        self, z: np.ndarray, rope: float, weights: np.ndarray, sums: np.ndarray
    ) -> np.ndarray:
        """Return Σᵢⱼ wᵢ wⱼ [zᵢ + zⱼ < −2r]; `sums[k]` is the weight of the k smallest differences.

        The partners j of i are the smallest differences, and i is one of j's partners in turn. Only
        the first m have zᵢ < −r, and one of every two partners is among them. The sum is therefore
        twice their weights times those of their partners, minus the m² pairs among the first m,
        which are counted twice. A sum at the end of the region, up to rounding, counts as inside.
        """
        slack = 2 * TIE * max(float(np.abs(z).max()), rope)
        partners = np.searchsorted(z, -2 * rope - z - slack)
        m = int((partners > np.arange(len(z))).sum())
        with_prior = self.prior * sums[np.searchsorted(z, -2 * rope - slack)]
        one_order = np.einsum("id,id->d", weights[:m], sums[partners[:m]]) + with_prior
        return np.asarray(2 * one_order - sums[m] ** 2)


def _with_sums(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights, and the sums of the first k of them for k = 0, 1, …."""
    sums = np.zeros((len(weights) + 1, weights.shape[1]))
    np.cumsum(weights, axis=0, out=sums[1:])
    return weights, sums


@frozen
class MethodPair:
    """Method a and method b: `wins` counts the data sets on which a is better.

    `difference` is the Hodges–Lehmann estimate of a − b with its `interval`, in the units of the
    values. `statistic` is W₊ of the signed-rank test, or z of the average ranks. `p_holm` is
    corrected for all pairs of the comparison. `correlation` is the rank-biserial one, positive if a
    is better. `better`, `equivalent` and `worse` are probabilities that on most data sets a is
    better or worse than b by more than the region, or neither. `favours_a` says which of the two
    the test favours. `hierarchical` is the result from single splits, if they are known.
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
    difference: Annotated[float, FINITE]
    interval: Interval | None
    correlation: float | None
    better: Share
    equivalent: Share
    worse: Share
    favours_a: bool
    hierarchical: Hierarchical | None = None


def pairs_of(table: RankTable, ranks: np.ndarray, terms: RankTerms) -> tuple[MethodPair, ...]:
    """Compare all pairs, or those with the control; correct their p-values together."""
    places = _pairs(table.scores.methods, terms.control)
    apart = [_differences(table.scores.values[:, place]) for place in places]
    with stage("Bayesian tests"):
        oriented = [terms.sign * raw for raw, _ in apart]
        chances = dirichlet_signed_rank(oriented, terms.rope, terms.random_state).tolist()
    pairs = []
    with stage("signed-rank tests"):
        for place, differences, three in zip(places, apart, chances, strict=True):
            pairs.append(_pair(table, ranks, terms, place, differences, three))
            tell(len(pairs), len(places), "pairs")
    corrected = holm([pair.p_value for pair in pairs])
    return tuple(replace(pair, p_holm=p) for pair, p in zip(pairs, corrected, strict=True))


def _differences(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Return method a minus method b where both have a value, and their scale.

    Differences within rounding error relative to the scale count as 0.
    """
    values = values[~np.isnan(values).any(1)]
    scale = float(np.abs(values).max())
    raw = values[:, 0] - values[:, 1]
    return np.where(np.abs(raw) <= TIE * scale, 0.0, raw), scale


def _pairs(methods: Sequence[str], control: str | None) -> list[list[int]]:
    if control is None:
        return [list(pair) for pair in combinations(range(len(methods)), 2)]
    at = methods.index(control)
    return [[j, at] for j in range(len(methods)) if j != at]


def _pair(
    table: RankTable,
    ranks: np.ndarray,
    terms: RankTerms,
    place: list[int],
    differences: tuple[np.ndarray, float],
    chances: tuple[float, float, float],
) -> MethodPair:
    (a, b), (raw, scale), methods = place, differences, table.scores.methods
    oriented = terms.sign * raw  # The sign is negative where a is better.
    test, shift = signed_rank(oriented, scale), median_shift(raw, terms.confidence_level)
    in_ranks = float((ranks[:, a] - ranks[:, b]).mean())
    from scipy.special import ndtr

    z = in_ranks / rank_errors(len(ranks), len(methods))
    by_ranks = z, float(2 * ndtr(-abs(z)))
    statistic, p = by_ranks if terms.pairwise == "ranks" else (test.positive, test.p_value)
    better, equivalent, worse = chances
    return MethodPair(
        a=methods[a],
        b=methods[b],
        n=len(raw),
        wins=int((oriented < 0).sum()),
        ties=int((oriented == 0).sum()),
        losses=int((oriented > 0).sum()),
        rank_difference=in_ranks,
        statistic=statistic,
        p_value=p,
        p_holm=p,
        difference=shift.value,
        interval=shift.ends and Interval(*shift.ends, "signed-rank", terms.confidence_level),
        correlation=None if test.correlation is None else -test.correlation,
        better=better,
        equivalent=equivalent,
        worse=worse,
        favours_a=in_ranks < 0 if terms.pairwise == "ranks" else test.positive < test.negative,
        hierarchical=_by_splits(table, terms, a, b),
    )


def _by_splits(table: RankTable, terms: RankTerms, a: int, b: int) -> Hierarchical | None:
    if table.no_splits is not None:
        return None
    scores = table.scores
    differences = [terms.sign * (x[:, a] - x[:, b]) for x in scores.splits if x is not None]
    return hierarchical(differences, [r for r in scores.correlation if r is not None], terms.rope)
