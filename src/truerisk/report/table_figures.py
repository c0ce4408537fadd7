"""Figure of an audit of a table: the best candidates against the selected one."""

from __future__ import annotations

from truerisk.core.formats import escape_and_truncate, format_percent, signed_number
from truerisk.external.table_audit import MOST_SHOWN, TableAudit
from truerisk.report.figure import Figure, FigureTable
from truerisk.report.svg import DRAWING_WIDTH, PixelScale, make_row_drawing, shorten
from truerisk.results.interval import Interval

LEFT_MARGIN, ROW_HEIGHT, TOP_MARGIN = 140, 30, 14


def draw_differences(audit: TableAudit) -> Figure | None:
    """Draw the difference of each of the next best candidates from the selected one.

    Return None if there are no intervals.
    """
    shown = [d for d in audit.differences[:MOST_SHOWN] if d.low is not None and d.high is not None]
    if not shown:
        return None
    noun, selected = audit.scale.noun, escape_and_truncate(audit.selected.candidate, 40)
    ends = [end for d in shown for end in (d.low, d.high, d.difference) if end is not None]
    x = PixelScale.from_values([0.0, *ends], LEFT_MARGIN, DRAWING_WIDTH - 14)
    title = f"Candidates minus {selected}"
    cells = [
        [
            escape_and_truncate(d.candidate, 40),
            signed_number(d.difference, d.value),
            f"[{signed_number(d.low, d.value)}, {signed_number(d.high, d.value)}]",
        ]
        for d in shown
    ]
    texts = [f"{name}: {difference}, interval {interval}" for name, difference, interval in cells]
    drawing = make_row_drawing(title, "; ".join(texts), x, len(shown), ROW_HEIGHT, TOP_MARGIN)
    better = "" if audit.scale.perfect is not None else ", lower is better"
    drawing.bottom_axis(f"difference of {noun}s, {shorten(audit.selected.scoring, 24)}{better}")
    drawing.vertical_line(0.0, "baseline")
    for i, (d, text) in enumerate(zip(shown, texts, strict=True)):
        interval = Interval(d.low or 0.0, d.high or 0.0, "", audit.confidence_level)
        drawing.row_label(i + 0.5, shorten(d.candidate, 18))
        drawing.point_with_interval(d.difference, interval, i + 0.5, text, size=4.6)
    caption = (
        f"The {len(shown)} best candidates after {selected}. A candidate whose interval reaches "
        f"the line may be as good. The intervals of all candidates hold together with "
        f"{format_percent(audit.confidence_level)}."
    )
    table = FigureTable.from_rows(("candidate", "difference", "interval"), cells)
    return Figure("differences", title, drawing, caption, table)
