"""Learning curves: the risk with fewer rows, the law and its band, carried on to twice the rows."""

from __future__ import annotations

from truerisk.core.learning_curve import ExpectedRisk, LearningCurve
from truerisk.core.present import clean, number
from truerisk.core.scale import Scale
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.ladder import interval_text, own_value
from truerisk.report.scale import PixelScale
from truerisk.report.svg import WIDTH, Drawing

__all__ = ["draw_learning", "ends_of"]

HEIGHT, TOP, BOTTOM, LEFT = 264, 30, 222, 52
CLOSEST = 34  # places between two ticks: what their numbers take


def draw_learning(
    found: LearningCurve,
    expected: tuple[ExpectedRisk, ...],
    name: str = "",
    number_on_page: int = 0,
) -> Figure | None:
    """Measured risks with their intervals and what the law expects; None where no risk is known."""
    if all(one.value is None for one in found.estimates):
        return None
    shown, last = clean(name, 60), found.estimates[-1]
    scale, n_rows, promise = last.scale, last.n_rows, _promise(found, expected)
    sizes = [*found.sizes, *(one.n_train for one in expected[-1:])]
    drawing = Drawing(
        title=f"Learning curve of {shown}",
        about=promise,
        height=HEIGHT,
        x=PixelScale.around([*sizes, n_rows], LEFT, WIDTH - 12, log=True, margin=0.03),
        y=PixelScale.around(_heights(found, expected), BOTTOM, TOP),
    )
    drawing.left_axis(scale.axis(last.named_loss))
    drawing.bottom_axis("training rows, logarithmic", _ticks(drawing.x, sizes))
    drawing.upright(n_rows, "baseline")
    _draw_law(drawing, expected)
    for size, risk in zip(found.sizes, found.estimates, strict=True):
        one = risk.own_scale
        if one.value is None:
            continue
        if one.interval is not None:
            drawing.slope(size, one.interval.low, size, one.interval.high, "span s0")
        drawing.point(size, one.value, "s0", f"{size:g} rows: {number(one.value)}", size=4)
    return Figure(
        name=f"learning-{number_on_page}",
        title=f"{shown}: {scale.of(last.named_loss)} by training rows",
        drawing=drawing,
        caption=promise,
        table=_table(found, expected, scale.short(last.named_loss)),
        keys=_keys(found, bool(expected)),
    )


def _promise(found: LearningCurve, expected: tuple[ExpectedRisk, ...]) -> str:
    """What to expect of more rows, or why that is not said."""
    if not expected:
        return f"The curve is not carried on: {clean(found.lacking or '', 300)}"
    last, n_rows = expected[-1], found.estimates[-1].n_rows
    rows = f"{last.n_train:g} rows"
    much = f"twice the rows ({last.n_train:g})" if last.n_train == 2 * n_rows else rows
    return f"With {much} expect {number(last.own_scale.value)} {_ends(last)}."


def _ends(one: ExpectedRisk) -> str:
    low, high = ends_of(one)
    return f"[{number(low)}, {number(high)}]"


def ends_of(expected: ExpectedRisk) -> tuple[float, float]:
    """The ends of the interval as people state them."""
    interval = expected.own_scale.interval
    assert interval is not None
    return interval.low, interval.high


def _heights(found: LearningCurve, expected: tuple[ExpectedRisk, ...]) -> list[float]:
    """Every risk that is drawn, and every end of an interval."""
    heights = [end for one in expected for end in ends_of(one)]
    for one in (risk.own_scale for risk in found.estimates):
        heights += [] if one.value is None else [one.value]
        heights += [] if one.interval is None else [one.interval.low, one.interval.high]
    return heights


def _ticks(x: PixelScale, values: list[float]) -> list[float]:
    """As many of the sizes as have room for their numbers, the largest first."""
    kept: list[float] = []
    for value in sorted({float(round(value)) for value in values}, reverse=True):
        if not kept or abs(x(kept[-1]) - x(value)) >= CLOSEST:
            kept.append(value)
    return kept[::-1]


def _draw_law(drawing: Drawing, expected: tuple[ExpectedRisk, ...]) -> None:
    if not expected:
        return
    xs = [one.n_train for one in expected]
    lows, highs = zip(*map(ends_of, expected), strict=True)
    drawing.band(xs, lows, highs, "s0")
    heights = [Scale(one.perfect).value(one.value) for one in expected]
    n_within = sum(not one.extrapolated for one in expected)
    drawing.line(xs[:n_within], heights[:n_within], "s0")
    beyond = max(n_within - 1, 0)
    drawing.line(xs[beyond:], heights[beyond:], "s0 beyond")


def _table(found: LearningCurve, expected: tuple[ExpectedRisk, ...], what: str) -> FigureTable:
    rows = [
        [f"{size:g}", number(own_value(one)), interval_text(one)]
        for size, one in zip(found.sizes, found.estimates, strict=True)
    ]
    rows += [
        [f"{one.n_train:g}", f"{number(one.own_scale.value)} (expected)", _ends(one)]
        for one in expected
        if one.n_train > found.sizes[-1]
    ]
    return FigureTable.of(("training rows", what, "interval"), rows)


def _keys(found: LearningCurve, carried_on: bool) -> tuple[Key, ...]:
    level = f"{100 * found.confidence_level:g} %"
    law = (
        [Key("s0", f"power law, with its {level} band; dashed: carried on", "band")]
        if carried_on
        else []
    )
    return (
        Key("s0", f"tuned on so many rows and tested on others, {level} interval", "span"),
        *law,
        Key("baseline", f"all {found.estimates[-1].n_rows} rows", "line"),
    )
