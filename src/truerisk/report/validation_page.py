"""The page of a validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truerisk.core.present import clean, number
from truerisk.report.layout import Headline, Section, rendered
from truerisk.report.validation_document import ValidationDocument, read_validation
from truerisk.report.validation_parts import parts_of
from truerisk.report.validation_text import validated_again, validated_by, verdict

__all__ = ["draw_validation"]


def draw_validation(content: Any) -> str:
    """The page of a validation's plain values (`Validation.to_dict`)."""
    document = read_validation(content)
    parts = tuple(parts_of(document))
    values = {
        "eyebrow": "validation",
        "title": _title(document),
        "facts": _facts(document),
        "headline": list(_headline(document)),
        "conclusion": [clean(sentence, 1000) for sentence in verdict(document)],
        "findings": [],
        "parts": parts,
        "sections": (
            *(part.section for part in parts),
            Section("methods", "What was done"),
            Section("repeat", "How to repeat it"),
        ),
        "methods": document.methods_text,
        "references": validated_by(document),
        "repeat": validated_again(document),
        "described": [],
        "notes": [clean(note, 1000) for note in (*document.risk.notes, *document.notes)[:40]],
    }
    return rendered("validation.html", values)


def _title(document: ValidationDocument) -> str:
    event = "" if document.n_events is None else f", event {document.event}"
    return f"Validation on {document.n_rows} rows{event}"


def _facts(document: ValidationDocument) -> list[str]:
    facts = [clean(document.risk.method, 80)]
    if document.n_events is not None:
        facts.append(f"{document.n_events} events")
    if document.n_groups is not None:
        facts.append(f"{document.n_groups} groups")
    return facts


HEADLINES = (
    *(("auc", "report"), ("explained", "report")),
    *(("slope", ""), ("in-the-large", ""), ("brier", "")),
)


def _headline(document: ValidationDocument) -> Iterator[Headline]:
    for word, look in HEADLINES:
        one = document.measure(word)
        if one is not None and one.honest is not None:
            under = "held-out rows" if one.interval is None else f"interval {one.interval}"
            yield Headline(one.title, number(one.honest, 3), under, look)
    risk = document.risk
    under = clean(risk.loss, 40) + ("" if risk.interval is None else f", {risk.interval}")
    yield Headline(f"Honest {risk.scale.noun}", number(risk.value, 3), under)
