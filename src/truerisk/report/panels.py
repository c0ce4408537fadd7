"""Figures of an experiment's panels: lines, point counts, boxes, bars and heat maps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from truerisk.core.formats import format_number
from truerisk.core.frozen import frozen
from truerisk.core.tables import five_numbers
from truerisk.report.figure import Figure, FigureTable, LegendKey
from truerisk.report.svg import (
    DRAWING_WIDTH,
    N_SERIES,
    N_SHADES,
    Drawing,
    Mark,
    PixelScale,
    make_row_drawing,
    series_css_class,
)

if TYPE_CHECKING:  # At run time, the experiments are not imported to draw pages of other results.
    from truerisk.experiments.figures import Panel, Report, Series

N_CELLS_PER_AXIS = 40  # Number of bins along each axis of a plot that counts points in bins.
BAND_STD_ERRORS = 2.0  # Number of standard errors on each side of a band.
LEFT_EDGE, RIGHT_EDGE, TOP_EDGE, BOTTOM_EDGE = 52, DRAWING_WIDTH - 12, 30, 300
NAME_MARGIN = 150  # Left margin of a panel whose rows have names.
ROW_HEIGHT = 30
STYLE_PATTERN = re.compile(r"(C\d|[bgrcmk])?([o.s^v])?(--|-\.|-|:)?")
CSS_CLASS_BY_COLOUR = {"b": "s0", "r": "s1", "g": "s2", "m": "s3", "c": "s4", "k": "ink"}
SHAPE_BY_MARKER = {"o": "dot", ".": "dot", "s": "square", "^": "up", "v": "down"}
CSS_CLASS_BY_DASH = {"--": "beyond", "-.": "mixed", ":": "dotted", "-": "solid"}
BANDS_CAPTION = f"Bands and whiskers: {BAND_STD_ERRORS:g} standard errors to either side."


@frozen(eq=False)
class LineSeries:
    """A line or a set of points in a figure; it has the same fields as an experiment's `Series`."""

    label: str
    x: np.ndarray
    y: np.ndarray
    style: str = "-"
    width: float = 1.2
    error: np.ndarray | None = None
    size: float | None = None


@frozen(eq=False)
class LinesPanel:
    """Several lines on one pair of axes; it has the same fields as an experiment's `Panel`."""

    title: str
    x_label: str
    y_label: str
    series: tuple[LineSeries, ...]
    kind: str = "lines"
    names: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    steps: tuple[str, ...] = ()
    log: bool = False
    marked: tuple[str, ...] = ()
    marks_text: str = ""


def is_experiment_report(result: Any) -> bool:
    """Return True for the report of an experiment, which has panels."""
    return str(getattr(result, "schema", "")).startswith("truerisk.reproduction/")


def draw_panels(report: Report) -> tuple[Figure, ...]:
    """Draw a figure for each panel of an experiment's report, in the order of the report."""
    return tuple(
        _draw_panel(
            panel,
            f"{figure.name}-{panel_number}" if len(figure.panels) > 1 else figure.name,
            report.title,
        )
        for figure in report.figures
        for panel_number, panel in enumerate(figure.panels, 1)
    )


def draw_line_series(
    title: str,
    labels: tuple[str, str],
    *series: LineSeries,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Draw lines as a figure; `labels` are the labels of the x axis and the y axis."""
    panel = LinesPanel(title, *labels, series, limits=limits)
    return _draw_panel(cast("Panel", panel), labels[1], title)


def _draw_panel(panel: Panel, name: str, title: str) -> Figure:
    drawing, keys = DRAWING_FUNCTIONS[panel.kind](panel)
    labelled_series = [data_series for data_series in panel.series if data_series.label] or list(
        panel.series
    )
    has_errors = any(data_series.error is not None for data_series in panel.series)
    drawing.title = panel.title or title
    axes_text = " over ".join(filter(None, (panel.y_label, panel.x_label)))
    drawing.description = (
        f"{axes_text}: {', '.join(data_series.label for data_series in labelled_series)}"
        if labelled_series[0].label
        else axes_text
    )
    rows = [row for data_series in labelled_series for row in _point_rows(panel, data_series)]
    header = ("", panel.x_label or "rank", panel.y_label, "± standard error")
    table = FigureTable.from_rows(header, rows)
    caption = BANDS_CAPTION if has_errors else panel.marks_text or axes_text
    return Figure(name, drawing.title, drawing, caption, table, keys, steps=panel.steps)


def _point_rows(panel: Panel, data_series: Series) -> Iterator[tuple[str, str, str, str]]:
    """Yield a table row for each point of a series, or one row for the numbers of a box plot."""
    x, y = data_series.x, data_series.y
    if panel.kind == "boxes":
        y = np.array(five_numbers(data_series.y.tolist()))
        x = np.arange(1.0, 6.0)
    first_position = 0 if panel.kind == "shades" else 1
    for index, (x_value, y_value) in enumerate(zip(x, y, strict=True)):
        x_text = panel.names[round(x_value) - first_position] if panel.names else f"{x_value:.4g}"
        yield (
            data_series.label,
            x_text,
            f"{y_value:.4g}",
            "" if data_series.error is None else f"{data_series.error[index]:.2g}",
        )


def _parse_styles(all_series: Sequence[Series]) -> list[tuple[Series, str, str, str]]:
    """Parse the styles of data series; return each series with colour, marker and line classes."""
    styles, n_default_colours = [], 0
    for data_series in all_series:
        match = STYLE_PATTERN.fullmatch(data_series.style)
        assert match is not None, data_series.style
        colour, marker, dash_code = match.groups()
        # A series without a colour gets the next colour of the cycle.
        # When the colours repeat, the line is dashed.
        if colour is None:
            css_class, n_default_colours = (
                series_css_class(n_default_colours),
                n_default_colours + 1,
            )
            dash_code = "--" if n_default_colours > N_SERIES and dash_code == "-" else dash_code
        else:
            css_class = CSS_CLASS_BY_COLOUR.get(colour) or series_css_class(int(colour[1:]))
        weight_class = (
            "faint " if data_series.width < 0.5 else "bold " if data_series.width > 2 else ""
        )
        line_class = (
            "" if dash_code is None else f"{CSS_CLASS_BY_DASH[dash_code]} {weight_class}{css_class}"
        )
        styles.append((data_series, css_class, SHAPE_BY_MARKER.get(marker, ""), line_class))
    return styles


def _make_scale(values: np.ndarray, start_pixel: int, end_pixel: int, **options: Any) -> PixelScale:
    finite_values = values[np.isfinite(values)]
    return PixelScale.from_values(
        [float(finite_values.min()), float(finite_values.max())], start_pixel, end_pixel, **options
    )


def _draw_panel_axes(panel: Panel, y: PixelScale, x: PixelScale) -> Drawing:
    drawing = Drawing("", "", BOTTOM_EDGE + 42, x, y)
    drawing.left_axis(panel.y_label)
    if panel.names:
        drawing.column_labels(dict(enumerate(panel.names, 1)), panel.x_label)
    else:
        drawing.bottom_axis(panel.x_label)
    return drawing


def _error_band_ends(data_series: Series) -> tuple[np.ndarray, np.ndarray]:
    half_width = (
        0.0
        if data_series.error is None
        else BAND_STD_ERRORS * np.nan_to_num(data_series.error, posinf=0.0)
    )
    return data_series.y - half_width, data_series.y + half_width


def _draw_lines_panel(panel: Panel) -> tuple[Drawing, tuple[LegendKey, ...]]:
    band_ends = np.concatenate(
        [band_end for data_series in panel.series for band_end in _error_band_ends(data_series)]
    )
    band_ends = band_ends[band_ends > 0] if panel.log else band_ends
    y = _make_scale(band_ends, BOTTOM_EDGE, TOP_EDGE, log=panel.log)
    if panel.limits is not None:
        y = PixelScale(*panel.limits, BOTTOM_EDGE, TOP_EDGE)
    # The x axis shows the names of all categories, even of categories without a point.
    name_positions = np.arange(1, len(panel.names) + 1)
    all_x = np.concatenate([name_positions, *(data_series.x for data_series in panel.series)])
    drawing = _draw_panel_axes(panel, y, _make_scale(all_x, LEFT_EDGE, RIGHT_EDGE, margin=0.02))
    legend = []
    for data_series, css_class, marker, line_class in _parse_styles(panel.series):
        if data_series.error is not None:
            low, high = (
                np.clip(band_end, y.low, y.high).tolist()
                for band_end in _error_band_ends(data_series)
            )
            drawing.band(data_series.x.tolist(), low, high, css_class)
        for xs, ys in _clip_line(data_series.x, data_series.y, y.low, y.high) if line_class else ():
            drawing.line(xs.tolist(), ys.tolist(), line_class)
        if marker and len(data_series.x) > MAX_FULL_SIZE_MARKERS:
            drawing.marks.append(
                Mark("dots", data_series.x.tolist(), data_series.y.tolist(), css_class)
            )
        for x_value, y_value in (
            zip(data_series.x, data_series.y, strict=True)
            if marker and len(data_series.x) <= MAX_FULL_SIZE_MARKERS
            else ()
        ):
            drawing.point(
                float(x_value), float(y_value), css_class, shape=marker, size=data_series.size or 4
            )
        if data_series.label:
            legend.append(
                LegendKey(line_class or f"bare {css_class}", data_series.label, marker or "line")
            )
    return drawing, tuple(legend)


MAX_FULL_SIZE_MARKERS = 200  # A series with more points is drawn with small dots.


def _clip_line(
    x: np.ndarray, y: np.ndarray, low: float, high: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the pieces of a line that lie between the heights `low` and `high`.

    The line is cut where it crosses one of these heights.
    """
    for cut_height in (low, high):
        crossings = np.flatnonzero((y[1:] - cut_height) * (y[:-1] - cut_height) < 0)
        crossing_fractions = (cut_height - y[crossings]) / (y[crossings + 1] - y[crossings])
        x = np.insert(
            x.astype(float),
            crossings + 1,
            x[crossings] + crossing_fractions * (x[crossings + 1] - x[crossings]),
        )
        y = np.insert(y.astype(float), crossings + 1, cut_height)
    is_inside = (y >= low) & (y <= high)
    cut_positions = np.flatnonzero(np.diff(is_inside)) + 1
    line_pieces = zip(
        *(np.split(values, cut_positions) for values in (x, y, is_inside)), strict=True
    )
    return (
        (piece_x, piece_y)
        for piece_x, piece_y, is_piece_inside in line_pieces
        if is_piece_inside[:1].any()
    )


def _draw_counts_panel(panel: Panel) -> tuple[Drawing, tuple[LegendKey, ...]]:
    (data_series,) = panel.series
    counts, x_edges, y_edges = np.histogram2d(data_series.x, data_series.y, N_CELLS_PER_AXIS)
    drawing = _draw_panel_axes(
        panel,
        _make_scale(y_edges, BOTTOM_EDGE, TOP_EDGE),
        _make_scale(x_edges, LEFT_EDGE, RIGHT_EDGE),
    )
    shades = np.maximum(np.ceil(N_SHADES * counts / counts.max()), FAINTEST_SHADE).astype(int)
    for i, j in np.argwhere(counts):
        cell_edges = x_edges[i : i + 2].tolist(), y_edges[j : j + 2].tolist()
        drawing.marks.append(Mark("cell", *cell_edges, f"h{shades[i, j]}", f"{counts[i, j]:g}"))
    drawing.vertical_line(float(data_series.x.mean()), "honest")
    drawing.horizontal_line(float(data_series.y.mean()), "honest")
    largest_count_key = LegendKey(f"h{N_SHADES}", f"{counts.max():g} points", "cell")
    faintest_shade_count = max(1, int(FAINTEST_SHADE * counts.max() / N_SHADES))
    return drawing, (
        LegendKey(f"h{FAINTEST_SHADE}", f"up to {faintest_shade_count}", "cell"),
        largest_count_key,
        MEANS_KEY,
    )


# Faintest shade of a cell with points. It makes a single point visible, even on a dark page.
FAINTEST_SHADE = 2
MEANS_KEY = LegendKey("honest", "means", "line")


def _draw_boxes_panel(panel: Panel) -> tuple[Drawing, tuple[LegendKey, ...]]:
    all_values = np.concatenate([data_series.y for data_series in panel.series])
    drawing = make_row_drawing(
        "", "", _make_scale(all_values, NAME_MARGIN, RIGHT_EDGE), len(panel.series), ROW_HEIGHT, 14
    )
    drawing.bottom_axis(panel.y_label)
    if all_values.min() < 0:
        drawing.vertical_line(0.0, "baseline")
    for i, data_series in enumerate(panel.series):
        five_values = five_numbers(data_series.y.tolist())
        drawing.row_label(i + 0.5, data_series.label, 24)
        drawing.box(
            five_values,
            i + 0.5,
            8,
            "s0",
            f"{data_series.label}: median {format_number(five_values[2])}",
        )
        for outlier in sorted(
            {
                value
                for value in data_series.y.tolist()
                if not five_values[0] <= value <= five_values[4]
            }
        ):
            drawing.point(outlier, i + 0.5, "hollow s0", size=2)
        drawing.point(
            float(data_series.y.mean()),
            i + 0.5,
            "s1",
            f"mean {format_number(float(data_series.y.mean()))}",
        )
    legend = (
        LegendKey("s0", "quartiles, median, whiskers", "box"),
        LegendKey("hollow s0", "beyond them"),
    )
    return drawing, (*legend, LegendKey("s1", "mean"))


def _draw_bars_panel(panel: Panel) -> tuple[Drawing, tuple[LegendKey, ...]]:
    """Draw series of bars side by side, and other series as points at their own positions."""
    styles = _parse_styles(panel.series)
    bar_series = [
        (data_series, css_class) for data_series, css_class, marker, _ in styles if not marker
    ]
    bar_positions = bar_series[0][0].x
    spacing = float(np.ptp(bar_positions)) / max(len(bar_positions) - 1, 1)
    low, high = panel.limits or (
        0.0,
        1.05 * max(float(_error_band_ends(data_series)[1].max()) for data_series, _ in bar_series),
    )
    x = PixelScale(
        float(bar_positions.min()) - 0.6 * spacing,
        float(bar_positions.max()) + 0.6 * spacing,
        LEFT_EDGE,
        RIGHT_EDGE,
    )
    y_limit = max(
        [high, *(float(data_series.y.max()) + 2 for data_series, _, marker, _ in styles if marker)]
    )
    drawing = _draw_panel_axes(panel, PixelScale(low, y_limit, BOTTOM_EDGE, TOP_EDGE), x)
    bar_width = 0.8 * spacing / len(bar_series)
    legend = []
    for series_index, (data_series, css_class) in enumerate(bar_series):
        bar_centers = data_series.x + (series_index - (len(bar_series) - 1) / 2) * bar_width
        for index, (x_value, y_value) in enumerate(
            zip(bar_centers.tolist(), data_series.y.tolist(), strict=True)
        ):
            drawing.bar(
                x_value - bar_width / 2,
                x_value + bar_width / 2,
                low,
                y_value,
                css_class,
                f"{data_series.label} {format_number(y_value)}",
            )
            if data_series.error is not None:
                error_ends = (
                    float(np.clip(error_end[index], low, high))
                    for error_end in _error_band_ends(data_series)
                )
                drawing.segment(x_value, next(error_ends), x_value, next(error_ends), "whisker ink")
        legend += [LegendKey(css_class, data_series.label, "cell")] if data_series.label else []
    for data_series, css_class, marker, _ in styles:
        for x_value, y_value in (
            zip(data_series.x.tolist(), data_series.y.tolist(), strict=True) if marker else ()
        ):
            drawing.point(x_value, y_value, css_class, shape=marker)
        legend += [LegendKey(f"bare {css_class}", data_series.label, marker)] if marker else []
    return drawing, tuple(legend)


def _draw_heat_map_panel(panel: Panel) -> tuple[Drawing, tuple[LegendKey, ...]]:
    """Draw a heat map with a row for each series and a column for each name.

    The minimum of each column has a frame.

    The darkest cells exceed the minimum of their column by the share `EXCESS_OF_DARKEST_SHADE`, or
    by more.
    """
    n_columns = len(panel.names)
    x = PixelScale(0, n_columns, NAME_MARGIN, RIGHT_EDGE)
    drawing = make_row_drawing("", "", x, len(panel.series), ROW_HEIGHT, 14)
    drawing.column_labels({j + 0.5: name for j, name in enumerate(panel.names)}, panel.x_label)
    values = np.array([data_series.y for data_series in panel.series])
    column_minima = np.nanmin(values, axis=0)
    excesses = np.nan_to_num((values / column_minima - 1) / EXCESS_OF_DARKEST_SHADE).clip(0, 1)
    for i, data_series in enumerate(panel.series):
        drawing.row_label(i + 0.5, data_series.label, 24)
        for j, value in enumerate(data_series.y.tolist()):
            shade, cell_text = round(N_SHADES * excesses[i, j]), format_number(value, 3)
            is_column_minimum = cell_text == format_number(column_minima[j], 3)
            mark = panel.marked[i][j] if panel.marked else ""
            css_class = f"tick {CSS_CLASS_BY_CELL_MARK.get(mark, '')}".rstrip()
            drawing.cell(j, i, shade, f"{data_series.label}, {panel.names[j]}: {cell_text}")
            drawing.cell_text(j, i, shade, cell_text, css_class)
            if is_column_minimum:
                drawing.frame(j, i)
    return drawing, SHADE_KEYS


CSS_CLASS_BY_CELL_MARK = {"+": "bold", "−": "italic"}

EXCESS_OF_DARKEST_SHADE = 0.5
SHADE_KEYS = (
    LegendKey("frame", "the least of its column", "cell"),
    LegendKey("h8", "larger by half of it, or more", "cell"),
)
DRAWING_FUNCTIONS: dict[str, Callable[[Panel], tuple[Drawing, tuple[LegendKey, ...]]]] = {
    "lines": _draw_lines_panel,
    "counts": _draw_counts_panel,
    "boxes": _draw_boxes_panel,
    "bars": _draw_bars_panel,
    "shades": _draw_heat_map_panel,
}
