"""Figures as data, drawn by matplotlib to PNG and SVG when asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from truerisk.core.errors import MissingExtra

__all__ = ["Panel", "Panels", "Series", "draw"]

CELLS = 100  # of a count of points, along each axis


@dataclass(frozen=True, eq=False)
class Series:
    """One line, `style` as matplotlib writes it ('-', ':', '--', 'o')."""

    label: str
    x: np.ndarray
    y: np.ndarray
    style: str = "-"
    width: float = 1.2


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines over one pair of axes.

    Or ("counts") how many points fall into each cell of a grid, ("boxes") a box per series, or
    ("bars") a bar per x.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["lines", "counts", "boxes", "bars"] = "lines"


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
    for series in panel.series if panel.kind != "boxes" else ():
        if panel.kind == "counts":
            ax.hist2d(series.x, series.y, bins=CELLS, cmap="Greys")
            ax.axvline(series.x.mean(), color="black", linewidth=0.8)
            ax.axhline(series.y.mean(), color="black", linewidth=0.8)
        elif panel.kind == "bars":
            ax.bar(series.x, series.y, 0.8 * float(np.ptp(series.x)) / len(series.x), color="0.5")
        else:
            ax.plot(series.x, series.y, series.style, linewidth=series.width, label=series.label)
    if panel.kind == "lines" and any(series.label for series in panel.series):
        ax.legend(fontsize="small", frameon=False)
    ax.set_title(panel.title, fontsize="medium")
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
