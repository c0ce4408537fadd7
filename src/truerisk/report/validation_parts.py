"""Sections of a validation, for its own HTML page or for the page of an assessment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from truerisk.core.formats import escape_and_truncate, format_number
from truerisk.core.frozen import frozen
from truerisk.report.figure import Figure, FigureTable, drop_none
from truerisk.report.layout import Section
from truerisk.report.review_figures import (
    checklist_tables,
    draw_features,
    draw_forest,
    draw_instability,
)
from truerisk.report.validation_figures import (
    draw_calibration_curve,
    draw_net_benefit,
    draw_roc_curve,
)
from truerisk.validation.measures import FINISHED_TABLE_HEADER, TABLE_HEADER, Measured
from truerisk.validation.validation import FOLLOW_UP_CLASSES, PART_TITLES, Validation


@frozen
class PagePart:
    """Section of a validation on a page: figures, tables with captions, and sentences.

    `collapsed_figures` figures and `collapsed_tables` tables are collapsed until the reader opens
    them.
    """

    name: str
    lead: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[tuple[FigureTable, str], ...] = ()
    sentences: tuple[str, ...] = ()
    name_prefix: str = ""
    collapsed_tables: tuple[tuple[FigureTable, str], ...] = ()
    collapsed_figures: tuple[Figure, ...] = ()

    def with_name_prefix(self, name: str, *, page_has_roc: bool) -> PagePart:
        """Return a copy of the section whose figures have names that are unique on a longer page.

        The longer page is that of an assessment. `name` is a prefix of the figures' names. If
        the page already has the ROC curve, this section does not show it again.
        """
        is_shown_above = page_has_roc and self.name == "discrimination"
        renamed_figures, renamed_collapsed_figures = (
            tuple(replace(figure, name=f"{name}-{figure.name}") for figure in figures)
            for figures in (self.figures, self.collapsed_figures)
        )
        return replace(
            self,
            lead=self.lead + " The ROC curve is shown above." * is_shown_above,
            figures=() if is_shown_above else renamed_figures,
            collapsed_figures=renamed_collapsed_figures,
            name_prefix=f"{name}-",
        )

    @property
    def section(self) -> Section:
        """The section of the page, with its heading and all figures."""
        name = self.name_prefix + self.name.replace("_", "-")
        return Section(
            name, PART_TITLES[self.name], self.lead, (*self.figures, *self.collapsed_figures)
        )


def describe_rows(validation: Validation) -> str:
    """Describe the rows of a validation: their number and the event."""
    rows = validation.rows
    event_text = (
        ""
        if rows["n_events"] is None or rows["event"] == FOLLOW_UP_CLASSES[1]
        else f", event {escape_and_truncate(str(rows['event']), 60)}"
    )
    return f"{rows['n_rows']} rows{event_text}"


AUC_NAMES = "auc", "roc_auc"
EVENT_CALIBRATION_LEAD = "Whether events occur as often as predicted."
NUMERIC_CALIBRATION_LEAD = "Whether predictions are right on average, large and small ones alike."


def build_page_parts(validation: Validation) -> Iterator[PagePart]:
    """Yield the page sections of a validation.

    For each section that cannot be shown, a section with the reason follows at the end.
    """
    discrimination, calibration = validation.discrimination, validation.calibration
    if discrimination is not None:
        yield PagePart(
            "discrimination",
            "Whether rows with the event get higher predictions than rows without it.",
            drop_none(draw_roc_curve(discrimination, validation)),
            (_measures_table(discrimination.measures, validation),),
            tuple(escape_and_truncate(reason, 1000) for reason in discrimination.reasons),
        )
    if calibration is not None:
        curve = calibration.curve
        figure = None if curve is None else draw_calibration_curve(curve, calibration)
        yield PagePart(
            "calibration",
            EVENT_CALIBRATION_LEAD if calibration.event is not None else NUMERIC_CALIBRATION_LEAD,
            drop_none(figure),
            (_measures_table(calibration.measures, validation),),
            (
                *(escape_and_truncate(reason, 1000) for reason in calibration.reasons),
                *calibration.notes,
            ),
        )
    if validation.net_benefit is not None:
        yield PagePart(
            "net_benefit",
            "Whether deciding by the model is better than treating everybody or nobody.",
            (draw_net_benefit(validation.net_benefit),),
            sentences=(
                validation.net_benefit.sentence,
                *(escape_and_truncate(note, 1000) for note in validation.net_benefit.notes),
            ),
        )
    if (coefficient_update := validation.updating) is not None:
        block = coefficient_update.blocks()[0]
        yield PagePart(
            "updating",
            "Whether new coefficients for these people would give better predictions.",
            tables=((FigureTable.from_rows(block.head, block.rows), UPDATING_CAPTION),),
            sentences=(coefficient_update.sentence,),
        )
    yield from _review_sections(validation)
    for name, missing_reason in validation.missing.items():
        if name in PART_TITLES:
            yield PagePart(name, f"Not available: {escape_and_truncate(missing_reason, 1000)}")


def _review_sections(validation: Validation) -> Iterator[PagePart]:
    """Yield the sections on subgroups, stability and checklists."""
    subgroups, stability = validation.subgroups, validation.stability
    if subgroups is not None and subgroups.risks:
        # The subgroups' AUC comes first. The figures of other losses are collapsed.
        sorted_risks = sorted(
            enumerate(subgroups.risks),
            key=lambda subgroup_risks: subgroup_risks[1].scoring not in AUC_NAMES,
        )
        forest_plots = drop_none(
            *(draw_forest(subgroup_risks, i) for i, subgroup_risks in sorted_risks)
        )
        yield PagePart(
            "subgroups",
            "Whether the model does equally well in every subgroup.",
            forest_plots[:1],
            tuple(
                (FigureTable.from_rows(block.head, block.rows), LEVEL_CALIBRATION_CAPTION)
                for block in subgroups.calibration_blocks
            ),
            sentences=tuple(escape_and_truncate(note, 1000) for note in subgroups.all_notes),
            collapsed_figures=forest_plots[1:],
        )
    feature_stability = None if stability is None else stability.features
    prediction_stability = None if stability is None else stability.predictions
    if stability is not None and (
        feature_stability is not None or prediction_stability is not None
    ):
        figures = drop_none(
            None
            if feature_stability is None or feature_stability.index is None
            else draw_features(feature_stability),
            None if prediction_stability is None else draw_instability(prediction_stability),
        )
        reasons = (
            []
            if feature_stability is None or not feature_stability.reason
            else [escape_and_truncate(feature_stability.reason, 200)]
        )
        reasons += [
            f"{escape_and_truncate(name, 60)}: {escape_and_truncate(reason, 1000)}"
            for name, reason in stability.missing.items()
        ]
        prediction_summary = {} if prediction_stability is None else prediction_stability.summary
        summary_rows = [
            [name, format_number(summary_value)]
            for name, summary_value in prediction_summary.items()
        ]
        yield PagePart(
            "stability",
            "Whether other training rows would have led to the same model.",
            figures,
            ()
            if prediction_stability is None
            else (
                (
                    FigureTable.from_rows(PREDICTION_CHANGE_HEADER, summary_rows),
                    PREDICTION_CHANGE_CAPTION,
                ),
            ),
            tuple(reasons),
        )
    if validation.checklist is not None and validation.checklist.items:
        open_items = validation.checklist.open_questions
        resolved_items = [
            checklist_item
            for checklist_item in validation.checklist.items
            if checklist_item not in open_items
        ]
        yield PagePart(
            "checklist",
            "What the data and the computation answer, and what does not apply.",
            tables=tuple(checklist_tables(resolved_items, "{}")),
            collapsed_tables=tuple(checklist_tables(open_items, "{}: {} items for you to answer")),
        )


PREDICTION_CHANGE_HEADER, PREDICTION_CHANGE_CAPTION = (
    ("of every row, and on average", "value"),
    "How far predictions move",
)
MEASURES_CAPTION = (
    "held out: rows the model had not seen, with the interval; apparent: on its training rows; "
    "training and test: the whole procedure repeated on bootstrap samples, rated on the sample and "
    "on all rows (means); optimism = training − test; corrected = apparent − optimism"
)


LEVEL_CALIBRATION_CAPTION = "calibration of the rows of each level; each interval holds on its own"
UPDATING_CAPTION = (
    "coefficients fitted to all rows; the losses, and the change against the model as it is, by "
    "cross-validation"
)
FINISHED_MODEL_CAPTION = "of all rows as one test set of the finished model, with the interval"


def _measures_table(
    measures: Mapping[str, Measured], validation: Validation
) -> tuple[FigureTable, str]:
    """Return a table with one row per measure of a validation, and the caption of the table.

    The table of a finished model has no columns about training rows, which are not known.
    """
    header = (
        "measure",
        "held out",
        "interval",
        *TABLE_HEADER[len(FINISHED_TABLE_HEADER) : -1],
        "samples",
    )
    rows = [
        [
            *measure.cells[:2],
            str(measure.interval or "–"),
            *measure.cells[len(FINISHED_TABLE_HEADER) :],
        ]
        for measure in measures.values()
    ]
    if not validation.finished:
        return FigureTable.from_rows(header, rows), MEASURES_CAPTION
    return FigureTable.from_rows(
        ("measure", "value", "interval"), [row[:3] for row in rows]
    ), FINISHED_MODEL_CAPTION
