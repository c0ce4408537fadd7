"""What a page says of itself where it is linked: its title, its first sentence and one picture."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

from docutils import nodes

PICTURE = "_static/social-card.png"
LONGEST = 200
PLAIN = "How wrong is a tuned model, really? Its true risk, with an interval, from the same folds."


def first_words(doctree: nodes.document | None) -> str:
    """The first paragraph that stands by itself, cut at a word; else what truerisk is."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        text = " ".join(paragraph.astext().split())
        if isinstance(paragraph.parent, nodes.section) and len(text) > 40:
            return text if len(text) <= LONGEST else f"{text[:LONGEST].rpartition(' ')[0]} …"
    return PLAIN


def address(app: Any, path: str, page: str) -> str:
    """From the root of the site where that is known (`html_baseurl`), else from the page."""
    return (app.config.html_baseurl or "../" * page.count("/")) + path


def head(app: Any, page: str, title: str, doctree: nodes.document | None) -> str:
    """Open Graph's words; the page of lost links is told where the site is."""
    base = app.config.html_baseurl
    said = {
        "og:site_name": "truerisk",
        "og:type": "website",
        "og:title": title,
        "og:description": first_words(doctree),
        "og:image": address(app, PICTURE, page),
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": "Forty searches: their best scores, their honest risks and the truth",
    }
    if base:
        said["og:url"] = f"{base}{page}.html"
    lines = [f'<meta property="{name}" content="{escape(text)}"/>' for name, text in said.items()]
    lines.append(f'<meta name="description" content="{escape(said["og:description"])}"/>')
    lines.append('<meta name="twitter:card" content="summary_large_image"/>')
    if page == "404" and base:
        lines.insert(0, f'<base href="{escape(base)}"/>')
    return "\n    ".join(["", *lines])


def add(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Before a page is written: its words stand in its head."""
    title = unescape(re.sub("<[^>]*>", "", context.get("title") or "truerisk"))
    context["metatags"] = context.get("metatags", "") + head(app, page, title, doctree)


def setup(app: Any) -> dict[str, Any]:
    """Register it for every page."""
    app.connect("html-page-context", add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
