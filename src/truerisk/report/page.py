"""HTML pages of results, and their pictures in a notebook, which use the notebook's colours."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from truerisk.assessment.assessment import Assessment
from truerisk.auditing.outcome import Audit
from truerisk.comparison.many_comparison import ManyComparison
from truerisk.core.errors import BadData, Refusal, escape_for_xml
from truerisk.core.formats import escape_and_truncate
from truerisk.external.table_audit import TableAudit
from truerisk.report.assessment_page import draw_assessment_page
from truerisk.report.audit_page import draw_audit_page
from truerisk.report.figure import Figure, FigureTable
from truerisk.report.layout import Page, Section, load_template
from truerisk.report.many_page import draw_comparison_page
from truerisk.report.panels import is_experiment_report
from truerisk.report.record_figures import draw_error_tail, draw_figures
from truerisk.report.svg import DRAWING_WIDTH, N_SERIES, Drawing
from truerisk.report.table_page import draw_table_audit_page
from truerisk.report.validation_page import draw_validation_page
from truerisk.results.error_posterior import ErrorPosterior
from truerisk.results.json_values import read_schema_name
from truerisk.results.records import Record
from truerisk.results.results import RiskCurve, RiskEstimate
from truerisk.validation.validation import Validation

PAGE_FUNCTIONS: dict[type[Record], Callable[[Any], Page]] = {
    Assessment: draw_assessment_page,
    Audit: draw_audit_page,
    TableAudit: draw_table_audit_page,
    Validation: draw_validation_page,
    ManyComparison: draw_comparison_page,
}


def build_page(record: Any) -> Page:
    """Return the HTML page of a result.

    If the class of the result has no page of its own, the result is shown on a general page.
    """
    for cls, page_function in PAGE_FUNCTIONS.items():
        if isinstance(record, cls):
            return page_function(record)
    is_estimate = isinstance(record, RiskEstimate)
    figures = draw_figures(record)
    if is_estimate:
        with suppress(Refusal):  # Only counts of independent errors have a posterior.
            figures += (draw_error_tail(ErrorPosterior.of_estimate(record)),)
    blocks, text = record.blocks(), str(replace(record, findings=()) if is_estimate else record)
    fact_texts = [f"{record.n_rows} rows"] if hasattr(record, "n_rows") else []
    if is_experiment_report(record):
        command_text = f"truerisk reproduce {record.name}"
        fact_texts = [command_text, f"{record.replicates} {record.unit}", f"seed {record.seed}"]
    name = re.sub(r"(?<=[a-z])([A-Z])", lambda m: f" {m[1].lower()}", type(record).__name__)
    values = {
        "eyebrow": "result",
        "title": record.title if is_experiment_report(record) else name,
        "facts": fact_texts,
        "findings": record.findings if isinstance(record, RiskEstimate | RiskCurve) else (),
        "conclusion": [] if "\n" in text else [escape_and_truncate(text, 4000)],
        "sections": [Section("numbers", "Numbers", "", figures)],
        "blocks": [
            (
                FigureTable.from_rows(block.head, block.rows),
                escape_and_truncate(block.caption, 1000),
            )
            for block in blocks
        ],
        "text": text if "\n" in text and not blocks else "",
    }
    return Page("record.html", values)


def draw_record(record: Any) -> str:
    """Return the page of a result as HTML."""
    return build_page(record).render()


def result_from_dict(content: Any) -> Record:
    """Build a result from the content that its `to_dict` returned.

    BadData is raised if the class of the result has no page of its own.
    """
    schema = read_schema_name(content)
    for cls in PAGE_FUNCTIONS:
        if cls.schema.partition("/")[0] == schema:
            return cls.from_dict(content)
    raise BadData(
        f"this is a '{escape_and_truncate(schema, 60)}', and a report is drawn of an assessment, "
        "an audit, a validation or a comparison over data sets: `truerisk assess --json`, "
        "`truerisk audit --json`, `truerisk study compare --json` or to_json(path) writes one."
    )


MARKS_CSS_PATH = Path(__file__).parent / "marks.css"
LIGHT_CSS = (
    "--paper:#ffffff;--ink:#1c2329;--muted:#56616b;--hair:#e8ebed;--line:#c3cad0;--s0:#1d5f96;--s1:#b4531c;"
    "--s2:#2f7a55;--s3:#7a4a92;--s4:#8a6a10;--s5:#5b6770;"
)
LIGHT_COLOURS = dict(pair.split(":") for pair in LIGHT_CSS.split(";") if pair)
SERIES_COLOURS = tuple(LIGHT_COLOURS[f"--s{i}"] for i in range(N_SERIES))
DARK_CSS = (
    "--ink:#e4e8eb;--muted:#a3aeb7;--hair:#272e34;--line:#46505a;--s0:#7db7e8;--s1:#f0a36b;"
    "--s2:#7ccba2;--s3:#c79be0;--s4:#d9bd5e;--s5:#a9b4bd;"
)
NOTEBOOK_CSS = (
    "--paper:var(--jp-layout-color0,var(--vscode-editor-background,Canvas));"
    "--ink:var(--jp-content-font-color1,var(--vscode-editor-foreground,CanvasText));"
    "--hair:var(--jp-border-color3,#8883);max-width:1140px;display:grid;gap:14px 28px;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));"
    "p{margin:0;font-size:.95em;font-weight:600}div{max-width:560px}"
)


# A notebook may be dark although the system is light. These markers come from JupyterLab and
# nbconvert, VS Code, Colab, and the theme of this project's pages.
DARK_NOTEBOOKS = (
    "[data-jp-theme-light=false]",
    ".vscode-dark",
    ".vscode-high-contrast",
    "[theme=dark]",
    "[data-theme=dark]",
)
LIGHT_NOTEBOOKS = ("[data-jp-theme-light=true]", ".vscode-light", "[data-theme=light]")


def _theme_rule(markers: tuple[str, ...], css: str) -> str:
    """Return a CSS rule for pictures inside of an element with one of these markers."""
    return f":is({','.join(markers)}) .truerisk-picture{{{css}}}"


def svg_file_text(figure: Figure) -> str:
    """Return a figure as the text of an SVG file, with title and legend, in light colours."""
    css_rules = MARKS_CSS_PATH.read_text(encoding="utf-8")
    css_rules = re.sub(r"var\((--\w+)\)", lambda name: LIGHT_COLOURS[name[1]], css_rules)
    text: str = load_template("figure.svg").render(
        f=figure, rules=Markup(css_rules), width=DRAWING_WIDTH
    )
    return escape_for_xml(text) + "\n"


def picture(result: Any) -> str:
    """Return the figures of a result with their legends as HTML, or "" if it has no figure."""
    figures = draw_figures(result)
    if not figures:
        return ""
    style = (
        f".truerisk-picture{{{LIGHT_CSS}{NOTEBOOK_CSS}}}"
        f"@media (prefers-color-scheme:dark){{.truerisk-picture{{{DARK_CSS}}}}}"
        f"{_theme_rule(LIGHT_NOTEBOOKS, LIGHT_CSS)}{_theme_rule(DARK_NOTEBOOKS, DARK_CSS)}"
        f".truerisk-picture{{{MARKS_CSS_PATH.read_text(encoding='utf-8')}}}"
    )
    figures_and_svgs = [
        (figure, figure.drawing.svg(_drawing_name(figure.drawing))) for figure in figures
    ]
    # A picture has no other captions, but bands and marks in cells mean nothing without a sentence.
    captions = dict.fromkeys(
        figure.caption
        for figure in figures
        if is_experiment_report(result) and figure.caption.endswith(".")
    )
    text: str = load_template("picture.html").render(
        style=Markup(style), drawn=figures_and_svgs, captions=captions
    )
    return escape_for_xml(text)


def _drawing_name(drawing: Drawing) -> str:
    """Return a name for a drawing that no other drawing in the same notebook has."""
    unnamed_svg = drawing.svg("").encode("utf-8", "replace")
    return f"truerisk-{hashlib.sha256(unnamed_svg).hexdigest()[:10]}"
