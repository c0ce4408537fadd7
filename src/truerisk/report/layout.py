"""The parts that all pages share: headings, headline numbers, style and script, in one file.

`layout.html` is the frame, `macros.html` has tables and figures, and `page.html` and `audit.html`
fill it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from truerisk.core.errors import xml_text
from truerisk.core.formats import clean
from truerisk.core.frozen import frozen
from truerisk.report.figure import Figure

HERE = Path(__file__).parent


@frozen
class Section:
    """A heading with its figures."""

    name: str
    title: str
    lead: str = ""
    figures: tuple[Figure, ...] = ()


CLOSING = Section("methods", "What was done"), Section("repeat", "How to repeat it")
"""The last sections of a page, which its templates fill."""


@frozen
class Headline:
    """One of the headline numbers at the top."""

    name: str
    value: str
    under: str
    look: str = ""


BARE: Mapping[str, Any] = {
    **dict.fromkeys(("facts", "headline", "findings", "references", "described", "notes"), ()),
    "methods": "",
    "repeat": None,
}
"""Default values for the parts that a page may lack."""


@frozen
class Page:
    """The template of a page, and the values that fill it."""

    template: str
    values: Mapping[str, Any]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of its sections and of an included validation, in order."""
        inside = [part.section for part in self.values.get("validation", ())]
        sections = *self.values["sections"], *inside
        return tuple(figure for section in sections for figure in section.figures)

    def rendered(self) -> str:
        """Return the HTML, whose policy allows only the style and script of this page."""
        template, values = template_of(self.template), {**BARE, **self.values}
        page: str = xml_text(template.render(values, nonce=""))
        # The nonce is a word that no text on the page can predict. It is the same for the same
        # page.
        nonce = hashlib.sha256(page.encode("utf-8")).hexdigest()[:32]
        return xml_text(template.render(values, nonce=nonce)) + "\n"


def sentences(text: str) -> list[str]:
    """Split a conclusion into sentences, without breaking decimals and names."""
    parts = text.replace(". ", ".\n").splitlines()
    return [clean(part, 4000) for part in parts if part.strip()]


def today() -> str:
    """Return today's date, or that of SOURCE_DATE_EPOCH for reproducible builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    day = (
        datetime.fromtimestamp(int(epoch), UTC)
        if epoch.isdecimal()
        else datetime.now().astimezone()
    )
    return f"{day.day} {day:%B %Y}"


@cache
def template_of(name: str) -> Any:
    """Return a template, parsed once, that escapes all inserted text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["clean"] = clean
    environment.globals["today"] = today
    for label, file in (("css", "page.css"), ("marks", "marks.css"), ("js", "page.js")):
        environment.globals[label] = Markup((HERE / file).read_text(encoding="utf-8"))
    return environment.get_template(name)
