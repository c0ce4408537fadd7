"""SVG drawings from a few kinds of marks; colours are classes, so that they fit every theme.

A drawing is 480 units wide: on a narrow phone its letters are still 10 pixels high, and two
drawings fit side by side on a wide screen. Marks have no style of their own, which the page's
policy forbids.
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
    """Map from values between `low` and `high` to pixels; logarithmic if requested."""

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
        """Return a scale that shows all values with a margin, not below `floor_at`."""
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
        """Return the pixel of a value."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = log10(low), log10(high), log10(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, about: int = 5) -> list[float]:
        """Return round values inside the scale."""
        if self.log:
            powers = range(ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9) + 1)
            step = max(1, ceil(len(powers) / max(about, 1)))
            if len(powers) >= 2:
                return [10.0**p for p in powers][::step]
        return round_ticks(self.low, self.high, about)


def round_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return about this many multiples of 1, 2 or 5 times a power of ten between low and high.

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
    """Format a tick with no more digits than it needs.

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
    """Return the CSS class of the n-th colour."""
    return f"s{number % N_SERIES}"


def shape(number: int) -> str:
    """Return the marker shape of the n-th series, which differs when colours repeat."""
    return SHAPES[(number + number // N_SERIES) % len(SHAPES)]


def _place(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


@frozen
class Mark:
    """A shape at values of both scales; `label` is its tooltip."""

    kind: str
    xs: Sequence[float]
    ys: Sequence[float]
    look: str
    label: str = ""
    shape: str = "dot"
    size: float = 4


@frozen
class Axis:
    """The label of an axis, with its ticks and their names unless the scale determines them."""

    label: str
    ticks: Sequence[float] | None
    names: Sequence[str] | None = None


@dataclass
class Drawing:
    """Marks on a pair of scales; `x` and `y` map values to pixels.

    Marks at values can be drawn by any renderer. Marks at pixel positions are written as SVG
    directly.
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
        """Add a line through the points."""
        if xs := tuple(xs):
            self.marks.append(Mark("line", xs, tuple(ys), look))

    def band(
        self, xs: Iterable[float], lows: Iterable[float], highs: Iterable[float], look: str
    ) -> None:
        """Add the area between two lines."""
        there, back = tuple(xs), tuple(lows)[::-1]
        self.marks.append(Mark("band", there + there[::-1], (*highs, *back), look))

    def point(
        self, x: float, y: float, look: str, tip: str = "", *, shape: str = "dot", size: float = 4
    ) -> None:
        """Add a point."""
        self.marks.append(Mark("point", (x,), (y,), look, tip, shape, size))

    def bar(self, x0: float, x1: float, y0: float, y1: float, look: str, tip: str = "") -> None:
        """Add a rectangle between two values on each scale."""
        self.marks.append(Mark("bar", (x0, x1), (y0, y1), look, tip))

    def box(self, five: Sequence[float], y: float, half: float, look: str, tip: str = "") -> None:
        """Add a horizontal box plot of five numbers; `half` is half its height in pixels."""
        self.marks.append(Mark("box", five, (y,) * 5, look, tip, size=half))

    def span(self, x0: float, x1: float, y: float, look: str) -> None:
        """Add a horizontal interval with its ends at y."""
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
        """Add a value at y, on its interval if there is one."""
        if interval is not None:
            self.span(interval.low, interval.high, y, "s0")
        self.point(value, y, look, tip, shape=shape, size=size)

    def upright(self, x: float, look: str) -> None:
        """Add a vertical line over the whole height."""
        self.marks.append(Mark("upright", (x, x), (self.y.low, self.y.high), look))

    def level(self, y: float, look: str) -> None:
        """Add a horizontal line over the whole width."""
        self.marks.append(Mark("level", (self.x.low, self.x.high), (y, y), look))

    def slope(self, x0: float, y0: float, x1: float, y1: float, look: str) -> None:
        """Add a straight line between two points."""
        self.marks.append(Mark("slope", (x0, x1), (y0, y1), look))

    def note(self, y: float, text: str) -> None:
        """Add a text in the row at y, in place of a value."""
        self.marks.append(Mark("note", (self.x.low,), (y,), "tick", text))

    def cell(self, column: int, row: int, shade: int, tip: str) -> None:
        """Add a cell of a heat map with unit size; shades go from 0 to `N_SHADES`."""
        self.marks.append(Mark("cell", *_square(column, row), f"h{shade}", tip))

    def frame(self, column: int, row: int) -> None:
        """Add a frame around a cell."""
        self.marks.append(Mark("frame", *_square(column, row), ""))

    def inscription(self, column: int, row: int, shade: int, text: str, look: str = "tick") -> None:
        """Add a text in a cell, in a colour that is legible on its shade."""
        look += " on-dark" if shade > N_SHADES / 2 + 1 else " on-light"
        self.marks.append(Mark("inscription", (column + 0.5,), (row + 0.5,), look, text))

    # ------------------------------------------------------------ marks in pixels

    def text(self, x: float, y: float, text: str, look: str = "", *, anchor: str = "start") -> None:
        """Add a text."""
        mark = '<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>'
        self.marks.append(_filled(mark, look, x, y, anchor, text))

    def stroke(self, x0: float, y0: float, x1: float, y1: float, look: str) -> None:
        """Add a straight line between two pixel positions."""
        self.marks.append(_stroke(x0, y0, x1, y1, look))

    # ------------------------------------------------------------ axes

    def bottom_axis(
        self, label: str, ticks: Sequence[float] | None = None, names: Sequence[str] | None = None
    ) -> None:
        """Add ticks with light vertical lines, and the label."""
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
        """Add names below columns, alternating between lines, without the grid lines."""
        base = max(self.y.start, self.y.end)
        self.bottom = Axis(label, list(names), list(names.values()))
        for i, (place, name) in enumerate(names.items()):
            self.text(self.x(place), base + 16 + 14 * (i % n_lines), name, "tick", anchor="middle")
        if label:
            self.text((self.x.start + self.x.end) / 2, base + 34, label, "label", anchor="middle")

    def left_axis(self, label: str, ticks: Sequence[float] | None = None) -> None:
        """Add ticks with light horizontal lines, and the label above."""
        self.left = Axis(label, ticks)
        for value in self.y.ticks(5) if ticks is None else ticks:
            self.stroke(self.x.start, self.y(value), self.x.end, self.y(value), "grid")
            self.text(self.x.start - 7, self.y(value) + 4, tick_text(value), "tick", anchor="end")
        top = min(self.y.start, self.y.end)
        self.text(4, top - 10, label, "label")

    def row(self, y: float, name: str, letters: int = 16, look: str = "name") -> None:
        """Add the name of the row at y on its left, cut to this number of letters."""
        self.names[y] = name
        place = self.x.start - 10, self.y(y) + 4
        self.text(*place, columns_of(name, letters), look, anchor="end")

    def svg(self, name: str, here: tuple[float, float] | None = None) -> Markup:
        """Return the drawing as an image with title and description; `name` is unique on the page.

        A point `here` can be moved by the page.
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
        """Return title, description and marks for an image that refers to them."""
        marks = [_written(m, self.x, self.y) if isinstance(m, Mark) else m for m in self.marks]
        return Markup(
            '<title id="{name}-title">{title}</title><desc id="{name}-about">{about}</desc>{marks}'
        ).format(name=name, title=self.title, about=self.about, marks=Markup("").join(marks))


SHARE_X, SHARE_Y = PixelScale(-0.01, 1.01, 52, WIDTH - 12), PixelScale(-0.01, 1.01, 336, 30)
SHARES = (0, 0.2, 0.4, 0.6, 0.8, 1)


def of_shares(title: str, about: str, left: str, bottom: str) -> Drawing:
    """Return a drawing whose axes both go from 0 to 1."""
    drawing = Drawing(title, about, 380, SHARE_X, SHARE_Y)
    drawing.left_axis(left, SHARES)
    drawing.bottom_axis(bottom, SHARES)
    return drawing


def of_rows(title: str, about: str, x: PixelScale, n: int, high: int, top: int) -> Drawing:
    """Return a drawing of n rows of this height in pixels, the first one below `top`."""
    bottom = top + high * n
    return Drawing(title, about, bottom + 42, x, PixelScale(0, n, top, bottom))


def _written(mark: Mark, x: PixelScale, y: PixelScale) -> Markup:
    """Return a mark as SVG."""
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
    """Return the tooltip of a mark."""
    return Markup("<title>{}</title>").format(text) if text else Markup("")


def _filled(text: str, *values: object) -> Markup:
    """Fill a template with values: numbers with at most one decimal, others escaped."""
    shown = (_place(v) if isinstance(v, int | float) else v for v in values)
    return Markup(text).format(*shown)


def columns_of(text: str, width: int) -> str:
    """Cut a text to this number of letters."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _shape(shape: str, x: float, y: float, r: float) -> str:
    """Return the outline of a point."""
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
