"""Draw the figures of results on matplotlib axes, without the page's limits on their size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.comparison.many_comparison import ManyComparison
from truerisk.core.errors import BadData
from truerisk.core.formats import escape_and_truncate, format_number
from truerisk.report import ladder, rates, review_figures
from truerisk.report.figure import Figure, LegendKey
from truerisk.report.plots.marks import (
    SQUARE_FIGURE_SIZE,
    draw_on_axes,
    get_or_create_axes,
    get_or_create_panel_axes,
)
from truerisk.report.rates import PREVALENCE_KEY, ThresholdRates, precision_recall_drawing
from truerisk.report.record_figures import draw_estimates, draw_figures
from truerisk.results.calibration import Calibration
from truerisk.results.comparison import Comparison
from truerisk.results.operating_points import OperatingPoint
from truerisk.results.results import RiskEstimate
from truerisk.results.roc import PrecisionRecall, RocCurve
from truerisk.validation.prediction_stability import PredictionStability
from truerisk.validation.stability import FeatureStability

NO_TUNING_MESSAGE = "no learner was tuned: there is no setting whose stability could be drawn."


def _make_plot_function(
    figure_function: Callable[..., Figure | None], missing_message: str = "", **fixed_options: Any
) -> Any:
    """Return a function that draws a figure of a record on matplotlib axes.

    The figure is the one that `figure_function` makes of the record. The returned function raises
    BadData with `missing_message` if `figure_function` returns None.
    """

    def draw(record: Any, *, ax: Any = None, **options: Any) -> Any:
        figure = figure_function(record, **fixed_options, **options)
        if figure is None:
            raise BadData(missing_message)
        return draw_on_axes(figure.drawing, figure.keys, ax)

    return draw


draw_ladder = _make_plot_function(
    ladder.draw_ladder, "there is no risk to draw.", max_learners=None
)
draw_boxes = _make_plot_function(ladder.draw_boxes, "there is no risk to draw.", max_learners=None)
draw_stability = _make_plot_function(ladder.draw_stability, NO_TUNING_MESSAGE, max_learners=None)
draw_forest = _make_plot_function(
    review_figures.draw_forest, "no subgroup has a value to draw.", max_rows=None
)


def draw_picture(record: Any, *, ax: Any = None) -> Any:
    """Draw the figures of a result, and return the axes (an array of axes for several figures)."""
    figures = draw_figures(record)
    if not figures:
        reason = f" {record.conclusion[0]}" if isinstance(record, ManyComparison) else ""
        class_name = type(record).__name__
        raise BadData(
            f"this {class_name} has no picture; print() and to_html() show what it holds.{reason}"
        )
    if len(figures) == 1:
        return draw_on_axes(figures[0].drawing, figures[0].keys, ax)
    axes_list = get_or_create_panel_axes(ax, len(figures))
    for panel_axes, figure in zip(axes_list, figures, strict=True):
        draw_on_axes(figure.drawing, figure.keys, panel_axes).set_title(
            figure.title, fontsize="medium"
        )
    return np.array(axes_list)


def draw_estimate(
    estimate: RiskEstimate | Comparison,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, Any] | None = None,
    beside: Mapping[str, float] | None = None,
) -> Any:
    """Draw an estimate with its interval, and return the axes.

    Each further estimate in `others` gets a row of its own.

    `beside` are values by name, such as the truth of a known problem, drawn as vertical lines.
    """
    name = estimate.test if isinstance(estimate, Comparison) else estimate.method
    figure = draw_estimates({label or name: estimate, **(others or {})}, beside)
    if figure is None:
        raise BadData("there is no risk to draw.")
    return draw_on_axes(figure.drawing, figure.keys, ax)


def draw_features(feature_stability: FeatureStability, *, ax: Any = None) -> Any:
    """Draw a bar per feature that shows how often it was selected, and return the axes."""
    ax = draw_on_axes(review_figures.draw_features(feature_stability).drawing, (), ax)
    if feature_stability.index is not None:
        ax.set_title(
            f"stability {format_number(feature_stability.index)} {feature_stability.interval}",
            fontsize="medium",
        )
    return ax


def draw_calibration(
    calibration: Calibration,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, Calibration] | None = None,
) -> Any:
    """Draw the bins of a calibration with their intervals, and return the axes.

    `others` are further calibrations by name.
    """
    calibrations = {label or calibration.event: calibration, **(others or {})}
    figures = {
        f"{escape_and_truncate(name, 40)}: Brier {one.brier:.4f}": rates.draw_calibration(one)
        for name, one in calibrations.items()
    }
    return _overlay_figures(figures, ax)


def draw_roc(
    curve: RocCurve,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, RocCurve] | None = None,
    points: Iterable[OperatingPoint] = (),
) -> Any:
    """Draw a ROC curve, and further curves `others` by name, and return the axes.

    Rows with equal scores cross a threshold together, so that a tie is a slope. The diagonal stands
    for random ranking. Operating `points` are marked on the first curve with their threshold.
    """
    figures = {}
    for name, named_curve in {label or curve.method: curve, **(others or {})}.items():
        interval_text = "" if named_curve.interval is None else f" {named_curve.interval}"
        figures[f"{escape_and_truncate(name, 40)}: AUC {named_curve.auc:.3f}{interval_text}"] = (
            ThresholdRates(named_curve).draw_roc()
        )
    ax = _overlay_figures(figures, ax)
    # Points may be close together, so each label is placed lower than the previous label.
    for label_number, point in enumerate(points, start=1):
        point_position = (1 - point.specificity, point.sensitivity)
        ax.plot(*point_position, "o", color="C0", markersize=5)
        label_options = {"xytext": (8, -16 * label_number), "textcoords": "offset points"}
        ax.annotate(f"{point.threshold:.3g}", point_position, **label_options)
    return ax


def draw_precision_recall(
    curve: PrecisionRecall,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, PrecisionRecall] | None = None,
) -> Any:
    """Draw precision over recall in steps, and the curves `others` by name; return the axes."""
    for name, named_curve in {label or curve.method: curve, **(others or {})}.items():
        area_text = f"average precision {named_curve.average_precision:.3f}"
        legend_text = f"{escape_and_truncate(name, 40)}: {area_text}"
        drawing = precision_recall_drawing(
            "", named_curve.recall, named_curve.precision, named_curve.prevalence
        )
        ax = draw_on_axes(drawing, (LegendKey("s0", legend_text, "line"), PREVALENCE_KEY), ax)
    return ax


def _overlay_figures(figures: Mapping[str, Figure], ax: Any) -> Any:
    """Draw several figures of one kind on the same axes, with a single diagonal.

    Each figure's line is named in the legend.
    """
    for legend_text, figure in figures.items():
        line_key, diagonal_key, *_ = figure.keys
        ax = draw_on_axes(figure.drawing, (replace(line_key, text=legend_text), diagonal_key), ax)
    return ax


def draw_instability(stability: PredictionStability, *, ax: Any = None) -> Any:
    """Draw how much the predictions of other models for the same rows vary, and return the axes.

    If the points are close to the diagonal, predictions hardly depend on the training rows.
    """
    ax = get_or_create_axes(ax, SQUARE_FIGURE_SIZE)
    if stability.others is not None:
        own_predictions = np.tile(stability.predictions, stability.n_models)
        ax.plot(
            own_predictions,
            stability.others.ravel(),
            ".",
            color="0.6",
            markersize=2,
            alpha=0.4,
            zorder=0,
        )
    prediction_order = np.argsort(stability.predictions, kind="stable")
    for range_ends in stability.ranges:
        ax.plot(
            stability.predictions[prediction_order],
            _smooth(range_ends[prediction_order]),
            color="C0",
            linewidth=1.2,
        )
    diagonal_ends = [float(stability.predictions.min()), float(stability.predictions.max())]
    if stability.event is not None:
        diagonal_ends = [0.0, 1.0]
        ax.set_aspect("equal")
    ax.plot(diagonal_ends, diagonal_ends, ":", color="0.3", linewidth=0.9)
    if stability.threshold is not None:
        for draw_line in (ax.axvline, ax.axhline):
            draw_line(stability.threshold, color="C1", linewidth=0.7)
    ax.set_xlabel("prediction" if stability.event is None else "predicted probability")
    ax.set_ylabel(f"that of {stability.n_models} further models")
    ax.set_title(
        f"mean absolute prediction error {format_number(stability.mape)}", fontsize="medium"
    )
    return ax


def _smooth(values: np.ndarray) -> np.ndarray:
    """Smooth values by running means over a twentieth of the rows, so that a line is visible."""
    half_width = max(1, len(values) // 40)
    cumulative_sums = np.concatenate([[0.0], np.cumsum(values)])
    row_positions = np.arange(len(values))
    low, high = (
        np.maximum(row_positions - half_width, 0),
        np.minimum(row_positions + half_width + 1, len(values)),
    )
    return np.asarray((cumulative_sums[high] - cumulative_sums[low]) / (high - low))
