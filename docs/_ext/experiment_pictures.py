"""The pictures of experiments: a section whose heading is the word of one shows what it draws.

`python docs/pictures.py WORD` runs the experiment and stores its picture in `documents/pictures`,
as a notebook has it, without the style, which stands on the page once. The page of one with a
slider is stored in `_static` instead, and is shown in a frame.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes

from truerisk.papers import registry
from truerisk.report.page import DARK, LIGHT, MARKS, NOTEBOOK

DOCS = Path(__file__).parent.parent
PLACE, STATIC = DOCS / "documents" / "pictures", DOCS / "_static"
FRAME = (
    '<p><a href="../_static/{0}.html">The page by itself</a></p><iframe class="example" '
    'src="../_static/{0}.html" title="The page of {0}" style="height: 80rem"></iframe>'
)
STYLE = (
    f"<style>.truerisk-picture{{{LIGHT}{NOTEBOOK}{MARKS.read_text('utf-8')}}}\n"
    f"html[data-theme=dark] .truerisk-picture{{{DARK}--paper:var(--pst-color-background)}}</style>"
)


def show(app: Any, doctree: nodes.document) -> None:
    """After the first paragraph of the section; the style with the first of a page."""
    style = STYLE
    for title in list(doctree.findall(nodes.title)):
        word = title.astext()
        if word in registry.names() and (STATIC / f"{word}.html").is_file():
            title.parent.append(nodes.raw("", FRAME.format(word), format="html"))
        path = PLACE / f"{word}.html"
        if path.is_file():
            picture = f'<div class="experiment">{style}{path.read_text("utf-8")}</div>'
            title.parent.insert(2, nodes.raw("", picture, format="html"))
            app.env.note_dependency(str(path))
            style = ""


def setup(app: Any) -> dict[str, Any]:
    """Register it for every page."""
    app.connect("doctree-read", show)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
