"""What a screen reader needs and the builder leaves out: heads of tables and arrows with names."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from docutils import nodes

UNSEEN = "visually-hidden"  # the theme's class of text for screen readers alone
AFTER_THE_THEME = 900
ARROW, NAMED = "<summary><span", '<summary aria-label="pages below this one"><span'


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


def named(drawn: Callable[..., Any]) -> Callable[..., Any]:
    """A list of pages whose arrows say what they open."""

    @wraps(drawn)
    def list_of_pages(*given: Any, **words: Any) -> str:
        return str(drawn(*given, **words)).replace(ARROW, NAMED)

    return list_of_pages


def name_arrows(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """In the list of pages at the side."""
    if "generate_toctree_html" in context:
        context["generate_toctree_html"] = named(context["generate_toctree_html"])


def setup(app: Any) -> dict[str, Any]:
    """Register it for every page."""
    app.connect("doctree-read", name_heads)
    app.connect("html-page-context", name_arrows, priority=AFTER_THE_THEME)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
