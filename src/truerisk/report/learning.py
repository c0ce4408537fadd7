"""Learning curves: the risk with fewer rows, the law and its band, carried on to twice the rows."""

from __future__ import annotations

from truerisk.core.present import clean, number
from truerisk.report.document import Document, LearnerRecord
from truerisk.report.estimates import Expected, Learned
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.scale import Scale
from truerisk.report.svg import WIDTH, Drawing

__all__ = ["draw_learning"]

HEIGHT, TOP, BOTTOM, LEFT = 264, 30, 222, 52
CLOSEST = 34  # places between two ticks: what their numbers take


def draw_learning(learner: LearnerRecord, document: Document, number_on_page: int) -> Figure | None:
    """Measured risks with their intervals and what the law expects; None without a curve."""
    found = learner.learned
    if found is None or all(one.value is None for one in found.estimates):
        return None
    drawing = Drawing(
        title=f"Learning curve of {learner.shown}",
        about=_promise(found, document.n_rows),
        height=HEIGHT,
        x=Scale.around(_rows(found, document.n_rows), LEFT, WIDTH - 12, log=True, margin=0.03),
        y=Scale.around(_heights(found), BOTTOM, TOP),
    )
    drawing.left_axis(document.scale.axis(document.loss))
    ticks = _ticks(drawing.x, [*found.sizes, *(one.n_train for one in found.expected[-1:])])
    drawing.bottom_axis("training rows, logarithmic", ticks)
    drawing.upright(document.n_rows, "baseline")
    _draw_law(drawing, found.expected)
    for size, one in zip(found.sizes, found.estimates, strict=True):
        if one.value is None:
            continue
        if one.interval is not None:
            drawing.slope(size, one.interval.low, size, one.interval.high, "span s0")
        drawing.point(size, one.value, "s0", f"{size:g} rows: {number(one.value)}", size=4)
    return Figure(
        name=f"learning-{number_on_page}",
        title=f"{learner.shown}: {document.scale.of(document.loss)} by training rows",
        drawing=drawing,
        caption=_promise(found, document.n_rows),
        table=_table(found, document.scale.short(document.loss)),
        keys=_keys(found, document),
    )


def _promise(found: Learned, n_rows: int) -> str:
    """What to expect of more rows, or why that is not said."""
    if not found.expected:
        return f"The curve is not carried on: {clean(found.lacking, 300)}"
    last = found.expected[-1]
    rows = f"{last.n_train:g} rows"
    much = f"twice the rows ({last.n_train:g})" if last.n_train == 2 * n_rows else rows
    return f"With {much} expect {number(last.value)} {_ends(last)}."


def _ends(one: Expected) -> str:
    return f"[{number(one.low)}, {number(one.high)}]"


def _rows(found: Learned, n_rows: int) -> list[float]:
    return [*found.sizes, float(n_rows), *(one.n_train for one in found.expected)]


def _heights(found: Learned) -> list[float]:
    """Every risk that is drawn, and every end of an interval."""
    heights = [v for one in found.expected for v in (one.low, one.high)]
    for one in found.estimates:
        heights += [] if one.value is None else [one.value]
        heights += [] if one.interval is None else [one.interval.low, one.interval.high]
    return heights


def _ticks(x: Scale, values: list[float]) -> list[float]:
    """As many of the sizes as have room for their numbers, the largest first."""
    kept: list[float] = []
    for value in sorted({float(round(value)) for value in values}, reverse=True):
        if not kept or abs(x(kept[-1]) - x(value)) >= CLOSEST:
            kept.append(value)
    return kept[::-1]


def _draw_law(drawing: Drawing, expected: tuple[Expected, ...]) -> None:
    if not expected:
        return
    xs = [one.n_train for one in expected]
    drawing.band(xs, [one.low for one in expected], [one.high for one in expected], "s0")
    drawing.line(xs, [one.value for one in expected], "s0")


def _table(found: Learned, what: str) -> FigureTable:
    rows = [
        [f"{size:g}", number(one.value), "none" if one.interval is None else str(one.interval)]
        for size, one in zip(found.sizes, found.estimates, strict=True)
    ]
    rows += [
        [f"{one.n_train:g}", f"{number(one.value)} (expected)", _ends(one)]
        for one in found.expected
        if one.n_train > found.sizes[-1]
    ]
    return FigureTable.of(("training rows", what, "interval"), rows)


def _keys(found: Learned, document: Document) -> tuple[Key, ...]:
    level = f"{100 * found.level:g} %"
    law = [Key("s0", f"power law, with its {level} band", "band")] if found.expected else []
    return (
        Key("s0", f"tuned on so many rows and tested on others, {level} interval", "span"),
        *law,
        Key("baseline", f"all {document.n_rows} rows", "line"),
    )
