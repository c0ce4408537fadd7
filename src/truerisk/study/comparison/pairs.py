"""Two of the methods over many data sets: tests, the size of the difference, probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated

import numpy as np

from truerisk.core.contracts import Streams
from truerisk.core.interval import Interval
from truerisk.core.records import FINITE, Count, Share
from truerisk.core.scale import TIE
from truerisk.core.statistics.dirichlet_signed_rank import dirichlet_signed_rank
from truerisk.core.statistics.hierarchical import Hierarchical, hierarchical
from truerisk.core.statistics.ranks import holm, rank_errors
from truerisk.core.statistics.signed_rank import median_shift, signed_rank
from truerisk.study.comparison.missing import Held
from truerisk.study.comparison.terms import Terms

__all__ = ["MethodPair", "pairs_of"]


@dataclass(frozen=True)
class MethodPair:
    """Method a and method b: `wins` counts the data sets on which a is better.

    `difference` is the Hodges–Lehmann estimate of a − b with its `interval`, in the units of the
    values. `statistic` is W₊ of the signed-rank test, or z of the average ranks; `p_holm` is
    corrected for all pairs of the comparison. `correlation` is the rank-biserial one, positive
    where a is better. `better`, `equivalent` and `worse` are probabilities that on most data sets a
    is better or worse than b by more than the region, or neither. `favours_a` says which of the two
    the test speaks for. `hierarchical` goes by the single splits, where they are known.
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


def pairs_of(held: Held, ranks: np.ndarray, terms: Terms) -> tuple[MethodPair, ...]:
    """All pairs, or those of the control, their p-values corrected together."""
    found = [_pair(held, ranks, terms, a, b) for a, b in _asked(held.scores.methods, terms.control)]
    corrected = holm([pair.p_value for pair in found])
    return tuple(replace(pair, p_holm=p) for pair, p in zip(found, corrected, strict=True))


def _asked(methods: Sequence[str], control: str | None) -> Iterator[tuple[int, int]]:
    if control is None:
        yield from combinations(range(len(methods)), 2)
        return
    at = methods.index(control)
    yield from ((j, at) for j in range(len(methods)) if j != at)


def _pair(held: Held, ranks: np.ndarray, terms: Terms, a: int, b: int) -> MethodPair:
    values, methods = held.scores.values[:, [a, b]], held.scores.methods
    values = values[~np.isnan(values).any(1)]
    scale = float(np.abs(values).max())
    raw = values[:, 0] - values[:, 1]
    raw = np.where(np.abs(raw) <= TIE * scale, 0.0, raw)
    oriented = terms.sign * raw  # negative where a is better
    test, shift = signed_rank(oriented, scale), median_shift(raw, terms.confidence_level)
    apart = float((ranks[:, a] - ranks[:, b]).mean())
    by_ranks = _by_ranks(apart, len(ranks), len(methods))
    statistic, p = by_ranks if terms.pairwise == "ranks" else (test.positive, test.p_value)
    better, equivalent, worse = dirichlet_signed_rank(
        oriented, terms.rope, Streams(terms.random_state).get("dirichlet weights")
    )
    return MethodPair(
        a=methods[a],
        b=methods[b],
        n=len(raw),
        wins=int((oriented < 0).sum()),
        ties=int((oriented == 0).sum()),
        losses=int((oriented > 0).sum()),
        rank_difference=apart,
        statistic=statistic,
        p_value=p,
        p_holm=p,
        difference=shift.value,
        interval=_interval(shift.ends, terms),
        correlation=None if test.correlation is None else -test.correlation,
        better=better,
        equivalent=equivalent,
        worse=worse,
        favours_a=apart < 0 if terms.pairwise == "ranks" else test.positive < test.negative,
        hierarchical=_by_splits(held, terms, a, b),
    )


def _by_splits(held: Held, terms: Terms, a: int, b: int) -> Hierarchical | None:
    if held.no_splits is not None:
        return None
    scores = held.scores
    apart = [terms.sign * (x[:, a] - x[:, b]) for x in scores.splits if x is not None]
    return hierarchical(apart, [r for r in scores.correlation if r is not None], terms.rope)


def _by_ranks(apart: float, n: int, k: int) -> tuple[float, float]:
    from scipy.special import ndtr

    z = apart / rank_errors(n, k)
    return z, float(2 * ndtr(-abs(z)))


def _interval(ends: tuple[float, float] | None, terms: Terms) -> Interval | None:
    return None if ends is None else Interval(*ends, "signed-rank", terms.confidence_level)
