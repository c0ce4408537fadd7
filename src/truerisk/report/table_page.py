"""Page and figure of an audit of a table: the honest value, and the other candidates."""

from __future__ import annotations

from truerisk.core.formats import (
    escape_and_truncate,
    format_number,
    format_percent,
    signed_number,
)
from truerisk.external.table_audit import MOST_SHOWN, TableAudit, name_best_not_shown
from truerisk.report.figure import Figure, FigureTable, drop_none
from truerisk.report.gate import SECTIONS_WITH_GATE, make_gate
from truerisk.report.layout import Headline, Page, Section, escape_sentences
from truerisk.report.methods_text import (
    ReproductionInfo,
    find_reference,
    format_arguments,
)
from truerisk.report.svg import DRAWING_WIDTH, PixelScale, make_row_drawing, shorten
from truerisk.results.sentences import describe_interval

LEFT_MARGIN, ROW_HEIGHT, TOP_MARGIN = 140, 30, 14


def draw_differences(audit: TableAudit) -> Figure | None:
    """Draw the differences in risk between the selected candidate and each next best candidate.

    Return None if there are no intervals.
    """
    shown = [(d, d.interval) for d in audit.differences[:MOST_SHOWN] if d.interval is not None]
    if not shown:
        return None
    noun, selected = audit.scale.noun, escape_and_truncate(audit.selected.candidate, 40)
    ends = [end for d, interval in shown for end in (interval.low, interval.high, d.difference)]
    x = PixelScale.from_values([0.0, *ends], LEFT_MARGIN, DRAWING_WIDTH - 14)
    title = f"Candidates minus {selected}"
    cells = []
    for d, interval in shown:
        numbers = (d.difference, interval.low, interval.high)
        difference, low, high = (signed_number(number, d.value) for number in numbers)
        cells.append([escape_and_truncate(d.candidate, 40), difference, f"[{low}, {high}]"])
    texts = [f"{name}: {difference}, interval {interval}" for name, difference, interval in cells]
    drawing = make_row_drawing(title, "; ".join(texts), x, len(shown), ROW_HEIGHT, TOP_MARGIN)
    better = "" if audit.scale.perfect is not None else ", lower is better"
    scoring = shorten(audit.selected.named_scoring, 24)
    drawing.bottom_axis(f"difference of {noun}s, {scoring}{better}")
    drawing.vertical_line(0.0, "baseline")
    for i, ((d, interval), text) in enumerate(zip(shown, texts, strict=True)):
        drawing.row_label(i + 0.5, shorten(d.candidate, 18))
        drawing.point_with_interval(d.difference, interval, i + 0.5, text, size=4.6)
    best = "next best candidate" if len(shown) == 1 else f"{len(shown)} best candidates"
    caption = (
        f"The {best} after {selected}. The intervals of all candidates hold together with "
        f"{format_percent(audit.confidence_level)}. A candidate may be outside the set of those "
        f"that may be the best although its interval reaches the line, because the set comes from "
        f"a one-sided test. {name_best_not_shown(audit)}"
    ).strip()
    table = FigureTable.from_rows(("candidate", "difference", "interval"), cells)
    return Figure("differences", title, drawing, caption, table)


def draw_table_audit_page(audit: TableAudit) -> Page:
    """Return the HTML page of an audit of a table."""
    scale, selected, honest = audit.scale, audit.selected, audit.honest
    source = escape_and_truncate(audit.source, 80)
    arguments = ", ".join(["losses", *format_arguments(audit.arguments)])
    call = escape_and_truncate(audit.command or f"tr.audit_table({arguments})", 1000)
    headline = [
        Headline(
            f"Report this {scale.noun}",
            format_number(honest.value),
            describe_interval(honest.interval),
            "report",
        ),
        Headline(f"The best {scale.noun}", format_number(selected.value), "optimistic"),
        Headline(
            "Optimism",
            signed_number(audit.optimism, honest.value),
            "honest − best" if scale.perfect is None else "best − honest",
        ),
        Headline("May be best", str(len(audit.best_set())), f"of {audit.n_candidates} candidates"),
    ]
    values = {
        "eyebrow": "audit of a table",
        "title": f"{source}: audit of {audit.n_candidates} candidates"
        if source
        else f"Audit of {audit.n_candidates} candidates",
        "facts": [
            f"{audit.n_rows} rows",
            *([] if audit.n_groups is None else [f"{audit.n_groups} groups"]),
            f"selected {escape_and_truncate(selected.candidate, 60)}",
            scale.name_for(selected.named_scoring),
        ],
        "headline": headline,
        "conclusion": escape_sentences(audit.conclusion),
        "findings": audit.findings,
        "sections": (
            Section("numbers", "Numbers", "", drop_none(draw_differences(audit))),
            *SECTIONS_WITH_GATE,
        ),
        "blocks": [
            (
                FigureTable.from_rows(block.head, block.rows),
                escape_and_truncate(block.caption, 1000),
            )
            for block in audit.number_tables
        ],
        "text": "",
        "methods": _methods_text(audit),
        "references": [find_reference("bbc")],
        "gate": make_gate(audit, call, "losses: your table", is_command=bool(audit.command)),
        "repeat": ReproductionInfo.from_call(call, {"seed": str(audit.seed)}, {}),
        "notes": [escape_and_truncate(note, 400) for note in audit.all_notes],
    }
    return Page("record.html", values)


def _methods_text(audit: TableAudit) -> str:
    """Write the methods paragraph about the audit of a table, for use in a paper."""
    name, noun = audit.scale.name_for(audit.selected.named_scoring), audit.scale.noun
    groups = "" if audit.n_groups is None else f" in {audit.n_groups} groups"
    honest = f"{format_number(audit.honest.value)} ({describe_interval(audit.honest.interval)})"
    text = (
        f"{audit.n_candidates} candidates were compared on the same {audit.n_rows} rows{groups}; "
        f"{escape_and_truncate(audit.selected.candidate, 60)} had the best {name}, "
        f"{format_number(audit.selected.value)}. The {audit.unit}s were drawn with replacement, "
        f"the best candidate of each sample was tested on the {audit.unit}s that it missed "
        "(bootstrap bias corrected cross-validation), which gave a "
        f"{noun} of {honest}."
    )
    if audit.order_test is not None:
        text += f" In a permutation test, {audit.order_test}."
    return text
