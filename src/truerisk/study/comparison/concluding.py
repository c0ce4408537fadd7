"""What a comparison over many data sets says, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from truerisk.core.statistics.ranks import Friedman
from truerisk.study.comparison.pairs import MethodPair
from truerisk.study.comparison.terms import Terms

__all__ = ["Grounds", "concluded", "p_text"]

SURE = 0.95
NAMED = 6
BY_SPLITS = "By their single splits, on another data set"


@dataclass(frozen=True)
class Grounds:
    """What a conclusion rests on; `ordered` are methods with average ranks, the best first."""

    ordered: Sequence[tuple[str, float]]
    n_data_sets: int
    n_compared: int
    friedman: Friedman
    pairs: Sequence[MethodPair]
    terms: Terms


def concluded(found: Grounds) -> tuple[str, ...]:
    """Ranks, the test of all, the pairs, what is practically so."""
    return (
        _best(found),
        _overall(found),
        *_apart(found),
        *_practical(found),
        *_next(found),
        *_missing(found),
    )


def p_text(p: float) -> str:
    """A p-value as it is printed.

    >>> p_text(0.01162), p_text(3.2e-9), p_text(1.0)
    ('p = 0.0116', 'p < 0.0001', 'p = 1')
    """
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.3g}"


def _best(found: Grounds) -> str:
    ordered = found.ordered
    lowest = [name for name, rank in ordered if rank <= ordered[0][1] + 1e-9]
    of = f"Of {len(ordered)} methods on {found.n_compared} data sets"
    if len(lowest) == len(ordered):
        return f"{of}, all have the same average rank, {ordered[0][1]:.2f}."
    if len(lowest) > 1:
        return f"{of}, {_listed(lowest)} share the best average rank, {ordered[0][1]:.2f}."
    second = f"{ordered[1][0]} with {ordered[1][1]:.2f}"
    return f"{of}, {lowest[0]} has the best average rank, {ordered[0][1]:.2f}, before {second}."


def _overall(found: Grounds) -> str:
    test = found.friedman
    said = f"{test}, {p_text(test.p_value)}"
    if test.p_value < found.terms.alpha:
        return f"The ranks differ by more than chance (Friedman's test, {said})."
    return f"The ranks do not differ by more than chance may make them (Friedman's test, {said})."


def _apart(found: Grounds) -> Iterator[str]:
    pairs = sorted((p for p in found.pairs if p.p_holm < found.terms.alpha), key=lambda p: p.p_holm)
    m = len(found.pairs)
    over = f"Holm's correction over {m} pairs" if m > 1 else "The test of the one pair"
    if not pairs:
        yield f"{over} tells no two methods apart, which does not show that they are alike."
        return
    yield f"{over} tells apart: {_some([_told(found, pair) for pair in pairs])}."
    if len(pairs) < m:
        left = m - len(pairs)
        yield f"{left} of the {m} pairs {'stays' if left == 1 else 'stay'} open."


def _told(found: Grounds, pair: MethodPair) -> str:
    first, second = (pair.a, pair.b) if pair.favours_a else (pair.b, pair.a)
    return f"{first} is better than {second} ({p_text(pair.p_holm)})"


def _practical(found: Grounds) -> Iterator[str]:
    """What the Bayesian test is sure of."""
    region = f"by more than {found.terms.rope:g}" if found.terms.rope else "at all"
    better = [(p.a, p.b, p.better) for p in found.pairs if p.better >= SURE]
    better += [(p.b, p.a, p.worse) for p in found.pairs if p.worse >= SURE]
    if better:
        said = [f"{a} than {b} ({_sure(p)})" for a, b, p in better]
        yield f"On most data sets these are probably better {region}: {_some(said)}."
    alike = [p for p in found.pairs if p.equivalent >= SURE]
    if alike:
        said = [f"{p.a} and {p.b} ({_sure(p.equivalent)})" for p in alike]
        within = f"by no more than {found.terms.rope:g}"
        yield f"On most data sets these probably differ {within}: {_some(said)}."


def _next(found: Grounds) -> Iterator[str]:
    """What the single splits are sure of, where they are known."""
    known = [(p, p.hierarchical) for p in found.pairs if p.hierarchical is not None]
    better = [(p.a, p.b, h.better) for p, h in known if h.better >= SURE]
    better += [(p.b, p.a, h.worse) for p, h in known if h.worse >= SURE]
    region = f"by more than {found.terms.rope:g}" if found.terms.rope else "at all"
    if better:
        said = [f"{a} than {b} ({_sure(p)})" for a, b, p in better]
        yield f"{BY_SPLITS} these are likeliest better {region}: {_some(said)}."
    alike = [f"{p.a} and {p.b} ({_sure(h.equivalent)})" for p, h in known if h.equivalent >= SURE]
    if alike:
        within = f"by no more than {found.terms.rope:g}"
        yield f"{BY_SPLITS} these likeliest differ {within}: {_some(alike)}."


def _sure(p: float) -> str:
    return "probability above 0.99" if p > 0.99 else f"probability {p:.2f}"


def _missing(found: Grounds) -> Iterator[str]:
    if found.n_compared < found.n_data_sets:
        of = f"{found.n_compared} of {found.n_data_sets}"
        yield f"All of this is of {of} data sets: see the notes."


def _some(said: Sequence[str]) -> str:
    more = len(said) - NAMED
    return "; ".join(said[:NAMED]) + (f"; and {more} more" if more > 0 else "")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
