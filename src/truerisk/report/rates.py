"""Figures of ROC and precision-recall curves, rates at each threshold, and calibration plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from truerisk.core.formats import escape_and_truncate, format_number
from truerisk.core.frozen import frozen
from truerisk.report.figure import (
    MAX_LINE_CORNERS,
    MAX_LINE_POINTS,
    Figure,
    FigureTable,
    LegendKey,
    evenly_spread_positions,
    find_corner_indices,
)
from truerisk.report.svg import (
    N_SERIES,
    SHARE_X_SCALE,
    SHARE_Y_SCALE,
    Drawing,
    make_share_drawing,
    series_css_class,
)
from truerisk.results.calibration import Calibration
from truerisk.results.operating_points import OperatingPoint, ThresholdCounts
from truerisk.results.roc import PrecisionRecall, RocCurve

N_TABLE_ROWS = 13  # Number of thresholds in the table under a figure.
POOLED_AREA_TEXT = (
    "{} of all predictions pooled; scoring='{}' gives the honest one, with its interval"
)


@frozen
class ThresholdRates:
    """ROC curve for a page, with at most `MAX_LINE_POINTS` thresholds that a slider selects.

    The lines use all thresholds, up to `MAX_LINE_CORNERS` of them. `honest_area_texts` are texts
    with the honest values of "auc" and "average-precision", if the page has them.
    """

    roc: RocCurve
    honest_area_texts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def threshold_counts(self) -> ThresholdCounts:
        """Counts of true and false positives at all thresholds.

        They are rates times class sizes, rounded if they are nearly whole numbers.
        """
        roc = self.roc
        counts = (np.asarray(roc.tpr) * roc.n_positive, np.asarray(roc.fpr) * roc.n_negative)
        rounded_counts = (
            np.where(np.abs(count - np.round(count)) < 1e-6, np.round(count), count)
            for count in counts
        )
        return ThresholdCounts(np.asarray(roc.thresholds), *rounded_counts)

    @cached_property
    def operating_points(self) -> tuple[OperatingPoint, ...]:
        """Operating points, from the highest threshold (nothing is positive) to the lowest."""
        threshold_indices = evenly_spread_positions(
            len(self.threshold_counts.thresholds), MAX_LINE_POINTS
        )
        return tuple(
            self.threshold_counts.operating_point(i, "on the page") for i in threshold_indices
        )

    @cached_property
    def slider_start(self) -> int:
        """Initial position of the slider: the first threshold with the fewest errors."""
        n_errors = [
            point.n_positive - point.true_positives + point.false_positives
            for point in self.operating_points
        ]
        return n_errors.index(min(n_errors))

    @property
    def positive(self) -> str:
        """Name of the positive class, shortened to 60 characters."""
        return escape_and_truncate(str(self.roc.positive), 60)

    @property
    def prevalence(self) -> float:
        """Share of the positive rows among all rows."""
        return self.roc.n_positive / (self.roc.n_positive + self.roc.n_negative)

    def slider_data(self) -> dict[str, Any]:
        """Return the data with which the script of the page updates numbers as the slider moves."""
        true_positives = [point.true_positives for point in self.operating_points]
        false_positives = [point.false_positives for point in self.operating_points]
        return {
            "thresholds": [
                threshold_text(operating_point.threshold)
                for operating_point in self.operating_points
            ],
            "tp": [int(n) if n.is_integer() else n for n in true_positives],
            "fp": [int(n) if n.is_integer() else n for n in false_positives],
            "positives": self.roc.n_positive,
            "negatives": self.roc.n_negative,
            "start": self.slider_start,
            **{
                name: [[SHARE_X_SCALE(x), SHARE_Y_SCALE(y)] for x, y in curve_points]
                for name, curve_points in self.curve_points.items()
            },
        }

    def format_rates(self, index: int) -> dict[str, str]:
        """Format the rates and the cost of one operating point.

        The costs are 1 for both kinds of error, and the prevalence is that of the drawn rows.
        """
        point = self.operating_points[index]
        n_false_negatives = point.n_positive - point.true_positives
        n_true_negatives = point.n_negative - point.false_positives
        n_predicted_negative = n_false_negatives + n_true_negatives
        return {
            "threshold": threshold_text(point.threshold),
            "tp": count_text(point.true_positives),
            "fp": count_text(point.false_positives),
            "fn": count_text(n_false_negatives),
            "tn": count_text(n_true_negatives),
            "sensitivity": format_number(point.sensitivity),
            "specificity": format_number(point.specificity),
            "precision": format_number(point.precision),
            "npv": format_number(
                n_true_negatives / n_predicted_negative if n_predicted_negative else None
            ),
            "error": format_number(point.error),
            "cost": format_number(point.error),
        }

    # ------------------------------------------------------------ curves

    @cached_property
    def curve_points(self) -> dict[str, list[tuple[float, float]]]:
        """Points of the ROC and precision-recall curves, one per threshold.

        If no row is called positive, the precision of the next lower threshold is drawn.
        """
        first_precision = next(
            point.precision for point in self.operating_points if point.precision is not None
        )
        precision = [
            first_precision if point.precision is None else point.precision
            for point in self.operating_points
        ]
        recall = [point.sensitivity for point in self.operating_points]
        fpr = [point.false_positives / point.n_negative for point in self.operating_points]
        return {
            "roc": list(zip(fpr, recall, strict=True)),
            "pr": list(zip(recall, precision, strict=True)),
        }

    def draw_roc(self) -> Figure:
        """Draw the true positive rate over the false positive rate."""
        roc = self.roc
        honest_area_text = self.honest_area_texts.get("auc")
        pooled_text = POOLED_AREA_TEXT.format(format_number(roc.auc), "auc")
        area_text = f"AUC {honest_area_text or pooled_text}"
        drawing = roc_drawing(f"{area_text}.", roc.fpr, roc.tpr)
        return Figure(
            name="roc",
            title="ROC curve",
            drawing=drawing,
            caption=self._caption("" if honest_area_text else area_text),
            table=self._rates_table("threshold", "sensitivity", "specificity", "error"),
            keys=(self._curve_key(area_text), _DIAGONAL_KEY),
        )

    def draw_precision_recall(self) -> Figure:
        """Draw precision over recall."""
        honest_area_text = self.honest_area_texts.get("average-precision")
        average_precision = PrecisionRecall.from_sweep(self.threshold_counts, "").average_precision
        pooled_area_text = POOLED_AREA_TEXT.format(
            format_number(average_precision), "average-precision"
        )
        area_text = f"average precision {honest_area_text or pooled_area_text}"
        description = f"The share of positives is {format_number(self.prevalence)}; {area_text}."
        threshold_indices = evenly_spread_positions(
            len(self.threshold_counts.thresholds), MAX_LINE_CORNERS
        )
        thinned_counts = ThresholdCounts(
            *(column[threshold_indices] for column in vars(self.threshold_counts).values())
        )
        curve = PrecisionRecall.from_sweep(thinned_counts, "")
        drawing = precision_recall_drawing(
            description, curve.recall, curve.precision, self.prevalence
        )
        return Figure(
            name="pr",
            title="Precision and recall",
            drawing=drawing,
            caption=self._caption("" if honest_area_text else area_text.capitalize()),
            table=self._rates_table("threshold", "sensitivity", "precision"),
            keys=(self._curve_key(area_text), PREVALENCE_KEY),
        )

    def _caption(self, pooled_area_text: str) -> str:
        """Return the caption of a curve; an honest area with its interval stands in a table."""
        drawn_text = f"Drawn: {escape_and_truncate(self.roc.method, 80)}."
        return f"{pooled_area_text}. {drawn_text}" if pooled_area_text else drawn_text

    def _curve_key(self, area_text: str) -> LegendKey:
        """Return the legend of a curve, with its area but without the interval and the remarks."""
        short_text = area_text.partition(",")[0].partition(" of all")[0]
        return LegendKey("s0", f"positive: {self.positive}; {short_text}", "line")

    def draw_slider_figures(self) -> tuple[Figure, Figure]:
        """Return ROC and precision-recall figures, with a point that the page's slider moves."""
        figures = self.draw_roc(), self.draw_precision_recall()
        roc_figure, precision_figure = (
            replace(figure, slider_point=self.curve_points[figure.name][self.slider_start])
            for figure in figures
        )
        return roc_figure, precision_figure

    def _rates_table(self, *names: str) -> FigureTable:
        point_indices = sorted(
            {*evenly_spread_positions(len(self.operating_points), N_TABLE_ROWS), self.slider_start}
        )
        rows = [[self.format_rates(i)[name] for name in names] for i in point_indices]
        rows = [[cell.partition(" (")[0] for cell in row] for row in rows]
        return FigureTable.from_rows(names, rows)


def roc_drawing(description: str, fpr: np.ndarray, tpr: np.ndarray) -> Drawing:
    """Draw a ROC curve and the diagonal.

    Points on straight pieces of the curve are left out.
    """
    axis_labels = "true positive rate (sensitivity)", "false positive rate (1 − specificity)"
    drawing = make_share_drawing("ROC curve", description, *axis_labels)
    drawing.segment(0, 0, 1, 1, "baseline")
    corner_positions = find_corner_indices(fpr, tpr)
    drawing.line(fpr[corner_positions], tpr[corner_positions], "s0")
    return drawing


def draw_roc_curves(curves: Mapping[str, RocCurve]) -> Figure:
    """Draw several ROC curves by name on the same axes, with their areas in the legend."""
    names = [escape_and_truncate(name, 40) for name in curves]
    first_curve, *other_curves = curves.values()
    drawing = roc_drawing(f"{', '.join(names)}.", first_curve.fpr, first_curve.tpr)
    looks = [
        f"{series_css_class(i)}{' beyond' if i >= N_SERIES else ''}" for i in range(len(names))
    ]
    for look, curve in zip(looks[1:], other_curves, strict=True):
        places = find_corner_indices(curve.fpr, curve.tpr)
        drawing.line(curve.fpr[places], curve.tpr[places], look)
    rows = [
        [name, format_number(curve.auc), str(curve.interval or "–")]
        for name, curve in zip(names, curves.values(), strict=True)
    ]
    return Figure(
        name="roc",
        title="ROC curves" if len(names) > 1 else "ROC curve",
        drawing=drawing,
        caption=f"Positive: {escape_and_truncate(str(first_curve.positive), 60)}.",
        table=FigureTable.from_rows(("", "AUC", "interval"), rows),
        keys=(
            *(
                LegendKey(look, f"{name}: AUC {format_number(curve.auc, 3)}", "line")
                for look, name, curve in zip(looks, names, curves.values(), strict=True)
            ),
            _DIAGONAL_KEY,
        ),
    )


def precision_recall_drawing(
    description: str, recall: np.ndarray, precision: np.ndarray, prevalence: float
) -> Drawing:
    """Draw a precision-recall curve in steps, so that its area is the average precision.

    Each step extends to the previous recall.
    """
    axis_labels = "precision", "recall (sensitivity)"
    drawing = make_share_drawing("Precision-recall curve", description, *axis_labels)
    drawing.horizontal_line(prevalence, "baseline")
    xs, ys = [0.0, *np.repeat(recall, 2)[:-1]], np.repeat(precision, 2)
    drawing.line(xs, ys, "s0")
    return drawing


_DIAGONAL_KEY = LegendKey("baseline", "ranking at random", "line")
PREVALENCE_KEY = LegendKey("baseline", "share of positives", "line")


def threshold_text(threshold: float) -> str:
    """Format a threshold with six digits; an infinite threshold is explained in words."""
    return f"{threshold:.6g}" if isfinite(threshold) else "∞ (nothing is called positive)"


def count_text(value: float) -> str:
    """Format a count as an integer, or with one decimal for weighted rows."""
    return str(int(value)) if float(value).is_integer() else f"{value:.1f}"


def draw_calibration(calibration: Calibration) -> Figure:
    """Draw each bin's observed share of events over its mean probability, and the diagonal."""
    description = (
        f"Brier score {format_number(calibration.brier)}; {len(calibration.counts)} bins of about "
        "equally many rows."
    )
    drawing = make_share_drawing(
        "Calibration", description, "observed share", "predicted probability"
    )
    drawing.segment(0, 0, 1, 1, "baseline")
    drawing.line(calibration.predicted, calibration.observed, "s0 thin")
    rows = []
    for i, (predicted, observed) in enumerate(
        zip(calibration.predicted, calibration.observed, strict=True)
    ):
        interval_text = "–"
        if calibration.low is not None and calibration.high is not None:
            drawing.segment(
                predicted, calibration.low[i], predicted, calibration.high[i], "span s0"
            )
            interval_text = (
                f"[{format_number(calibration.low[i])}, {format_number(calibration.high[i])}]"
            )
        count = calibration.counts[i]
        tooltip = (
            f"predicted {format_number(predicted)}, observed {format_number(observed)} in "
            f"{count} rows"
        )
        drawing.point(predicted, observed, "s0", tooltip, size=4.5)
        rows.append([format_number(predicted), format_number(observed), interval_text, str(count)])
    notes_text = " ".join(escape_and_truncate(note, 200) for note in calibration.notes)
    return Figure(
        name="calibration",
        title="Whether probabilities mean what they say",
        drawing=drawing,
        caption=(
            f"Probability of {escape_and_truncate(calibration.event, 60)} predicted for rows that "
            "took no part in the fit, in bins of about equally many rows, against the observed "
            f"share. Brier score {format_number(calibration.brier)}. {notes_text}"
        ).strip(),
        table=FigureTable.from_rows(
            ("mean probability", "observed share", "interval", "rows"), rows
        ),
        keys=(
            LegendKey("s0", "observed share, with its interval", "span"),
            LegendKey("baseline", "perfect calibration", "line"),
        ),
    )
