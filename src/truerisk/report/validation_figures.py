"""The three figures of a validation: ROC curve, calibration curve, decision curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truerisk.core.formats import clean, number
from truerisk.core.frozen import frozen
from truerisk.report.figure import Figure, FigureTable, Key, thinned
from truerisk.report.rates import roc_drawing
from truerisk.report.svg import SHARES, WIDTH, Drawing, PixelScale, round_ticks
from truerisk.validation.calibration import CalibrationCurve, SmoothCalibration
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.validation import Validation

TOP, BOTTOM, LEFT = 30, 336, 52
N_SHOWN = 21  # number of rows of a table under a figure
BARS = -0.28, -0.03  # vertical range of the bars of probabilities, below the curve


def draw_roc_curve(discrimination: Discrimination, document: Validation) -> Figure | None:
    """Draw the ROC curve of held-out predictions."""
    roc = discrimination.roc
    if roc is None:
        return None
    area = document.measure("auc")
    average = ", pooled," if document.risk.method == "loo" else ", mean over folds,"
    text = "" if area is None or area.honest is None else f" AUC{average} {number(area.honest)}"
    pooled = "Answers of all folds, pooled."
    if document.finished:
        pooled, text = "", text.replace(average, "")
    text += (
        f" {area.interval}." if area is not None and area.interval is not None else "." * bool(text)
    )
    about = f"{pooled}{text}".strip()
    shown, event = thinned(len(roc.fpr), N_SHOWN), clean(str(document.rows["event"]), 60)
    rows = [[number(roc.fpr[i]), number(roc.tpr[i])] for i in shown]
    return Figure(
        name="roc",
        title="ROC curve",
        drawing=roc_drawing(about, roc.fpr, roc.tpr),
        caption=f"Event: {event}. {about}",
        table=FigureTable.from_rows(("false positive rate", "true positive rate"), rows),
        keys=(Key("s0", "held-out rows", "line"), Key("baseline", "ranking at random", "line")),
    )


def draw_calibration_curve(
    curve: CalibrationCurve, smooth: SmoothCalibration | None = None
) -> Figure:
    """Draw the smoothed outcome over predictions, with bars of rows below if known."""
    words = OF_EVENT if curve.of_event else OF_NUMBERS
    event = "the event"
    if smooth is not None and smooth.event is not None:
        event += f" ({clean(smooth.event, 60)})"
    slope = None if smooth is None else smooth.measures.get("slope")
    text = "" if slope is None or slope.honest is None else f" Slope {number(slope.honest, 2)}."
    own = "" if curve.apparent is None else "apparent "
    low, high = _range(smooth, curve)
    ticks = SHARES if curve.of_event else round_ticks(low, high)
    size = (380, -0.01) if smooth is None else (460, -0.3)
    drawing = _drawing("Calibration curve", f"{words.smoothed}{text}", *size, low, high)
    drawing.left_axis(words.came, ticks)
    drawing.bottom_axis(words.predictions, ticks)
    if smooth is not None:
        _bars(drawing, smooth, words, (low, high))
    drawing.slope(low, low, high, high, "baseline")
    keys = [Key("s0", "held-out rows", "line")]
    columns = [(words.column, curve.predicted), ("held out", curve.observed)]
    if curve.low is not None and curve.high is not None:
        lows, highs = (side.clip(low, high) for side in (curve.low, curve.high))
        drawing.band(curve.predicted, lows, highs, "s0")
        keys = [Key("s0", "held-out rows, with their band", "line")]
        columns += [("low", curve.low), ("high", curve.high)]
    for name, values, look in (
        ("apparent", curve.apparent, "s2"),
        ("corrected", curve.corrected, "s1"),
    ):
        if values is not None:
            drawing.line(curve.predicted, values, f"{look} thin")
            keys.append(Key(look, OTHERWISE[name], "line"))
            columns.append((name, values))
    drawing.line(curve.predicted, curve.observed, "s0")
    keys.append(Key("baseline", words.right, "line"))
    if smooth is not None and len(words.sides) > 1:
        below = zip(words.sides, BAR_LOOKS, strict=True)
        keys += [Key(look, f"rows {side}", "cell") for side, look in below]
    return Figure(
        name="calibration",
        title=words.title,
        drawing=drawing,
        caption=f"{words.caption.format(event=event, own=own)}{text}",
        table=_table(columns),
        keys=tuple(keys),
    )


BAR_LOOKS = "s1", "s5"
OTHERWISE = {
    "apparent": "apparent: the model on its own training rows",
    "corrected": "corrected for optimism by the bootstrap",
}


@frozen
class Words:
    """Texts of a calibration curve."""

    title: str
    smoothed: str
    came: str
    predictions: str
    column: str
    right: str
    caption: str
    sides: tuple[str, ...]


OF_EVENT = Words(
    title="Whether probabilities mean what they say",
    smoothed="The share of events, smoothed.",
    came="share of events",
    predictions="probability given",
    column="probability",
    right="perfect calibration",
    caption=(
        "Probability of {event}: a restricted cubic spline of its logit, between the 1 % and the "
        "99 % quantile of the {own}probabilities. Bars below: held-out probabilities of rows "
        "with the event (upwards) and without (downwards)."
    ),
    sides=("with the event", "without it"),
)
OF_NUMBERS = Words(
    title="Whether answers are right on average",
    smoothed="The mean of y, smoothed.",
    came="mean of y",
    predictions="answer",
    column="answer",
    right="perfect calibration",
    caption=(
        "A restricted cubic spline of the answers, between the 1 % and the 99 % quantile of the "
        "{own}answers. Bars below: held-out answers."
    ),
    sides=("rows",),
)


def _range(smooth: SmoothCalibration | None, curve: CalibrationCurve) -> tuple[float, float]:
    """Return the range of the axes: [0, 1] for probabilities, else that of all values."""
    if curve.of_event:
        return 0.0, 1.0
    predicted = curve.predicted if smooth is None else smooth.edges
    lines = (predicted, curve.observed, curve.apparent, curve.corrected)
    values = np.concatenate([line for line in lines if line is not None])
    return float(values.min()), float(values.max())


def _bars(
    drawing: Drawing, smooth: SmoothCalibration, words: Words, ends: tuple[float, float]
) -> None:
    """Draw counts of rows with the event upwards, and of others downwards, from a baseline."""
    span, counts, edges = ends[1] - ends[0], smooth.counts, smooth.edges
    low, high = (ends[0] + share * span for share in BARS)
    middle, most = (low + high) / 2, counts.max(initial=0)
    if len(counts) != len(words.sides) or not most:
        return
    for side, up, look, what in zip(counts, (1, -1), BAR_LOOKS, words.sides, strict=False):
        for i, count in enumerate(side):
            if count:
                end = middle + up * (high - middle) * count / most
                tip = f"{number(edges[i], 2)} to {number(edges[i + 1], 2)}: {count:g} {what}"
                drawing.bar(edges[i], edges[i + 1], middle, end, look, tip)


def draw_benefit(benefit: NetBenefit) -> Figure:
    """Draw the net benefit over thresholds, and that of treating everybody and nobody."""
    high, event = benefit.honest if benefit.high is None else benefit.high, clean(benefit.event, 60)
    top = float(max(high.max(), benefit.treat_all.max()))
    floor = -0.12 * max(top, 1e-9)
    drawing = Drawing(
        title="Decision curve",
        about="Net benefit against the threshold probability of treatment.",
        height=380,
        x=PixelScale(-0.01, 1.01, LEFT, WIDTH - 12),
        y=PixelScale(floor, 1.05 * max(top, 1e-9), BOTTOM, TOP),
    )
    drawing.left_axis("net benefit")
    drawing.bottom_axis("threshold probability", SHARES)
    drawing.level(0, "baseline")
    t = benefit.thresholds
    columns = [("threshold", t), ("held out", benefit.honest)]
    keys = [Key("s0", "held-out rows", "line")]
    if benefit.treat_all_low is not None and benefit.treat_all_high is not None:
        _band(drawing, t, (benefit.treat_all_low, benefit.treat_all_high), floor, "s3")
    if benefit.low is not None and benefit.high is not None:
        final = benefit.of_final_model
        look = "s0" if final is None else "s2"
        _band(drawing, t, (benefit.low, benefit.high), floor, look)
        keys = [Key("s0", "held-out rows, with their band", "line")]
        if final is not None:
            _line(drawing, t, final, floor, f"{look} thin")
            keys = [
                Key("s0", "held-out rows", "line"),
                Key(look, "the same rows by models of the final setting, with their band", "line"),
            ]
            columns.append(("final model", final))
        columns += [("low", benefit.low), ("high", benefit.high)]
    _line(drawing, t, benefit.treat_all, floor, "s3 thin")
    keys += [Key("s3", "treat everybody", "line"), Key("baseline", "treat nobody", "line")]
    columns.append(("treat all", benefit.treat_all))
    if benefit.apparent is not None:
        columns.append(("apparent", benefit.apparent))
    if benefit.corrected is not None:
        _line(drawing, t, benefit.corrected, floor, "s1 thin")
        keys.insert(1, Key("s1", OTHERWISE["corrected"], "line"))
        columns.append(("corrected", benefit.corrected))
    _line(drawing, t, benefit.honest, floor, "s0")
    return Figure(
        name="net-benefit",
        title="What deciding by the model gains",
        drawing=drawing,
        caption=(
            f"Event: {event}. True positives per row minus false positives per row times t/(1 − "
            "t), if rows with a probability of at least t are treated. Values below the axis are "
            "not drawn."
        ),
        table=_table(columns),
        keys=tuple(keys),
    )


def _drawing(
    title: str, about: str, height: int, below: float, low: float = 0.0, high: float = 1.0
) -> Drawing:
    """Return a drawing with both axes from low to high, with margins."""
    span = high - low
    return Drawing(
        title=title,
        about=about,
        height=height,
        x=PixelScale(low - 0.01 * span, high + 0.01 * span, LEFT, WIDTH - 12),
        y=PixelScale(low + below * span, high + 0.01 * span, height - 44, TOP),
    )


def _line(drawing: Drawing, xs: np.ndarray, ys: np.ndarray, floor: float, look: str) -> None:
    """Draw the pieces of a line above the floor."""
    above = ys >= floor
    for piece in np.split(np.arange(len(ys)), np.flatnonzero(np.diff(above)) + 1):
        if above[piece[0]]:
            drawing.line(xs[piece], ys[piece], look)


def _band(
    drawing: Drawing, xs: np.ndarray, ends: Sequence[np.ndarray], floor: float, look: str
) -> None:
    """Draw the part of a band above the floor; it decreases, and is cut where it leaves."""
    above = np.flatnonzero(ends[1] >= floor)
    if len(above):
        some = slice(above[0], above[-1] + 1)
        low, high = (np.maximum(end[some], floor) for end in ends)
        drawing.band(xs[some], low, high, look)


def _table(columns: Sequence[tuple[str, np.ndarray]]) -> FigureTable:
    shown = thinned(len(columns[0][1]), N_SHOWN)
    rows = [[number(values[i]) for _, values in columns] for i in shown]
    return FigureTable.from_rows([name for name, _ in columns], rows)
