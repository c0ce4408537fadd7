"""Figures of the learning curve, extrapolated to twice the rows, and of the risk over time."""

from __future__ import annotations

import numpy as np

from truerisk.assessment.assessment import Assessment
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.formats import dates_text, escape_and_truncate, number, percent
from truerisk.diagnostics.risk_over_time import RiskOverTime
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.svg import WIDTH, Drawing, PixelScale, shorten
from truerisk.results.learning_curve import ExpectedRisk, LearningCurve

HEIGHT, TOP, BOTTOM, LEFT = 264, 30, 222, 52
MIN_TICK_DISTANCE_IN_PIXELS = (
    34  # Minimum distance between two ticks, so that their labels do not overlap.
)


def draw_learning(
    curve: LearningCurve,
    expected: tuple[ExpectedRisk, ...],
    name: str = "",
    number_on_page: int = 0,
) -> Figure | None:
    """Draw a learning curve's risks and fitted power law; return None if no size has a risk."""
    if all(estimate.value is None for estimate in curve.estimates):
        return None
    learner_name, last_estimate = escape_and_truncate(name, 60), curve.estimates[-1]
    scale, n_rows, caption = (
        last_estimate.scale,
        last_estimate.n_rows,
        _expectation_text(curve, expected),
    )
    sizes = [*curve.sizes, *(estimate.n_train for estimate in expected[-1:])]
    y_values = [
        axis_value
        for estimate_or_expected in (*expected, *curve.estimates)
        for axis_value in estimate_or_expected.ends
    ]
    drawing = Drawing(
        title=f"Learning curve of {learner_name}",
        description=caption,
        height=HEIGHT,
        x=PixelScale.around([*sizes, n_rows], LEFT, WIDTH - 12, log=True, margin=0.03),
        y=PixelScale.around(y_values, BOTTOM, TOP),
    )
    drawing.left_axis(scale.axis_label(last_estimate.named_scoring))
    # Training sizes are labelled from the largest down, if the labels do not overlap.
    ticks: list[float] = []
    for tick_value in sorted({float(round(tick_value)) for tick_value in sizes}, reverse=True):
        if (
            not ticks
            or abs(drawing.x(ticks[-1]) - drawing.x(tick_value)) >= MIN_TICK_DISTANCE_IN_PIXELS
        ):
            ticks.append(tick_value)
    drawing.bottom_axis("training rows, logarithmic", ticks[::-1])
    drawing.vertical_line(n_rows, "baseline")
    _draw_law(drawing, expected)
    for train_size, risk in zip(curve.sizes, curve.estimates, strict=True):
        if risk.value is None:
            continue
        if risk.interval is not None:
            drawing.slope(train_size, risk.interval.low, train_size, risk.interval.high, "span s0")
        drawing.point(
            train_size, risk.value, "s0", f"{train_size:g} rows: {number(risk.value)}", size=4
        )
    return Figure(
        name=f"learning-{number_on_page}",
        title=f"{learner_name}: {scale.name_for(last_estimate.named_scoring)} by training rows",
        drawing=drawing,
        caption=caption,
        table=_sizes_table(curve, expected, scale.short_name(last_estimate.named_scoring)),
        keys=_legend_entries(curve, bool(expected)),
    )


def _expectation_text(curve: LearningCurve, expected: tuple[ExpectedRisk, ...]) -> str:
    """Describe the expected risk with more rows, or say why the curve is not extrapolated."""
    if not expected:
        return f"The curve is not extrapolated: {escape_and_truncate(curve.lacking or '', 300)}"
    last_expected, n_rows = expected[-1], curve.estimates[-1].n_rows
    size_text = f"{last_expected.n_train:g} rows"
    rows_text = (
        f"twice the rows ({last_expected.n_train:g})"
        if last_expected.n_train == 2 * n_rows
        else size_text
    )
    return f"With {rows_text} expect {number(last_expected.value)} {_interval_text(last_expected)}."


def _interval_text(risk: ExpectedRisk) -> str:
    return f"[{number(risk.interval.low)}, {number(risk.interval.high)}]"


def _draw_law(drawing: Drawing, expected: tuple[ExpectedRisk, ...]) -> None:
    if not expected:
        return
    xs = [expected_risk.n_train for expected_risk in expected]
    intervals = [expected_risk.interval for expected_risk in expected]
    drawing.band(xs, [band.low for band in intervals], [band.high for band in intervals], "s0")
    values = [expected_risk.value for expected_risk in expected]
    n_within = sum(not expected_risk.extrapolated for expected_risk in expected)
    drawing.line(xs[:n_within], values[:n_within], "s0")
    first_extrapolated = max(n_within - 1, 0)
    drawing.line(xs[first_extrapolated:], values[first_extrapolated:], "s0 beyond")


def _sizes_table(
    curve: LearningCurve, expected: tuple[ExpectedRisk, ...], risk_name: str
) -> FigureTable:
    rows = [
        [f"{train_size:g}", number(risk.value), str(risk.interval or "none")]
        for train_size, risk in zip(curve.sizes, curve.estimates, strict=True)
    ]
    rows += [
        [f"{risk.n_train:g}", f"{number(risk.value)} (expected)", _interval_text(risk)]
        for risk in expected
        if risk.n_train > curve.sizes[-1]
    ]
    return FigureTable.from_rows(("training rows", risk_name, "interval"), rows)


def _legend_entries(curve: LearningCurve, is_extrapolated: bool) -> tuple[Key, ...]:
    level = percent(curve.confidence_level)
    law_keys = (
        [Key("s0", f"power law, with its {level} band; dashed: extrapolated", "band")]
        if is_extrapolated
        else []
    )
    return (
        Key("s0", f"tuned on that many rows and tested on others, {level} interval", "span"),
        *law_keys,
        Key("baseline", f"all {curve.estimates[-1].n_rows} rows", "line"),
    )


def draw_over_time(
    name: str, learner: TunedLearner, document: Assessment, number_on_page: int
) -> Figure | None:
    """Draw the mean loss of each period of time; return None if rows have no times or losses."""
    risk_over_time, scale = learner.over_time, learner.risk.scale
    if risk_over_time is None:
        return None
    n_periods, learner_name, trend_text = (
        len(risk_over_time.values),
        escape_and_truncate(name, 60),
        escape_and_truncate(risk_over_time.trend_sentence, 600),
    )
    values = [float(value) for value in risk_over_time.values]
    band, period_starts, period_ends = (
        _band_limits(risk_over_time),
        _time_texts(risk_over_time.starts),
        _time_texts(risk_over_time.ends),
    )
    drawing = Drawing(
        title=f"{scale.noun.capitalize()} of {learner_name} over time",
        description=(
            f"{n_periods} stretches from {period_starts[0]} to {period_ends[-1]}. {trend_text}"
        ),
        height=HEIGHT,
        x=PixelScale(0, n_periods, LEFT, WIDTH - 12),
        y=PixelScale.around(
            [*values, *(limit for limits in band for limit in limits)], BOTTOM, TOP
        ),
    )
    drawing.left_axis(shorten(scale.axis_label(document.named_scoring), 60))
    tick_periods = sorted({0, n_periods // 3, 2 * n_periods // 3})
    drawing.bottom_axis(
        "first time of a stretch", tick_periods, [period_starts[period] for period in tick_periods]
    )
    if band:
        period_edges = [float(edge) for period in range(n_periods) for edge in (period, period + 1)]
        lows, highs = (
            [v for v in limit_pair for _ in range(2)] for limit_pair in zip(*band, strict=True)
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
            f"{period_starts[period]} to {period_ends[period]}: {number(value)}",
            size=4,
        )
    bands = [f"[{number(low)}, {number(high)}]" for low, high in band] or ["none"] * n_periods
    columns = (
        period_starts,
        period_ends,
        map(number, values),
        bands,
        map(str, risk_over_time.n_rows.tolist()),
    )
    header = ("from", "to", scale.short_name(document.named_scoring), "band", "rows")
    mean_noun = "loss" if scale.perfect is None else "score"
    legend = [Key("s0", f"mean {mean_noun} of a stretch of time")]
    if risk_over_time.low is not None:
        level = percent(risk_over_time.confidence_level)
        legend.append(Key("s0", f"{level} band of each stretch by itself", "band"))
    if honest_value is not None:
        legend.append(Key("baseline", f"honest {scale.noun}: {number(honest_value)}", "line"))
    return Figure(
        name=f"over-time-{number_on_page}",
        title=f"{learner_name}: {shorten(scale.name_for(document.named_scoring), 60)} over time",
        drawing=drawing,
        caption=trend_text,
        table=FigureTable.from_rows(header, [list(row) for row in zip(*columns, strict=True)]),
        keys=tuple(legend),
    )


def _band_limits(risk_over_time: RiskOverTime) -> list[tuple[float, float]]:
    """Return the limits of the band in each period of time, or an empty list without a band."""
    if risk_over_time.low is None or risk_over_time.high is None:
        return []
    return list(zip(risk_over_time.low.tolist(), risk_over_time.high.tolist(), strict=True))


def _time_texts(times: np.ndarray) -> list[str]:
    """Format times as text: dates as they are written, numbers with six digits."""
    if times.dtype.kind == "M":
        return [str(text) for text in dates_text(times)]
    return [f"{float(time):.6g}" for time in times]
