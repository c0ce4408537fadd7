"""Drawings in SVG from few kinds of marks; colours are classes, so one drawing serves every theme.

A drawing is 480 units wide: on a narrow phone its letters are still 10 pixels high, and two stand
side by side on a wide screen. Marks carry no style of their own, as the page's policy forbids it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from truerisk.report.scale import Scale, tick_text

__all__ = ["WIDTH", "Drawing", "series"]

WIDTH = 480
N_SERIES = 6
SHAPES = ("dot", "square", "diamond", "up", "down", "dot")


def series(number: int) -> str:
    """The class of the n-th colour."""
    return f"s{number % N_SERIES}"


def _place(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


@dataclass
class Drawing:
    """Marks on a pair of scales; `x` and `y` map values to places."""

    title: str
    about: str
    height: int
    x: Scale
    y: Scale
    marks: list[Markup] = field(default_factory=list)

    def add(self, text: str, *values: object) -> None:
        """A mark; the values are escaped."""
        self.marks.append(Markup(text).format(*values))

    # ------------------------------------------------------------ marks

    def line(
        self, xs: Iterable[float], ys: Iterable[float], look: str, *, step: bool = False
    ) -> None:
        """A line through the points, or steps that change at each point."""
        places = [(self.x(a), self.y(b)) for a, b in zip(xs, ys, strict=True)]
        if not places:
            return
        parts = [f"M{_place(places[0][0])} {_place(places[0][1])}"]
        for a, b in places[1:]:
            parts.append(f"H{_place(a)}V{_place(b)}" if step else f"L{_place(a)} {_place(b)}")
        self.add('<path class="line {}" d="{}"/>', look, "".join(parts))

    def band(
        self, xs: Iterable[float], lows: Iterable[float], highs: Iterable[float], look: str
    ) -> None:
        """The area between two lines."""
        there = [f"{_place(self.x(a))} {_place(self.y(b))}" for a, b in zip(xs, highs, strict=True)]
        back = [f"{_place(self.x(a))} {_place(self.y(b))}" for a, b in zip(xs, lows, strict=True)]
        self.add('<path class="band {}" d="M{}Z"/>', look, "L".join(there + back[::-1]))

    def point(
        self, x: float, y: float, look: str, said: str = "", *, shape: str = "dot", size: float = 4
    ) -> None:
        """A point; what it says is shown where the reader points at it."""
        tip = Markup(' data-tip=""') if said else ""
        title = Markup("<title>{}</title>").format(said) if said else ""
        mark = _shape(shape, self.x(x), self.y(y), size)
        self.add('<path class="point {}"{} d="{}">{}</path>', look, tip, mark, title)

    def bar(self, x0: float, x1: float, y0: float, y1: float, look: str, said: str = "") -> None:
        """A rectangle between two values on each scale."""
        left, right = sorted((self.x(x0), self.x(x1)))
        top, bottom = sorted((self.y(y0), self.y(y1)))
        title = Markup("<title>{}</title>").format(said) if said else ""
        self.add(
            '<rect class="bar {}" x="{}" y="{}" width="{}" height="{}">{}</rect>',
            look,
            _place(left),
            _place(top),
            _place(right - left),
            _place(bottom - top),
            title,
        )

    def box(self, five: Sequence[float], y: float, half: float, look: str, said: str = "") -> None:
        """A lying box plot: whisker, quartile, median, quartile, whisker."""
        low, first, middle, third, high = (self.x(v) for v in five)
        top, centre, bottom = self.y(y) - half, self.y(y), self.y(y) + half
        self.stroke(low, centre, first, centre, f"whisker {look}")
        self.stroke(third, centre, high, centre, f"whisker {look}")
        for end in (low, high):
            self.stroke(end, centre - half / 2, end, centre + half / 2, f"whisker {look}")
        self.add(
            '<rect class="box {}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>',
            look,
            _place(first),
            _place(top),
            _place(max(third - first, 0.5)),
            _place(2 * half),
            said,
        )
        self.stroke(middle, top, middle, bottom, f"median {look}")

    def cell(self, x: float, y: float, w: float, h: float, shade: int, said: str) -> None:
        """A cell of a heat grid, in pixels; shades go from 0 to 8."""
        self.add(
            '<rect class="cell h{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>',
            shade,
            _place(x),
            _place(y),
            _place(w),
            _place(h),
            said,
        )

    def frame(self, x: float, y: float, w: float, h: float) -> None:
        """A frame around a cell, in pixels."""
        mark = '<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>'
        self.add(mark, _place(x), _place(y), _place(w), _place(h))

    def span(self, x0: float, x1: float, y: float, look: str) -> None:
        """An interval with its ends, lying at y."""
        left, right, at = self.x(x0), self.x(x1), self.y(y)
        self.stroke(left, at, right, at, f"span {look}")
        for end in (left, right):
            self.stroke(end, at - 4, end, at + 4, f"span {look}")

    def beam(self, x0: float, x1: float, y: float, look: str, said: str) -> None:
        """A thick line between two places in pixels."""
        self.add(
            '<line class="beam {}" x1="{}" y1="{}" x2="{}" y2="{}"><title>{}</title></line>',
            look,
            _place(x0),
            _place(y),
            _place(x1),
            _place(y),
            said,
        )

    def upright(self, x: float, look: str) -> None:
        """A vertical line over the whole height."""
        self.stroke(self.x(x), self.y.start, self.x(x), self.y.end, look)

    def level(self, y: float, look: str) -> None:
        """A horizontal line over the whole width."""
        self.stroke(self.x.start, self.y(y), self.x.end, self.y(y), look)

    def slope(self, x0: float, y0: float, x1: float, y1: float, look: str) -> None:
        """A straight line between two points."""
        self.stroke(self.x(x0), self.y(y0), self.x(x1), self.y(y1), look)

    def text(self, x: float, y: float, said: str, look: str = "", *, anchor: str = "start") -> None:
        """A text at a place in pixels."""
        self.add(
            '<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>',
            look,
            _place(x),
            _place(y),
            anchor,
            said,
        )

    # ------------------------------------------------------------ axes

    def bottom_axis(
        self, label: str, ticks: Sequence[float] | None = None, names: Sequence[str] | None = None
    ) -> None:
        """Ticks with light lines upwards, and what is measured."""
        base = max(self.y.start, self.y.end)
        shown = self.x.ticks(6) if ticks is None else ticks
        for i, value in enumerate(shown):
            self.stroke(self.x(value), self.y.start, self.x(value), self.y.end, "grid")
            said = tick_text(value) if names is None else names[i]
            self.text(self.x(value), base + 16, said, "tick", anchor="middle")
        self.stroke(self.x.start, base, self.x.end, base, "axis")
        self.text((self.x.start + self.x.end) / 2, base + 34, label, "label", anchor="middle")

    def left_axis(self, label: str, ticks: Sequence[float] | None = None) -> None:
        """Ticks with light lines to the right; what is measured stands above."""
        for value in self.y.ticks(5) if ticks is None else ticks:
            self.stroke(self.x.start, self.y(value), self.x.end, self.y(value), "grid")
            self.text(self.x.start - 7, self.y(value) + 4, tick_text(value), "tick", anchor="end")
        top = min(self.y.start, self.y.end)
        self.text(4, top - 10, label, "label")

    def stroke(self, x0: float, y0: float, x1: float, y1: float, look: str) -> None:
        """A straight line between two places in pixels."""
        self.add(
            '<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>',
            look,
            _place(x0),
            _place(y0),
            _place(x1),
            _place(y1),
        )

    def svg(self, name: str) -> Markup:
        """The drawing as an image with a name and a description; `name` is unique on the page."""
        return Markup(
            '<svg class="drawing" viewBox="0 0 {w} {h}" role="img" '
            'aria-labelledby="{name}-title {name}-about" xmlns="http://www.w3.org/2000/svg">'
            '<title id="{name}-title">{title}</title><desc id="{name}-about">{about}</desc>'
            "{marks}</svg>"
        ).format(
            w=WIDTH,
            h=self.height,
            name=name,
            title=escape(self.title),
            about=escape(self.about),
            marks=Markup("").join(self.marks),
        )


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
