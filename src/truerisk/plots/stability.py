"""Stability: how far predictions move."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.present import number
from truerisk.plots.axes import SQUARE, axes_of
from truerisk.validation.prediction_stability import PredictionStability

__all__ = ["draw_instability"]


def draw_instability(found: PredictionStability, *, ax: Any = None) -> Any:
    """Predictions of further models over those given, with the 95 % range; returns the axes.

    Where the plot is narrow around the diagonal, predictions hardly depend on the training rows.
    """
    ax = axes_of(ax, SQUARE)
    if found.others is not None:
        given = np.tile(found.predictions, found.n_models)
        ax.plot(given, found.others.ravel(), ".", color="0.6", markersize=2, alpha=0.4, zorder=0)
    order = np.argsort(found.predictions, kind="stable")
    for quantile in found.ranges:
        ax.plot(found.predictions[order], _smoothed(quantile[order]), color="C0", linewidth=1.2)
    ends = [float(found.predictions.min()), float(found.predictions.max())]
    if found.event is not None:
        ends = [0.0, 1.0]
        ax.set_aspect("equal")
    ax.plot(ends, ends, ":", color="0.3", linewidth=0.9)
    if found.threshold is not None:
        for line in (ax.axvline, ax.axhline):
            line(found.threshold, color="C1", linewidth=0.7)
    ax.set_xlabel("prediction" if found.event is None else "probability given")
    ax.set_ylabel(f"that of {found.n_models} further models")
    ax.set_title(f"mean absolute prediction error {number(found.mape)}", fontsize="medium")
    return ax


def _smoothed(values: np.ndarray) -> np.ndarray:
    """Running means over a twentieth of the rows, so that a line can be seen."""
    half = max(1, len(values) // 40)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    low, high = np.maximum(at - half, 0), np.minimum(at + half + 1, len(values))
    return np.asarray((sums[high] - sums[low]) / (high - low))
