"""The parts of a validation on a page of its own, or on that of an assessment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from truerisk.core.formats import clean, number
from truerisk.core.frozen import frozen
from truerisk.report.figure import Figure, FigureTable, known
from truerisk.report.layout import Section
from truerisk.report.review_figures import (
    checklist_tables,
    draw_features,
    draw_forest,
    draw_instability,
)
from truerisk.report.validation_figures import (
    draw_benefit,
    draw_calibration_curve,
    draw_roc_curve,
)
from truerisk.validation.measures import HEAD, N_HONEST, Measured
from truerisk.validation.validation import PARTS, Validation


@frozen
class PagePart:
    """A part of the validation on the page: figures, tables with captions, sentences.

    `further` figures and `folded` tables are collapsed until the reader opens them.
    """

    name: str
    lead: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[tuple[FigureTable, str], ...] = ()
    sentences: tuple[str, ...] = ()
    within: str = ""
    folded: tuple[tuple[FigureTable, str], ...] = ()
    further: tuple[Figure, ...] = ()

    def inside(self, name: str) -> PagePart:
        """Return the part for a page that has other sections and figures, below this heading.

        Such a page already has a ROC curve.
        """
        every = [replace(each, name=f"{name}-{each.name}") for each in self.section.figures]
        n_first = 0 if self.name == "discrimination" else len(self.figures)
        return replace(
            self,
            figures=tuple(every[:n_first]),
            further=tuple(every[n_first:]),
            within=f"{name}-",
        )

    @property
    def section(self) -> Section:
        """Section of the page, with a heading and all figures."""
        name = self.within + self.name.replace("_", "-")
        return Section(name, PARTS[self.name], self.lead, (*self.figures, *self.further))


def rows_text(validation: Validation) -> str:
    """Describe the rows of the validation."""
    rows = validation.rows
    event = "" if rows["n_events"] is None else f", event {clean(str(rows['event']), 60)}"
    return f"{rows['n_rows']} rows{event}"


AREAS = "auc", "roc_auc"
OF_EVENT = "Whether events occur as often as predicted."
OF_NUMBERS = "Whether predictions are right on average, large and small ones alike."


def parts_of(document: Validation) -> Iterator[PagePart]:
    """Yield the parts that exist, and then why others are missing."""
    ranks, calibration = document.discrimination, document.calibration
    if ranks is not None:
        yield PagePart(
            "discrimination",
            "Whether rows with the event get higher predictions than rows without it.",
            known(draw_roc_curve(ranks, document)),
            (_table(ranks.measures, document),),
            tuple(clean(reason, 1000) for reason in ranks.reasons),
        )
    if calibration is not None:
        curve = calibration.curve
        figure = None if curve is None else draw_calibration_curve(curve, calibration)
        yield PagePart(
            "calibration",
            OF_EVENT if calibration.event is not None else OF_NUMBERS,
            known(figure),
            (_table(calibration.measures, document),),
            (*(clean(reason, 1000) for reason in calibration.reasons), *calibration.notes),
        )
    if document.net_benefit is not None:
        yield PagePart(
            "net_benefit",
            "Whether deciding by the model is better than treating everybody or nobody.",
            (draw_benefit(document.net_benefit),),
            sentences=(
                document.net_benefit.sentence,
                *(clean(note, 1000) for note in document.net_benefit.notes),
            ),
        )
    if (updating := document.updating) is not None:
        block = updating.blocks()[0]
        yield PagePart(
            "updating",
            "Whether new coefficients for these people would give better predictions.",
            tables=((FigureTable.from_rows(block.head, block.rows), REFITTED),),
            sentences=(updating.sentence,),
        )
    yield from _review(document)
    for name, why in document.missing.items():
        if name in PARTS:
            yield PagePart(name, f"Not available: {clean(why, 1000)}")


def _review(document: Validation) -> Iterator[PagePart]:
    """Yield subgroups, stability and checklists."""
    subgroups, stability = document.subgroups, document.stability
    if subgroups is not None and subgroups.risks:
        # Discrimination comes first, and the other losses are collapsed.
        order = sorted(enumerate(subgroups.risks), key=lambda each: each[1].scoring not in AREAS)
        forests = known(*(draw_forest(each, i) for i, each in order))
        yield PagePart(
            "subgroups",
            "Whether the model does equally well in every subgroup.",
            forests[:1],
            sentences=tuple(clean(note, 1000) for note in subgroups.all_notes),
            further=forests[1:],
        )
    features = None if stability is None else stability.features
    predictions = None if stability is None else stability.predictions
    if stability is not None and (features is not None or predictions is not None):
        figures = known(
            None if features is None or features.index is None else draw_features(features),
            None if predictions is None else draw_instability(predictions),
        )
        unsaid = [] if features is None or not features.reason else [clean(features.reason, 200)]
        unsaid += [
            f"{clean(name, 60)}: {clean(why, 1000)}" for name, why in stability.missing.items()
        ]
        summary = {} if predictions is None else predictions.summary
        moves = [[name, number(value)] for name, value in summary.items()]
        yield PagePart(
            "stability",
            "Whether other training rows would have led to the same model.",
            figures,
            () if predictions is None else ((FigureTable.from_rows(MOVES, moves), FAR),),
            tuple(unsaid),
        )
    if document.checklist is not None and document.checklist.items:
        questions = document.checklist.open_questions
        answered = [item for item in document.checklist.items if item not in questions]
        yield PagePart(
            "checklist",
            "What the data and the computation answer, and what does not apply.",
            tables=tuple(checklist_tables(answered, "{}")),
            folded=tuple(checklist_tables(questions, "{}: {} items for you to answer")),
        )


MOVES, FAR = ("of every row, and on average", "value"), "How far predictions move"
MEASURED = (
    "held out: rows the model had not seen, with the interval; apparent: on its training rows; "
    "training and test: the whole procedure repeated on bootstrap samples, rated on the sample and "
    "on all rows (means); optimism = training − test; corrected = apparent − optimism"
)


REFITTED = (
    "coefficients fitted to all rows; the losses, and the change against the model as it is, by "
    "cross-validation"
)
OF_ALL = "of all rows as one test set of the finished model, with the interval"


def _table(measures: Mapping[str, Measured], document: Validation) -> tuple[FigureTable, str]:
    """Return a table with one row per measure, and its caption.

    A finished model has no training rows here.
    """
    head = ("measure", "held out", "interval", *HEAD[N_HONEST:-1], "samples")
    rows = [
        [*one.cells[:2], str(one.interval or "–"), *one.cells[N_HONEST:]]
        for one in measures.values()
    ]
    if not document.finished:
        return FigureTable.from_rows(head, rows), MEASURED
    return FigureTable.from_rows(
        ("measure", "value", "interval"), [row[:3] for row in rows]
    ), OF_ALL
