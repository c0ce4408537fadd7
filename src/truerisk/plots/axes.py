"""Axes to draw on: those that were given, or those of a new figure."""

from __future__ import annotations

from typing import Any

from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, MissingExtra

__all__ = ["SQUARE", "WIDE", "axes_of", "pyplot"]

WIDE = (6.4, 4.0)  # inches
SQUARE = (4.8, 4.8)


def axes_of(ax: Any, size: tuple[float, float] = WIDE) -> Any:
    """The given axes, or those of a new figure of this size."""
    if ax is not None and not hasattr(ax, "get_figure"):
        raise BadArgument(f"ax={shown(ax)}: give axes of matplotlib, or leave it out.")
    return pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def pyplot() -> Any:
    """The module of matplotlib, which is imported when something is drawn."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("a plot needs matplotlib: pip install 'truerisk[plot]'.") from None
    return plt
