"""The pictures of experiments: a section whose heading is the word of one shows what it draws.

`python docs/pictures.py WORD` runs the experiment and stores its picture in `documents/pictures`,
as a notebook has it, without the style, which stands on the page once. The page of one with a
slider is stored in `documents/pages` instead, without its looks and its script, which the build
puts back as they are now, and is shown in a frame.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes

from truerisk.report.page import DARK_CSS, LIGHT_CSS, MARKS_CSS_PATH, NOTEBOOK_CSS

DOCS = Path(__file__).parent.parent
PLACE, PAGES = DOCS / "documents" / "pictures", DOCS / "documents" / "pages"
FRAME = (
    '<p><a href="../_static/{0}.html">The page by itself</a></p><iframe class="example" '
    'src="../_static/{0}.html" title="The page of {0}" style="height: 80rem"></iframe>'
)
STYLE = (
    f"<style>.truerisk-picture{{{LIGHT_CSS}{NOTEBOOK_CSS}{MARKS_CSS_PATH.read_text('utf-8')}}}\n"
    f"html[data-theme=dark] .truerisk-picture{{{DARK_CSS}"
    "--paper:var(--pst-color-background)}</style>"
)


def show(app: Any, doctree: nodes.document) -> None:
    """After the first paragraph of the section; the style with the first of a page."""
    style = STYLE
    for title in list(doctree.findall(nodes.title)):
        word = title.astext()
        if (PAGES / f"{word}.html").is_file():
            title.parent.append(nodes.raw("", FRAME.format(word), format="html"))
        path = PLACE / f"{word}.html"
        if path.is_file():
            picture = f'<div class="experiment">{style}{path.read_text("utf-8")}</div>'
            title.parent.insert(2, nodes.raw("", picture, format="html"))
            app.env.note_dependency(str(path))
            style = ""


LOOKS = re.compile(r"(<(?:style|script)\b[^>]*>)[^<]*(?=</(?:style|script)>)")
"""What a page has of each: marks, looks, script, in this order."""


def whole(page: str) -> str:
    """A stored page with the looks and the script of today."""
    files = iter(
        MARKS_CSS_PATH.with_name(name) for name in (MARKS_CSS_PATH.name, "page.css", "page.js")
    )
    return LOOKS.sub(lambda block: block[1] + next(files).read_text("utf-8"), page)


def write_pages(app: Any, error: Exception | None) -> None:
    """Beside the style sheets of the built documentation."""
    if error is None and app.builder.format == "html":
        for path in PAGES.glob("*.html"):
            place = Path(app.outdir) / "_static" / path.name
            place.parent.mkdir(exist_ok=True)
            place.write_text(whole(path.read_text("utf-8")), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Register it for every page."""
    app.connect("doctree-read", show)
    app.connect("build-finished", write_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
