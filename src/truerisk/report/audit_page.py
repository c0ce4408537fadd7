"""The page of an audit: what a search claims, what is honest, and how that was found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truerisk.core.present import MODELS_SAW, clean, number, signed
from truerisk.report.audit_document import AuditDocument, Risk, read_audit
from truerisk.report.audit_figures import draw_claim, draw_settings
from truerisk.report.audit_text import audited, audited_again, audited_on
from truerisk.report.figure import FigureTable
from truerisk.report.layout import Headline, Section, rendered, sentences

__all__ = ["draw_audit"]


def draw_audit(content: Any) -> str:
    """The page of an audit's plain values (`Audit.to_dict`)."""
    document = read_audit(content)
    values = {
        "eyebrow": "audit",
        "title": _title(document),
        "facts": _facts(document),
        "headline": list(_headline(document)),
        "conclusion": sentences(document.conclusion),
        "findings": document.findings,
        "risks": _risks(document),
        "risks_caption": _caption(document),
        "legend": _legend(document),
        "sections": tuple(_sections(document)),
        "methods": audited(document),
        "references": audited_on(document),
        "repeat": audited_again(document),
        "described": [],
        "notes": _notes(document),
    }
    return rendered("audit.html", values)


def _caption(document: AuditDocument) -> str:
    scale, name = document.scale, clean(document.loss, 40)
    what = f"Risks in {name} loss" if scale.perfect is None else f"Scores, {name}"
    return f"{what}, {scale.better} is better"


def _title(document: AuditDocument) -> str:
    search, source = clean(document.search, 60), clean(document.source, 80)
    return f"{source}: audit of a {search}" if source else f"Audit of a {search}"


def _facts(document: AuditDocument) -> list[str]:
    n = document.n_candidates
    return [
        f"level {clean(document.level, 20)}",
        f"{n} setting{'s' if n != 1 else ''}",
        f"chosen {document.setting}",
        document.scale.of(document.loss),
    ]


def _headline(document: AuditDocument) -> Iterator[Headline]:
    honest, claimed = document.honest, document.claimed
    value = None if honest is None else honest.value
    rough = document.is_rough
    name = "Roughly corrected" if rough else f"Report this {document.scale.noun}"
    yield Headline(name, number(value), _sure(document), "" if rough else "report")
    yield Headline("The search claims", number(claimed.value), clean(claimed.method, 60))
    if document.choosing is not None:
        value_alone = number(document.choosing.value)
        yield Headline("Corrected for the choice alone", value_alone, "on splits that mix")
    change = "–" if document.optimism is None else signed(document.optimism, value)
    ends = ["corrected" if rough else "honest", "claimed"]
    how = " − ".join(ends if document.scale.perfect is None else ends[::-1])
    yield Headline("Optimism", change, how)
    yield Headline("The claim", *_verdict(document))


def _sure(document: AuditDocument) -> str:
    interval = None if document.honest is None else document.honest.interval
    if interval is None:
        return "no interval"
    level = f"{100 * interval.confidence_level:g} %"
    return f"{level} interval {number(interval.low)} to {number(interval.high)}"


def _verdict(document: AuditDocument) -> tuple[str, str]:
    if document.refuted is None and document.mixes:
        return "unfounded", f"tested were models that saw {MODELS_SAW[document.mixes]}"
    if document.refuted is None:
        return "open", "without an interval nothing is refuted"
    if document.refuted:
        return "refuted", "it lies outside the honest interval"
    return "possible", "it lies inside the honest interval"


def _risks(document: AuditDocument) -> FigureTable:
    rows = [
        [name, number(one.value), "none" if one.interval is None else str(one.interval), one.method]
        for name, one in _named(document)
    ]
    return FigureTable.of(("which", document.scale.noun, "interval", "by"), rows)


def _named(document: AuditDocument) -> list[tuple[str, Risk]]:
    """The risks by their names; at level scores the honest one is the rough one."""
    named: list[tuple[str, Risk | None]] = [("claimed", document.claimed)]
    named.append(("choosing", document.choosing))
    if not document.is_rough:
        named.append(("honest", document.honest))
    named.append(("rough", document.rough))
    return [(name, one) for name, one in named if one is not None]


def _legend(document: AuditDocument) -> list[str]:
    error = ", as an error" if document.scale.perfect is None else ""
    lines = [f"claimed: the score of the chosen setting, which is the best of all{error}"]
    if document.choosing is not None:
        lines.append("choosing: corrected for the choice alone, on the splits of the search")
    if document.mixes:
        saw = MODELS_SAW[document.mixes]
        lines.append(f"honest: the choice tested by models that have not seen {saw}")
    elif document.level == "bbc":
        lines.append("honest: the same choice on rows drawn again, tested on those left out")
    elif document.level == "nested":
        lines.append("honest: the whole search repeated, tested on rows without part in it")
    if document.rough is not None:
        lines.append("rough: from the scores of the splits alone; it errs in both directions")
    return lines


def _sections(document: AuditDocument) -> Iterator[Section]:
    yield Section("numbers", "The numbers")
    drawn = [f for f in (draw_claim(document), draw_settings(document)) if f is not None]
    if drawn:
        lead = "The best of many measured numbers is too good, the more so the more there are."
        yield Section("optimism", "Optimism", lead, tuple(drawn))
    yield Section("methods", "What was done")
    yield Section("repeat", "How to repeat it")


def _notes(document: AuditDocument) -> list[str]:
    notes = [clean(note, 400) for _, one in _named(document) for note in one.notes]
    return list(dict.fromkeys(notes))[:40]
