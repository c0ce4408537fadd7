"""The page of a validation."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.core.present import clean, number
from truerisk.report.layout import Headline, Section, rendered
from truerisk.report.validation_parts import parts_of, rows_text
from truerisk.report.validation_text import validated_again, validated_by, verdict
from truerisk.validation.validation import Validation


def draw_validation(document: Validation) -> str:
    """The page of a validation, of this process or read from a file."""
    parts, checklist = tuple(parts_of(document)), document.checklist
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
        "methods": "" if checklist is None else clean(checklist.methods_text, 8000),
        "references": validated_by(document),
        "repeat": validated_again(document),
        "described": [],
        "notes": [clean(note, 1000) for note in (*document.risk.notes, *document.notes)[:40]],
    }
    return rendered("validation.html", values)


def _title(document: Validation) -> str:
    return f"Validation on {rows_text(document)}"


def _facts(document: Validation) -> list[str]:
    facts = [clean(document.risk.method, 80)]
    if document.rows["n_events"] is not None:
        facts.append(f"{document.rows['n_events']} events")
    if document.rows["n_groups"] is not None:
        facts.append(f"{document.rows['n_groups']} groups")
    return facts


HEADLINES = (
    *(("auc", "report"), ("explained", "report")),
    *(("slope", ""), ("in-the-large", ""), ("brier", "")),
)


def _headline(document: Validation) -> Iterator[Headline]:
    for word, look in HEADLINES:
        one = document.measure(word)
        if one is not None and one.honest is not None:
            under = "held-out rows" if one.interval is None else f"interval {one.interval}"
            yield Headline(one.title, number(one.honest, 3), under, look)
    risk, own = document.risk, document.risk.own_scale
    under = clean(risk.named_loss, 40) + ("" if own.interval is None else f", {own.interval}")
    yield Headline(f"Honest {risk.scale.noun}", number(own.value, 3), under)
