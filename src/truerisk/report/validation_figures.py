"""Figures of a validation: ROC curve, calibration curve and decision curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truerisk.core.formats import escape_and_truncate, number
from truerisk.core.frozen import frozen
from truerisk.report.figure import Figure, FigureTable, Key, evenly_spread_positions
from truerisk.report.rates import roc_drawing
from truerisk.report.svg import SHARES, WIDTH, Drawing, PixelScale, round_ticks
from truerisk.validation.calibration import CalibrationCurve, SmoothCalibration
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.validation import Validation

TOP, BOTTOM, LEFT = 30, 336, 52
N_TABLE_ROWS = 21  # Number of rows of the table under a figure.
BAR_RANGE = -0.28, -0.03  # Vertical range of the bars that count rows below the calibration curve.


def draw_roc_curve(discrimination: Discrimination, document: Validation) -> Figure | None:
    """Draw the ROC curve of held-out predictions; return None if there is no curve."""
    roc = discrimination.roc
    if roc is None:
        return None
    area = document.measure("auc")
    average_text = ", pooled," if document.risk.method == "loo" else ", mean over folds,"
    area_text = (
        "" if area is None or area.honest is None else f" AUC{average_text} {number(area.honest)}"
    )
    pooled_text = "Answers of all folds, pooled."
    if document.finished:
        pooled_text, area_text = "", area_text.replace(average_text, "")
    area_text += (
        f" {area.interval}."
        if area is not None and area.interval is not None
        else "." * bool(area_text)
    )
    description = f"{pooled_text}{area_text}".strip()
    point_indices, event = (
        evenly_spread_positions(len(roc.fpr), N_TABLE_ROWS),
        escape_and_truncate(str(document.rows["event"]), 60),
    )
    rows = [[number(roc.fpr[i]), number(roc.tpr[i])] for i in point_indices]
    return Figure(
        name="roc",
        title="ROC curve",
        drawing=roc_drawing(description, roc.fpr, roc.tpr),
        caption=f"Event: {event}. {description}",
        table=FigureTable.from_rows(("false positive rate", "true positive rate"), rows),
        keys=(Key("s0", "held-out rows", "line"), Key("baseline", "ranking at random", "line")),
    )


def draw_calibration_curve(
    curve: CalibrationCurve, smooth: SmoothCalibration | None = None
) -> Figure:
    """Draw the smoothed outcome over the predictions, and below it bars that count the rows."""
    curve_texts = EVENT_TEXTS if curve.of_event else NUMERIC_OUTCOME_TEXTS
    event_text = "the event"
    if smooth is not None and smooth.event is not None:
        event_text += f" ({escape_and_truncate(smooth.event, 60)})"
    slope = None if smooth is None else smooth.measures.get("slope")
    slope_text = (
        "" if slope is None or slope.honest is None else f" Slope {number(slope.honest, 2)}."
    )
    prefix = "" if curve.apparent is None else "apparent "
    low, high = _axis_range(smooth, curve)
    ticks = SHARES if curve.of_event else round_ticks(low, high)
    height_and_margin = (380, -0.01) if smooth is None else (460, -0.3)
    drawing = _empty_drawing(
        "Calibration curve", f"{curve_texts.smoothed}{slope_text}", *height_and_margin, low, high
    )
    drawing.left_axis(curve_texts.outcome_label, ticks)
    drawing.bottom_axis(curve_texts.predictions, ticks)
    if smooth is not None:
        _draw_bars(drawing, smooth, curve_texts, (low, high))
    drawing.slope(low, low, high, high, "baseline")
    legend = [Key("s0", "held-out rows", "line")]
    table_columns = [(curve_texts.column, curve.predicted), ("held out", curve.observed)]
    if curve.low is not None and curve.high is not None:
        lows, highs = (limits.clip(low, high) for limits in (curve.low, curve.high))
        drawing.band(curve.predicted, lows, highs, "s0")
        legend = [Key("s0", "held-out rows, with their band", "line")]
        table_columns += [("low", curve.low), ("high", curve.high)]
    for name, values, css_class in (
        ("apparent", curve.apparent, "s2"),
        ("corrected", curve.corrected, "s1"),
    ):
        if values is not None:
            drawing.line(curve.predicted, values, f"{css_class} thin")
            legend.append(Key(css_class, OTHER_CURVE_LABELS[name], "line"))
            table_columns.append((name, values))
    drawing.line(curve.predicted, curve.observed, "s0")
    legend.append(Key("baseline", curve_texts.ideal_label, "line"))
    if smooth is not None and len(curve_texts.side_labels) > 1:
        labels_and_classes = zip(curve_texts.side_labels, BAR_CSS_CLASSES, strict=True)
        legend += [
            Key(css_class, f"rows {limits}", "cell") for limits, css_class in labels_and_classes
        ]
    return Figure(
        name="calibration",
        title=curve_texts.title,
        drawing=drawing,
        caption=f"{curve_texts.caption.format(event=event_text, own=prefix)}{slope_text}",
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
    smoothed: str
    outcome_label: str
    predictions: str
    column: str
    ideal_label: str
    caption: str
    side_labels: tuple[str, ...]


EVENT_TEXTS = CurveTexts(
    title="Whether probabilities mean what they say",
    smoothed="The share of events, smoothed.",
    outcome_label="share of events",
    predictions="probability given",
    column="probability",
    ideal_label="perfect calibration",
    caption=(
        "Probability of {event}: a restricted cubic spline of its logit, between the 1 % and the "
        "99 % quantile of the {own}probabilities. Bars below: held-out probabilities of rows "
        "with the event (upwards) and without (downwards)."
    ),
    side_labels=("with the event", "without it"),
)
NUMERIC_OUTCOME_TEXTS = CurveTexts(
    title="Whether answers are right on average",
    smoothed="The mean of y, smoothed.",
    outcome_label="mean of y",
    predictions="answer",
    column="answer",
    ideal_label="perfect calibration",
    caption=(
        "A restricted cubic spline of the answers, between the 1 % and the 99 % quantile of the "
        "{own}answers. Bars below: held-out answers."
    ),
    side_labels=("rows",),
)


def _axis_range(smooth: SmoothCalibration | None, curve: CalibrationCurve) -> tuple[float, float]:
    """Return the range of both axes of a calibration curve: [0, 1], or that of numeric values."""
    if curve.of_event:
        return 0.0, 1.0
    predicted = curve.predicted if smooth is None else smooth.edges
    arrays = (predicted, curve.observed, curve.apparent, curve.corrected)
    values = np.concatenate([array for array in arrays if array is not None])
    return float(values.min()), float(values.max())


def _draw_bars(
    drawing: Drawing,
    smooth: SmoothCalibration,
    curve_texts: CurveTexts,
    axis_range: tuple[float, float],
) -> None:
    """Draw bars that count rows per bin of predictions, upwards for rows with the event.

    The bars of rows without the event point downwards.
    """
    span, counts, edges = axis_range[1] - axis_range[0], smooth.counts, smooth.edges
    low, high = (axis_range[0] + fraction * span for fraction in BAR_RANGE)
    baseline, largest_count = (low + high) / 2, counts.max(initial=0)
    if len(counts) != len(curve_texts.side_labels) or not largest_count:
        return
    for side_counts, direction, css_class, side_text in zip(
        counts, (1, -1), BAR_CSS_CLASSES, curve_texts.side_labels, strict=False
    ):
        for i, count in enumerate(side_counts):
            if count:
                bar_end = baseline + direction * (high - baseline) * count / largest_count
                tooltip = (
                    f"{number(edges[i], 2)} to {number(edges[i + 1], 2)}: {count:g} {side_text}"
                )
                drawing.bar(edges[i], edges[i + 1], baseline, bar_end, css_class, tooltip)


def draw_benefit(benefit: NetBenefit) -> Figure:
    """Draw the net benefit of the model, of treating everybody, and of treating nobody."""
    high, event = (
        benefit.honest if benefit.high is None else benefit.high,
        escape_and_truncate(benefit.event, 60),
    )
    largest_benefit = float(max(high.max(), benefit.treat_all.max()))
    floor = -0.12 * max(largest_benefit, 1e-9)
    drawing = Drawing(
        title="Decision curve",
        description="Net benefit against the threshold probability of treatment.",
        height=380,
        x=PixelScale(-0.01, 1.01, LEFT, WIDTH - 12),
        y=PixelScale(floor, 1.05 * max(largest_benefit, 1e-9), BOTTOM, TOP),
    )
    drawing.left_axis("net benefit")
    drawing.bottom_axis("threshold probability", SHARES)
    drawing.horizontal_line(0, "baseline")
    thresholds = benefit.thresholds
    table_columns = [("threshold", thresholds), ("held out", benefit.honest)]
    legend = [Key("s0", "held-out rows", "line")]
    if benefit.treat_all_low is not None and benefit.treat_all_high is not None:
        _draw_band_above(
            drawing, thresholds, (benefit.treat_all_low, benefit.treat_all_high), floor, "s3"
        )
    if benefit.low is not None and benefit.high is not None:
        final_benefit = benefit.of_final_model
        css_class = "s0" if final_benefit is None else "s2"
        _draw_band_above(drawing, thresholds, (benefit.low, benefit.high), floor, css_class)
        legend = [Key("s0", "held-out rows, with their band", "line")]
        if final_benefit is not None:
            _draw_line_above(drawing, thresholds, final_benefit, floor, f"{css_class} thin")
            legend = [
                Key("s0", "held-out rows", "line"),
                Key(
                    css_class,
                    "the same rows by models of the final setting, with their band",
                    "line",
                ),
            ]
            table_columns.append(("final model", final_benefit))
        table_columns += [("low", benefit.low), ("high", benefit.high)]
    _draw_line_above(drawing, thresholds, benefit.treat_all, floor, "s3 thin")
    legend += [Key("s3", "treat everybody", "line"), Key("baseline", "treat nobody", "line")]
    table_columns.append(("treat all", benefit.treat_all))
    if benefit.apparent is not None:
        table_columns.append(("apparent", benefit.apparent))
    if benefit.corrected is not None:
        _draw_line_above(drawing, thresholds, benefit.corrected, floor, "s1 thin")
        legend.insert(1, Key("s1", OTHER_CURVE_LABELS["corrected"], "line"))
        table_columns.append(("corrected", benefit.corrected))
    _draw_line_above(drawing, thresholds, benefit.honest, floor, "s0")
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
    """Return an empty drawing with axes from low to high; below it, y goes on to `y_start`."""
    span = high - low
    return Drawing(
        title=title,
        description=description,
        height=height,
        x=PixelScale(low - 0.01 * span, high + 0.01 * span, LEFT, WIDTH - 12),
        y=PixelScale(low + y_start * span, high + 0.01 * span, height - 44, TOP),
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
    """Draw the part of a band above `lowest_height`.

    The band decreases, and ends where its upper limit falls below that height.
    """
    indices_above = np.flatnonzero(limits[1] >= lowest_height)
    if len(indices_above):
        drawn_slice = slice(indices_above[0], indices_above[-1] + 1)
        low, high = (np.maximum(limit[drawn_slice], lowest_height) for limit in limits)
        drawing.band(xs[drawn_slice], low, high, css_class)


def _columns_table(columns: Sequence[tuple[str, np.ndarray]]) -> FigureTable:
    row_indices = evenly_spread_positions(len(columns[0][1]), N_TABLE_ROWS)
    rows = [[number(values[i]) for _, values in columns] for i in row_indices]
    return FigureTable.from_rows([name for name, _ in columns], rows)
