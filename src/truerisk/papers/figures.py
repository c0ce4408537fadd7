"""Figures as data, drawn by matplotlib to PNG and SVG when asked for.

A curve of means has a band, and a bar of means a whisker: two standard errors to either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from truerisk.core.errors import MissingExtra

CELLS = 100  # of a count of points, along each axis
REACH = 2.0  # standard errors that a band shows to either side


@dataclass(frozen=True, eq=False)
class Series:
    """One line, `style` as matplotlib writes it ('-', ':', '--', 'o').

    `error` are the standard errors of y, where y are means; `size` is that of points.
    """

    label: str
    x: np.ndarray
    y: np.ndarray
    style: str = "-"
    width: float = 1.2
    error: np.ndarray | None = None
    size: float | None = None


def mean_line(
    label: str, x: np.ndarray, values: np.ndarray, style: str = "-", width: float = 1.2
) -> Series:
    """The mean over replicates (first axis) with its standard error."""
    n = len(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else None
    return Series(label, x, values.mean(axis=0), style, width, error)


def mean_lines(
    x: np.ndarray, values: Mapping[str, np.ndarray], styles: Iterable[str]
) -> tuple[Series, ...]:
    """A line for each name, in the styles that follow."""
    pairs = zip(values.items(), styles, strict=True)
    return tuple(mean_line(name, x, of, style) for (name, of), style in pairs)


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines over one pair of axes.

    Or ("counts") how many points fall into each cell of a grid, ("boxes") a box per series, or
    ("bars") a bar per x, those of several series side by side. `names` stand at x = 1, 2, ...
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["lines", "counts", "boxes", "bars"] = "lines"
    names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Panels:
    """Panels in rows of `columns`; `name` becomes the name of the files."""

    name: str
    panels: tuple[Panel, ...]
    columns: int = 2


def draw(figures: Iterable[Panels], folder: Path) -> list[Path]:
    """Write each figure to `folder` as PNG and SVG and return the paths."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise MissingExtra("a figure needs matplotlib: pip install 'truerisk[plot]'.") from None
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in figures:
        rows = -(-len(figure.panels) // figure.columns)
        canvas = Canvas(figsize=(5.2 * figure.columns, 3.9 * rows), layout="constrained")
        for place, panel in enumerate(figure.panels, start=1):
            _draw_panel(canvas.add_subplot(rows, figure.columns, place), panel)
        for kind in ("png", "svg"):
            path = folder / f"{figure.name}.{kind}"
            # without a date and with fixed identifiers, equal figures are equal files
            with mpl.rc_context({"svg.hashsalt": figure.name}):
                canvas.savefig(path, dpi=150, metadata={"Date": None} if kind == "svg" else None)
            written.append(path)
    return written


def _draw_panel(ax: Any, panel: Panel) -> None:
    if panel.kind == "boxes":
        ax.boxplot([series.y for series in panel.series])
        labels = [series.label for series in panel.series]
        ax.set_xticks(range(1, len(labels) + 1), labels, rotation=40, ha="right")
    elif panel.kind == "bars":
        _draw_bars(ax, panel.series)
    if panel.names:
        ax.set_xticks(range(1, len(panel.names) + 1), panel.names)
    for series in panel.series if panel.kind in ("lines", "counts") else ():
        if panel.kind == "counts":
            ax.hist2d(series.x, series.y, bins=CELLS, cmap="Greys")
            ax.axvline(series.x.mean(), color="black", linewidth=0.8)
            ax.axhline(series.y.mean(), color="black", linewidth=0.8)
        else:
            _draw_line(ax, series)
    if panel.kind in ("lines", "bars") and any(series.label for series in panel.series):
        ax.legend(fontsize="small", frameon=False)
    ax.set_title(panel.title, fontsize="medium")
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)


def _draw_line(ax: Any, series: Series) -> None:
    look = {"linewidth": series.width, "markersize": series.size, "label": series.label or None}
    (line,) = ax.plot(series.x, series.y, series.style, **look)
    if series.error is not None:
        away = REACH * series.error
        band = {"color": line.get_color(), "alpha": 0.2, "linewidth": 0}
        ax.fill_between(series.x, series.y - away, series.y + away, **band)


def _draw_bars(ax: Any, every: tuple[Series, ...]) -> None:
    """Of several series side by side, from dark to light."""
    step = 0.8 * float(np.ptp(every[0].x)) / max(len(every[0].x) - 1, 1) / len(every)
    for place, series in enumerate(every):
        shift = (place - (len(every) - 1) / 2) * step
        grey = 0.35 + 0.4 * place
        error = None if series.error is None else REACH * series.error
        look = {"color": f"{min(grey, 0.9)}", "label": series.label or None}
        ax.bar(series.x + shift, series.y, step, yerr=error, **look)
