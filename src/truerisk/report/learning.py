"""Figures of the learning curve, extrapolated to twice the rows, and of the risk over time."""

from __future__ import annotations

import numpy as np

from truerisk.assessment.assessment import Assessment
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.formats import escape_and_truncate, format_dates, format_number, format_percent
from truerisk.diagnostics.risk_over_time import RiskOverTime
from truerisk.report.figure import Figure, FigureTable, LegendKey
from truerisk.report.svg import DRAWING_WIDTH, Drawing, PixelScale, shorten
from truerisk.results.learning_curve import ExpectedRisk, LearningCurve

DRAWING_HEIGHT, TOP_EDGE, BOTTOM_EDGE, LEFT_EDGE = 264, 30, 222, 52
MIN_TICK_DISTANCE_IN_PIXELS = (
    34  # Minimum distance between two ticks, so that their labels do not overlap.
)


def draw_learning_figure(
    curve: LearningCurve,
    expected_risks: tuple[ExpectedRisk, ...],
    name: str = "",
    number_on_page: int = 0,
) -> Figure | None:
    """Draw the risks of a learning curve and the power law that was fitted to them.

    The result is None if no training size has a risk.
    """
    if all(estimate.value is None for estimate in curve.estimates):
        return None
    learner_name, last_estimate = escape_and_truncate(name, 60), curve.estimates[-1]
    scale, n_rows, caption = (
        last_estimate.scale,
        last_estimate.n_rows,
        _expectation_text(curve, expected_risks),
    )
    sizes = [*curve.sizes, *(estimate.n_train for estimate in expected_risks[-1:])]
    y_values = [
        axis_value
        for risk_with_interval in (*expected_risks, *curve.estimates)
        for axis_value in risk_with_interval.ends
    ]
    drawing = Drawing(
        title=f"Learning curve of {learner_name}",
        description=caption,
        height=DRAWING_HEIGHT,
        x=PixelScale.from_values(
            [*sizes, n_rows], LEFT_EDGE, DRAWING_WIDTH - 12, log=True, margin=0.03
        ),
        y=PixelScale.from_values(y_values, BOTTOM_EDGE, TOP_EDGE),
    )
    drawing.left_axis(scale.axis_label(last_estimate.named_scoring))
    # Label the training sizes from the largest down, and skip a label that would overlap another.
    ticks: list[float] = []
    for tick_value in sorted({float(round(tick_value)) for tick_value in sizes}, reverse=True):
        if (
            not ticks
            or abs(drawing.x(ticks[-1]) - drawing.x(tick_value)) >= MIN_TICK_DISTANCE_IN_PIXELS
        ):
            ticks.append(tick_value)
    drawing.bottom_axis("training rows, logarithmic", ticks[::-1])
    drawing.vertical_line(n_rows, "baseline")
    _draw_power_law(drawing, expected_risks)
    for train_size, risk in zip(curve.sizes, curve.estimates, strict=True):
        if risk.value is None:
            continue
        if risk.interval is not None:
            drawing.segment(
                train_size, risk.interval.low, train_size, risk.interval.high, "span s0"
            )
        drawing.point(
            train_size,
            risk.value,
            "s0",
            f"{train_size:g} rows: {format_number(risk.value)}",
            size=4,
        )
    return Figure(
        name=f"learning-{number_on_page}",
        title=f"{learner_name}: {scale.name_for(last_estimate.named_scoring)} by training rows",
        drawing=drawing,
        caption=caption,
        table=_learning_curve_table(
            curve, expected_risks, scale.short_name(last_estimate.named_scoring)
        ),
        keys=_legend_entries(curve, bool(expected_risks)),
    )


def _expectation_text(curve: LearningCurve, expected_risks: tuple[ExpectedRisk, ...]) -> str:
    """Describe the risk that a learning curve predicts for more rows.

    If the curve is not extrapolated, the text gives the reason.
    """
    if not expected_risks:
        return f"The curve is not extrapolated: {escape_and_truncate(curve.lacking or '', 300)}"
    last_expected_risk, n_rows = expected_risks[-1], curve.estimates[-1].n_rows
    size_text = f"{last_expected_risk.n_train:g} rows"
    rows_text = (
        f"twice the rows ({last_expected_risk.n_train:g})"
        if last_expected_risk.n_train == 2 * n_rows
        else size_text
    )
    return (
        f"With {rows_text} expect {format_number(last_expected_risk.value)} "
        f"{_interval_text(last_expected_risk)}."
    )


def _interval_text(risk: ExpectedRisk) -> str:
    return f"[{format_number(risk.interval.low)}, {format_number(risk.interval.high)}]"


def _draw_power_law(drawing: Drawing, expected_risks: tuple[ExpectedRisk, ...]) -> None:
    if not expected_risks:
        return
    train_sizes = [expected_risk.n_train for expected_risk in expected_risks]
    intervals = [expected_risk.interval for expected_risk in expected_risks]
    drawing.band(
        train_sizes,
        [interval.low for interval in intervals],
        [interval.high for interval in intervals],
        "s0",
    )
    values = [expected_risk.value for expected_risk in expected_risks]
    n_interpolated = sum(not expected_risk.extrapolated for expected_risk in expected_risks)
    drawing.line(train_sizes[:n_interpolated], values[:n_interpolated], "s0")
    first_extrapolated = max(n_interpolated - 1, 0)
    drawing.line(train_sizes[first_extrapolated:], values[first_extrapolated:], "s0 beyond")


def _learning_curve_table(
    curve: LearningCurve, expected_risks: tuple[ExpectedRisk, ...], risk_name: str
) -> FigureTable:
    rows = [
        [f"{train_size:g}", format_number(risk.value), str(risk.interval or "none")]
        for train_size, risk in zip(curve.sizes, curve.estimates, strict=True)
    ]
    rows += [
        [f"{risk.n_train:g}", f"{format_number(risk.value)} (expected)", _interval_text(risk)]
        for risk in expected_risks
        if risk.n_train > curve.sizes[-1]
    ]
    return FigureTable.from_rows(("training rows", risk_name, "interval"), rows)


def _legend_entries(curve: LearningCurve, is_extrapolated: bool) -> tuple[LegendKey, ...]:
    level_text = format_percent(curve.confidence_level)
    power_law_keys = (
        [LegendKey("s0", f"power law, with its {level_text} band; dashed: extrapolated", "band")]
        if is_extrapolated
        else []
    )
    return (
        LegendKey(
            "s0", f"tuned on that many rows and tested on others, {level_text} interval", "span"
        ),
        *power_law_keys,
        LegendKey("baseline", f"all {curve.estimates[-1].n_rows} rows", "line"),
    )


def draw_risk_over_time(
    name: str, learner: TunedLearner, document: Assessment, number_on_page: int
) -> Figure | None:
    """Draw the mean loss in each period of time.

    The result is None if the rows have no times or no losses.
    """
    risk_over_time, scale = learner.over_time, learner.risk.scale
    if risk_over_time is None:
        return None
    n_periods, learner_name, trend_text = (
        len(risk_over_time.values),
        escape_and_truncate(name, 60),
        escape_and_truncate(risk_over_time.trend_sentence, 600),
    )
    values = [float(value) for value in risk_over_time.values]
    band_limits, period_starts, period_ends = (
        _band_limits(risk_over_time),
        _time_texts(risk_over_time.starts),
        _time_texts(risk_over_time.ends),
    )
    drawing = Drawing(
        title=f"{scale.noun.capitalize()} of {learner_name} over time",
        description=(
            f"{n_periods} stretches from {period_starts[0]} to {period_ends[-1]}. {trend_text}"
        ),
        height=DRAWING_HEIGHT,
        x=PixelScale(0, n_periods, LEFT_EDGE, DRAWING_WIDTH - 12),
        y=PixelScale.from_values(
            [*values, *(limit for limits in band_limits for limit in limits)], BOTTOM_EDGE, TOP_EDGE
        ),
    )
    drawing.left_axis(shorten(scale.axis_label(document.named_scoring), 60))
    tick_periods = sorted({0, n_periods // 3, 2 * n_periods // 3})
    drawing.bottom_axis(
        "first time of a stretch", tick_periods, [period_starts[period] for period in tick_periods]
    )
    if band_limits:
        period_edges = [float(edge) for period in range(n_periods) for edge in (period, period + 1)]
        lows, highs = (
            [band_limit for band_limit in limit_series for _ in range(2)]
            for limit_series in zip(*band_limits, strict=True)
        )
        drawing.band(period_edges, lows, highs, "s0")
    honest_value = learner.risk.value
    if honest_value is not None:
        drawing.horizontal_line(honest_value, "baseline")
    for period, value in enumerate(values):
        drawing.line([period, period + 1], [value, value], "s0")
        drawing.point(
            period + 0.5,
            value,
            "s0",
            f"{period_starts[period]} to {period_ends[period]}: {format_number(value)}",
            size=4,
        )
    band_texts = [
        f"[{format_number(low)}, {format_number(high)}]" for low, high in band_limits
    ] or ["none"] * n_periods
    columns = (
        period_starts,
        period_ends,
        map(format_number, values),
        band_texts,
        map(str, risk_over_time.n_rows.tolist()),
    )
    header = ("from", "to", scale.short_name(document.named_scoring), "band", "rows")
    mean_noun = "loss" if scale.perfect is None else "score"
    legend = [LegendKey("s0", f"mean {mean_noun} of a stretch of time")]
    if risk_over_time.low is not None:
        level_text = format_percent(risk_over_time.confidence_level)
        legend.append(LegendKey("s0", f"{level_text} band of each stretch by itself", "band"))
    if honest_value is not None:
        legend.append(
            LegendKey("baseline", f"honest {scale.noun}: {format_number(honest_value)}", "line")
        )
    return Figure(
        name=f"over-time-{number_on_page}",
        title=f"{learner_name}: {shorten(scale.name_for(document.named_scoring), 60)} over time",
        drawing=drawing,
        caption=trend_text,
        table=FigureTable.from_rows(header, [list(row) for row in zip(*columns, strict=True)]),
        keys=tuple(legend),
    )


def _band_limits(risk_over_time: RiskOverTime) -> list[tuple[float, float]]:
    """Return the lower and upper limits of the band in each period of time.

    The list is empty if there is no band.
    """
    if risk_over_time.low is None or risk_over_time.high is None:
        return []
    return list(zip(risk_over_time.low.tolist(), risk_over_time.high.tolist(), strict=True))


def _time_texts(times: np.ndarray) -> list[str]:
    """Format times as text: dates as they are written, numbers with six digits."""
    if times.dtype.kind == "M":
        return [str(text) for text in format_dates(times)]
    return [f"{float(time):.6g}" for time in times]
