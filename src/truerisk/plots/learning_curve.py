"""A learning curve: measured risks with their intervals, the law and its band, carried on."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.errors import BadArgument
from truerisk.core.learning_curve import FURTHEST, LearningCurve
from truerisk.plots.axes import axes_of

__all__ = ["draw_learning_curve"]

POINTS = 48


def draw_learning_curve(
    curve: LearningCurve,
    *,
    ax: Any = None,
    label: str | None = None,
    to: float | None = None,
) -> Any:
    """Draw the curve and return its axes.

    `to` is the number of training rows up to which the law is carried on, by default twice the
    largest that was measured; that part is dashed. A score is drawn as a score.
    """
    ax = axes_of(ax)
    own = [one.own_scale for one in curve.estimates]
    values = np.array([one.value for one in own], dtype=float)
    ends = np.array(
        [
            (v, v) if one.interval is None else (one.interval.low, one.interval.high)
            for v, one in zip(values, own, strict=True)
        ]
    )
    bars = np.abs(ends.T - values)
    points = ax.errorbar(
        curve.sizes, values, yerr=bars, fmt="o", markersize=4, elinewidth=0.8, capsize=2,
        label=label or curve.estimates[-1].named_loss,
    )  # fmt: skip
    if curve.law is not None:
        _draw_law(ax, curve, points.lines[0].get_color(), to)
    ax.set_xscale("log")
    places = curve.sizes if to is None else np.append(curve.sizes, to)
    ax.set_xticks(places, [f"{place:g}" for place in places])
    ax.minorticks_off()
    ax.set_xlabel("training rows")
    ax.set_ylabel(curve.estimates[-1].scale.axis(curve.estimates[-1].named_loss))
    return ax


def _draw_law(ax: Any, curve: LearningCurve, colour: Any, to: float | None) -> None:
    """The law and its band; dashed where no fit had so many rows."""
    last = float(curve.sizes[-1])
    end = 2 * last if to is None else float(to)
    if not last <= end <= FURTHEST * last:
        raise BadArgument(
            f"to={end:g}: the curve was measured up to {last:g} training rows, and is carried on "
            f"to {FURTHEST * last:g} at most."
        )
    grid = np.union1d(np.geomspace(curve.sizes[0], end, POINTS), [last])
    read = [curve.at(float(n)) for n in grid]
    scale = curve.estimates[-1].scale
    line = np.array([scale.value(one.value) for one in read])
    band = [scale.interval(one.interval) or one.interval for one in read]
    for part, style in ((grid <= last, "-"), (grid >= last, "--")):
        ax.plot(grid[part], line[part], style, linewidth=1.2, color=colour)
    low, high = [one.low for one in band], [one.high for one in band]
    ax.fill_between(grid, low, high, color=colour, alpha=0.18, linewidth=0)
