"""Risk over time: the mean loss in each stretch with its band, and what is said of a trend."""

from __future__ import annotations

from truerisk.core.present import clean, number
from truerisk.report.document import Document, LearnerRecord
from truerisk.report.estimates import Course
from truerisk.report.figure import Figure, FigureTable, Key, columns_of
from truerisk.report.scale import Scale
from truerisk.report.svg import WIDTH, Drawing

__all__ = ["draw_over_time"]

HEIGHT, TOP, BOTTOM, LEFT = 264, 30, 222, 52


def draw_over_time(
    learner: LearnerRecord, document: Document, number_on_page: int
) -> Figure | None:
    """A step for each stretch of time; None where the rows have no times, or no losses."""
    found = learner.course
    if found is None:
        return None
    n = len(found.values)
    drawing = Drawing(
        title=f"Risk of {learner.shown} over time",
        about=f"{n} stretches from {found.starts[0]} to {found.ends[-1]}. {found.said}",
        height=HEIGHT,
        x=Scale(0, n, LEFT, WIDTH - 12),
        y=Scale.around(_heights(found), BOTTOM, TOP),
    )
    drawing.left_axis(f"risk ({columns_of(clean(document.loss, 60), 40)})")
    places = sorted({0, n // 3, 2 * n // 3})
    drawing.bottom_axis("first time of a stretch", places, [found.starts[j] for j in places])
    if found.low is not None and found.high is not None:
        edges = [float(e) for j in range(n) for e in (j, j + 1)]
        lows, highs = ([v for v in ends for _ in range(2)] for ends in (found.low, found.high))
        drawing.band(edges, lows, highs, "s0")
    level = _level(learner)
    if level is not None:
        drawing.level(level, "baseline")
    for j, value in enumerate(found.values):
        drawing.line([j, j + 1], [value, value], "s0")
        said = f"{found.starts[j]} to {found.ends[j]}: {number(value)}"
        drawing.point(j + 0.5, value, "s0", said, size=4)
    return Figure(
        name=f"over-time-{number_on_page}",
        title=f"{learner.shown}: {columns_of(clean(document.loss, 60), 40)} risk over time",
        drawing=drawing,
        caption=found.said,
        table=_table(found),
        keys=_keys(found, learner),
    )


def _level(learner: LearnerRecord) -> float | None:
    """The honest risk, a mean of losses as the stretches are; of a score it is what it lacks."""
    return learner.honest.scale.value(learner.honest.value)


def _heights(found: Course) -> list[float]:
    return [*found.values, *(found.low or ()), *(found.high or ())]


def _table(found: Course) -> FigureTable:
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
    return FigureTable.of(("from", "to", "risk", "band", "rows"), rows)


def _keys(found: Course, learner: LearnerRecord) -> tuple[Key, ...]:
    keys = [Key("s0", "mean loss of a stretch of time")]
    if found.low is not None:
        keys.append(Key("s0", f"{100 * found.level:g} % band of each stretch by itself", "band"))
    level = _level(learner)
    if level is not None:
        keys.append(Key("baseline", f"honest risk: {number(level)}", "line"))
    return tuple(keys)
