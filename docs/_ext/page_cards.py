"""Cards that lead to pages: one sentence for each page, and the pages as a hidden toctree.

The lines below `{page-cards} CAPTION` are `page: sentence`.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

CARD = """````{{container}} door
[]({page}.md)

{sentence}
````
"""


def as_markdown(lines: list[str], caption: str) -> str:
    """Return the cards and the hidden toctree of their pages.

    >>> print(as_markdown(["use: How to use it."], "Use").replace("`", ""))
    {container} doors
    {container} door
    [](use.md)
    <BLANKLINE>
    How to use it.
    <BLANKLINE>
    {toctree}
    :hidden:
    :maxdepth: 1
    :caption: Use
    <BLANKLINE>
    use
    <BLANKLINE>
    """
    entries = [line.partition(": ") for line in lines if line.strip()]
    cards = "".join(CARD.format(page=page, sentence=sentence) for page, _, sentence in entries)
    pages = "\n".join(page for page, *_ in entries)
    options = ":hidden:\n:maxdepth: 1" + (f"\n:caption: {caption}" if caption else "")
    return f"`````{{container}} doors\n{cards}`````\n\n```{{toctree}}\n{options}\n\n{pages}\n```\n"


class PageCards(SphinxDirective):
    """Show a card for each line, `page: sentence`."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        text = as_markdown(list(self.content), " ".join(self.arguments))
        holder = nodes.container()
        lines = StringList(text.splitlines(), source=self.env.doc2path(self.env.docname))
        self.state.nested_parse(lines, self.content_offset, holder)
        return holder.children


def setup(app: Any) -> dict[str, Any]:
    """Register `{page-cards}`."""
    app.add_directive("page-cards", PageCards)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
