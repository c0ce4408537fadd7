"""The risk with fewer rows, extrapolated to twice the rows, and the risk over time."""

from __future__ import annotations

import numpy as np

from truerisk.assessment.assessment import Assessment
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.formats import clean, dates_text, number, percent
from truerisk.diagnostics.risk_over_time import RiskOverTime
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.svg import WIDTH, Drawing, PixelScale, columns_of
from truerisk.results.learning_curve import ExpectedRisk, LearningCurve

HEIGHT, TOP, BOTTOM, LEFT = 264, 30, 222, 52
CLOSEST = 34  # minimum distance between two ticks, so that their numbers fit


def draw_learning(
    curve: LearningCurve,
    expected: tuple[ExpectedRisk, ...],
    name: str = "",
    number_on_page: int = 0,
) -> Figure | None:
    """Draw measured risks with intervals and the fitted law; return None without any risk."""
    if all(own.value is None for own in curve.estimates):
        return None
    shown, last = clean(name, 60), curve.estimates[-1]
    scale, n_rows, promise = last.scale, last.n_rows, _promise(curve, expected)
    sizes = [*curve.sizes, *(own.n_train for own in expected[-1:])]
    heights = [end for each in (*expected, *curve.estimates) for end in each.ends]
    drawing = Drawing(
        title=f"Learning curve of {shown}",
        about=promise,
        height=HEIGHT,
        x=PixelScale.around([*sizes, n_rows], LEFT, WIDTH - 12, log=True, margin=0.03),
        y=PixelScale.around(heights, BOTTOM, TOP),
    )
    drawing.left_axis(scale.axis(last.named_scoring))
    # As many sizes are labelled as there is room for, the largest first.
    ticks: list[float] = []
    for value in sorted({float(round(value)) for value in sizes}, reverse=True):
        if not ticks or abs(drawing.x(ticks[-1]) - drawing.x(value)) >= CLOSEST:
            ticks.append(value)
    drawing.bottom_axis("training rows, logarithmic", ticks[::-1])
    drawing.upright(n_rows, "baseline")
    _draw_law(drawing, expected)
    for size, risk in zip(curve.sizes, curve.estimates, strict=True):
        if risk.value is None:
            continue
        if risk.interval is not None:
            drawing.slope(size, risk.interval.low, size, risk.interval.high, "span s0")
        drawing.point(size, risk.value, "s0", f"{size:g} rows: {number(risk.value)}", size=4)
    return Figure(
        name=f"learning-{number_on_page}",
        title=f"{shown}: {scale.name_for(last.named_scoring)} by training rows",
        drawing=drawing,
        caption=promise,
        table=_table(curve, expected, scale.short(last.named_scoring)),
        keys=_keys(curve, bool(expected)),
    )


def _promise(curve: LearningCurve, expected: tuple[ExpectedRisk, ...]) -> str:
    """Return the expected risk with more rows, or why it is not given."""
    if not expected:
        return f"The curve is not extrapolated: {clean(curve.lacking or '', 300)}"
    last, n_rows = expected[-1], curve.estimates[-1].n_rows
    rows = f"{last.n_train:g} rows"
    much = f"twice the rows ({last.n_train:g})" if last.n_train == 2 * n_rows else rows
    return f"With {much} expect {number(last.value)} {_ends(last)}."


def _ends(risk: ExpectedRisk) -> str:
    return f"[{number(risk.interval.low)}, {number(risk.interval.high)}]"


def _draw_law(drawing: Drawing, expected: tuple[ExpectedRisk, ...]) -> None:
    if not expected:
        return
    xs = [each.n_train for each in expected]
    bands = [each.interval for each in expected]
    drawing.band(xs, [band.low for band in bands], [band.high for band in bands], "s0")
    heights = [each.value for each in expected]
    n_within = sum(not each.extrapolated for each in expected)
    drawing.line(xs[:n_within], heights[:n_within], "s0")
    beyond = max(n_within - 1, 0)
    drawing.line(xs[beyond:], heights[beyond:], "s0 beyond")


def _table(curve: LearningCurve, expected: tuple[ExpectedRisk, ...], what: str) -> FigureTable:
    rows = [
        [f"{size:g}", number(risk.value), str(risk.interval or "none")]
        for size, risk in zip(curve.sizes, curve.estimates, strict=True)
    ]
    rows += [
        [f"{risk.n_train:g}", f"{number(risk.value)} (expected)", _ends(risk)]
        for risk in expected
        if risk.n_train > curve.sizes[-1]
    ]
    return FigureTable.from_rows(("training rows", what, "interval"), rows)


def _keys(curve: LearningCurve, carried_on: bool) -> tuple[Key, ...]:
    level = percent(curve.confidence_level)
    law = (
        [Key("s0", f"power law, with its {level} band; dashed: extrapolated", "band")]
        if carried_on
        else []
    )
    return (
        Key("s0", f"tuned on that many rows and tested on others, {level} interval", "span"),
        *law,
        Key("baseline", f"all {curve.estimates[-1].n_rows} rows", "line"),
    )


def draw_over_time(
    name: str, learner: TunedLearner, document: Assessment, number_on_page: int
) -> Figure | None:
    """Draw a step for each time period; return None if rows have no times or no losses."""
    course, scale = learner.over_time, learner.risk.scale
    if course is None:
        return None
    n, shown, text = len(course.values), clean(name, 60), clean(course.trend_sentence, 600)
    values = [float(value) for value in course.values]
    band, starts, ends = _band(course), _texts(course.starts), _texts(course.ends)
    drawing = Drawing(
        title=f"{scale.noun.capitalize()} of {shown} over time",
        about=f"{n} stretches from {starts[0]} to {ends[-1]}. {text}",
        height=HEIGHT,
        x=PixelScale(0, n, LEFT, WIDTH - 12),
        y=PixelScale.around([*values, *(end for pair in band for end in pair)], BOTTOM, TOP),
    )
    drawing.left_axis(columns_of(scale.axis(document.named_scoring), 60))
    places = sorted({0, n // 3, 2 * n // 3})
    drawing.bottom_axis("first time of a stretch", places, [starts[j] for j in places])
    if band:
        edges = [float(e) for j in range(n) for e in (j, j + 1)]
        lows, highs = ([v for v in side for _ in range(2)] for side in zip(*band, strict=True))
        drawing.band(edges, lows, highs, "s0")
    honest = learner.risk.value
    if honest is not None:
        drawing.level(honest, "baseline")
    for j, value in enumerate(values):
        drawing.line([j, j + 1], [value, value], "s0")
        drawing.point(j + 0.5, value, "s0", f"{starts[j]} to {ends[j]}: {number(value)}", size=4)
    bands = [f"[{number(low)}, {number(high)}]" for low, high in band] or ["none"] * n
    columns = (starts, ends, map(number, values), bands, map(str, course.n_rows.tolist()))
    head = ("from", "to", scale.short(document.named_scoring), "band", "rows")
    mean = "loss" if scale.perfect is None else "score"
    keys = [Key("s0", f"mean {mean} of a stretch of time")]
    if course.low is not None:
        level = percent(course.confidence_level)
        keys.append(Key("s0", f"{level} band of each stretch by itself", "band"))
    if honest is not None:
        keys.append(Key("baseline", f"honest {scale.noun}: {number(honest)}", "line"))
    return Figure(
        name=f"over-time-{number_on_page}",
        title=f"{shown}: {columns_of(scale.name_for(document.named_scoring), 60)} over time",
        drawing=drawing,
        caption=text,
        table=FigureTable.from_rows(head, [list(row) for row in zip(*columns, strict=True)]),
        keys=tuple(keys),
    )


def _band(course: RiskOverTime) -> list[tuple[float, float]]:
    """Return the limits of the band, or none without a band."""
    if course.low is None or course.high is None:
        return []
    return list(zip(course.low.tolist(), course.high.tolist(), strict=True))


def _texts(times: np.ndarray) -> list[str]:
    """Format dates as written, or numbers."""
    if times.dtype.kind == "M":
        return [str(text) for text in dates_text(times)]
    return [f"{float(time):.6g}" for time in times]
