"""Axes to draw on: those that were given, or those of a new figure."""

from __future__ import annotations

from typing import Any

from truerisk.core.errors import MissingExtra

__all__ = ["SQUARE", "WIDE", "axes_of", "pyplot"]

WIDE = (6.4, 4.0)  # inches
SQUARE = (4.8, 4.8)


def axes_of(ax: Any, size: tuple[float, float] = WIDE) -> Any:
    """The given axes, or those of a new figure of this size."""
    return pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def pyplot() -> Any:
    """The module of matplotlib, which is imported when something is drawn."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("a plot needs matplotlib: pip install 'truerisk[plot]'.") from None
    return plt
