"""ROC and precision-recall curves as the steps they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from truerisk.core.present import clean
from truerisk.core.statistics.operating_points import OperatingPoint
from truerisk.core.statistics.roc import PrecisionRecall, RocCurve
from truerisk.plots.axes import SQUARE, axes_of

__all__ = ["draw_precision_recall", "draw_roc"]


def draw_roc(
    curve: RocCurve,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, RocCurve] | None = None,
    points: Iterable[OperatingPoint] = (),
) -> Any:
    """Draw the ROC curve, and `others` by name, and return the axes.

    Rows of equal score pass together, so a tie is a slope. The diagonal ranks nothing. Operating
    `points` are marked on the first curve with their threshold.
    """
    ax = axes_of(ax, SQUARE)
    every = {label or curve.method: curve, **(others or {})}
    for name, one in every.items():
        ax.plot(one.fpr, one.tpr, linewidth=1.3, label=f"{clean(name, 40)}: {_area(one)}")
    for point in points:
        place = (1 - point.specificity, point.sensitivity)
        ax.plot(*place, "o", color="C0", markersize=5)
        ax.annotate(f"{point.threshold:.3g}", place, xytext=(5, -10), textcoords="offset points")
    ax.plot([0, 1], [0, 1], ":", color="0.6", linewidth=0.9)
    _frame(ax, "false positive rate (1 − specificity)", "true positive rate (sensitivity)")
    ax.legend(loc="lower right", frameon=False, fontsize="small", title="AUC")
    return ax


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
    _frame(ax, "recall (sensitivity)", "precision")
    ax.legend(loc="lower left", frameon=False, fontsize="small", title="average precision")
    return ax


def _area(curve: RocCurve) -> str:
    low_high = "" if curve.interval is None else f" {curve.interval}"
    return f"{curve.auc:.3f}{low_high}"


def _frame(ax: Any, x: str, y: str) -> None:
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
