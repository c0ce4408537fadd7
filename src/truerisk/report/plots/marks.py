"""Draw the figures of a page on matplotlib axes: marks, scales and legends."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData, MissingExtra
from truerisk.report.figure import LegendKey
from truerisk.report.svg import Drawing, Mark, tick_text

WIDE_FIGURE_SIZE = (6.4, 4.0)  # Width and height of a figure in inches.
SQUARE_FIGURE_SIZE = (4.8, 4.8)
UNITS_PER_INCH = 75  # Number of drawing units per inch.
MARKERS_BY_SHAPE = {"dot": "o", "square": "s", "diamond": "D", "up": "^", "down": "v"}
GREY_LEVELS = {
    "baseline": "0.55",
    "way": "0.6",
    "muted": "0.45",
    "tick": "0.4",
    "other": "0.8",
    "ring": "0.2",
    "ink": "0.1",
}
MAX_UNROTATED_LETTERS = 64  # Tick labels are rotated if they have more letters than this in total.
SHADE_OPACITIES = {
    f"h{i}": s for i, s in enumerate((0.05, 0.14, 0.24, 0.34, 0.44, 0.55, 0.8, 0.9, 1.0))
}
LINE_STYLES = {"baseline": ":", "way": ":", "honest": "--", "beyond": "--", "s1": "--", "s2": "-."}
LINE_STYLES |= {"solid": "-", "dotted": ":", "mixed": "-."}
LINE_WIDTHS = {"faint": 0.4, "thin": 0.9, "whisker": 0.9, "bold": 2.4}


def draw_on_axes(
    drawing: Drawing,
    keys: Iterable[LegendKey],
    ax: Any = None,
    twin_axes: Any = None,
    *,
    keys_below: bool = False,
) -> Any:
    """Draw a drawing's marks and a legend with the entries `keys` on axes, and return the axes.

    The first series gets the next colour of the axes, so that figures can be overlaid. `twin_axes`
    share the x axis with these axes; their legend is merged with this one.
    """
    ax = get_or_create_axes(ax, (6.4, 0.6 + drawing.height / UNITS_PER_INCH))
    previous_limits = (*ax.get_xlim(), *ax.get_ylim()) if ax.has_data() else None
    marks = [mark for mark in drawing.marks if isinstance(mark, Mark)]
    colours = _series_colours(ax, [mark.css_class for mark in marks])
    points_by_style: dict[tuple[str, str, float], list[Mark]] = {}
    for mark in marks:
        if mark.kind == "point":
            points_by_style.setdefault((mark.css_class, mark.shape, mark.size), []).append(mark)
        else:
            _draw_mark(ax, mark, _make_style(mark.css_class, colours))
    for (css_class, marker, marker_size), group_marks in points_by_style.items():
        xs, ys = (
            [point_mark.xs[0] for point_mark in group_marks],
            [point_mark.ys[0] for point_mark in group_marks],
        )
        style = {
            **_make_style(css_class, colours),
            "linestyle": "",
            "markersize": 1.3 * marker_size,
        }
        ax.plot(xs, ys, marker=MARKERS_BY_SHAPE[marker], zorder=3, clip_on=False, **style)
    _set_axes(ax, drawing)
    if previous_limits is not None and not ax.yaxis_inverted():
        (x_low, x_high), (y_low, y_high) = ax.get_xlim(), ax.get_ylim()
        ax.set_xlim(min(previous_limits[0], x_low), max(previous_limits[1], x_high))
        ax.set_ylim(min(previous_limits[2], y_low), max(previous_limits[3], y_high))
    mark_kinds = {mark.kind for mark in marks}
    is_row_or_bar_plot = ax.yaxis_inverted() or ("bar" in mark_kinds and "line" not in mark_kinds)
    _add_legend_entries(
        ax,
        keys,
        colours,
        ax if twin_axes is None else twin_axes,
        is_row_or_bar_plot,
        keys_below or is_row_or_bar_plot,
    )
    legend = ax.get_legend()
    texts = [ax.xaxis.label, ax.yaxis.label, *ax.texts, *(legend.get_texts() if legend else ())]
    for text in [*texts, *(ax.get_yticklabels() if drawing.names else ())]:
        # Without this, matplotlib would read a dollar sign in a name as the start of a formula.
        text.set_parse_math(False)
    return ax


def _series_colours(ax: Any, css_classes: Iterable[str]) -> dict[str, str]:
    """Return the colour of each CSS class.

    The class of a series gets the next colour of the axes. Other classes have fixed colours.
    """
    colours = dict(GREY_LEVELS)
    for series_class in sorted(
        {match[0] for css_class in css_classes if (match := re.search(r"\bs\d", css_class))}
    ):
        (empty_line,) = ax.plot([], [])
        colours[series_class] = empty_line.get_color()
        empty_line.remove()
    return {**colours, "honest": "C1", **dict.fromkeys(SHADE_OPACITIES, "C0")}


def _make_style(css_class: str, colours: dict[str, str]) -> dict[str, Any]:
    """Return the matplotlib options for the CSS classes of a mark."""
    class_names = css_class.split()
    colour = next((colours[name] for name in reversed(class_names) if name in colours), "0.85")
    style: dict[str, Any] = {"color": colour}
    style["linewidth"] = next(
        (LINE_WIDTHS[name] for name in class_names if name in LINE_WIDTHS), 1.3
    )
    style["linestyle"] = next(
        (LINE_STYLES[name] for name in class_names if name in LINE_STYLES), "-"
    )
    if {"hollow", "ring"} & {*class_names}:
        style["fillstyle"] = "none"
    return style


def _draw_mark(ax: Any, mark: Mark, style: dict[str, Any]) -> None:
    """Draw a mark of any kind except points on the axes."""
    (x0, x1), (y0, y1) = (mark.xs[0], mark.xs[-1]), (mark.ys[0], mark.ys[-1])
    match mark.kind:
        case "band":
            ax.fill(mark.xs, mark.ys, color=style["color"], alpha=0.18, linewidth=0)
        case "bar" | "cell":
            mark_options = {
                "left": x0,
                "height": y1 - y0,
                "align": "edge",
                "alpha": SHADE_OPACITIES.get(mark.css_class),
            }
            ax.barh(y0, x1 - x0, color=style["color"], edgecolor="white", **mark_options)
        case "frame":
            mark_options = {
                "left": x0,
                "height": y1 - y0,
                "align": "edge",
                "linewidth": 2,
                "zorder": 3,
            }
            ax.barh(y0, x1 - x0, fill=False, edgecolor="C1", **mark_options)
        case "inscription":
            text_colour = "white" if "on-dark" in mark.css_class else "black"
            mark_options = {"ha": "center", "va": "center", "fontsize": "small"}
            mark_options["fontweight"] = "bold" if "bold" in mark.css_class else "normal"
            mark_options["fontstyle"] = "italic" if "italic" in mark.css_class else "normal"
            ax.text(x0, y0, mark.label, color=text_colour, **mark_options)
        case "box":
            low, first_quartile, median, third_quartile, high = mark.xs
            ax.plot([low, first_quartile], [y0, y0], marker="|", **style)
            ax.plot([third_quartile, high], [y0, y0], marker="|", **style)
            ax.barh(
                y0,
                third_quartile - first_quartile,
                left=first_quartile,
                height=0.5,
                color=style["color"],
                alpha=0.25,
            )
            ax.plot([median, median], [y0 - 0.25, y0 + 0.25], **style)
        case "dots":
            ax.plot(mark.xs, mark.ys, ".", color=style["color"], markersize=2, alpha=0.6)
        case "span":
            ax.plot(mark.xs, mark.ys, marker="|", **style)
        case "upright":
            ax.axvline(x0, **style)
        case "level":
            ax.axhline(y0, **style)
        case "note":
            mark_options = {"transform": ax.get_yaxis_transform(), "va": "center"}
            ax.text(0.01, y0, mark.label, color=style["color"], fontsize="small", **mark_options)
        case _:
            ax.plot(mark.xs, mark.ys, **style)


def _set_axes(ax: Any, drawing: Drawing) -> None:
    """Set the limits, ticks and labels of both axes as in the drawing."""
    x, y = drawing.x, drawing.y
    ax.set(xscale="log" if x.log else "linear", xlim=(x.low, x.high))
    ax.set_yscale("log" if y.log else "linear")
    ax.set_ylim(*((y.low, y.high) if y.start > y.end else (y.high, y.low)))
    for matplotlib_axis, drawing_axis in ((ax.xaxis, drawing.bottom), (ax.yaxis, drawing.left)):
        if drawing_axis is not None:
            matplotlib_axis.set_label_text(drawing_axis.label)
            if drawing_axis.ticks is not None:
                tick_labels = drawing_axis.names or [tick_text(tick) for tick in drawing_axis.ticks]
                rotation_options = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
                has_long_labels = sum(map(len, tick_labels)) > MAX_UNROTATED_LETTERS
                matplotlib_axis.set_ticks(
                    drawing_axis.ticks, tick_labels, **(rotation_options if has_long_labels else {})
                )
                ax.minorticks_off()
    if drawing.names:
        ax.set_yticks(list(drawing.names), list(drawing.names.values()))


def _add_legend_entries(
    ax: Any,
    keys: Iterable[LegendKey],
    colours: dict[str, str],
    twin_axes: Any,
    is_row_or_bar_plot: bool,
    is_legend_below: bool,
) -> None:
    """Add the entries `keys` to the legend.

    Entries of points have no line if `is_row_or_bar_plot` is True.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
    from matplotlib.transforms import ScaledTranslation

    for key in keys:
        style = _make_style(key.css_class, colours)
        if key.kind in ("band", "box", "cell"):
            alpha = SHADE_OPACITIES.get(key.css_class, 1.0) if key.kind == "cell" else 0.25
            ax.add_patch(Rectangle((0, 0), 0, 0, color=style["color"], alpha=alpha, label=key.text))
        else:
            marker = "" if key.kind == "line" else MARKERS_BY_SHAPE.get(key.kind, "o")
            is_marker_only = key.kind in ("point", "ring") or "bare" in key.css_class
            is_marker_only |= is_row_or_bar_plot and key.kind in MARKERS_BY_SHAPE
            line_style = "" if is_marker_only else style["linestyle"]
            style |= {"linestyle": line_style, "marker": marker, "markersize": 5, "label": key.text}
            ax.add_line(Line2D([], [], **style))
    if twin_axes.get_legend() is not None:
        twin_axes.get_legend().remove()
    handles = {
        label: handle
        for legend_axes in dict.fromkeys((twin_axes, ax))
        for handle, label in zip(*legend_axes.get_legend_handles_labels(), strict=True)
    }
    if handles:
        # A title may be above the axes, so the legend is placed below the axis label.
        # This works at any figure size.
        label_offset = ScaledTranslation(0, -36 / 72, ax.get_figure().dpi_scale_trans)
        below_options = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "ncols": 2}
        below_options["bbox_transform"] = ax.transAxes + label_offset
        legend_options = below_options if is_legend_below else {}
        ax.legend(
            list(handles.values()), list(handles), frameon=False, fontsize="small", **legend_options
        )


def get_or_create_axes(ax: Any, figure_size: tuple[float, float] = WIDE_FIGURE_SIZE) -> Any:
    """Return `ax`, or the axes of a new figure of this size if `ax` is None."""
    if ax is not None and not hasattr(ax, "get_figure"):
        raise BadArgument(f"{mention('ax', ax)}: give axes of matplotlib, or leave it out.")
    return (
        import_pyplot().subplots(figsize=figure_size, layout="constrained")[1] if ax is None else ax
    )


def get_or_create_panel_axes(ax: Any, n_panels: int) -> list[Any]:
    """Return one matplotlib axes object for each panel.

    If `ax` is None, they belong to a new figure with three panels in a row.
    """
    if ax is None:
        n_columns = min(n_panels, 3)
        n_rows, subplot_options = (
            -(-n_panels // n_columns),
            {"layout": "constrained", "squeeze": False},
        )
        figure_size = (3.2 * n_columns + 3.2, 4.0 * n_rows)
        new_axes = (
            import_pyplot()
            .subplots(n_rows, n_columns, figsize=figure_size, **subplot_options)[1]
            .ravel()
        )
        for unused_axes in new_axes[n_panels:]:
            unused_axes.remove()
        return list(new_axes[:n_panels])
    given_axes = list(np.ravel(ax))
    if len(given_axes) != n_panels:
        raise BadData(f"there are {len(given_axes)} axes for {n_panels} panels.")
    return given_axes


def import_pyplot() -> Any:
    """Import and return matplotlib.pyplot; raise MissingExtra if matplotlib is not installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("a plot needs matplotlib: pip install 'truerisk[plot]'.") from None
    return plt
