"""Calibration and decision curves of a validation."""

from __future__ import annotations

from typing import Any

from truerisk.core.present import clean
from truerisk.plots.axes import SQUARE, axes_of
from truerisk.validation.calibration import CalibrationCurve
from truerisk.validation.net_benefit import NetBenefit

__all__ = ["draw_calibration_curve", "draw_decision_curve"]


def draw_calibration_curve(found: CalibrationCurve, *, ax: Any = None) -> Any:
    """Draw the curve of held-out rows with its band, apparent and corrected, return the axes."""
    ax = axes_of(ax, SQUARE)
    line = ax.plot(found.predicted, found.observed, label="held-out rows")[0]
    if found.low is not None and found.high is not None:
        ax.fill_between(found.predicted, found.low, found.high, color=line.get_color(), alpha=0.15)
    for name, values, dashes in (
        ("corrected", found.corrected, "--"),
        ("apparent", found.apparent, "-."),
    ):
        if values is not None:
            ax.plot(found.predicted, values, dashes, linewidth=1.0, label=name)
    low, high = (0.0, 1.0) if found.of_event else (found.predicted[0], found.predicted[-1])
    ax.plot([low, high], [low, high], ":", color="0.6", linewidth=0.9)
    if found.of_event:
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.set_xlabel("probability given" if found.of_event else "answer")
    ax.set_ylabel("smoothed share of events" if found.of_event else "smoothed mean of y")
    ax.legend(loc="upper left", frameon=False, fontsize="small")
    return ax


def draw_decision_curve(found: NetBenefit, *, ax: Any = None) -> Any:
    """Draw the net benefit with its band beside treating all and nobody, return the axes."""
    ax = axes_of(ax, (6.0, 4.0))
    t = found.thresholds
    line = ax.plot(t, found.honest, label=f"held-out rows, {clean(found.event, 40)}")[0]
    if found.low is not None and found.high is not None:
        ax.fill_between(t, found.low, found.high, color=line.get_color(), alpha=0.15)
    if found.corrected is not None:
        ax.plot(t, found.corrected, "--", linewidth=1.0, label="corrected")
    every = ax.plot(t, found.treat_all, linewidth=1.0, label="treat all")[0]
    low, high = found.treat_all_low, found.treat_all_high
    if low is not None and high is not None:
        ax.fill_between(t, low, high, color=every.get_color(), alpha=0.12)
    ax.axhline(0, linestyle=":", color="0.6", linewidth=0.9, label="treat nobody")
    top = float(max(found.honest.max(), found.treat_all.max()))
    top = top if found.high is None else max(top, float(found.high.max()))
    ax.set_ylim(-0.15 * top, 1.05 * top)  # treating all falls without end
    ax.set_xlabel("threshold probability")
    ax.set_ylabel("net benefit")
    ax.legend(frameon=False, fontsize="small")
    return ax
