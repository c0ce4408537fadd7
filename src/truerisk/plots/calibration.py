"""Calibration: the observed shares over the probabilities that were given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truerisk.core.present import clean
from truerisk.core.statistics.calibration import Calibration
from truerisk.plots.axes import SQUARE, axes_of

__all__ = ["draw_calibration"]


def draw_calibration(
    found: Calibration,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, Calibration] | None = None,
) -> Any:
    """Draw the bins with their intervals, and `others` by name, and return the axes."""
    ax = axes_of(ax, SQUARE)
    for name, one in {label or found.event: found, **(others or {})}.items():
        bars = None
        if one.low is not None and one.high is not None:
            bars = [one.observed - one.low, one.high - one.observed]
        said = f"{clean(name, 40)}: Brier {one.brier:.4f}"
        style = {"fmt": "o-", "markersize": 4, "linewidth": 1.0, "elinewidth": 0.9}
        ax.errorbar(one.predicted, one.observed, yerr=bars, label=said, **style)
    ax.plot([0, 1], [0, 1], ":", color="0.6", linewidth=0.9)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.set_xlabel("probability given")
    ax.set_ylabel("share observed")
    ax.legend(loc="upper left", frameon=False, fontsize="small")
    return ax
