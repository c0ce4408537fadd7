"""SVG drawings from a few kinds of marks, whose colours are CSS classes to fit every theme.

A drawing is 480 units wide: on a narrow phone its letters are still 10 pixels high, and two
drawings fit side by side on a wide screen. Marks have no style of their own, because the security
policy of the page forbids inline styles.
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
    """Linear or logarithmic map of values from `low` to `high` to pixels `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def from_values(
        cls,
        values: Sequence[float],
        start_pixel: float,
        end_pixel: float,
        *,
        log: bool = False,
        margin: float = 0.06,
        floor_at: float | None = None,
        ceiling_at: float | None = None,
    ) -> PixelScale:
        """Build a scale of all values with a margin, between `floor_at` and `ceiling_at`."""
        low, high = min(values), max(values)
        if log:
            padding = margin * (log10(high) - log10(low)) or 0.5
            return cls(
                10 ** (log10(low) - padding),
                10 ** (log10(high) + padding),
                start_pixel,
                end_pixel,
                True,
            )
        padding = margin * (high - low) or 0.1 * max(abs(high), 1e-9)
        low, high = low - padding, high + padding
        if floor_at is not None:
            low = max(low, floor_at)
        if ceiling_at is not None:
            high = min(high, ceiling_at)
        return cls(low, high, start_pixel, end_pixel)

    def __call__(self, value: float) -> float:
        """Return the pixel position of a value."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = log10(low), log10(high), log10(value)
        fraction = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + fraction * (self.end - self.start), 1)

    def ticks(self, n_ticks: int = 5) -> list[float]:
        """Return about `n_ticks` round values inside the scale, at which an axis has ticks."""
        if self.log:
            exponents = range(ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9) + 1)
            tick_step = max(1, ceil(len(exponents) / max(n_ticks, 1)))
            if len(exponents) >= 2:
                return [10.0**exponent for exponent in exponents][::tick_step]
        return round_ticks(self.low, self.high, n_ticks)


def round_ticks(low: float, high: float, n_ticks: int = 5) -> list[float]:
    """Return about `n_ticks` evenly spaced round numbers between low and high.

    The step is 1, 2 or 5 times a power of ten.

    >>> round_ticks(0.02, 0.41)
    [0.1, 0.2, 0.3, 0.4]
    """
    value_range = high - low
    if not value_range > 0:
        return [low]
    rough_step = value_range / max(n_ticks, 1)
    power = 10.0 ** floor(log10(rough_step))
    step = next(
        (power * factor for factor in (1, 2, 5, 10) if power * factor >= rough_step * 0.999),
        10 * power,
    )
    first_multiple, last_multiple = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first_multiple, last_multiple + 1)]


def tick_text(value: float) -> str:
    """Format the value of an axis tick with no more digits than it needs.

    >>> [tick_text(v) for v in (0.1, 1e-05, 20.0, 1e6, 0.0)]
    ['0.1', '1e-5', '20', '1e6', '0']
    """
    number_text = f"{value:.4g}"
    if "e" in number_text:
        mantissa, _, exponent = number_text.partition("e")
        number_text = f"{mantissa}e{int(exponent)}"
    return number_text.replace("-", "−", 1) if number_text.startswith("-") else number_text


DRAWING_WIDTH = 480
N_SERIES = 6
N_SHADES = 8
PATH_COMMANDS = {"line": ("L", ""), "band": ("L", "Z"), "dots": ("h0M", "h0")}
MARKER_SHAPES = ("dot", "square", "diamond", "up", "down", "dot")


def series_css_class(series_number: int) -> str:
    """Return the CSS class that gives the n-th series its colour.

    After the last colour the first colour is used again.
    """
    return f"s{series_number % N_SERIES}"


def series_marker_shape(series_number: int) -> str:
    """Return the marker shape of the n-th series.

    Series of the same colour differ in shape.
    """
    return MARKER_SHAPES[(series_number + series_number // N_SERIES) % len(MARKER_SHAPES)]


def _number_text(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


@frozen
class Mark:
    """Mark in a drawing, such as a line or a point; `label` is its tooltip.

    Its coordinates are values on the scales of the two axes.
    """

    kind: str
    xs: Sequence[float]
    ys: Sequence[float]
    css_class: str
    label: str = ""
    shape: str = "dot"
    size: float = 4


@frozen
class Axis:
    """Axis of a drawing: its label, ticks and tick names.

    If `ticks` is None, the scale determines the ticks.
    """

    label: str
    ticks: Sequence[float] | None
    names: Sequence[str] | None = None


@dataclass
class Drawing:
    """Drawing with marks on a pair of scales; `x` and `y` map values to pixels.

    Marks at values can be drawn by any renderer. Marks at pixel positions are written as SVG
    directly.
    """

    title: str
    description: str
    height: int
    x: PixelScale
    y: PixelScale
    marks: list[Mark | Markup] = field(default_factory=list)
    bottom: Axis | None = None
    left: Axis | None = None
    names: dict[float, str] = field(default_factory=dict)

    # ------------------------------------------------------------ marks at values of both scales

    def line(self, xs: Iterable[float], ys: Iterable[float], css_class: str) -> None:
        """Add a line through the points (xs, ys) in their order."""
        if xs := tuple(xs):
            self.marks.append(Mark("line", xs, tuple(ys), css_class))

    def band(
        self, xs: Iterable[float], lows: Iterable[float], highs: Iterable[float], css_class: str
    ) -> None:
        """Add a filled area between the lines `lows` and `highs` over `xs`."""
        x_values, reversed_lows = tuple(xs), tuple(lows)[::-1]
        self.marks.append(
            Mark("band", x_values + x_values[::-1], (*highs, *reversed_lows), css_class)
        )

    def point(
        self,
        x: float,
        y: float,
        css_class: str,
        tooltip: str = "",
        *,
        shape: str = "dot",
        size: float = 4,
    ) -> None:
        """Add a point with an optional tooltip."""
        self.marks.append(Mark("point", (x,), (y,), css_class, tooltip, shape, size))

    def bar(
        self, x0: float, x1: float, y0: float, y1: float, css_class: str, tooltip: str = ""
    ) -> None:
        """Add a filled rectangle between two values on each scale."""
        self.marks.append(Mark("bar", (x0, x1), (y0, y1), css_class, tooltip))

    def box(
        self,
        five_values: Sequence[float],
        y: float,
        half_height: float,
        css_class: str,
        tooltip: str = "",
    ) -> None:
        """Add a horizontal box plot of five numbers; `half_height` is half its height in pixels."""
        self.marks.append(Mark("box", five_values, (y,) * 5, css_class, tooltip, size=half_height))

    def span(self, x0: float, x1: float, y: float, css_class: str) -> None:
        """Add a horizontal interval at height y, with marks at both ends."""
        self.marks.append(Mark("span", (x0, x1), (y, y), css_class))

    def point_with_interval(
        self,
        value: float,
        interval: Interval | None,
        y: float,
        tooltip: str,
        css_class: str = "s0",
        *,
        shape: str = "dot",
        size: float = 4,
    ) -> None:
        """Add an estimate at height y: a point, and its interval if there is one."""
        if interval is not None:
            self.span(interval.low, interval.high, y, "s0")
        self.point(value, y, css_class, tooltip, shape=shape, size=size)

    def vertical_line(self, x: float, css_class: str) -> None:
        """Add a vertical line at x over the whole height."""
        self.marks.append(Mark("upright", (x, x), (self.y.low, self.y.high), css_class))

    def horizontal_line(self, y: float, css_class: str) -> None:
        """Add a horizontal line at y over the whole width."""
        self.marks.append(Mark("level", (self.x.low, self.x.high), (y, y), css_class))

    def segment(self, x0: float, y0: float, x1: float, y1: float, css_class: str) -> None:
        """Add a straight line between two points."""
        self.marks.append(Mark("slope", (x0, x1), (y0, y1), css_class))

    def note(self, y: float, text: str) -> None:
        """Add a text in the row at height y, in place of a value."""
        self.marks.append(Mark("note", (self.x.low,), (y,), "tick", text))

    def cell(self, column: float, row: float, shade: int, tooltip: str) -> None:
        """Add a cell of width and height 1 to a heat map.

        The shade is a number from 0 to `N_SHADES`.
        """
        self.marks.append(Mark("cell", *_cell_corners(column, row), f"h{shade}", tooltip))

    def frame(self, column: float, row: float) -> None:
        """Add a frame around a cell of a heat map."""
        self.marks.append(Mark("frame", *_cell_corners(column, row), ""))

    def panel_title(self, x: float, y: float, text: str) -> None:
        """Add the title of a panel of the drawing, centred at x in the row at height y."""
        self.marks.append(Mark("inscription", (x,), (y,), "tick", text))

    def cell_text(
        self, column: float, row: float, shade: int, text: str, css_class: str = "tick"
    ) -> None:
        """Add a text in a cell of a heat map, in a colour that is legible on its shade."""
        css_class += " on-dark" if shade > N_SHADES / 2 + 1 else " on-light"
        self.marks.append(Mark("inscription", (column + 0.5,), (row + 0.5,), css_class, text))

    # ------------------------------------------------------------ marks at pixel positions

    def text(
        self, x: float, y: float, text: str, css_class: str = "", *, anchor: str = "start"
    ) -> None:
        """Add a text at a pixel position."""
        template = '<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>'
        self.marks.append(_fill_template(template, css_class, x, y, anchor, text))

    def pixel_line(self, x0: float, y0: float, x1: float, y1: float, css_class: str) -> None:
        """Add a straight line between two pixel positions."""
        self.marks.append(_line_svg(x0, y0, x1, y1, css_class))

    # ------------------------------------------------------------ axes and names

    def bottom_axis(
        self, label: str, ticks: Sequence[float] | None = None, names: Sequence[str] | None = None
    ) -> None:
        """Add the bottom axis: ticks with light vertical lines, and the label."""
        base_y = max(self.y.start, self.y.end)
        tick_values = self.x.ticks(6) if ticks is None else ticks
        self.bottom = Axis(label, ticks, names)
        for index, value in enumerate(tick_values):
            self.pixel_line(self.x(value), self.y.start, self.x(value), self.y.end, "grid")
            text = tick_text(value) if names is None else names[index]
            self.text(self.x(value), base_y + 16, text, "tick", anchor="middle")
        self.pixel_line(self.x.start, base_y, self.x.end, base_y, "axis")
        self.text((self.x.start + self.x.end) / 2, base_y + 34, label, "label", anchor="middle")

    def column_labels(self, names: Mapping[float, str], label: str = "", n_lines: int = 1) -> None:
        """Add the names of columns below the drawing, alternating between lines of text."""
        base_y = max(self.y.start, self.y.end)
        self.bottom = Axis(label, list(names), list(names.values()))
        for index, (x_value, name) in enumerate(names.items()):
            self.text(
                self.x(x_value),
                base_y + 16 + 14 * (index % n_lines),
                name,
                "tick",
                anchor="middle",
            )
        if label:
            self.text((self.x.start + self.x.end) / 2, base_y + 34, label, "label", anchor="middle")

    def left_axis(self, label: str, ticks: Sequence[float] | None = None) -> None:
        """Add the left axis: ticks with light horizontal lines, and the label above it."""
        self.left = Axis(label, ticks)
        for value in self.y.ticks(5) if ticks is None else ticks:
            self.pixel_line(self.x.start, self.y(value), self.x.end, self.y(value), "grid")
            self.text(self.x.start - 7, self.y(value) + 4, tick_text(value), "tick", anchor="end")
        top_y = min(self.y.start, self.y.end)
        self.text(4, top_y - 10, label, "label")

    def row_label(
        self, y: float, name: str, max_letters: int = 16, css_class: str = "name"
    ) -> None:
        """Add the name of the row at y on its left, cut to `max_letters` letters."""
        self.names[y] = name
        text_position = self.x.start - 10, self.y(y) + 4
        self.text(*text_position, shorten(name, max_letters), css_class, anchor="end")

    def svg(self, name: str, slider_point: tuple[float, float] | None = None) -> Markup:
        """Return the drawing as SVG with title and description; `name` is unique on the page.

        `slider_point` is the position of a point that the page's slider moves.
        """
        point = Markup("")
        if slider_point is not None:
            point_position = self.x(slider_point[0]), self.y(slider_point[1])
            point = _fill_template(
                '<circle class="here" r="6.5" cx="{}" cy="{}"/>', *point_position
            )
        return Markup(
            '<svg class="drawing" viewBox="0 0 {w} {h}" role="img" '
            'aria-labelledby="{name}-title {name}-about" xmlns="http://www.w3.org/2000/svg">'
            "{content}{point}</svg>"
        ).format(w=DRAWING_WIDTH, h=self.height, name=name, content=self.content(name), point=point)

    def content(self, name: str) -> Markup:
        """Return the SVG elements of the title, the description and all marks."""
        marks = [
            _mark_svg(mark, self.x, self.y) if isinstance(mark, Mark) else mark
            for mark in self.marks
        ]
        return Markup(
            '<title id="{name}-title">{title}</title><desc id="{name}-about">{about}</desc>{marks}'
        ).format(name=name, title=self.title, about=self.description, marks=Markup("").join(marks))


SHARE_X_SCALE, SHARE_Y_SCALE = (
    PixelScale(-0.01, 1.01, 52, DRAWING_WIDTH - 12),
    PixelScale(-0.01, 1.01, 336, 30),
)
SHARE_TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)


def make_share_drawing(title: str, description: str, left: str, bottom: str) -> Drawing:
    """Return an empty drawing whose axes both go from 0 to 1."""
    drawing = Drawing(title, description, 380, SHARE_X_SCALE, SHARE_Y_SCALE)
    drawing.left_axis(left, SHARE_TICKS)
    drawing.bottom_axis(bottom, SHARE_TICKS)
    return drawing


def make_row_drawing(
    title: str, description: str, x: PixelScale, n_rows: int, row_height: int, top: int
) -> Drawing:
    """Return an empty drawing for n rows of `row_height` pixels each, the first row below `top`."""
    bottom = top + row_height * n_rows
    return Drawing(title, description, bottom + 42, x, PixelScale(0, n_rows, top, bottom))


def _mark_svg(mark: Mark, x: PixelScale, y: PixelScale) -> Markup:
    """Return the SVG elements of a mark, whose values the scales x and y map to pixels."""
    pixels = [(x(x_pixel), y(y_pixel)) for x_pixel, y_pixel in zip(mark.xs, mark.ys, strict=True)]
    (x0, y0), (x1, y1) = pixels[0], pixels[-1]
    match mark.kind:
        case "line" | "band" | "dots":
            separator, path_end = PATH_COMMANDS[mark.kind]
            path = separator.join(
                f"{_number_text(x_pixel)} {_number_text(y_pixel)}" for x_pixel, y_pixel in pixels
            )
            return _fill_template(
                '<path class="{} {}" d="M{}{}"/>', mark.kind, mark.css_class, path, path_end
            )
        case "point":
            tooltip_attribute = Markup(' data-tip=""') if mark.label else ""
            path = _marker_outline(mark.shape, x0, y0, mark.size)
            template = '<path class="point {}"{} d="{}">{}</path>'
            return _fill_template(
                template, mark.css_class, tooltip_attribute, path, _tooltip_svg(mark.label)
            )
        case "bar" | "cell" | "frame":
            inset = 1.5 if mark.kind == "frame" else 0
            width_and_height = abs(x1 - x0) - 2 * inset, abs(y1 - y0) - 2 * inset
            return _rect_svg(
                mark.kind, mark, min(x0, x1) + inset, min(y0, y1) + inset, *width_and_height
            )
        case "box":
            return _box_svg(mark, [x_pixel for x_pixel, _ in pixels], y0)
        case "span":
            css_class = f"span {mark.css_class}"
            end_marks = [
                _line_svg(x_pixel, y0 - 4, x_pixel, y0 + 4, css_class) for x_pixel in (x0, x1)
            ]
            return _line_svg(x0, y0, x1, y0, css_class) + Markup("").join(end_marks)
        case "inscription":
            template = '<text class="{}" x="{}" y="{}" text-anchor="middle">{}</text>'
            return _fill_template(template, mark.css_class, x0, y0 + 4, mark.label)
        case "note":
            template = '<text class="{}" x="{}" y="{}" text-anchor="start">{}</text>'
            return _fill_template(template, mark.css_class, x0 + 6, y0 + 4, shorten(mark.label, 48))
    return _line_svg(x0, y0, x1, y1, mark.css_class)


def _cell_corners(column: float, row: float) -> tuple[tuple[float, float], tuple[float, float]]:
    return (column, column + 1), (row, row + 1)


def _box_svg(mark: Mark, x_pixels: Sequence[float], centre_y: float) -> Markup:
    low, first_quartile, median, third_quartile, high = x_pixels
    half_height, css_class = mark.size, f"whisker {mark.css_class}"
    return Markup("").join(
        [
            _line_svg(low, centre_y, first_quartile, centre_y, css_class),
            _line_svg(third_quartile, centre_y, high, centre_y, css_class),
            *(
                _line_svg(
                    whisker_end,
                    centre_y - half_height / 2,
                    whisker_end,
                    centre_y + half_height / 2,
                    css_class,
                )
                for whisker_end in (low, high)
            ),
            _rect_svg(
                "box",
                mark,
                first_quartile,
                centre_y - half_height,
                max(third_quartile - first_quartile, 0.5),
                2 * half_height,
            ),
            _line_svg(
                median,
                centre_y - half_height,
                median,
                centre_y + half_height,
                f"median {mark.css_class}",
            ),
        ]
    )


def _rect_svg(
    mark_kind: str, mark: Mark, left: float, top: float, width: float, height: float
) -> Markup:
    template = '<rect class="{}" x="{}" y="{}" width="{}" height="{}">{}</rect>'
    css_class = f"{mark_kind} {mark.css_class}".rstrip()
    return _fill_template(template, css_class, left, top, width, height, _tooltip_svg(mark.label))


def _line_svg(x0: float, y0: float, x1: float, y1: float, css_class: str) -> Markup:
    return _fill_template(
        '<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>', css_class, x0, y0, x1, y1
    )


def _tooltip_svg(text: str) -> Markup:
    """Return the SVG element of a tooltip, or nothing for an empty text."""
    return Markup("<title>{}</title>").format(text) if text else Markup("")


def _fill_template(template: str, *values: object) -> Markup:
    """Fill an SVG template with numbers of at most one decimal and escaped texts."""
    formatted_values = (
        _number_text(value) if isinstance(value, int | float) else value for value in values
    )
    return Markup(template).format(*formatted_values)


def shorten(text: str, max_letters: int) -> str:
    """Shorten a text to `max_letters` letters, by an ellipsis in the place of the middle.

    Names often begin alike and differ in their last letters.

    >>> shorten("RandomForestClassifier 17", 16)
    'RandomFore…er 17'
    """
    n_last = (max_letters - 1) // 3
    first_letters = text[: max_letters - 1 - n_last]
    return text if len(text) <= max_letters else f"{first_letters}…{text[len(text) - n_last :]}"


def _marker_outline(shape: str, x: float, y: float, radius: float) -> str:
    """Return the SVG path of a point's outline; `radius` is its radius in pixels."""
    if shape == "dot":
        radii, diameter = f"{_number_text(radius)} {_number_text(radius)}", _number_text(2 * radius)
        return (
            f"M{_number_text(x - radius)} {_number_text(y)}a{radii} 0 1 0 {diameter} 0a{radii} 0 1 "
            "0 "
            f"-{diameter} 0Z"
        )
    corners = {
        "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
        "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
        "up": ((0, -1.2), (1.15, 0.9), (-1.15, 0.9)),
        "down": ((0, 1.2), (1.15, -0.9), (-1.15, -0.9)),
    }[shape]
    return (
        "M"
        + "L".join(
            f"{_number_text(x + radius * dx)} {_number_text(y + radius * dy)}" for dx, dy in corners
        )
        + "Z"
    )
