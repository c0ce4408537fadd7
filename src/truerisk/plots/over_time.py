"""The risk along time: a step for each stretch, its band, and the line of the trend."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.plots.axes import axes_of

__all__ = ["draw_over_time"]


def draw_over_time(found: Any, *, ax: Any = None, label: str | None = None) -> Any:
    """Draw the mean losses, or scores, of the stretches over their times, and return the axes.

    The line, dashed, is the trend where there is a test for it.
    """
    ax = axes_of(ax)
    middles = found.starts + (found.ends - found.starts) / 2
    scale = found.scale
    values = scale.value(found.values)
    (line,) = ax.plot(middles, values, "o-", markersize=4, linewidth=1.2, label=label)
    colour = line.get_color()
    ax.hlines(values, found.starts, found.ends, color=colour, linewidth=2.4)
    if found.low is not None and found.high is not None:
        band = scale.value(found.low), scale.value(found.high)
        ax.fill_between(middles, *band, color=colour, alpha=0.18, linewidth=0)
    if found.p_value is not None:
        first, last = found.starts[0], found.ends[-1]
        centre, slope = np.average(values, weights=found.n_rows), scale.gap(found.slope)
        ends = [centre - slope / 2, centre + slope / 2]
        ax.plot([first, last], ends, "--", linewidth=1.0, color=colour)
    if found.starts.dtype.kind == "M":
        _write_dates(ax)
    ax.set_xlabel("time")
    ax.set_ylabel(scale.axis(found.loss))
    return ax


def _write_dates(ax: Any) -> None:
    """Few and short, so that they never meet."""
    from matplotlib import dates as untyped

    dates: Any = untyped
    places = dates.AutoDateLocator(minticks=3, maxticks=7)
    ax.xaxis.set_major_locator(places)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(places))
