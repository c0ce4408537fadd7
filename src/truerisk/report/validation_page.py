"""The page of a validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from truerisk.core.present import clean, number
from truerisk.core.validation.validation import PARTS
from truerisk.report.figure import Figure, FigureTable
from truerisk.report.layout import Headline, Section, rendered
from truerisk.report.validation_document import (
    MeasureRecord,
    ValidationDocument,
    read_validation,
)
from truerisk.report.validation_figures import (
    draw_benefit,
    draw_calibration_curve,
    draw_roc_curve,
)
from truerisk.report.validation_text import (
    validated,
    validated_again,
    validated_by,
    verdict,
)

__all__ = ["PagePart", "draw_validation"]


@dataclass(frozen=True)
class PagePart:
    """A part of the validation on the page: figures, tables with their captions, sentences."""

    name: str
    lead: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[tuple[FigureTable, str], ...] = ()
    said: tuple[str, ...] = ()

    @property
    def section(self) -> Section:
        """Its heading and figures."""
        return Section(self.name.replace("_", "-"), PARTS[self.name], self.lead, self.figures)


def draw_validation(content: Any) -> str:
    """The page of a validation's plain values (`Validation.to_dict`)."""
    document = read_validation(content)
    parts = tuple(_parts(document))
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
        "methods": validated(document),
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


def _headline(document: ValidationDocument) -> Iterator[Headline]:
    for word, look in (("auc", "report"), ("slope", ""), ("in-the-large", ""), ("brier", "")):
        one = document.measure(word)
        if one is not None and one.honest is not None:
            under = "held-out rows" if one.interval is None else f"interval {one.interval}"
            yield Headline(one.title, number(one.honest, 3), under, look)
    value, interval = document.risk.own_scale
    under = clean(document.risk.loss, 40) + ("" if interval is None else f", {interval}")
    yield Headline("Honest risk", number(value, 3), under)


def _parts(document: ValidationDocument) -> Iterator[PagePart]:
    ranks, calibration = document.discrimination, document.calibration
    if ranks is not None:
        figure = draw_roc_curve(ranks, document)
        yield PagePart(
            "discrimination",
            "Whether rows with the event are given more than others.",
            () if figure is None else (figure,),
            ((_table(ranks.measures), MEASURED),),
            _reasons(ranks.measures),
        )
    if calibration is not None:
        figure = draw_calibration_curve(calibration, document)
        yield PagePart(
            "calibration",
            "Whether what is given a probability comes as often.",
            () if figure is None else (figure,),
            ((_table(calibration.measures), MEASURED),),
            (*_reasons(calibration.measures), *calibration.notes),
        )
    if document.net_benefit is not None:
        yield PagePart(
            "net_benefit",
            "Whether deciding by the model is better than treating everybody or nobody.",
            (draw_benefit(document.net_benefit, document),),
        )
    for name, why in document.missing.items():
        if name in PARTS:
            yield PagePart(name, f"Not told: {clean(why, 1000)}")


MEASURED = (
    "Held-out rows with the interval; the model and its own rows (apparent); means over bootstrap "
    "samples of the whole procedure, on the sample (training) and on all rows (test); optimism = "
    "training − test, corrected = apparent − optimism"
)


def _table(measures: Sequence[MeasureRecord]) -> FigureTable:
    head = ("measure", "held out", "interval", "apparent", "training", "test", "optimism",
            "corrected", "samples")  # fmt: skip
    rows = [
        [
            one.title, number(one.honest), "–" if one.interval is None else str(one.interval),
            number(one.apparent), number(one.training), number(one.test), number(one.optimism),
            number(one.corrected), str(one.n) if one.n else "–",
        ]
        for one in measures
    ]  # fmt: skip
    return FigureTable.of(head, rows)


def _reasons(measures: Sequence[MeasureRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clean(one.reason, 1000) for one in measures if one.reason))
