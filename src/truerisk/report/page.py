"""The page of results, whatever they are: an assessment or an audit."""

from __future__ import annotations

from typing import Any

from truerisk.report import audit_page
from truerisk.report.assessment_page import draw_page
from truerisk.report.audit_document import SCHEMA
from truerisk.report.json_values import parse, read_text, schema_of

__all__ = ["draw_any", "page_of_file"]


def draw_any(content: Any) -> str:
    """The page of plain values that `to_dict` made."""
    draw = audit_page.draw_audit if schema_of(content) == SCHEMA else draw_page
    return draw(content)


def page_of_file(path: Any) -> str:
    """The page of a file that `to_json` or `--json` wrote."""
    return draw_any(parse(read_text(path), path))
