"""Risk over time: the mean loss, or score, of each stretch with its band, and what of a trend."""

from __future__ import annotations

from dataclasses import replace

from truerisk.core.present import number
from truerisk.core.scale import Scale
from truerisk.report.document import Document, LearnerRecord
from truerisk.report.estimates import Course
from truerisk.report.figure import Figure, FigureTable, Key, columns_of
from truerisk.report.scale import Scale as Axis
from truerisk.report.svg import WIDTH, Drawing

__all__ = ["draw_over_time"]

HEIGHT, TOP, BOTTOM, LEFT = 264, 30, 222, 52


def draw_over_time(
    learner: LearnerRecord, document: Document, number_on_page: int
) -> Figure | None:
    """A step for each stretch of time; None where the rows have no times, or no losses."""
    if learner.course is None:
        return None
    scale = learner.honest.scale
    found = _on(scale, learner.course)
    n = len(found.values)
    drawing = Drawing(
        title=f"{scale.noun.capitalize()} of {learner.shown} over time",
        about=f"{n} stretches from {found.starts[0]} to {found.ends[-1]}. {found.said}",
        height=HEIGHT,
        x=Axis(0, n, LEFT, WIDTH - 12),
        y=Axis.around(_heights(found), BOTTOM, TOP),
    )
    drawing.left_axis(columns_of(scale.axis(document.loss), 60))
    places = sorted({0, n // 3, 2 * n // 3})
    drawing.bottom_axis("first time of a stretch", places, [found.starts[j] for j in places])
    if found.low is not None and found.high is not None:
        edges = [float(e) for j in range(n) for e in (j, j + 1)]
        lows, highs = ([v for v in ends for _ in range(2)] for ends in (found.low, found.high))
        drawing.band(edges, lows, highs, "s0")
    if learner.honest.value is not None:
        drawing.level(learner.honest.value, "baseline")
    for j, value in enumerate(found.values):
        drawing.line([j, j + 1], [value, value], "s0")
        said = f"{found.starts[j]} to {found.ends[j]}: {number(value)}"
        drawing.point(j + 0.5, value, "s0", said, size=4)
    return Figure(
        name=f"over-time-{number_on_page}",
        title=f"{learner.shown}: {columns_of(scale.of(document.loss), 60)} over time",
        drawing=drawing,
        caption=found.said,
        table=_table(found, scale.short(document.loss)),
        keys=_keys(found, learner),
    )


def _on(scale: Scale, course: Course) -> Course:
    """The course as people read it: a JSON holds mean losses, also where the loss is a score."""
    if scale.perfect is None:
        return course
    low, high = (
        None if ends is None else tuple(map(scale.value, ends))
        for ends in (course.high, course.low)
    )
    return replace(course, values=tuple(map(scale.value, course.values)), low=low, high=high)


def _heights(found: Course) -> list[float]:
    return [*found.values, *(found.low or ()), *(found.high or ())]


def _table(found: Course, what: str) -> FigureTable:
    bands = ["none"] * len(found.values)
    if found.low is not None and found.high is not None:
        ends = zip(found.low, found.high, strict=True)
        bands = [f"[{number(low)}, {number(high)}]" for low, high in ends]
    rows = [
        [start, end, number(value), band, str(n)]
        for start, end, value, band, n in zip(
            found.starts, found.ends, found.values, bands, found.n_rows, strict=True
        )
    ]
    return FigureTable.of(("from", "to", what, "band", "rows"), rows)


def _keys(found: Course, learner: LearnerRecord) -> tuple[Key, ...]:
    scale, honest = learner.honest.scale, learner.honest.value
    mean = "loss" if scale.perfect is None else "score"
    keys = [Key("s0", f"mean {mean} of a stretch of time")]
    if found.low is not None:
        keys.append(Key("s0", f"{100 * found.level:g} % band of each stretch by itself", "band"))
    if honest is not None:
        keys.append(Key("baseline", f"honest {scale.noun}: {number(honest)}", "line"))
    return tuple(keys)
