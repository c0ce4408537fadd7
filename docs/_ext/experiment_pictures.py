"""The pictures of experiments: a section whose heading is the word of one shows what it draws.

`python docs/pictures.py WORD` runs the experiment and stores its picture in `documents/pictures`,
as a notebook has it, without the style, which stands on the page once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes

from truerisk.report.page import DARK, LIGHT, MARKS, NOTEBOOK

PLACE = Path(__file__).parent.parent / "documents" / "pictures"
STYLE = (
    f"<style>.truerisk-picture{{{LIGHT}{NOTEBOOK}{MARKS.read_text('utf-8')}}}\n"
    f"html[data-theme=dark] .truerisk-picture{{{DARK}--paper:var(--pst-color-background)}}</style>"
)


def show(app: Any, doctree: nodes.document) -> None:
    """After the first paragraph of the section; the style with the first of a page."""
    style = STYLE
    for title in list(doctree.findall(nodes.title)):
        path = PLACE / f"{title.astext()}.html"
        if path.is_file():
            picture = f'<div class="experiment">{style}{path.read_text("utf-8")}</div>'
            title.parent.insert(2, nodes.raw("", picture, format="html"))
            app.env.note_dependency(str(path))
            style = ""


def setup(app: Any) -> dict[str, Any]:
    """Register it for every page."""
    app.connect("doctree-read", show)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
