"""Drawings of the page on matplotlib axes: marks, scales and legends."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData, MissingExtra
from truerisk.report.figure import Key
from truerisk.report.svg import Drawing, Mark, tick_text

WIDE = (6.4, 4.0)  # inches
SQUARE = (4.8, 4.8)
UNITS = 75  # number of drawing units per inch
SHAPES = {"dot": "o", "square": "s", "diamond": "D", "up": "^", "down": "v"}
GREYS = {
    "baseline": "0.55",
    "way": "0.6",
    "muted": "0.45",
    "tick": "0.4",
    "other": "0.8",
    "ring": "0.2",
    "ink": "0.1",
}
MOST_LETTERS = 64  # maximum number of letters of names in a line below the axis
SHADES = {f"h{i}": s for i, s in enumerate((0.05, 0.14, 0.24, 0.34, 0.44, 0.55, 0.8, 0.9, 1.0))}
DASHES = {"baseline": ":", "way": ":", "honest": "--", "beyond": "--", "s1": "--", "s2": "-."}
DASHES |= {"solid": "-", "dotted": ":", "mixed": "-."}
WIDTHS = {"faint": 0.4, "thin": 0.9, "whisker": 0.9, "bold": 2.4}


def on_axes(
    drawing: Drawing,
    keys: Iterable[Key],
    ax: Any = None,
    beside: Any = None,
    *,
    keys_below: bool = False,
) -> Any:
    """Draw the marks with a legend of these keys, and return the axes.

    The first series gets the next colour of the axes, so that figures can be overlaid. The legend
    of axes `beside` these is moved here.
    """
    ax = axes_of(ax, (6.4, 0.6 + drawing.height / UNITS))
    before = (*ax.get_xlim(), *ax.get_ylim()) if ax.has_data() else None
    marks = [mark for mark in drawing.marks if isinstance(mark, Mark)]
    colours = _colours(ax, [mark.look for mark in marks])
    points: dict[tuple[str, str, float], list[Mark]] = {}
    for mark in marks:
        if mark.kind == "point":
            points.setdefault((mark.look, mark.shape, mark.size), []).append(mark)
        else:
            _draw(ax, mark, _style(mark.look, colours))
    for (look, shape, size), some in points.items():
        xs, ys = [m.xs[0] for m in some], [m.ys[0] for m in some]
        style = {**_style(look, colours), "linestyle": "", "markersize": 1.3 * size}
        ax.plot(xs, ys, marker=SHAPES[shape], zorder=3, clip_on=False, **style)
    _name_axes(ax, drawing)
    if before is not None and not ax.yaxis_inverted():
        (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
        ax.set_xlim(min(before[0], left), max(before[1], right))
        ax.set_ylim(min(before[2], low), max(before[3], high))
    kinds = {mark.kind for mark in marks}
    is_full = ax.yaxis_inverted() or ("bar" in kinds and "line" not in kinds)
    _add_keys(ax, keys, colours, ax if beside is None else beside, is_full, keys_below or is_full)
    legend = ax.get_legend()
    texts = [ax.xaxis.label, ax.yaxis.label, *ax.texts, *(legend.get_texts() if legend else ())]
    for text in [*texts, *(ax.get_yticklabels() if drawing.names else ())]:
        text.set_parse_math(False)  # A dollar sign in a name does not start a formula.
    return ax


def _colours(ax: Any, looks: Iterable[str]) -> dict[str, str]:
    """Return a cycle colour for every series, and the fixed colours."""
    colours = dict(GREYS)
    for series in sorted({match[0] for look in looks if (match := re.search(r"\bs\d", look))}):
        (line,) = ax.plot([], [])
        colours[series] = line.get_color()
        line.remove()
    return {**colours, "honest": "C1", **dict.fromkeys(SHADES, "C0")}


def _style(look: str, colours: dict[str, str]) -> dict[str, Any]:
    """Return the matplotlib options of a style."""
    words = look.split()
    colour = next((colours[name] for name in reversed(words) if name in colours), "0.85")
    style: dict[str, Any] = {"color": colour}
    style["linewidth"] = next((WIDTHS[name] for name in words if name in WIDTHS), 1.3)
    style["linestyle"] = next((DASHES[name] for name in words if name in DASHES), "-")
    if {"hollow", "ring"} & {*words}:
        style["fillstyle"] = "none"
    return style


def _draw(ax: Any, mark: Mark, style: dict[str, Any]) -> None:
    """Draw a mark other than a point."""
    (x0, x1), (y0, y1) = (mark.xs[0], mark.xs[-1]), (mark.ys[0], mark.ys[-1])
    match mark.kind:
        case "band":
            ax.fill(mark.xs, mark.ys, color=style["color"], alpha=0.18, linewidth=0)
        case "bar" | "cell":
            place = {"left": x0, "height": y1 - y0, "align": "edge", "alpha": SHADES.get(mark.look)}
            ax.barh(y0, x1 - x0, color=style["color"], edgecolor="white", **place)
        case "frame":
            place = {"left": x0, "height": y1 - y0, "align": "edge", "linewidth": 2, "zorder": 3}
            ax.barh(y0, x1 - x0, fill=False, edgecolor="C1", **place)
        case "inscription":
            colour = "white" if "on-dark" in mark.look else "black"
            place = {"ha": "center", "va": "center", "fontsize": "small"}
            place["fontweight"] = "bold" if "bold" in mark.look else "normal"
            ax.text(x0, y0, mark.label, color=colour, **place)
        case "box":
            low, first, middle, third, high = mark.xs
            ax.plot([low, first], [y0, y0], marker="|", **style)
            ax.plot([third, high], [y0, y0], marker="|", **style)
            ax.barh(y0, third - first, left=first, height=0.5, color=style["color"], alpha=0.25)
            ax.plot([middle, middle], [y0 - 0.25, y0 + 0.25], **style)
        case "dots":
            ax.plot(mark.xs, mark.ys, ".", color=style["color"], markersize=2, alpha=0.6)
        case "span":
            ax.plot(mark.xs, mark.ys, marker="|", **style)
        case "upright":
            ax.axvline(x0, **style)
        case "level":
            ax.axhline(y0, **style)
        case "note":
            place = {"transform": ax.get_yaxis_transform(), "va": "center"}
            ax.text(0.01, y0, mark.label, color=style["color"], fontsize="small", **place)
        case _:
            ax.plot(mark.xs, mark.ys, **style)


def _name_axes(ax: Any, drawing: Drawing) -> None:
    """Set limits, ticks and labels."""
    x, y = drawing.x, drawing.y
    ax.set(xscale="log" if x.log else "linear", xlim=(x.low, x.high))
    ax.set_ylim(*((y.low, y.high) if y.start > y.end else (y.high, y.low)))
    for side, axis in ((ax.xaxis, drawing.bottom), (ax.yaxis, drawing.left)):
        if axis is not None:
            side.set_label_text(axis.label)
            if axis.ticks is not None:
                names = axis.names or [tick_text(tick) for tick in axis.ticks]
                turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
                wide = sum(map(len, names)) > MOST_LETTERS
                side.set_ticks(axis.ticks, names, **(turned if wide else {}))
                ax.minorticks_off()
    if drawing.names:
        ax.set_yticks(list(drawing.names), list(drawing.names.values()))


def _add_keys(
    ax: Any,
    keys: Iterable[Key],
    colours: dict[str, str],
    before: Any,
    is_full: bool,
    is_below: bool,
) -> None:
    """Add a legend of these keys and earlier ones; points of full axes have no line."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
    from matplotlib.transforms import ScaledTranslation

    for key in keys:
        style = _style(key.look, colours)
        if key.kind in ("band", "box", "cell"):
            alpha = SHADES.get(key.look, 1.0) if key.kind == "cell" else 0.25
            ax.add_patch(Rectangle((0, 0), 0, 0, color=style["color"], alpha=alpha, label=key.text))
        else:
            marker = "" if key.kind == "line" else SHAPES.get(key.kind, "o")
            is_alone = key.kind in ("point", "ring") or "bare" in key.look
            is_alone |= is_full and key.kind in SHAPES
            line = "" if is_alone else style["linestyle"]
            style |= {"linestyle": line, "marker": marker, "markersize": 5, "label": key.text}
            ax.add_line(Line2D([], [], **style))
    if before.get_legend() is not None:
        before.get_legend().remove()
    handles = {
        label: handle
        for each in dict.fromkeys((before, ax))
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True)
    }
    if handles:
        # The legend is below the axis label at any figure size, since a title may be above.
        down = ScaledTranslation(0, -36 / 72, ax.get_figure().dpi_scale_trans)
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "ncols": 2}
        below["bbox_transform"] = ax.transAxes + down
        place = below if is_below else {}
        ax.legend(list(handles.values()), list(handles), frameon=False, fontsize="small", **place)


def axes_of(ax: Any, size: tuple[float, float] = WIDE) -> Any:
    """Return the given axes, or those of a new figure of this size."""
    if ax is not None and not hasattr(ax, "get_figure"):
        raise BadArgument(f"{mention('ax', ax)}: give axes of matplotlib, or leave it out.")
    return pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def axes_of_panels(ax: Any, n_panels: int) -> list[Any]:
    """Return the given axes, one per panel, or those of a new figure with three per row."""
    if ax is None:
        columns = min(n_panels, 3)
        rows, options = -(-n_panels // columns), {"layout": "constrained", "squeeze": False}
        size = (3.2 * columns + 3.2, 4.0 * rows)
        drawn = pyplot().subplots(rows, columns, figsize=size, **options)[1].ravel()
        for spare in drawn[n_panels:]:
            spare.remove()
        return list(drawn[:n_panels])
    given = list(np.ravel(ax))
    if len(given) != n_panels:
        raise BadData(f"there are {len(given)} axes for {n_panels} panels.")
    return given


def pyplot() -> Any:
    """Import matplotlib when something is drawn, and return the module."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("a plot needs matplotlib: pip install 'truerisk[plot]'.") from None
    return plt
