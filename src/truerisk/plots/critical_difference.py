"""The critical-difference diagram of a comparison over many data sets (Demšar 2006)."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from truerisk.plots.axes import axes_of

__all__ = ["draw_critical_difference"]


def draw_critical_difference(comparison: Any, *, ax: Any = None) -> Any:
    """Average ranks from the best on, bars over methods that are not told apart; returns the axes.

    Each method has a line of its own, so names never meet.
    """
    ordered, groups = comparison.ordered, comparison.alike
    ax = axes_of(ax, (6.0, 1.1 + 0.26 * (len(ordered) + len(groups))))
    place = {name: i for i, (name, _) in enumerate(ordered)}
    for name, rank in ordered:
        ax.plot([0, rank], [place[name]] * 2, color="0.85", linewidth=0.8, zorder=0)
    ax.plot([rank for _, rank in ordered], range(len(ordered)), "o", markersize=5)
    rank_of = dict(ordered)
    for i, group in enumerate(groups):
        ends = [rank_of[name] for name in group]
        ax.plot([min(ends), max(ends)], [len(ordered) + 0.5 * i] * 2, color="C1", linewidth=3)
    low, high = floor(min(rank_of.values())), ceil(max(rank_of.values()))
    ax.set_xlim(low - 0.1, max(high, low + 1) + 0.1)
    ax.set_ylim(len(ordered) + 0.5 * len(groups), -0.7)
    ax.set_yticks(range(len(ordered)), [name for name, _ in ordered])
    ax.set_xlabel(f"average rank (critical difference {comparison.critical_difference:.2f})")
    return ax
