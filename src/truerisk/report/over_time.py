"""Risk over time: the mean loss, or score, of each stretch with its band, and what of a trend."""

from __future__ import annotations

import numpy as np

from truerisk.api.assessing.assessment import Assessment
from truerisk.api.assessing.tuned_learner import TunedLearner
from truerisk.api.risk_over_time import RiskOverTime
from truerisk.core.present import clean, dates_text, number
from truerisk.core.scale import Scale
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.scale import PixelScale
from truerisk.report.svg import WIDTH, Drawing, columns_of

__all__ = ["draw_over_time"]

HEIGHT, TOP, BOTTOM, LEFT = 264, 30, 222, 52


def draw_over_time(
    name: str, learner: TunedLearner, document: Assessment, number_on_page: int
) -> Figure | None:
    """A step for each stretch of time; None where the rows have no times, or no losses."""
    course, scale = learner.over_time, learner.risk.scale
    if course is None:
        return None
    n, shown, text = len(course.values), clean(name, 60), clean(course.said, 600)
    values = [scale.value(float(value)) for value in course.values]
    band, starts, ends = _band(course, scale), _texts(course.starts), _texts(course.ends)
    drawing = Drawing(
        title=f"{scale.noun.capitalize()} of {shown} over time",
        about=f"{n} stretches from {starts[0]} to {ends[-1]}. {text}",
        height=HEIGHT,
        x=PixelScale(0, n, LEFT, WIDTH - 12),
        y=PixelScale.around([*values, *(end for pair in band for end in pair)], BOTTOM, TOP),
    )
    drawing.left_axis(columns_of(scale.axis(document.named_loss), 60))
    places = sorted({0, n // 3, 2 * n // 3})
    drawing.bottom_axis("first time of a stretch", places, [starts[j] for j in places])
    if band:
        edges = [float(e) for j in range(n) for e in (j, j + 1)]
        lows, highs = ([v for v in side for _ in range(2)] for side in zip(*band, strict=True))
        drawing.band(edges, lows, highs, "s0")
    honest = learner.risk.own_scale.value
    if honest is not None:
        drawing.level(honest, "baseline")
    for j, value in enumerate(values):
        drawing.line([j, j + 1], [value, value], "s0")
        drawing.point(j + 0.5, value, "s0", f"{starts[j]} to {ends[j]}: {number(value)}", size=4)
    bands = [f"[{number(low)}, {number(high)}]" for low, high in band] or ["none"] * n
    columns = (starts, ends, map(number, values), bands, map(str, course.n_rows.tolist()))
    head = ("from", "to", scale.short(document.named_loss), "band", "rows")
    return Figure(
        name=f"over-time-{number_on_page}",
        title=f"{shown}: {columns_of(scale.of(document.named_loss), 60)} over time",
        drawing=drawing,
        caption=text,
        table=FigureTable.of(head, [list(row) for row in zip(*columns, strict=True)]),
        keys=_keys(course, scale, honest),
    )


def _band(course: RiskOverTime, scale: Scale) -> list[tuple[float, float]]:
    """The ends of the band as people read them; none without a band."""
    if course.low is None or course.high is None:
        return []
    pairs = zip(course.low.tolist(), course.high.tolist(), strict=True)
    shown = [(scale.value(low), scale.value(high)) for low, high in pairs]
    return [(min(pair), max(pair)) for pair in shown]


def _texts(times: np.ndarray) -> list[str]:
    """Dates as they are written, or numbers."""
    if times.dtype.kind == "M":
        return [str(text) for text in dates_text(times)]
    return [f"{float(time):.6g}" for time in times]


def _keys(course: RiskOverTime, scale: Scale, honest: float | None) -> tuple[Key, ...]:
    mean = "loss" if scale.perfect is None else "score"
    keys = [Key("s0", f"mean {mean} of a stretch of time")]
    if course.low is not None:
        level = f"{100 * course.confidence_level:g} %"
        keys.append(Key("s0", f"{level} band of each stretch by itself", "band"))
    if honest is not None:
        keys.append(Key("baseline", f"honest {scale.noun}: {number(honest)}", "line"))
    return tuple(keys)
