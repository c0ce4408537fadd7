"""From a table data set × method to a comparison."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from truerisk.core.errors import UnknownName
from truerisk.core.registry import closest
from truerisk.core.statistics.ranks import critical_difference, friedman, ranked
from truerisk.study.comparison.concluding import Grounds, concluded
from truerisk.study.comparison.missing import Held, hold
from truerisk.study.comparison.pairs import MethodPair, pairs_of
from truerisk.study.comparison.result import ManyComparison
from truerisk.study.comparison.scores import Scores
from truerisk.study.comparison.terms import Terms

__all__ = ["compared"]


def compared(scores: Scores, terms: Terms, quantity: str = "value") -> ManyComparison:
    """Rank, test and hold against each other the methods of a table."""
    _refuse_unknown_control(scores, terms)
    held = hold(scores, terms)
    ranks = ranked(held.for_ranks)
    n, k = ranks.shape
    pairs, test, averages = pairs_of(held, ranks, terms), friedman(ranks), ranks.mean(0).tolist()
    ordered = sorted(zip(scores.methods, averages, strict=True), key=lambda one: one[1])
    grounds = Grounds(ordered, len(scores.data_sets), n, test, pairs, terms)
    return ManyComparison(
        quantity=quantity,
        data_sets=scores.data_sets,
        methods=scores.methods,
        values=tuple(tuple(_or_none(v) for v in row) for row in scores.values.tolist()),
        ranks=tuple(averages),
        friedman=test,
        critical_difference=critical_difference(n, k, terms.confidence_level),
        pairs=pairs,
        terms=terms,
        n_compared=n,
        conclusion=concluded(grounds),
        left_out=held.left_out,
        notes=(*scores.notes, *held.notes, *_notes(held, ranks, pairs, terms)),
    )


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value


def _refuse_unknown_control(scores: Scores, terms: Terms) -> None:
    if terms.control is not None and terms.control not in scores.methods:
        raise UnknownName(
            f"control={terms.control!r} is no method of the table"
            f"{closest(terms.control, scores.methods) or '.'} It has: {', '.join(scores.methods)}."
        )


def _notes(
    held: Held, ranks: np.ndarray, pairs: tuple[MethodPair, ...], terms: Terms
) -> Iterator[str]:
    n = len(ranks)
    if (ranks == ranks[:, :1]).all():
        yield "all methods are tied on every data set: there is nothing to tell apart"
    else:
        for pair in pairs:
            if pair.ties == pair.n:
                yield f"{pair.a} and {pair.b} are equal on every data set"
    if held.no_splits:
        yield f"the hierarchical test is left out: {held.no_splits}"
    alpha, least = terms.alpha, 2.0 ** (1 - n)
    if terms.pairwise == "wilcoxon" and least * len(pairs) > alpha:
        yield (
            f"{n} data sets are too few: the smallest p-value that the signed-rank test can have "
            f"is {least:.3g}, and Holm multiplies it by {len(pairs)}, so nothing is told apart at "
            f"level {alpha:.3g}"
        )
    if any(pair.interval is None for pair in pairs):
        yield (
            "no interval of a difference keeps the level "
            f"{terms.confidence_level:g} with so few data sets"
        )
