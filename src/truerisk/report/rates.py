"""ROC and precision-recall curves, the effect of each threshold, and calibration plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from truerisk.core.formats import clean, number
from truerisk.core.frozen import frozen
from truerisk.report.figure import (
    MOST_CORNERS,
    MOST_POINTS,
    Figure,
    FigureTable,
    Key,
    corners,
    thinned,
)
from truerisk.report.svg import SHARE_X, SHARE_Y, Drawing, of_shares
from truerisk.results.calibration import Calibration
from truerisk.results.operating_points import OperatingPoint, Sweep
from truerisk.results.roc import PrecisionRecall, RocCurve

N_SHOWN = 13  # number of thresholds in the table
POOLED = "{} of all predictions pooled; scoring='{}' gives the honest one, with its interval"


@frozen
class Rates:
    """A ROC curve ready to be drawn, with the `calls` at `MOST_POINTS` thresholds for a slider.

    The lines use all thresholds, up to `MOST_CORNERS` of them. `areas` are the honest texts for
    "auc" and "average-precision", if the page has them.
    """

    roc: RocCurve
    areas: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def sweep(self) -> Sweep:
        """Counts at all thresholds: rates times rows, rounded to integers up to rounding error."""
        roc = self.roc
        counts = (np.asarray(roc.tpr) * roc.n_positive, np.asarray(roc.fpr) * roc.n_negative)
        whole = (np.where(np.abs(c - np.round(c)) < 1e-6, np.round(c), c) for c in counts)
        return Sweep(np.asarray(roc.thresholds), *whole)

    @cached_property
    def calls(self) -> tuple[OperatingPoint, ...]:
        """Operating points, from no row called positive to all."""
        shown = thinned(len(self.sweep.thresholds), MOST_POINTS)
        return tuple(self.sweep.point(i, "on the page") for i in shown)

    @cached_property
    def start(self) -> int:
        """Initial position of the slider: the first one with the fewest errors."""
        wrong = [c.n_positive - c.true_positives + c.false_positives for c in self.calls]
        return wrong.index(min(wrong))

    @property
    def positive(self) -> str:
        """Name of the positive class, shortened to 60 characters."""
        return clean(str(self.roc.positive), 60)

    @property
    def prevalence(self) -> float:
        """Share of the positive rows."""
        return self.roc.n_positive / (self.roc.n_positive + self.roc.n_negative)

    def data(self) -> dict[str, Any]:
        """Return the data that the script needs to update the numbers."""
        tp = [call.true_positives for call in self.calls]
        fp = [call.false_positives for call in self.calls]
        return {
            "thresholds": [threshold_text(c.threshold) for c in self.calls],
            "tp": [int(n) if n.is_integer() else n for n in tp],
            "fp": [int(n) if n.is_integer() else n for n in fp],
            "positives": self.roc.n_positive,
            "negatives": self.roc.n_negative,
            "start": self.start,
            **{
                name: [[SHARE_X(x), SHARE_Y(y)] for x, y in places]
                for name, places in self.points.items()
            },
        }

    def numbers(self, at: int) -> dict[str, str]:
        """Return the page's numbers at one threshold, for costs of 1 and these rows' shares."""
        call = self.calls[at]
        missed = call.n_positive - call.true_positives
        spared = call.n_negative - call.false_positives
        not_called = missed + spared
        return {
            "threshold": threshold_text(call.threshold),
            "tp": count_text(call.true_positives),
            "fp": count_text(call.false_positives),
            "fn": count_text(missed),
            "tn": count_text(spared),
            "sensitivity": number(call.sensitivity),
            "specificity": number(call.specificity),
            "precision": number(call.precision),
            "npv": number(spared / not_called if not_called else None),
            "error": number(call.error),
            "cost": number(call.error),
        }

    # ------------------------------------------------------------ drawings

    @cached_property
    def points(self) -> dict[str, list[tuple[float, float]]]:
        """Points of the ROC and precision-recall curves, one per threshold.

        If no row is called positive, the precision of the first threshold with one is drawn.
        """
        first = next(c.precision for c in self.calls if c.precision is not None)
        precision = [first if c.precision is None else c.precision for c in self.calls]
        recall = [c.sensitivity for c in self.calls]
        fpr = [c.false_positives / c.n_negative for c in self.calls]
        return {
            "roc": list(zip(fpr, recall, strict=True)),
            "pr": list(zip(recall, precision, strict=True)),
        }

    def draw_roc(self) -> Figure:
        """Draw the true positive rate over the false positive rate."""
        roc = self.roc
        area = f"AUC {self.areas.get('auc') or POOLED.format(number(roc.auc), 'auc')}"
        drawing = roc_drawing(f"{area}.", roc.fpr, roc.tpr)
        return Figure(
            name="roc",
            title="ROC curve",
            drawing=drawing,
            caption=f"{area}. Drawn: {clean(roc.method, 80)}.",
            table=self._table("threshold", "sensitivity", "specificity", "error"),
            keys=(Key("s0", f"positive: {self.positive}", "line"), _DIAGONAL),
        )

    def draw_precision_recall(self) -> Figure:
        """Draw precision over recall."""
        honest = self.areas.get("average-precision")
        average = PrecisionRecall.from_sweep(self.sweep, "").average_precision
        pooled = POOLED.format(number(average), "average-precision")
        area = f"average precision {honest or pooled}"
        about = f"The share of positives is {number(self.prevalence)}; {area}."
        at = thinned(len(self.sweep.thresholds), MOST_CORNERS)
        some = Sweep(*(column[at] for column in vars(self.sweep).values()))
        curve = PrecisionRecall.from_sweep(some, "")
        drawing = precision_drawing(about, curve.recall, curve.precision, self.prevalence)
        return Figure(
            name="pr",
            title="Precision and recall",
            drawing=drawing,
            caption=f"{area.capitalize()}.",
            table=self._table("threshold", "sensitivity", "precision"),
            keys=(Key("s0", f"positive: {self.positive}", "line"), SHARE),
        )

    def above_the_slider(self) -> tuple[Figure, Figure]:
        """Return both figures with a point at the threshold of the page's slider."""
        figures = self.draw_roc(), self.draw_precision_recall()
        first, second = (replace(f, here=self.points[f.name][self.start]) for f in figures)
        return first, second

    def _table(self, *names: str) -> FigureTable:
        shown = sorted({*thinned(len(self.calls), N_SHOWN), self.start})
        rows = [[self.numbers(i)[name] for name in names] for i in shown]
        rows = [[cell.partition(" (")[0] for cell in row] for row in rows]
        return FigureTable.from_rows(names, rows)


def roc_drawing(about: str, fpr: np.ndarray, tpr: np.ndarray) -> Drawing:
    """Draw the curve, without points on its straight pieces, and the diagonal."""
    axes = "true positive rate (sensitivity)", "false positive rate (1 − specificity)"
    drawing = of_shares("ROC curve", about, *axes)
    drawing.slope(0, 0, 1, 1, "baseline")
    at = corners(fpr, tpr)
    drawing.line(fpr[at], tpr[at], "s0")
    return drawing


def precision_drawing(
    about: str, recall: np.ndarray, precision: np.ndarray, prevalence: float
) -> Drawing:
    """Draw precision in steps that extend to the previous recall.

    The area under them is then the average precision.
    """
    axes = "precision", "recall (sensitivity)"
    drawing = of_shares("Precision-recall curve", about, *axes)
    drawing.level(prevalence, "baseline")
    xs, ys = [0.0, *np.repeat(recall, 2)[:-1]], np.repeat(precision, 2)
    drawing.line(xs, ys, "s0")
    return drawing


_DIAGONAL = Key("baseline", "ranking at random", "line")
SHARE = Key("baseline", "share of positives", "line")


def threshold_text(threshold: float) -> str:
    """Format a threshold with enough digits to distinguish it from others."""
    return f"{threshold:.6g}" if isfinite(threshold) else "∞ (nothing is called positive)"


def count_text(value: float) -> str:
    """Format a count as an integer, or with one decimal for weighted rows."""
    return str(int(value)) if float(value).is_integer() else f"{value:.1f}"


def draw_calibration(bins: Calibration) -> Figure:
    """Draw observed shares with their intervals over mean probabilities, and the diagonal."""
    about = f"Brier score {number(bins.brier)}; {len(bins.counts)} bins of about equally many rows."
    drawing = of_shares("Calibration", about, "share observed", "probability given")
    drawing.slope(0, 0, 1, 1, "baseline")
    drawing.line(bins.predicted, bins.observed, "s0 thin")
    rows = []
    for i, (predicted, observed) in enumerate(zip(bins.predicted, bins.observed, strict=True)):
        ends = "–"
        if bins.low is not None and bins.high is not None:
            drawing.slope(predicted, bins.low[i], predicted, bins.high[i], "span s0")
            ends = f"[{number(bins.low[i])}, {number(bins.high[i])}]"
        count = bins.counts[i]
        tip = f"predicted {number(predicted)}, observed {number(observed)} in {count} rows"
        drawing.point(predicted, observed, "s0", tip, size=4.5)
        rows.append([number(predicted), number(observed), ends, str(count)])
    certain_note = " ".join(clean(note, 200) for note in bins.notes)
    return Figure(
        name="calibration",
        title="Whether probabilities mean what they say",
        drawing=drawing,
        caption=(
            f"Probability of {clean(bins.event, 60)} predicted for rows that took no part in the "
            "fit, in bins of about equally many rows, against the observed share. "
            f"Brier score {number(bins.brier)}. {certain_note}"
        ).strip(),
        table=FigureTable.from_rows(
            ("mean probability", "share observed", "interval", "rows"), rows
        ),
        keys=(
            Key("s0", "share observed, with its interval", "span"),
            Key("baseline", "perfect calibration", "line"),
        ),
    )
