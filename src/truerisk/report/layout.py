"""Elements that all HTML pages share: headings, headline numbers, style and script.

`layout.html` is the frame of a page, `macros.html` has templates of tables and figures, and
`page.html` and `audit.html` fill the frame.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from truerisk.core.errors import escape_for_xml
from truerisk.core.formats import escape_and_truncate, split_sentences
from truerisk.core.frozen import frozen
from truerisk.report.figure import Figure

TEMPLATE_FOLDER = Path(__file__).parent


@frozen
class Section:
    """Section of a page: a heading, an introduction and figures."""

    name: str
    title: str
    lead: str = ""
    figures: tuple[Figure, ...] = ()


CLOSING_SECTIONS = Section("methods", "What was done"), Section("repeat", "How to repeat it")
"""The last two sections of every page, whose text the template of the page provides."""


@frozen
class Headline:
    """One of the headline numbers at the top of a page."""

    name: str
    value: str
    subtitle: str
    css_class: str = ""


TEMPLATE_DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(("facts", "headline", "findings", "references", "described", "notes"), ()),
    "methods": "",
    "gate": None,
    "repeat": None,
}
"""Default values of the template for elements that a page may lack."""


@frozen
class Page:
    """Name of a page's template, and the values that fill it."""

    template_name: str
    values: Mapping[str, Any]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures of the page: first those of its sections, then those of its validation."""
        validation_sections = [page_part.section for page_part in self.values.get("validation", ())]
        sections = *self.values["sections"], *validation_sections
        return tuple(figure for section in sections for figure in section.figures)

    def render(self) -> str:
        """Return the HTML of the page.

        Its content security policy allows only the page's own style and script.
        """
        template, values = load_template(self.template_name), {**TEMPLATE_DEFAULTS, **self.values}
        html_without_nonce: str = escape_for_xml(template.render(values, nonce=""))
        # The nonce is a hash of the whole page, so no text on the page can contain the nonce.
        # Equal pages have equal nonces.
        nonce = hashlib.sha256(html_without_nonce.encode("utf-8")).hexdigest()[:32]
        return escape_for_xml(template.render(values, nonce=nonce)) + "\n"


def escape_sentences(text: str) -> list[str]:
    """Split a text into sentences, and escape each of them for a page."""
    return [
        escape_and_truncate(sentence, 4000)
        for sentence in split_sentences(text)
        if sentence.strip()
    ]


def format_today() -> str:
    """Format today's date, or the date of SOURCE_DATE_EPOCH for reproducible builds."""
    source_date_epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    date = (
        datetime.fromtimestamp(int(source_date_epoch), UTC)
        if source_date_epoch.isdecimal()
        else datetime.now().astimezone()
    )
    return f"{date.day} {date:%B %Y}"


@cache
def load_template(name: str) -> Any:
    """Return a Jinja template, which is parsed once and escapes all inserted text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATE_FOLDER), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["clean"] = escape_and_truncate
    environment.globals["today"] = format_today
    for label, file in (("css", "page.css"), ("marks", "marks.css"), ("js", "page.js")):
        environment.globals[label] = Markup((TEMPLATE_FOLDER / file).read_text(encoding="utf-8"))
    return environment.get_template(name)
