"""ROC and precision-recall curves, what each threshold does; how reliable probabilities are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from truerisk.core.present import clean, number
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
from truerisk.results.roc import RocCurve

N_SHOWN = 13  # thresholds in the table
POOLED = "{} of all predictions pooled; scoring='{}' gives the honest one, with its interval"


@dataclass(frozen=True)
class Calls:
    """A threshold and how many rows of each class it calls positive."""

    threshold: float
    true_positives: float
    false_positives: float


@dataclass(frozen=True)
class Rates:
    """A ROC curve ready to be drawn, with the `calls` at `MOST_POINTS` thresholds for a slider.

    The lines go through all thresholds, up to `MOST_CORNERS` of them. `areas` says what is honest
    of "auc" and "average-precision", where the page has it.
    """

    roc: RocCurve
    areas: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def calls(self) -> tuple[Calls, ...]:
        """From nothing called positive to everything."""
        return self._calls_at(thinned(len(self.roc.thresholds), MOST_POINTS))

    def _calls_at(self, places: Iterable[int]) -> tuple[Calls, ...]:
        roc = self.roc
        return tuple(
            Calls(
                roc.thresholds[i],
                _whole(roc.tpr[i] * roc.n_positive),
                _whole(roc.fpr[i] * roc.n_negative),
            )
            for i in places
        )

    @property
    def start(self) -> int:
        """Where the slider stands first: the fewest wrong calls, of equal ones the first."""
        n = self.roc.n_positive
        return min(
            range(len(self.calls)),
            key=lambda i: n - self.calls[i].true_positives + self.calls[i].false_positives,
        )

    @property
    def positive(self) -> str:
        return clean(str(self.roc.positive), 60)

    @property
    def prevalence(self) -> float:
        return self.roc.n_positive / (self.roc.n_positive + self.roc.n_negative)

    def data(self) -> dict[str, Any]:
        """What the script needs to move the numbers."""
        return {
            "thresholds": [threshold_text(c.threshold) for c in self.calls],
            "tp": [c.true_positives for c in self.calls],
            "fp": [c.false_positives for c in self.calls],
            "positives": self.roc.n_positive,
            "negatives": self.roc.n_negative,
            "start": self.start,
            **{
                name: [[SHARE_X(x), SHARE_Y(y)] for x, y in places]
                for name, places in self.points.items()
            },
        }

    def numbers(self, at: int) -> dict[str, str]:
        """What the page shows at one threshold, for costs of 1 and the share in these rows."""
        call, n1, n0 = self.calls[at], self.roc.n_positive, self.roc.n_negative
        tp, fp = call.true_positives, call.false_positives
        called, not_called = tp + fp, n1 + n0 - tp - fp
        return {
            "threshold": threshold_text(call.threshold),
            "tp": count_text(tp),
            "fp": count_text(fp),
            "fn": count_text(n1 - tp),
            "tn": count_text(n0 - fp),
            "sensitivity": number(tp / n1),
            "specificity": number((n0 - fp) / n0),
            "precision": number(tp / called if called else None),
            "npv": number((n0 - fp) / not_called if not_called else None),
            "error": number((n1 - tp + fp) / (n1 + n0)),
            "cost": number((n1 - tp + fp) / (n1 + n0)),
        }

    # ------------------------------------------------------------ drawings

    @cached_property
    def points(self) -> dict[str, list[tuple[float, float]]]:
        """Where the calls stand on both drawings."""
        n1, n0 = self.roc.n_positive, self.roc.n_negative
        return {
            "roc": [(c.false_positives / n0, c.true_positives / n1) for c in self.calls],
            "pr": [(c.true_positives / n1, self._precision(c)) for c in self.calls],
        }

    def _precision(self, call: Calls) -> float:
        """Precision; that of the first calls stands in where nothing is called."""
        call = call if _called(call) else next(one for one in self.calls if _called(one))
        return call.true_positives / _called(call)

    def draw_roc(self) -> Figure:
        """True against false positive rate."""
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
        """Precision against recall."""
        honest = self.areas.get("average-precision")
        pooled = POOLED.format(number(self.average_precision()), "average-precision")
        area = f"average precision {honest or pooled}"
        about = f"The share of positives is {number(self.prevalence)}; {area}."
        every = self._calls_at(thinned(len(self.roc.thresholds), MOST_CORNERS))
        some = [call for call in every if _called(call)]
        recall = [call.true_positives / self.roc.n_positive for call in some]
        precision = [self._precision(call) for call in some]
        drawing = precision_drawing(about, recall, precision, self.prevalence)
        return Figure(
            name="pr",
            title="Precision and recall",
            drawing=drawing,
            caption=f"{area.capitalize()}.",
            table=self._table("threshold", "sensitivity", "precision"),
            keys=(Key("s0", f"positive: {self.positive}", "line"), SHARE),
        )

    def average_precision(self) -> float:
        """Σ (recall_k − recall_{k−1}) · precision_k over all thresholds."""
        roc, total, before = self.roc, 0.0, 0.0
        for fpr, tpr in zip(roc.fpr, roc.tpr, strict=True):
            called = tpr * roc.n_positive + fpr * roc.n_negative
            if called:
                total += (tpr - before) * tpr * roc.n_positive / called
            before = tpr
        return total

    def above_the_slider(self) -> tuple[Figure, Figure]:
        """Both figures with the point of the threshold that the slider of the page is on."""
        figures = self.draw_roc(), self.draw_precision_recall()
        first, second = (replace(f, here=self.points[f.name][self.start]) for f in figures)
        return first, second

    def _table(self, *names: str) -> FigureTable:
        shown = sorted({*thinned(len(self.calls), N_SHOWN), self.start})
        rows = [[self.numbers(i)[name] for name in names] for i in shown]
        rows = [[cell.partition(" (")[0] for cell in row] for row in rows]
        return FigureTable.of(names, rows)


def roc_drawing(about: str, fpr: np.ndarray, tpr: np.ndarray) -> Drawing:
    """Draw the curve, without points on its straight pieces, and the diagonal."""
    axes = "true positive rate (sensitivity)", "false positive rate (1 − specificity)"
    drawing = of_shares("ROC curve", about, *axes)
    drawing.slope(0, 0, 1, 1, "baseline")
    at = corners(fpr, tpr)
    drawing.line(fpr[at], tpr[at], "s0")
    return drawing


def precision_drawing(
    about: str, recall: Sequence[float], precision: Sequence[float], prevalence: float
) -> Drawing:
    """Precision in steps: it holds back to the recall before, so that the area is the average."""
    axes = "precision", "recall (sensitivity)"
    drawing = of_shares("Precision-recall curve", about, *axes)
    drawing.level(prevalence, "baseline")
    xs, ys = [0.0, *np.repeat(recall, 2)[:-1]], np.repeat(precision, 2)
    drawing.line(xs, ys, "s0")
    return drawing


_DIAGONAL = Key("baseline", "ranking at random", "line")
SHARE = Key("baseline", "share of positives", "line")


def _called(call: Calls) -> float:
    """How many rows are called positive."""
    return call.true_positives + call.false_positives


def _whole(value: float) -> float:
    """A count that was divided and multiplied again is whole again; weighted ones are not."""
    return round(value) if abs(value - round(value)) < 1e-6 else value


def threshold_text(threshold: float) -> str:
    """Enough digits to tell thresholds apart."""
    if not isfinite(threshold):
        return "∞ (nothing is called positive)"
    return f"{threshold:.6g}"


def count_text(value: float) -> str:
    """A whole count, or one decimal for weighted rows."""
    return str(int(value)) if float(value).is_integer() else f"{value:.1f}"


def draw_calibration(bins: Calibration) -> Figure:
    """Observed shares with their intervals over mean probabilities, beside the diagonal."""
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
    sure_note = " ".join(clean(note, 200) for note in bins.notes)
    return Figure(
        name="calibration",
        title="Whether probabilities mean what they say",
        drawing=drawing,
        caption=(
            f"Probability of {clean(bins.event, 60)} predicted for rows that took no part in the "
            "fit, in bins of about equally many rows, against the observed share. "
            f"Brier score {number(bins.brier)}. {sure_note}"
        ).strip(),
        table=FigureTable.of(("mean probability", "share observed", "interval", "rows"), rows),
        keys=(
            Key("s0", "share observed, with its interval", "span"),
            Key("baseline", "perfect calibration", "line"),
        ),
    )
