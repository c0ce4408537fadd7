"""The page of results: of an assessment, an audit, a comparison or a validation."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from truerisk.api.assessing.assessment import Assessment
from truerisk.api.auditing.outcome import Audit
from truerisk.comparing.many_comparison import ManyComparison
from truerisk.core.errors import BadData
from truerisk.core.json_values import schema_of
from truerisk.core.present import clean
from truerisk.core.records import Record
from truerisk.report.assessment_page import draw_page
from truerisk.report.audit_page import draw_audit
from truerisk.report.figure import FigureTable
from truerisk.report.layout import Section, rendered
from truerisk.report.many_page import draw_many
from truerisk.report.record_figures import figure_of
from truerisk.report.validation_page import draw_validation
from truerisk.validation.validation import Validation

RECORDS: dict[type[Record], Callable[[Any], str]] = {
    Assessment: draw_page,
    Audit: draw_audit,
    Validation: draw_validation,
    ManyComparison: draw_many,
}


def draw_record(record: Any) -> str:
    """The page of a result: its own, or what it prints, its figure and its blocks."""
    for cls, drawn in RECORDS.items():
        if isinstance(record, cls):
            return drawn(record)
    blocks, figure, text = record.blocks(), figure_of(record), str(record)
    word = type(record).__name__
    values = {
        "eyebrow": "result",
        "title": re.sub(r"(?<=[a-z])([A-Z])", lambda m: f" {m[1].lower()}", word),
        "facts": [f"{record.n_rows} rows"] if hasattr(record, "n_rows") else [],
        "headline": [],
        "conclusion": [] if "\n" in text else [clean(text, 4000)],
        "findings": [],
        "sections": [Section("numbers", "Numbers", "", () if figure is None else (figure,))],
        "blocks": [(FigureTable.of(b.head, b.rows), clean(b.caption, 1000)) for b in blocks],
        "text": text if "\n" in text and not blocks else "",
        "methods": "",
        "references": [],
        "repeat": None,
        "described": [],
        "notes": [],
    }
    return rendered("record.html", values)


def draw_any(content: Any) -> str:
    """The page of plain values that `to_dict` made."""
    schema = schema_of(content)
    for cls, drawn in RECORDS.items():
        if cls.schema.partition("/")[0] == schema:
            return drawn(cls.from_dict(content))
    raise BadData(
        f"this is a '{clean(schema, 60)}', and a report is drawn of an assessment, an audit, a "
        "validation or a comparison over data sets: `truerisk assess --json`, `truerisk audit "
        "--json`, `truerisk study compare --json` or to_json(path) writes one."
    )
