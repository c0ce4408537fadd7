"""The parts of a validation as a page shows them: alone, or beside an assessment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from truerisk.core.present import clean, number
from truerisk.core.validation.validation import PARTS
from truerisk.report.figure import Figure, FigureTable
from truerisk.report.layout import Section
from truerisk.report.review_document import PredictionsRecord
from truerisk.report.review_figures import (
    checklist_table,
    draw_features,
    draw_forest,
    draw_instability,
)
from truerisk.report.validation_document import MeasureRecord, ValidationDocument
from truerisk.report.validation_figures import (
    draw_benefit,
    draw_calibration_curve,
    draw_roc_curve,
)

__all__ = ["PagePart", "parts_of"]


@dataclass(frozen=True)
class PagePart:
    """A part of the validation on the page: figures, tables with their captions, sentences."""

    name: str
    lead: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[tuple[FigureTable, str], ...] = ()
    said: tuple[str, ...] = ()
    within: str = ""

    def inside(self, name: str) -> PagePart:
        """The same below a heading of that name, on a page with headings and figures of its own."""
        figures = tuple(replace(one, name=f"{name}-{one.name}") for one in self.figures)
        return replace(self, figures=figures, within=f"{name}-")

    @property
    def section(self) -> Section:
        """Its heading and figures."""
        name = self.within + self.name.replace("_", "-")
        return Section(name, PARTS[self.name], self.lead, self.figures)


OF_EVENT = "Whether what is given a probability comes as often."
OF_NUMBERS = "Whether answers are right on average, large ones and small ones."


def parts_of(document: ValidationDocument) -> Iterator[PagePart]:
    """Those that there are, then why others are missing."""
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
            OF_EVENT if calibration.of_event else OF_NUMBERS,
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
    yield from _review(document)
    for name, why in document.missing.items():
        if name in PARTS:
            yield PagePart(name, f"Not told: {clean(why, 1000)}")


def _review(document: ValidationDocument) -> Iterator[PagePart]:
    """Subgroups, stability, checklists."""
    if document.subgroups:
        forests = (draw_forest(one, i) for i, one in enumerate(document.subgroups))
        own = (note for one in document.subgroups for note in one.notes)
        notes = dict.fromkeys((*document.on_levels, *own))
        yield PagePart(
            "subgroups",
            "Whether it does as well in every group of rows.",
            tuple(one for one in forests if one is not None),
            said=tuple(clean(note, 1000) for note in notes),
        )
    features, predictions = document.features, document.predictions
    if features is not None or predictions is not None:
        figures = (
            None if features is None else draw_features(features),
            None if predictions is None else draw_instability(predictions),
        )
        unsaid = () if features is None or not features.reason else (features.reason,)
        yield PagePart(
            "stability",
            "Whether other training rows would have led to the same model.",
            tuple(one for one in figures if one is not None),
            () if predictions is None else ((_moves(predictions), "How far predictions move"),),
            (*unsaid, *document.unstable),
        )
    if document.items:
        names = tuple(dict.fromkeys(item.guideline for item in document.items))
        n_open = sum(not item.answer for item in document.items)
        yield PagePart(
            "checklist",
            f"What data and computation tell; {n_open} items are open, and yours to answer.",
            tables=tuple((checklist_table(document.items, name), name) for name in names),
        )


def _moves(found: PredictionsRecord) -> FigureTable:
    return FigureTable.of(
        ("of every row, and on average", "value"),
        [[name, number(value)] for name, value in found.summary],
    )


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
