"""Reliability of out-of-fold probabilities: what came against what was said."""

from __future__ import annotations

from truerisk.core.present import clean, number
from truerisk.core.statistics.calibration import Calibration
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.svg import of_shares

__all__ = ["draw_calibration"]


def draw_calibration(found: Calibration) -> Figure:
    """Observed shares with their intervals over mean probabilities, beside the diagonal."""
    about = f"Brier score {number(found.brier)}; {len(found.counts)} bins of about as many rows."
    drawing = of_shares("Calibration", about, "share observed", "probability given")
    drawing.slope(0, 0, 1, 1, "baseline")
    drawing.line(found.predicted, found.observed, "s0 thin")
    rows = []
    for i, (said, came) in enumerate(zip(found.predicted, found.observed, strict=True)):
        sure = "–"
        if found.low is not None and found.high is not None:
            drawing.slope(said, found.low[i], said, found.high[i], "span s0")
            sure = f"[{number(found.low[i])}, {number(found.high[i])}]"
        count = found.counts[i]
        tip = f"given {number(said)}, observed {number(came)} in {count} rows"
        drawing.point(said, came, "s0", tip, size=4.5)
        rows.append([number(said), number(came), sure, str(count)])
    sure_note = " ".join(clean(note, 200) for note in found.notes)
    return Figure(
        name="calibration",
        title="Whether probabilities mean what they say",
        drawing=drawing,
        caption=(
            f"Probability of {clean(found.event, 60)} given to rows that took no part in the fit, "
            "in bins of about as many rows, against the share that came. "
            f"Brier score {number(found.brier)}. {sure_note}"
        ).strip(),
        table=FigureTable.of(("mean probability", "share observed", "interval", "rows"), rows),
        keys=(
            Key("s0", "share observed, with its interval", "span"),
            Key("baseline", "probabilities that are right", "line"),
        ),
    )
