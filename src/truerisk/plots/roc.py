"""Precision-recall curves as the steps they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truerisk.core.present import clean
from truerisk.core.statistics.roc import PrecisionRecall
from truerisk.plots.axes import SQUARE, axes_of

__all__ = ["draw_precision_recall"]


def draw_precision_recall(
    curve: PrecisionRecall,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, PrecisionRecall] | None = None,
) -> Any:
    """Draw precision against recall in steps, and `others` by name, and return the axes."""
    ax = axes_of(ax, SQUARE)
    for name, one in {label or curve.method: curve, **(others or {})}.items():
        named = f"{clean(name, 40)}: {one.average_precision:.3f}"
        ax.plot(
            [0.0, *one.recall],
            [one.precision[0], *one.precision],
            linewidth=1.3,
            drawstyle="steps-pre",
            label=named,
        )
    ax.axhline(curve.prevalence, linestyle=":", color="0.6", linewidth=0.9)
    limits = (-0.02, 1.02)
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    ax.set(xlabel="recall (sensitivity)", ylabel="precision")
    ax.legend(loc="lower left", frameon=False, fontsize="small", title="average precision")
    return ax
