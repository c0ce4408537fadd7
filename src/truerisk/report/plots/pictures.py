"""Figures of the page on matplotlib axes, without the page's limits on their size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.comparison.many_comparison import ManyComparison
from truerisk.core.errors import BadData
from truerisk.core.formats import clean, number
from truerisk.report import ladder, rates, review_figures
from truerisk.report.figure import Figure, Key
from truerisk.report.plots.marks import SQUARE, axes_of, axes_of_panels, on_axes
from truerisk.report.rates import SHARE, Rates, precision_drawing
from truerisk.report.record_figures import draw_estimates, figures_of
from truerisk.results.calibration import Calibration
from truerisk.results.comparison import Comparison
from truerisk.results.operating_points import OperatingPoint
from truerisk.results.results import RiskEstimate
from truerisk.results.roc import PrecisionRecall, RocCurve
from truerisk.validation.prediction_stability import PredictionStability
from truerisk.validation.stability import FeatureStability

UNTUNED = "no learner was tuned: there is no setting whose stability could be drawn."


def _drawn(maker: Callable[..., Figure | None], lacking: str = "", **whole: Any) -> Any:
    """Turn a figure maker into a function that draws on axes; `lacking` is its error message."""

    def draw(record: Any, *, ax: Any = None, **options: Any) -> Any:
        figure = maker(record, **whole, **options)
        if figure is None:
            raise BadData(lacking)
        return on_axes(figure.drawing, figure.keys, ax)

    return draw


draw_ladder = _drawn(ladder.draw_ladder, "there is no risk to draw.", most=None)
draw_boxes = _drawn(ladder.draw_boxes, "there is no risk to draw.", most=None)
draw_stability = _drawn(ladder.draw_stability, UNTUNED, most=None)
draw_forest = _drawn(review_figures.draw_forest, "no subgroup has a value to draw.", most=None)


def draw_picture(record: Any, *, ax: Any = None) -> Any:
    """Draw the figures of a result, and return the axes (an array if there are several)."""
    figures = figures_of(record)
    if not figures:
        why = f" {record.conclusion[0]}" if isinstance(record, ManyComparison) else ""
        what = type(record).__name__
        raise BadData(f"this {what} has no picture; print() and to_html() show what it holds.{why}")
    if len(figures) == 1:
        return on_axes(figures[0].drawing, figures[0].keys, ax)
    panels = axes_of_panels(ax, len(figures))
    for each, figure in zip(panels, figures, strict=True):
        on_axes(figure.drawing, figure.keys, each).set_title(figure.title, fontsize="medium")
    return np.array(panels)


def draw_estimate(
    estimate: RiskEstimate | Comparison,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, Any] | None = None,
    beside: Mapping[str, float] | None = None,
) -> Any:
    """Draw the value and its interval, a row for each of `others`, and return the axes.

    `beside` are values by name, such as the truth of a known problem, drawn as vertical lines.
    """
    name = estimate.test if isinstance(estimate, Comparison) else estimate.method
    figure = draw_estimates({label or name: estimate, **(others or {})}, beside)
    if figure is None:
        raise BadData("there is no risk to draw.")
    return on_axes(figure.drawing, figure.keys, ax)


def draw_features(chosen: FeatureStability, *, ax: Any = None) -> Any:
    """Draw how often each feature was selected, and return the axes."""
    ax = on_axes(review_figures.draw_features(chosen).drawing, (), ax)
    if chosen.index is not None:
        ax.set_title(f"stability {number(chosen.index)} {chosen.interval}", fontsize="medium")
    return ax


def draw_calibration(
    calibration: Calibration,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, Calibration] | None = None,
) -> Any:
    """Draw the bins with their intervals, and `others` by name, and return the axes."""
    every = {label or calibration.event: calibration, **(others or {})}
    figures = {
        f"{clean(name, 40)}: Brier {each.brier:.4f}": rates.draw_calibration(each)
        for name, each in every.items()
    }
    return _overlaid(figures, ax)


def draw_roc(
    curve: RocCurve,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, RocCurve] | None = None,
    points: Iterable[OperatingPoint] = (),
) -> Any:
    """Draw the ROC curve, and `others` by name, and return the axes.

    Rows with equal scores cross a threshold together, so that a tie is a slope. The diagonal stands
    for random ranking. Operating `points` are marked on the first curve with their threshold.
    """
    figures = {}
    for name, each in {label or curve.method: curve, **(others or {})}.items():
        ends = "" if each.interval is None else f" {each.interval}"
        figures[f"{clean(name, 40)}: AUC {each.auc:.3f}{ends}"] = Rates(each).draw_roc()
    ax = _overlaid(figures, ax)
    # Each label is placed lower, because points may be close together.
    for below, point in enumerate(points, start=1):
        place = (1 - point.specificity, point.sensitivity)
        ax.plot(*place, "o", color="C0", markersize=5)
        away = {"xytext": (8, -16 * below), "textcoords": "offset points"}
        ax.annotate(f"{point.threshold:.3g}", place, **away)
    return ax


def draw_precision_recall(
    curve: PrecisionRecall,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, PrecisionRecall] | None = None,
) -> Any:
    """Draw precision against recall in steps, and `others` by name, and return the axes."""
    for name, each in {label or curve.method: curve, **(others or {})}.items():
        text = f"{clean(name, 40)}: average precision {each.average_precision:.3f}"
        drawing = precision_drawing("", each.recall, each.precision, each.prevalence)
        ax = on_axes(drawing, (Key("s0", text, "line"), SHARE), ax)
    return ax


def _overlaid(figures: Mapping[str, Figure], ax: Any) -> Any:
    """Overlay figures of one kind, each with its named line and a common diagonal."""
    for text, figure in figures.items():
        line, diagonal, *_ = figure.keys
        ax = on_axes(figure.drawing, (replace(line, text=text), diagonal), ax)
    return ax


def draw_instability(moves: PredictionStability, *, ax: Any = None) -> Any:
    """Draw the other models' predictions over the given ones with 95 % ranges; return axes.

    If the points are close to the diagonal, predictions hardly depend on the training rows.
    """
    ax = axes_of(ax, SQUARE)
    if moves.others is not None:
        x = np.tile(moves.predictions, moves.n_models)
        ax.plot(x, moves.others.ravel(), ".", color="0.6", markersize=2, alpha=0.4, zorder=0)
    order = np.argsort(moves.predictions, kind="stable")
    for quantile in moves.ranges:
        ax.plot(moves.predictions[order], _smoothed(quantile[order]), color="C0", linewidth=1.2)
    ends = [float(moves.predictions.min()), float(moves.predictions.max())]
    if moves.event is not None:
        ends = [0.0, 1.0]
        ax.set_aspect("equal")
    ax.plot(ends, ends, ":", color="0.3", linewidth=0.9)
    if moves.threshold is not None:
        for line in (ax.axvline, ax.axhline):
            line(moves.threshold, color="C1", linewidth=0.7)
    ax.set_xlabel("prediction" if moves.event is None else "probability given")
    ax.set_ylabel(f"that of {moves.n_models} further models")
    ax.set_title(f"mean absolute prediction error {number(moves.mape)}", fontsize="medium")
    return ax


def _smoothed(values: np.ndarray) -> np.ndarray:
    """Return running means over a twentieth of the rows, which make a line visible."""
    half = max(1, len(values) // 40)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    low, high = np.maximum(at - half, 0), np.minimum(at + half + 1, len(values))
    return np.asarray((sums[high] - sums[low]) / (high - low))
