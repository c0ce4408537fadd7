"""What all pages have: headings, large numbers, the style and script inside, one file.

`layout.html` is the frame, `macros.html` tables and figures; `page.html` and `audit.html` fill it.
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
    """A heading and its figures."""

    name: str
    title: str
    lead: str = ""
    figures: tuple[Figure, ...] = ()


CLOSING = Section("methods", "What was done"), Section("repeat", "How to repeat it")
"""The last sections of a page; their templates fill them."""


@frozen
class Headline:
    """One of the large numbers on top."""

    name: str
    value: str
    under: str
    look: str = ""


BARE: Mapping[str, Any] = {
    **dict.fromkeys(("facts", "headline", "findings", "references", "described", "notes"), ()),
    "methods": "",
    "repeat": None,
}
"""What a page has none of unless its values say otherwise."""


@frozen
class Page:
    """What stands on a page: the values that fill its template."""

    template: str
    values: Mapping[str, Any]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Those of its sections and of a validation inside, in their order."""
        inside = [part.section for part in self.values.get("validation", ())]
        sections = *self.values["sections"], *inside
        return tuple(figure for section in sections for figure in section.figures)

    def rendered(self) -> str:
        """As HTML; its policy lets only style and script of this very page act."""
        template, values = template_of(self.template), {**BARE, **self.values}
        page: str = xml_text(template.render(values, nonce=""))
        # The nonce is a word that no text on the page can know, the same for the same page.
        nonce = hashlib.sha256(page.encode("utf-8")).hexdigest()[:32]
        return xml_text(template.render(values, nonce=nonce)) + "\n"


def sentences(text: str) -> list[str]:
    """A conclusion, a paragraph per sentence; decimals and names are not cut."""
    parts = text.replace(". ", ".\n").splitlines()
    return [clean(part, 4000) for part in parts if part.strip()]


def today() -> str:
    """The date of a page, or that of SOURCE_DATE_EPOCH, where a build is to be repeated."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    day = (
        datetime.fromtimestamp(int(epoch), UTC)
        if epoch.isdecimal()
        else datetime.now().astimezone()
    )
    return f"{day.day} {day:%B %Y}"


@cache
def template_of(name: str) -> Any:
    """Parsed once; every text that is put in is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["clean"] = clean
    environment.globals["today"] = today
    for word, file in (("css", "page.css"), ("marks", "marks.css"), ("js", "page.js")):
        environment.globals[word] = Markup((HERE / file).read_text(encoding="utf-8"))
    return environment.get_template(name)
