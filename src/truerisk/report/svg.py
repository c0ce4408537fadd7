"""Drawings in SVG from few kinds of marks; colours are classes, so one drawing serves every theme.

A drawing is 480 units wide: on a narrow phone its letters are still 10 pixels high, and two stand
side by side on a wide screen. Marks carry no style of their own, as the page's policy forbids it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10

from markupsafe import Markup

from truerisk.core.frozen import frozen
from truerisk.results.interval import Interval


@frozen
class PixelScale:
    """Values from `low` to `high` on pixels from `start` to `end`; logarithmic where asked."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def around(
        cls,
        values: Sequence[float],
        start: float,
        end: float,
        *,
        log: bool = False,
        margin: float = 0.06,
        floor_at: float | None = None,
    ) -> PixelScale:
        """A scale that shows all values with some air, not below `floor_at`."""
        low, high = min(values), max(values)
        if log:
            air = margin * (log10(high) - log10(low)) or 0.5
            return cls(10 ** (log10(low) - air), 10 ** (log10(high) + air), start, end, True)
        air = margin * (high - low) or 0.1 * max(abs(high), 1e-9)
        low, high = low - air, high + air
        if floor_at is not None:
            low = max(low, floor_at)
        return cls(low, high, start, end)

    def __call__(self, value: float) -> float:
        """The place of a value."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = log10(low), log10(high), log10(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, about: int = 5) -> list[float]:
        """Round values inside the scale."""
        if self.log:
            powers = range(ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9) + 1)
            step = max(1, ceil(len(powers) / max(about, 1)))
            if len(powers) >= 2:
                return [10.0**p for p in powers][::step]
        return round_ticks(self.low, self.high, about)


def round_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between low and high, about so many.

    >>> round_ticks(0.02, 0.41)
    [0.1, 0.2, 0.3, 0.4]
    """
    span = high - low
    if not span > 0:
        return [low]
    rough = span / max(about, 1)
    power = 10.0 ** floor(log10(rough))
    step = next((power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999), 10 * power)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def tick_text(value: float) -> str:
    """A tick as it is written: no more digits than it needs.

    >>> [tick_text(v) for v in (0.1, 1e-05, 20.0, 1e6, 0.0)]
    ['0.1', '1e-5', '20', '1e6', '0']
    """
    text = f"{value:.4g}"
    if "e" in text:
        head, _, power = text.partition("e")
        text = f"{head}e{int(power)}"
    return text.replace("-", "−", 1) if text.startswith("-") else text


WIDTH = 480
N_SERIES = 6
N_SHADES = 8
JOINTS = {"line": ("L", ""), "band": ("L", "Z"), "dots": ("h0M", "h0")}
SHAPES = ("dot", "square", "diamond", "up", "down", "dot")


def series(number: int) -> str:
    """The class of the n-th colour."""
    return f"s{number % N_SERIES}"


def shape(number: int) -> str:
    """The shape of the points of the n-th series; others where the colours begin again."""
    return SHAPES[(number + number // N_SERIES) % len(SHAPES)]


def _place(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


@frozen
class Mark:
    """A shape at values of both scales; `label` is shown where the reader points at it."""

    kind: str
    xs: Sequence[float]
    ys: Sequence[float]
    look: str
    label: str = ""
    shape: str = "dot"
    size: float = 4


@frozen
class Axis:
    """What is measured, and its ticks, where they are not left to the scale, with their names."""

    label: str
    ticks: Sequence[float] | None
    names: Sequence[str] | None = None


@dataclass
class Drawing:
    """Marks on a pair of scales; `x` and `y` map values to places.

    What is drawn at values are marks, which any renderer can draw; what has its place in pixels is
    written as SVG at once.
    """

    title: str
    about: str
    height: int
    x: PixelScale
    y: PixelScale
    marks: list[Mark | Markup] = field(default_factory=list)
    bottom: Axis | None = None
    left: Axis | None = None
    names: dict[float, str] = field(default_factory=dict)

    # ------------------------------------------------------------ marks at values

    def line(self, xs: Iterable[float], ys: Iterable[float], look: str) -> None:
        """A line through the points."""
        if xs := tuple(xs):
            self.marks.append(Mark("line", xs, tuple(ys), look))

    def band(
        self, xs: Iterable[float], lows: Iterable[float], highs: Iterable[float], look: str
    ) -> None:
        """The area between two lines."""
        there, back = tuple(xs), tuple(lows)[::-1]
        self.marks.append(Mark("band", there + there[::-1], (*highs, *back), look))

    def point(
        self, x: float, y: float, look: str, tip: str = "", *, shape: str = "dot", size: float = 4
    ) -> None:
        """A point."""
        self.marks.append(Mark("point", (x,), (y,), look, tip, shape, size))

    def bar(self, x0: float, x1: float, y0: float, y1: float, look: str, tip: str = "") -> None:
        """A rectangle between two values on each scale."""
        self.marks.append(Mark("bar", (x0, x1), (y0, y1), look, tip))

    def box(self, five: Sequence[float], y: float, half: float, look: str, tip: str = "") -> None:
        """A lying box plot: whisker, quartile, median, quartile, whisker; `half` in pixels."""
        self.marks.append(Mark("box", five, (y,) * 5, look, tip, size=half))

    def span(self, x0: float, x1: float, y: float, look: str) -> None:
        """An interval with its ends, lying at y."""
        self.marks.append(Mark("span", (x0, x1), (y, y), look))

    def estimate(
        self,
        value: float,
        interval: Interval | None,
        y: float,
        tip: str,
        look: str = "s0",
        *,
        shape: str = "dot",
        size: float = 4,
    ) -> None:
        """A value at y, on its interval where there is one."""
        if interval is not None:
            self.span(interval.low, interval.high, y, "s0")
        self.point(value, y, look, tip, shape=shape, size=size)

    def upright(self, x: float, look: str) -> None:
        """A vertical line over the whole height."""
        self.marks.append(Mark("upright", (x, x), (self.y.low, self.y.high), look))

    def level(self, y: float, look: str) -> None:
        """A horizontal line over the whole width."""
        self.marks.append(Mark("level", (self.x.low, self.x.high), (y, y), look))

    def slope(self, x0: float, y0: float, x1: float, y1: float, look: str) -> None:
        """A straight line between two points."""
        self.marks.append(Mark("slope", (x0, x1), (y0, y1), look))

    def note(self, y: float, text: str) -> None:
        """A text in the row at y, where it has no value."""
        self.marks.append(Mark("note", (self.x.low,), (y,), "tick", text))

    def cell(self, column: int, row: int, shade: int, tip: str) -> None:
        """A cell of a heat grid, one wide and one high; shades go from 0 to `N_SHADES`."""
        self.marks.append(Mark("cell", *_square(column, row), f"h{shade}", tip))

    def frame(self, column: int, row: int) -> None:
        """A frame around a cell."""
        self.marks.append(Mark("frame", *_square(column, row), ""))

    def inscription(self, column: int, row: int, shade: int, text: str, look: str = "tick") -> None:
        """What is written into a cell, to be read on its shade."""
        look += " on-dark" if shade > N_SHADES / 2 + 1 else " on-light"
        self.marks.append(Mark("inscription", (column + 0.5,), (row + 0.5,), look, text))

    # ------------------------------------------------------------ marks in pixels

    def text(self, x: float, y: float, text: str, look: str = "", *, anchor: str = "start") -> None:
        """A text."""
        mark = '<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>'
        self.marks.append(_filled(mark, look, x, y, anchor, text))

    def stroke(self, x0: float, y0: float, x1: float, y1: float, look: str) -> None:
        """A straight line between two places."""
        self.marks.append(_stroke(x0, y0, x1, y1, look))

    # ------------------------------------------------------------ axes

    def bottom_axis(
        self, label: str, ticks: Sequence[float] | None = None, names: Sequence[str] | None = None
    ) -> None:
        """Ticks with light lines upwards, and what is measured."""
        base = max(self.y.start, self.y.end)
        shown = self.x.ticks(6) if ticks is None else ticks
        self.bottom = Axis(label, ticks, names)
        for i, value in enumerate(shown):
            self.stroke(self.x(value), self.y.start, self.x(value), self.y.end, "grid")
            text = tick_text(value) if names is None else names[i]
            self.text(self.x(value), base + 16, text, "tick", anchor="middle")
        self.stroke(self.x.start, base, self.x.end, base, "axis")
        self.text((self.x.start + self.x.end) / 2, base + 34, label, "label", anchor="middle")

    def bottom_names(self, names: Mapping[float, str], label: str = "", n_lines: int = 1) -> None:
        """Names below columns, in turn on so many lines; without the lines of `bottom_axis`."""
        base = max(self.y.start, self.y.end)
        self.bottom = Axis(label, list(names), list(names.values()))
        for i, (place, name) in enumerate(names.items()):
            self.text(self.x(place), base + 16 + 14 * (i % n_lines), name, "tick", anchor="middle")
        if label:
            self.text((self.x.start + self.x.end) / 2, base + 34, label, "label", anchor="middle")

    def left_axis(self, label: str, ticks: Sequence[float] | None = None) -> None:
        """Ticks with light lines to the right; what is measured stands above."""
        self.left = Axis(label, ticks)
        for value in self.y.ticks(5) if ticks is None else ticks:
            self.stroke(self.x.start, self.y(value), self.x.end, self.y(value), "grid")
            self.text(self.x.start - 7, self.y(value) + 4, tick_text(value), "tick", anchor="end")
        top = min(self.y.start, self.y.end)
        self.text(4, top - 10, label, "label")

    def row(self, y: float, name: str, letters: int = 16, look: str = "name") -> None:
        """The name of the row at y, left of it, cut to so many letters where there is no room."""
        self.names[y] = name
        place = self.x.start - 10, self.y(y) + 4
        self.text(*place, columns_of(name, letters), look, anchor="end")

    def svg(self, name: str, here: tuple[float, float] | None = None) -> Markup:
        """The drawing as an image with a name and a description; `name` is unique on the page.

        A point `here` can be moved.
        """
        point = Markup("")
        if here is not None:
            places = self.x(here[0]), self.y(here[1])
            point = _filled('<circle class="here" r="6.5" cx="{}" cy="{}"/>', *places)
        return Markup(
            '<svg class="drawing" viewBox="0 0 {w} {h}" role="img" '
            'aria-labelledby="{name}-title {name}-about" xmlns="http://www.w3.org/2000/svg">'
            "{content}{point}</svg>"
        ).format(w=WIDTH, h=self.height, name=name, content=self.content(name), point=point)

    def content(self, name: str) -> Markup:
        """Its name, its description and its marks, inside an image that they name."""
        marks = [_written(m, self.x, self.y) if isinstance(m, Mark) else m for m in self.marks]
        return Markup(
            '<title id="{name}-title">{title}</title><desc id="{name}-about">{about}</desc>{marks}'
        ).format(name=name, title=self.title, about=self.about, marks=Markup("").join(marks))


SHARE_X, SHARE_Y = PixelScale(-0.01, 1.01, 52, WIDTH - 12), PixelScale(-0.01, 1.01, 336, 30)
SHARES = (0, 0.2, 0.4, 0.6, 0.8, 1)


def of_shares(title: str, about: str, left: str, bottom: str) -> Drawing:
    """A drawing with both axes, of shares from 0 to 1."""
    drawing = Drawing(title, about, 380, SHARE_X, SHARE_Y)
    drawing.left_axis(left, SHARES)
    drawing.bottom_axis(bottom, SHARES)
    return drawing


def of_rows(title: str, about: str, x: PixelScale, n: int, high: int, top: int) -> Drawing:
    """A drawing of n rows, the first below `top`, each so many pixels high."""
    bottom = top + high * n
    return Drawing(title, about, bottom + 42, x, PixelScale(0, n, top, bottom))


def _written(mark: Mark, x: PixelScale, y: PixelScale) -> Markup:
    """A mark in SVG."""
    places = [(x(a), y(b)) for a, b in zip(mark.xs, mark.ys, strict=True)]
    (x0, y0), (x1, y1) = places[0], places[-1]
    match mark.kind:
        case "line" | "band" | "dots":
            between, end = JOINTS[mark.kind]
            path = between.join(f"{_place(a)} {_place(b)}" for a, b in places)
            return _filled('<path class="{} {}" d="M{}{}"/>', mark.kind, mark.look, path, end)
        case "point":
            tip = Markup(' data-tip=""') if mark.label else ""
            path = _shape(mark.shape, x0, y0, mark.size)
            text = '<path class="point {}"{} d="{}">{}</path>'
            return _filled(text, mark.look, tip, path, _title(mark.label))
        case "bar" | "cell" | "frame":
            inside = 1.5 if mark.kind == "frame" else 0
            size = abs(x1 - x0) - 2 * inside, abs(y1 - y0) - 2 * inside
            return _rect(mark.kind, mark, min(x0, x1) + inside, min(y0, y1) + inside, *size)
        case "box":
            return _box(mark, [a for a, _ in places], y0)
        case "span":
            look = f"span {mark.look}"
            ends = [_stroke(a, y0 - 4, a, y0 + 4, look) for a in (x0, x1)]
            return _stroke(x0, y0, x1, y0, look) + Markup("").join(ends)
        case "inscription":
            text = '<text class="{}" x="{}" y="{}" text-anchor="middle">{}</text>'
            return _filled(text, mark.look, x0, y0 + 4, mark.label)
        case "note":
            text = '<text class="{}" x="{}" y="{}" text-anchor="start">{}</text>'
            return _filled(text, mark.look, x0 + 6, y0 + 4, columns_of(mark.label, 48))
    return _stroke(x0, y0, x1, y1, mark.look)


def _square(column: int, row: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (column, column + 1), (row, row + 1)


def _box(mark: Mark, places: Sequence[float], centre: float) -> Markup:
    low, first, middle, third, high = places
    half, look = mark.size, f"whisker {mark.look}"
    return Markup("").join(
        [
            _stroke(low, centre, first, centre, look),
            _stroke(third, centre, high, centre, look),
            *(_stroke(a, centre - half / 2, a, centre + half / 2, look) for a in (low, high)),
            _rect("box", mark, first, centre - half, max(third - first, 0.5), 2 * half),
            _stroke(middle, centre - half, middle, centre + half, f"median {mark.look}"),
        ]
    )


def _rect(kind: str, mark: Mark, left: float, top: float, width: float, height: float) -> Markup:
    text = '<rect class="{}" x="{}" y="{}" width="{}" height="{}">{}</rect>'
    look = f"{kind} {mark.look}".rstrip()
    return _filled(text, look, left, top, width, height, _title(mark.label))


def _stroke(x0: float, y0: float, x1: float, y1: float, look: str) -> Markup:
    return _filled('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>', look, x0, y0, x1, y1)


def _title(text: str) -> Markup:
    """What a mark says where the reader points at it."""
    return Markup("<title>{}</title>").format(text) if text else Markup("")


def _filled(text: str, *values: object) -> Markup:
    """A text with its values: numbers with one decimal at most, all others escaped."""
    shown = (_place(v) if isinstance(v, int | float) else v for v in values)
    return Markup(text).format(*shown)


def columns_of(text: str, width: int) -> str:
    """A text cut to so many letters, for a place of fixed width."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _shape(shape: str, x: float, y: float, r: float) -> str:
    """The outline of a point."""
    if shape == "dot":
        a, d = f"{_place(r)} {_place(r)}", _place(2 * r)
        return f"M{_place(x - r)} {_place(y)}a{a} 0 1 0 {d} 0a{a} 0 1 0 -{d} 0Z"
    corners = {
        "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
        "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
        "up": ((0, -1.2), (1.15, 0.9), (-1.15, 0.9)),
        "down": ((0, 1.2), (1.15, -0.9), (-1.15, -0.9)),
    }[shape]
    return "M" + "L".join(f"{_place(x + r * a)} {_place(y + r * b)}" for a, b in corners) + "Z"
