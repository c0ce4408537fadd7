"""What a screen reader needs of a page and the builder leaves out: named heads of tables."""

from __future__ import annotations

from typing import Any

from docutils import nodes

UNSEEN = "visually-hidden"  # the theme's class of text for screen readers alone


def name_heads(app: Any, doctree: nodes.document) -> None:
    """A head without any word is taken away; a single cell without one is named, unseen."""
    for head in list(doctree.findall(nodes.thead)):
        cells = list(head.findall(nodes.entry))
        if not any(cell.astext().strip() for cell in cells):
            head.parent.remove(head)
            continue
        for cell in cells:
            if not cell.astext().strip():
                said = nodes.inline("", "what", classes=[UNSEEN])
                cell.children = []
                cell += nodes.paragraph("", "", said)


def setup(app: Any) -> dict[str, Any]:
    """Register it for every page that is read."""
    app.connect("doctree-read", name_heads)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
