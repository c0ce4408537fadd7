"""What an assessment found: the optimism ladder, random splits, the stability of settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.core.errors import BadData
from truerisk.core.present import clean, five_numbers
from truerisk.plots.axes import axes_of

__all__ = ["draw_boxes", "draw_ladder", "draw_shares"]

LOOKS = {
    "apparent": {"marker": "o", "color": "0.45", "fillstyle": "none"},
    "selected": {"marker": "D", "color": "C1", "fillstyle": "none"},
    "honest": {"marker": "o", "color": "C0"},
}


def draw_ladder(
    rungs: Mapping[str, Mapping[str, float | None]],
    *,
    ax: Any = None,
    baseline: float | None = None,
    axis: str = "risk",
) -> Any:
    """Draw one rung per name and return the axes.

    A rung has "apparent", "selected" and "honest" values, and the "low" and "high" end of the
    honest one's interval; what is None is left out. `baseline` is a vertical line, `axis` says what
    the values are.
    """
    if not rungs:
        raise BadData("there is no risk to draw.")
    ax = axes_of(ax, _size(len(rungs)))
    for y, rung in enumerate(rungs.values()):
        if rung["low"] is not None and rung["high"] is not None:
            ax.plot([rung["low"], rung["high"]], [y, y], "|-", color="C0", linewidth=1.2)
    for kind, look in LOOKS.items():
        points = [(v, y) for y, rung in enumerate(rungs.values()) if (v := rung[kind]) is not None]
        if points:
            ax.plot(*zip(*points, strict=True), linestyle="", markersize=6, label=kind, **look)
    if baseline is not None:
        ax.axvline(baseline, linestyle="--", color="0.6", linewidth=0.9, label="without learning")
    _rows(ax, rungs)
    ax.set_xlabel(axis)
    ax.legend(frameon=False, fontsize="small", ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
    return ax


def draw_boxes(risks: Mapping[str, Sequence[float]], *, ax: Any = None, what: str = "risk") -> Any:
    """Draw a lying box plot per name, Tukey's whiskers, and return the axes."""
    if not risks:
        raise BadData("there is no risk to draw.")
    ax = axes_of(ax, _size(len(risks)))
    for y, given in enumerate(risks.values()):
        values = np.asarray(given, dtype=np.float64)
        low, first, middle, third, high = five_numbers(values[np.isfinite(values)])
        ax.plot([low, first], [y, y], "|-", color="C0", linewidth=1.0)
        ax.plot([third, high], [y, y], "-|", color="C0", linewidth=1.0)
        ax.barh(y, third - first, left=first, height=0.5, color="C0", alpha=0.25)
        ax.plot([middle, middle], [y - 0.25, y + 0.25], color="C0", linewidth=1.8)
        beyond = values[(values < low) | (values > high)]
        ax.plot(beyond, np.full(len(beyond), y), "o", color="C0", fillstyle="none", markersize=3)
    _rows(ax, risks)
    ax.set_xlabel(f"{what} of one split")
    return ax


def draw_shares(shares: Mapping[str, Sequence[tuple[str, float]]], *, ax: Any = None) -> Any:
    """Draw a bar per name, a part for each (setting, share), the first filled; return the axes."""
    if not shares:
        raise BadData("no learner was tuned: there is no setting whose stability could be drawn.")
    ax = axes_of(ax, _size(len(shares)))
    for y, parts in enumerate(shares.values()):
        at = 0.0
        for i, (_, share) in enumerate(parts):
            colour = "C0" if i == 0 else "0.8"
            ax.barh(y, share, left=at, height=0.6, color=colour, edgecolor="white")
            at += share
    _rows(ax, shares)
    ax.set_xlim(0, 1)
    ax.set_xlabel("share of outer splits that chose the setting; filled: that of all rows")
    return ax


def _rows(ax: Any, names: Mapping[str, Any]) -> None:
    """Names on the left, the first on top."""
    ax.set_yticks(range(len(names)), [clean(name, 30) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)


def _size(n_rows: int) -> tuple[float, float]:
    """As high as it has rows."""
    return 6.4, 1.4 + 0.42 * n_rows
