"""Figures of a validation: ROC curve, calibration curve and decision curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truerisk.core.formats import escape_and_truncate, format_number
from truerisk.core.frozen import frozen
from truerisk.report.figure import Figure, FigureTable, LegendKey, evenly_spread_positions
from truerisk.report.rates import roc_drawing
from truerisk.report.svg import DRAWING_WIDTH, SHARE_TICKS, Drawing, PixelScale, round_ticks
from truerisk.validation.calibration import CalibrationCurve, SmoothCalibration
from truerisk.validation.conclusion import TESTED_ROWS
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.validation import Validation

TOP_EDGE, BOTTOM_EDGE, LEFT_EDGE = 30, 336, 52
N_TABLE_ROWS = 21  # Maximum number of rows of the table that is shown under a figure.
BAR_RANGE = -0.28, -0.03  # Vertical range of the bars that count rows below the calibration curve.


def draw_roc_curve(discrimination: Discrimination, validation: Validation) -> Figure | None:
    """Draw the ROC curve of held-out predictions; return None if there is no curve."""
    roc, (rows_name, _) = discrimination.roc, TESTED_ROWS[validation.finished]
    if roc is None:
        return None
    measured_auc = validation.measure("auc")
    averaging_text = ", pooled," if validation.risk.method == "loo" else ", mean over folds,"
    area_text = (
        ""
        if measured_auc is None or measured_auc.honest is None
        else f" AUC{averaging_text} {format_number(measured_auc.honest)}"
    )
    pooled_text = " Predictions of all folds, pooled."
    if validation.finished:
        pooled_text, area_text = "", area_text.replace(averaging_text, "")
    area_text += (
        f" {measured_auc.interval}."
        if measured_auc is not None and measured_auc.interval is not None
        else "." * bool(area_text)
    )
    description = f"{pooled_text}{area_text}".strip()
    point_indices, event = (
        evenly_spread_positions(len(roc.fpr), N_TABLE_ROWS),
        escape_and_truncate(str(validation.rows["event"]), 60),
    )
    rows = [[format_number(roc.fpr[i]), format_number(roc.tpr[i])] for i in point_indices]
    return Figure(
        name="roc",
        title="ROC curve",
        drawing=roc_drawing(description, roc.fpr, roc.tpr),
        caption=f"Event: {event}.{pooled_text}",
        table=FigureTable.from_rows(("false positive rate", "true positive rate"), rows),
        keys=(
            LegendKey("s0", f"{rows_name}: {area_text.strip()}".rstrip(" .:"), "line"),
            LegendKey("baseline", "ranking at random", "line"),
        ),
    )


def draw_calibration_curve(
    curve: CalibrationCurve, smooth_calibration: SmoothCalibration | None = None
) -> Figure:
    """Draw the calibration curve: the smoothed outcome over the predictions.

    Bars below the curve count the rows. No row was held out of a model that was finished before.
    """
    is_finished = smooth_calibration is not None and all(
        # Only a finished model has no values on its training rows.
        measure.apparent is None
        for measure in smooth_calibration.measures.values()
    )
    rows_name, rows_column = TESTED_ROWS[is_finished]
    curve_texts = EVENT_TEXTS if curve.of_event else NUMERIC_OUTCOME_TEXTS
    event_text = "the event"
    if smooth_calibration is not None and smooth_calibration.event is not None:
        event_text += f" ({escape_and_truncate(smooth_calibration.event, 60)})"
    measured_slope = (
        None if smooth_calibration is None else smooth_calibration.measures.get("slope")
    )
    slope_text = (
        ""
        if measured_slope is None or measured_slope.honest is None
        else f" Slope {format_number(measured_slope.honest, 2)}."
    )
    apparent_prefix = "" if curve.apparent is None else "apparent "
    low, high = _axis_range(smooth_calibration, curve)
    ticks = SHARE_TICKS if curve.of_event else round_ticks(low, high)
    height_and_margin = (380, -0.01) if smooth_calibration is None else (460, -0.3)
    drawing = _empty_drawing(
        "Calibration curve", f"{curve_texts.description}{slope_text}", *height_and_margin, low, high
    )
    drawing.left_axis(curve_texts.outcome_label, ticks)
    drawing.bottom_axis(curve_texts.predictions, ticks)
    if smooth_calibration is not None:
        _draw_bars(drawing, smooth_calibration, curve_texts, (low, high))
    drawing.segment(low, low, high, high, "baseline")
    legend = [LegendKey("s0", rows_name, "line")]
    table_columns = [(curve_texts.column, curve.predicted), (rows_column, curve.observed)]
    if curve.low is not None and curve.high is not None:
        lows, highs = (limits.clip(low, high) for limits in (curve.low, curve.high))
        drawing.band(curve.predicted, lows, highs, "s0")
        legend = [LegendKey("s0", f"{rows_name}, with their band", "line")]
        table_columns += [("low", curve.low), ("high", curve.high)]
    for name, values, css_class in (
        ("apparent", curve.apparent, "s2"),
        ("corrected", curve.corrected, "s1"),
    ):
        if values is not None:
            # A corrected share may lie outside of [0, 1].
            drawing.line(curve.predicted, values.clip(low, high), f"{css_class} thin")
            legend.append(LegendKey(css_class, OTHER_CURVE_LABELS[name], "line"))
            table_columns.append((name, values))
    drawing.line(curve.predicted, curve.observed, "s0")
    legend.append(LegendKey("baseline", curve_texts.ideal_label, "line"))
    if smooth_calibration is not None and len(curve_texts.side_labels) > 1:
        labels_and_classes = zip(curve_texts.side_labels, BAR_CSS_CLASSES, strict=True)
        legend += [
            LegendKey(css_class, f"rows {limits}", "cell")
            for limits, css_class in labels_and_classes
        ]
    return Figure(
        name="calibration",
        title=curve_texts.title,
        drawing=drawing,
        caption=(
            curve_texts.caption.format(
                event=event_text, own=apparent_prefix, tested="" if is_finished else "held-out "
            )
            + slope_text
        ),
        table=_columns_table(table_columns),
        keys=tuple(legend),
    )


BAR_CSS_CLASSES = "s1", "s5"
OTHER_CURVE_LABELS = {
    "apparent": "apparent: the model on its own training rows",
    "corrected": "corrected for optimism by the bootstrap",
}


@frozen
class CurveTexts:
    """Texts of the figure of a calibration curve."""

    title: str
    description: str
    outcome_label: str
    predictions: str
    column: str
    ideal_label: str
    caption: str
    side_labels: tuple[str, ...]


EVENT_TEXTS = CurveTexts(
    title="Whether probabilities mean what they say",
    description="The share of events, smoothed.",
    outcome_label="share of events",
    predictions="predicted probability",
    column="probability",
    ideal_label="perfect calibration",
    caption=(
        "Probability of {event}: a restricted cubic spline of its logit, between the 1 % and the "
        "99 % quantile of the {own}probabilities. Bars below: {tested}probabilities of rows "
        "with the event (upwards) and without (downwards)."
    ),
    side_labels=("with the event", "without it"),
)
NUMERIC_OUTCOME_TEXTS = CurveTexts(
    title="Whether predictions are right on average",
    description="The mean of y, smoothed.",
    outcome_label="mean of y",
    predictions="prediction",
    column="prediction",
    ideal_label="perfect calibration",
    caption=(
        "A restricted cubic spline of the predictions, between the 1 % and the 99 % quantile of "
        "the {own}predictions. Bars below: {tested}predictions."
    ),
    side_labels=("rows",),
)


def _axis_range(
    smooth_calibration: SmoothCalibration | None, curve: CalibrationCurve
) -> tuple[float, float]:
    """Return the common range of both axes of a calibration curve.

    It is [0, 1] for probabilities, and the range of the values for numeric predictions.
    """
    if curve.of_event:
        return 0.0, 1.0
    predicted_values = curve.predicted if smooth_calibration is None else smooth_calibration.edges
    arrays = (predicted_values, curve.observed, curve.apparent, curve.corrected)
    values = np.concatenate([array for array in arrays if array is not None])
    return float(values.min()), float(values.max())


def _draw_bars(
    drawing: Drawing,
    smooth_calibration: SmoothCalibration,
    curve_texts: CurveTexts,
    axis_range: tuple[float, float],
) -> None:
    """Draw bars that count the rows in each bin of predictions.

    The bars of rows with the event point upwards.

    The bars of rows without the event point downwards.
    """
    span, bin_counts, bin_edges = (
        axis_range[1] - axis_range[0],
        smooth_calibration.counts,
        smooth_calibration.edges,
    )
    low, high = (axis_range[0] + fraction * span for fraction in BAR_RANGE)
    baseline, largest_count = (low + high) / 2, bin_counts.max(initial=0)
    if len(bin_counts) != len(curve_texts.side_labels) or not largest_count:
        return
    for side_counts, direction, css_class, side_text in zip(
        bin_counts, (1, -1), BAR_CSS_CLASSES, curve_texts.side_labels, strict=False
    ):
        for i, count in enumerate(side_counts):
            if count:
                bar_end = baseline + direction * (high - baseline) * count / largest_count
                tooltip = (
                    f"{format_number(bin_edges[i], 2)} to {format_number(bin_edges[i + 1], 2)}: "
                    f"{count:g} {side_text}"
                )
                drawing.bar(bin_edges[i], bin_edges[i + 1], baseline, bar_end, css_class, tooltip)


def draw_net_benefit(benefit: NetBenefit) -> Figure:
    """Draw the net benefit of the model, of treating everybody, and of treating nobody."""
    # Only a finished model has no net benefit on its training rows.
    rows_name, rows_column = TESTED_ROWS[benefit.apparent is None]
    high, event = (
        benefit.honest if benefit.high is None else benefit.high,
        escape_and_truncate(benefit.event, 60),
    )
    largest_benefit = float(max(high.max(), benefit.treat_all.max()))
    lowest_height = -0.12 * max(largest_benefit, 1e-9)
    drawing = Drawing(
        title="Decision curve",
        description="Net benefit against the threshold probability of treatment.",
        height=380,
        x=PixelScale(-0.01, 1.01, LEFT_EDGE, DRAWING_WIDTH - 12),
        y=PixelScale(lowest_height, 1.05 * max(largest_benefit, 1e-9), BOTTOM_EDGE, TOP_EDGE),
    )
    drawing.left_axis("net benefit")
    drawing.bottom_axis("threshold probability", SHARE_TICKS)
    drawing.horizontal_line(0, "baseline")
    thresholds = benefit.thresholds
    table_columns = [("threshold", thresholds), (rows_column, benefit.honest)]
    legend = [LegendKey("s0", rows_name, "line")]
    if benefit.treat_all_low is not None and benefit.treat_all_high is not None:
        _draw_band_above(
            drawing,
            thresholds,
            (benefit.treat_all_low, benefit.treat_all_high),
            lowest_height,
            "s3",
        )
    if benefit.low is not None and benefit.high is not None:
        final_model_benefit = benefit.of_final_model
        css_class = "s0" if final_model_benefit is None else "s2"
        _draw_band_above(drawing, thresholds, (benefit.low, benefit.high), lowest_height, css_class)
        legend = [LegendKey("s0", f"{rows_name}, with their band", "line")]
        if final_model_benefit is not None:
            _draw_line_above(
                drawing, thresholds, final_model_benefit, lowest_height, f"{css_class} thin"
            )
            legend = [
                LegendKey("s0", rows_name, "line"),
                LegendKey(
                    css_class,
                    "the same rows by models of the final setting, with their band",
                    "line",
                ),
            ]
            table_columns.append(("final model", final_model_benefit))
        table_columns += [("low", benefit.low), ("high", benefit.high)]
    _draw_line_above(drawing, thresholds, benefit.treat_all, lowest_height, "s3 thin")
    legend += [
        LegendKey("s3", "treat everybody", "line"),
        LegendKey("baseline", "treat nobody", "line"),
    ]
    table_columns.append(("treat all", benefit.treat_all))
    if benefit.gain_over_treat_all is not None:
        table_columns.append(("− treat all", benefit.gain_over_treat_all))
    if benefit.gain_over_treat_all_low is not None and benefit.gain_over_treat_all_high is not None:
        table_columns += [
            ("diff. low", benefit.gain_over_treat_all_low),
            ("diff. high", benefit.gain_over_treat_all_high),
        ]
    if benefit.apparent is not None:
        table_columns.append(("apparent", benefit.apparent))
    if benefit.corrected is not None:
        _draw_line_above(drawing, thresholds, benefit.corrected, lowest_height, "s1 thin")
        legend.insert(1, LegendKey("s1", OTHER_CURVE_LABELS["corrected"], "line"))
        table_columns.append(("corrected", benefit.corrected))
    _draw_line_above(drawing, thresholds, benefit.honest, lowest_height, "s0")
    return Figure(
        name="net-benefit",
        title="What deciding by the model gains",
        drawing=drawing,
        caption=(
            f"Event: {event}. True positives per row minus false positives per row times t/(1 − "
            "t), if rows with a probability of at least t are treated. Values below the axis are "
            "not drawn."
        ),
        table=_columns_table(table_columns),
        keys=tuple(legend),
    )


def _empty_drawing(
    title: str, description: str, height: int, y_start: float, low: float = 0.0, high: float = 1.0
) -> Drawing:
    """Return an empty drawing whose axes show the numbers from `low` to `high`.

    The drawing has room below the axes, where y extends down to `y_start`.
    """
    span = high - low
    return Drawing(
        title=title,
        description=description,
        height=height,
        x=PixelScale(low - 0.01 * span, high + 0.01 * span, LEFT_EDGE, DRAWING_WIDTH - 12),
        y=PixelScale(low + y_start * span, high + 0.01 * span, height - 44, TOP_EDGE),
    )


def _draw_line_above(
    drawing: Drawing, xs: np.ndarray, ys: np.ndarray, lowest_height: float, css_class: str
) -> None:
    """Draw the pieces of a line that lie above `lowest_height`."""
    is_above = ys >= lowest_height
    for piece_indices in np.split(np.arange(len(ys)), np.flatnonzero(np.diff(is_above)) + 1):
        if is_above[piece_indices[0]]:
            drawing.line(xs[piece_indices], ys[piece_indices], css_class)


def _draw_band_above(
    drawing: Drawing,
    xs: np.ndarray,
    limits: Sequence[np.ndarray],
    lowest_height: float,
    css_class: str,
) -> None:
    """Draw the part of a band that lies above `lowest_height`.

    The band decreases, and ends where its upper limit falls below that height.
    """
    indices_above = np.flatnonzero(limits[1] >= lowest_height)
    if len(indices_above):
        drawn_slice = slice(indices_above[0], indices_above[-1] + 1)
        low, high = (np.maximum(limit[drawn_slice], lowest_height) for limit in limits)
        drawing.band(xs[drawn_slice], low, high, css_class)


def _columns_table(columns: Sequence[tuple[str, np.ndarray]]) -> FigureTable:
    row_indices = evenly_spread_positions(len(columns[0][1]), N_TABLE_ROWS)
    rows = [[format_number(values[i]) for _, values in columns] for i in row_indices]
    return FigureTable.from_rows([name for name, _ in columns], rows)
