"""The page of results: of an assessment, an audit, a comparison or a validation."""

from __future__ import annotations

from typing import Any

from truerisk.core.errors import BadData
from truerisk.core.json_values import parse, read_text, schema_of
from truerisk.core.present import clean
from truerisk.core.validation.validation import Validation
from truerisk.report import audit_document, document, many_document
from truerisk.report.assessment_page import draw_page
from truerisk.report.audit_page import draw_audit
from truerisk.report.many_page import draw_many
from truerisk.report.validation_page import draw_validation

__all__ = ["draw_any", "page_of_file"]


VALIDATION = Validation.schema.partition("/")[0]


def draw_any(content: Any) -> str:
    """The page of plain values that `to_dict` made."""
    draw = {
        document.SCHEMA: draw_page,
        audit_document.SCHEMA: draw_audit,
        many_document.SCHEMA: draw_many,
        VALIDATION: _draw_validation,
    }
    schema = schema_of(content)
    if schema not in draw:
        raise BadData(
            f"this is a '{clean(schema, 60)}', and a report is drawn of an assessment, an audit, a "
            "validation or a comparison over data sets: `truerisk assess --json`, `truerisk audit "
            "--json`, `truerisk study compare --json` or to_json(path) writes one."
        )
    return draw[schema](content)


def _draw_validation(content: Any) -> str:
    return draw_validation(Validation.from_dict(content))


def page_of_file(path: Any) -> str:
    """The page of a file that `to_json` or `--json` wrote."""
    return draw_any(parse(read_text(path), path))
