"""Figures and tables of subgroups, stability and checklists for the page of a validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from truerisk.core.formats import escape_and_truncate, format_number
from truerisk.report.figure import Figure, FigureTable, LegendKey, evenly_spread_positions
from truerisk.report.svg import (
    DRAWING_WIDTH,
    SHARE_TICKS,
    Drawing,
    PixelScale,
    make_row_drawing,
    shorten,
)
from truerisk.validation.checklists.checklist import Item
from truerisk.validation.prediction_stability import PredictionStability
from truerisk.validation.stability import FeatureStability
from truerisk.validation.subgroups import TABLE_HEADER, SubgroupRisk, SubgroupRisks, make_table_rows

ROW_HEIGHT, TOP_MARGIN, LEFT_MARGIN, MAX_ROWS = 26, 8, 168, 20
N_TABLE_ROWS = 21


SHRUNKEN_CAPTION = (
    " Diamonds are shrunken estimates: each is pulled to the mean of its column as far as noise "
    "explains the differences."
)


def draw_forest(
    risks: SubgroupRisks, number_on_page: int = 0, max_rows: int | None = MAX_ROWS
) -> Figure | None:
    """Draw a forest plot that compares one loss between subgroups of the rows.

    The result is None if no subgroup has a value.
    """
    rows, loss = (
        (risks.whole, *risks.levels)[:max_rows],
        escape_and_truncate(risks.named_scoring, 60),
    )
    axis_values = [axis_value for subgroup_risk in rows for axis_value in subgroup_risk.ends]
    if not axis_values:
        return None
    description = "; ".join(
        f"{_subgroup_name(subgroup_risk)}: {format_number(subgroup_risk.value)}"
        for subgroup_risk in rows
    )
    x_scale = PixelScale.from_values(axis_values, LEFT_MARGIN, DRAWING_WIDTH - 14)
    drawing = make_row_drawing(
        f"{loss} in subgroups", description, x_scale, len(rows), ROW_HEIGHT, TOP_MARGIN
    )
    drawing.bottom_axis(f"{shorten(loss, 30)} ({risks.whole.scale.better} is better)")
    risk_of_all_rows = risks.whole.value
    if risk_of_all_rows is not None:
        drawing.vertical_line(risk_of_all_rows, "baseline")
    for i, subgroup_risk in enumerate(rows):
        _draw_subgroup(drawing, subgroup_risk, i)
    has_shrunken_risks = any(subgroup_risk.shrunken is not None for subgroup_risk in rows)
    return Figure(
        name=f"subgroups-{number_on_page}",
        title=loss,
        drawing=drawing,
        caption=(
            "The intervals of the subgroups are simultaneous; that of all rows is not."
            f"{SHRUNKEN_CAPTION if has_shrunken_risks else ''}"
        ),
        table=FigureTable.from_rows(
            TABLE_HEADER,
            [[escape_and_truncate(cell) for cell in row] for row in make_table_rows(risks)],
        ),
        keys=(
            LegendKey("s0", "value and interval", "span"),
            *([LegendKey("s1", "shrunken value", "diamond")] if has_shrunken_risks else []),
            LegendKey("baseline", "all rows", "line"),
        ),
    )


def _subgroup_name(subgroup_risk: SubgroupRisk) -> str:
    return escape_and_truncate(subgroup_risk.subgroup.display_name, 120)


def _draw_subgroup(drawing: Drawing, subgroup_risk: SubgroupRisk, row_index: int) -> None:
    y_position, name = row_index + 0.5, _subgroup_name(subgroup_risk)
    drawing.row_label(y_position, name, 22)
    drawing.names[y_position] = f"{name} ({subgroup_risk.subgroup.n_rows})"
    if subgroup_risk.value is None:
        drawing.note(y_position, escape_and_truncate(subgroup_risk.reason or ""))
        return
    interval_text = "" if subgroup_risk.interval is None else f" {subgroup_risk.interval}"
    tooltip = (
        f"{name}, {subgroup_risk.subgroup.n_rows} rows: "
        f"{format_number(subgroup_risk.value)}{interval_text}"
    )
    drawing.point_with_interval(subgroup_risk.value, subgroup_risk.interval, y_position, tooltip)
    if subgroup_risk.shrunken is not None:
        shrunken_tooltip = f"{name}, shrunken: {format_number(subgroup_risk.shrunken)}"
        drawing.point(subgroup_risk.shrunken, y_position, "s1", shrunken_tooltip, shape="diamond")


def draw_instability(stability: PredictionStability) -> Figure:
    """Draw, for each row, the range of the predictions by other models.

    The range is a vertical line at the prediction of the model itself.
    """
    axis_ends = (0.0, 1.0)
    if stability.event is None:
        axis_ends = float(stability.low.min()), float(stability.high.max())
    axis_margin = 0.01 * (axis_ends[1] - axis_ends[0]) or 1.0
    drawing = Drawing(
        title="Instability of predictions",
        description=f"mean absolute prediction error: {format_number(stability.mape)}.",
        height=380,
        x=PixelScale(
            axis_ends[0] - axis_margin, axis_ends[1] + axis_margin, 52, DRAWING_WIDTH - 12
        ),
        y=PixelScale(axis_ends[0] - axis_margin, axis_ends[1] + axis_margin, 336, 30),
    )
    ticks = None if stability.event is None else SHARE_TICKS
    quantity_noun = "prediction" if stability.event is None else "probability"
    drawing.left_axis(f"range of {stability.n_models} further models, 95 %", ticks)
    drawing.bottom_axis(f"{quantity_noun} given", ticks)
    prediction_order = np.argsort(stability.predictions, kind="stable")
    drawn_rows = [prediction_order[i] for i in evenly_spread_positions(len(prediction_order))]
    for i in drawn_rows:
        drawing.segment(
            stability.predictions[i],
            stability.low[i],
            stability.predictions[i],
            stability.high[i],
            "whisker s0",
        )
    drawing.segment(axis_ends[0], axis_ends[0], axis_ends[1], axis_ends[1], "baseline")
    if stability.threshold is not None:
        drawing.horizontal_line(stability.threshold, "grid")
    table_rows = [
        prediction_order[i] for i in evenly_spread_positions(len(prediction_order), N_TABLE_ROWS)
    ]
    rows = [
        [
            format_number(column[i])
            for column in (stability.predictions, stability.low, stability.high)
        ]
        for i in table_rows
    ]
    return Figure(
        name="instability",
        title="How far single predictions move",
        drawing=drawing,
        caption=f"One line per row: {escape_and_truncate(stability.source, 600)}",
        table=FigureTable.from_rows(("prediction", "2.5 %", "97.5 %"), rows),
        keys=(
            LegendKey("s0", "where 95 % of the further models lie", "line"),
            LegendKey("baseline", "the same prediction", "line"),
        ),
    )


def draw_features(feature_stability: FeatureStability) -> Figure:
    """Draw a bar for each feature that shows how often it was selected."""
    named_shares = [
        (
            escape_and_truncate(feature_stability.names[feature_index], 60),
            float(feature_stability.shares[feature_index]),
        )
        for feature_index in feature_stability.order
    ]
    drawn_shares = named_shares[:MAX_ROWS]
    description = "; ".join(f"{name}: {share:.0%}" for name, share in drawn_shares)
    x_scale = PixelScale(0, 100, LEFT_MARGIN, DRAWING_WIDTH - 16)
    drawing = make_row_drawing(
        "Selected features", description, x_scale, len(drawn_shares), ROW_HEIGHT, TOP_MARGIN
    )
    drawing.bottom_axis(f"of {feature_stability.n_models} models, %")
    for i, (name, share) in enumerate(drawn_shares):
        drawing.row_label(i + 0.5, name, 22)
        drawing.bar(0, 100 * share, i + 0.2, i + 0.8, "s0", f"{name}: {share:.0%}")
    rows = [
        [name, f"{share * feature_stability.n_models:.0f} of {feature_stability.n_models}"]
        for name, share in named_shares
    ]
    return Figure(
        name="features",
        title="Which features were selected",
        drawing=drawing,
        caption=(
            f"Stability {format_number(feature_stability.index)} {feature_stability.interval} "
            "(Nogueira "
            "et al. 2018): 1 where all models selected the same, 0 where they agree by chance. The "
            "interval takes the fits as independent, and they share rows."
        ),
        table=FigureTable.from_rows(("feature", "models"), rows),
    )


def checklist_tables(
    checklist_items: Sequence[Item], caption: str
) -> Iterator[tuple[FigureTable, str]]:
    """Yield a checklist table for each reporting guideline.

    The caption has the name of the guideline and the number of its items.
    """
    for guideline in dict.fromkeys(checklist_item.guideline for checklist_item in checklist_items):
        guideline_items = [
            checklist_item
            for checklist_item in checklist_items
            if checklist_item.guideline == guideline
        ]
        cells = [
            [checklist_item.number, checklist_item.asks, checklist_item.answer or ""]
            for checklist_item in guideline_items
        ]
        n_columns = 3 if any(checklist_item.answer for checklist_item in guideline_items) else 2
        header = ("item", "asks", "answer")[:n_columns]
        rows = [[escape_and_truncate(cell, 1000) for cell in row[:n_columns]] for row in cells]
        yield (
            FigureTable.from_rows(header, rows),
            caption.format(escape_and_truncate(guideline, 60), len(guideline_items)),
        )
