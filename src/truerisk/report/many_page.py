"""The page of a comparison over many data sets."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from truerisk.core.present import clean, number
from truerisk.report.figure import FigureTable
from truerisk.report.layout import Headline, Section, rendered
from truerisk.report.many_document import ManyDocument, read_many
from truerisk.report.many_figures import draw_effects, draw_ranks, draw_values
from truerisk.report.many_text import compared, compared_again, compared_on

__all__ = ["draw_many"]


def draw_many(content: Any) -> str:
    """The page of a comparison's plain values (`ManyComparison.to_dict`)."""
    document = read_many(content)
    values = {
        "eyebrow": "comparison",
        "title": _title(document),
        "facts": _facts(document),
        "headline": list(_headline(document)),
        "conclusion": [clean(sentence, 4000) for sentence in document.conclusion],
        "findings": [],
        "sections": tuple(_sections(document)),
        "pairs": _pairs(document),
        "pairs_caption": _caption(document),
        "splits": _splits(document),
        "splits_caption": (
            "By single splits (hierarchical correlated t test): how probably each is the likeliest "
            "on another data set, and the probabilities of that data set themselves"
        ),
        "methods": compared(document),
        "references": compared_on(document),
        "repeat": compared_again(document),
        "described": [],
        "notes": [clean(note, 1000) for note in document.notes[:40]],
    }
    return rendered("many.html", values)


def _title(document: ManyDocument) -> str:
    n, k = len(document.data_sets), len(document.methods)
    name = clean(document.name, 80)
    return f"{name + ': ' if name else ''}{k} methods on {n} data sets"


def _facts(document: ManyDocument) -> list[str]:
    took = f"{document.n_compared} of {len(document.data_sets)} data sets compared"
    return [
        clean(document.quantity, 60),
        f"{clean(document.better, 10)} is better",
        took if document.left_out else f"{document.n_compared} data sets",
        f"level {1 - document.confidence:.3g}",
    ]


def _headline(document: ManyDocument) -> Iterator[Headline]:
    best = document.ordered[0]
    rank = f"average rank {document.ranks[best]:.2f}"
    yield Headline("Best average rank", document.shown(best, 40), rank, "report")
    f, first, second, p = document.f
    shown = "∞" if f == inf else f"{f:.2f}"
    yield Headline("All alike?", f"p {_p(p)}", f"Friedman's test, F({first}, {second}) = {shown}")
    apart = sum(pair.p_holm < 1 - document.confidence for pair in document.pairs)
    yield Headline("Told apart", f"{apart} of {len(document.pairs)}", "pairs, after Holm")
    cd = f"{document.critical_difference:.2f}"
    yield Headline("Critical difference", cd, "of average ranks (Nemenyi)")


def _p(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"= {p:.3g}"


def _sections(document: ManyDocument) -> Iterator[Section]:
    lead = "Ranks within each data set, 1 for the best, averaged over data sets."
    yield Section(
        "numbers", "Ranks and values", lead, (draw_ranks(document), draw_values(document))
    )
    lead = "How much two methods differ, and how sure that is."
    yield Section("pairs", "Two methods at a time", lead, (draw_effects(document),))
    yield Section("methods", "What was done")
    yield Section("repeat", "How to repeat it")


def _pairs(document: ManyDocument) -> FigureTable:
    head = ("a", "b", "better, tied, worse", "a − b", "interval", "p", "p (Holm)", "a better",
            "the same", "b better")  # fmt: skip
    rows = [
        [
            document.shown(p.a, 40), document.shown(p.b, 40), f"{p.wins}, {p.ties}, {p.losses}",
            number(p.difference), str(p.interval or "none"), _short(p.p_value), _short(p.p_holm),
            number(p.better, 3), number(p.equivalent, 3), number(p.worse, 3),
        ]
        for p in document.pairs
    ]  # fmt: skip
    return FigureTable.of(head, rows)


def _splits(document: ManyDocument) -> FigureTable | None:
    """What the hierarchical test says; None where single splits are not known."""
    head = ("a", "b", "a better", "the same", "b better", "next: a better", "the same", "b better")
    rows = [
        [document.shown(p.a, 40), document.shown(p.b, 40), *(number(v, 3) for v in p.by_splits)]
        for p in document.pairs
        if p.by_splits is not None
    ]
    return FigureTable.of(head, rows) if rows else None


def _short(p: float) -> str:
    return f"{p:.3g}" if p >= 1e-4 else "0.0000"


def _caption(document: ManyDocument) -> str:
    return (
        "Data sets on which a is better, tied and worse; the difference; the p-value and Holm's "
        "correction of it; probabilities that on most data sets a or b is better by more than "
        f"{document.rope:g}, or neither"
    )
