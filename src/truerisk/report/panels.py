"""The panels of an experiment as figures: lines, counts, boxes, bars and heat maps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from truerisk.core.formats import number
from truerisk.core.frozen import frozen
from truerisk.core.tables import five_numbers
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.svg import (
    N_SERIES,
    N_SHADES,
    WIDTH,
    Drawing,
    Mark,
    PixelScale,
    of_rows,
    series,
)

if TYPE_CHECKING:  # pages of other results are drawn without the experiments
    from truerisk.experiments.figures import Panel, Report, Series

CELLS = 40  # number of cells along each axis of a plot of point counts
REACH = 2.0  # number of standard errors on each side of a band
LEFT, RIGHT, TOP, BOTTOM = 52, WIDTH - 12, 30, 300
NAMES = 150  # left margin of rows that have names
ROW = 30
STYLE = re.compile(r"(C\d|[bgrcmk])?([o.s^v])?(--|-\.|-|:)?")
COLOURS = {"b": "s0", "r": "s1", "g": "s2", "m": "s3", "c": "s4", "k": "ink"}
SHAPES = {"o": "dot", ".": "dot", "s": "square", "^": "up", "v": "down"}
DASHES = {"--": "beyond", "-.": "mixed", ":": "dotted", "-": "solid"}
AROUND = f"Bands and whiskers: {REACH:g} standard errors to either side."


@frozen(eq=False)
class Line:
    """A line, or points, with the fields of an experiment's `Series`."""

    label: str
    x: np.ndarray
    y: np.ndarray
    style: str = "-"
    width: float = 1.2
    error: np.ndarray | None = None
    size: float | None = None


@frozen(eq=False)
class Lines:
    """Lines on one pair of axes, with the fields of an experiment's `Panel`."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Line, ...]
    kind: str = "lines"
    names: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    steps: tuple[str, ...] = ()


def is_report(result: Any) -> bool:
    """Return True for the report of an experiment, which has panels."""
    return str(getattr(result, "schema", "")).startswith("truerisk.reproduction/")


def draw_panels(report: Report) -> tuple[Figure, ...]:
    """Draw a figure for each panel, in the order of the report."""
    return tuple(
        _figure(panel, f"{one.name}-{i}" if len(one.panels) > 1 else one.name, report.title)
        for one in report.figures
        for i, panel in enumerate(one.panels, 1)
    )


def draw_series(
    title: str, labels: tuple[str, str], *series: Line, limits: tuple[float, float] | None = None
) -> Figure:
    """Draw lines of any result; `labels` are those of x and y."""
    lines = Lines(title, *labels, series, limits=limits)
    return _figure(cast("Panel", lines), labels[1], title)


def _figure(panel: Panel, name: str, title: str) -> Figure:
    drawing, keys = KINDS[panel.kind](panel)
    named = [one for one in panel.series if one.label] or list(panel.series)
    has_errors = any(one.error is not None for one in panel.series)
    drawing.title = panel.title or title
    words = " over ".join(filter(None, (panel.y_label, panel.x_label)))
    drawing.about = f"{words}: {', '.join(one.label for one in named)}" if named[0].label else words
    rows = [row for one in named for row in _rows(panel, one)]
    head = ("", panel.x_label or "rank", panel.y_label, "± standard error")
    table = FigureTable.from_rows(head, rows)
    about = AROUND if has_errors else words
    return Figure(name, drawing.title, drawing, about, table, keys, steps=panel.steps)


def _rows(panel: Panel, one: Series) -> Iterator[tuple[str, str, str, str]]:
    """Yield table rows with the numbers of a series, or with the five numbers of a box."""
    x, y = one.x, one.y
    if panel.kind == "boxes":
        y = np.array(five_numbers(one.y.tolist()))
        x = np.arange(1.0, 6.0)
    first = 0 if panel.kind == "shades" else 1
    for i, (a, b) in enumerate(zip(x, y, strict=True)):
        place = panel.names[round(a) - first] if panel.names else f"{a:.4g}"
        yield one.label, place, f"{b:.4g}", "" if one.error is None else f"{one.error[i]:.2g}"


def _looks(every: Sequence[Series]) -> list[tuple[Series, str, str, str]]:
    """Return each series with its colour, marker shape and line style."""
    found, free = [], 0
    for one in every:
        match = STYLE.fullmatch(one.style)
        assert match is not None, one.style
        colour, marker, dash = match.groups()
        if colour is None:  # The next colour of the cycle is used, with dashes once colours repeat.
            look, free = series(free), free + 1
            dash = "--" if free > N_SERIES and dash == "-" else dash
        else:
            look = COLOURS.get(colour) or series(int(colour[1:]))
        weight = "faint " if one.width < 0.5 else "bold " if one.width > 2 else ""
        line = "" if dash is None else f"{DASHES[dash]} {weight}{look}"
        found.append((one, look, SHAPES.get(marker, ""), line))
    return found


def _scale(values: np.ndarray, start: int, end: int, **options: Any) -> PixelScale:
    seen = values[np.isfinite(values)]
    return PixelScale.around([float(seen.min()), float(seen.max())], start, end, **options)


def _axes(panel: Panel, y: PixelScale, x: PixelScale) -> Drawing:
    drawing = Drawing("", "", BOTTOM + 42, x, y)
    drawing.left_axis(panel.y_label)
    if panel.names:
        drawing.bottom_names(dict(enumerate(panel.names, 1)), panel.x_label)
    else:
        drawing.bottom_axis(panel.x_label)
    return drawing


def _ends(one: Series) -> tuple[np.ndarray, np.ndarray]:
    away = 0.0 if one.error is None else REACH * np.nan_to_num(one.error, posinf=0.0)
    return one.y - away, one.y + away


def _of_lines(panel: Panel) -> tuple[Drawing, tuple[Key, ...]]:
    ends = np.concatenate([end for one in panel.series for end in _ends(one)])
    y = _scale(ends, BOTTOM, TOP)
    if panel.limits is not None:
        y = PixelScale(*panel.limits, BOTTOM, TOP)
    places = np.arange(1, len(panel.names) + 1)  # All names are shown, also those without a point.
    every_x = np.concatenate([places, *(one.x for one in panel.series)])
    drawing = _axes(panel, y, _scale(every_x, LEFT, RIGHT, margin=0.02))
    keys = []
    for one, colour, shape, line in _looks(panel.series):
        if one.error is not None:
            low, high = (np.clip(end, y.low, y.high).tolist() for end in _ends(one))
            drawing.band(one.x.tolist(), low, high, colour)
        for xs, ys in _pieces(one.x, one.y, y.low, y.high) if line else ():
            drawing.line(xs.tolist(), ys.tolist(), line)
        if shape and len(one.x) > MANY:
            drawing.marks.append(Mark("dots", one.x.tolist(), one.y.tolist(), colour))
        for a, b in zip(one.x, one.y, strict=True) if shape and len(one.x) <= MANY else ():
            drawing.point(float(a), float(b), colour, shape=shape, size=one.size or 4)
        if one.label:
            keys.append(Key(line or f"bare {colour}", one.label, shape or "line"))
    return drawing, tuple(keys)


MANY = 200  # number of points from which small dots replace markers


def _pieces(
    x: np.ndarray, y: np.ndarray, low: float, high: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the parts of a line between two heights, cut at its crossings."""
    for level in (low, high):
        at = np.flatnonzero((y[1:] - level) * (y[:-1] - level) < 0)
        share = (level - y[at]) / (y[at + 1] - y[at])
        x = np.insert(x.astype(float), at + 1, x[at] + share * (x[at + 1] - x[at]))
        y = np.insert(y.astype(float), at + 1, level)
    inside = (y >= low) & (y <= high)
    cuts = np.flatnonzero(np.diff(inside)) + 1
    parts = zip(*(np.split(values, cuts) for values in (x, y, inside)), strict=True)
    return ((a, b) for a, b, keep in parts if keep[:1].any())


def _of_counts(panel: Panel) -> tuple[Drawing, tuple[Key, ...]]:
    (one,) = panel.series
    counts, xs, ys = np.histogram2d(one.x, one.y, CELLS)
    drawing = _axes(panel, _scale(ys, BOTTOM, TOP), _scale(xs, LEFT, RIGHT))
    shades = np.maximum(np.ceil(N_SHADES * counts / counts.max()), FAINTEST).astype(int)
    for i, j in np.argwhere(counts):
        cell = xs[i : i + 2].tolist(), ys[j : j + 2].tolist()
        drawing.marks.append(Mark("cell", *cell, f"h{shades[i, j]}", f"{counts[i, j]:g}"))
    drawing.upright(float(one.x.mean()), "honest")
    drawing.level(float(one.y.mean()), "honest")
    most = Key(f"h{N_SHADES}", f"{counts.max():g} points", "cell")
    few = max(1, int(FAINTEST * counts.max() / N_SHADES))
    return drawing, (Key(f"h{FAINTEST}", f"up to {few}", "cell"), most, MEANS)


FAINTEST = 2  # faintest shade in which a single point is visible, also on a dark page
MEANS = Key("honest", "means", "line")


def _of_boxes(panel: Panel) -> tuple[Drawing, tuple[Key, ...]]:
    every = np.concatenate([one.y for one in panel.series])
    drawing = of_rows("", "", _scale(every, NAMES, RIGHT), len(panel.series), ROW, 14)
    drawing.bottom_axis(panel.y_label)
    if every.min() < 0:
        drawing.upright(0.0, "baseline")
    for i, one in enumerate(panel.series):
        five = five_numbers(one.y.tolist())
        drawing.row(i + 0.5, one.label, 24)
        drawing.box(five, i + 0.5, 8, "s0", f"{one.label}: median {number(five[2])}")
        for value in sorted({v for v in one.y.tolist() if not five[0] <= v <= five[4]}):
            drawing.point(value, i + 0.5, "hollow s0", size=2)
        drawing.point(float(one.y.mean()), i + 0.5, "s1", f"mean {number(float(one.y.mean()))}")
    keys = Key("s0", "quartiles, median, whiskers", "box"), Key("hollow s0", "beyond them")
    return drawing, (*keys, Key("s1", "mean"))


def _of_bars(panel: Panel) -> tuple[Drawing, tuple[Key, ...]]:
    """Draw bars of several series side by side, and series of points at their positions."""
    looks = _looks(panel.series)
    bars = [(one, colour) for one, colour, shape, _ in looks if not shape]
    first = bars[0][0].x
    gap = float(np.ptp(first)) / max(len(first) - 1, 1)
    low, high = panel.limits or (0.0, 1.05 * max(float(_ends(one)[1].max()) for one, _ in bars))
    x = PixelScale(float(first.min()) - 0.6 * gap, float(first.max()) + 0.6 * gap, LEFT, RIGHT)
    top = max([high, *(float(one.y.max()) + 2 for one, _, shape, _ in looks if shape)])
    drawing = _axes(panel, PixelScale(low, top, BOTTOM, TOP), x)
    step = 0.8 * gap / len(bars)
    keys = []
    for place, (one, colour) in enumerate(bars):
        middles = one.x + (place - (len(bars) - 1) / 2) * step
        for i, (a, b) in enumerate(zip(middles.tolist(), one.y.tolist(), strict=True)):
            drawing.bar(a - step / 2, a + step / 2, low, b, colour, f"{one.label} {number(b)}")
            if one.error is not None:
                reach = (float(np.clip(end[i], low, high)) for end in _ends(one))
                drawing.slope(a, next(reach), a, next(reach), "whisker ink")
        keys += [Key(colour, one.label, "cell")] if one.label else []
    for one, colour, shape, _ in looks:
        for a, b in zip(one.x.tolist(), one.y.tolist(), strict=True) if shape else ():
            drawing.point(a, b, colour, shape=shape)
        keys += [Key(f"bare {colour}", one.label, shape)] if shape else []
    return drawing, tuple(keys)


def _of_shades(panel: Panel) -> tuple[Drawing, tuple[Key, ...]]:
    """Draw a row per series and a column per name; the minimum of a column has a frame.

    The darkest cells exceed the minimum by the share `FULL` of it, or by more.
    """
    n = len(panel.names)
    x = PixelScale(0, n, NAMES, RIGHT)
    drawing = of_rows("", "", x, len(panel.series), ROW, 14)
    drawing.bottom_names({j + 0.5: name for j, name in enumerate(panel.names)}, panel.x_label)
    values = np.array([one.y for one in panel.series])
    low = np.nanmin(values, axis=0)
    shares = np.nan_to_num((values / low - 1) / FULL).clip(0, 1)
    for i, one in enumerate(panel.series):
        drawing.row(i + 0.5, one.label, 24)
        for j, value in enumerate(one.y.tolist()):
            shade, text = round(N_SHADES * shares[i, j]), number(value, 3)
            is_least = text == number(low[j], 3)
            drawing.cell(j, i, shade, f"{one.label}, {panel.names[j]}: {text}")
            drawing.inscription(j, i, shade, text, "tick bold" if is_least else "tick")
            if is_least:
                drawing.frame(j, i)
    return drawing, SHADES


FULL = 0.5
SHADES = (
    Key("frame", "the least of its column", "cell"),
    Key("h8", "larger by half of it, or more", "cell"),
)
KINDS: dict[str, Callable[[Panel], tuple[Drawing, tuple[Key, ...]]]] = {
    "lines": _of_lines,
    "counts": _of_counts,
    "boxes": _of_boxes,
    "bars": _of_bars,
    "shades": _of_shades,
}
