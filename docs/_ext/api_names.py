"""Public names that the pages of the API do not list themselves, each at the end of its page.

A page lists names where their order helps a reader. A name without a line there, such as that of
a new result, method or loss, is found in the package.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import truerisk as tr

LISTED = re.compile(r"^ +~?truerisk\.[\w.]*?(\w+)$", re.MULTILINE)
INSIDE = {"as_method", "registry", "choose_engine", "default_words", "Learner"}
PAGES = (
    *("api/calls", "api/results", "api/methods", "api/intervals", "api/losses", "api/learners"),
    *("api/data", "api/engines", "api/own", "api/errors"),
)
IN_FULL = "_in_full.md"  # in the same folder as the page, so that its paths are the same


def names_by_page() -> dict[str, list[str]]:
    """Return the public names by the page where each belongs."""
    own = {name: getattr(tr, name) for name in sorted(tr.__all__)}
    return {
        "api/calls": [f"truerisk.{name}" for name in own if inspect.isfunction(own[name])],
        "api/results": [f"truerisk.{name}" for name in own if inspect.isclass(own[name])],
        "api/methods": [f"truerisk.methods.{name}" for name in dir(tr.methods)],
        "api/losses": [f"truerisk.losses.{name}" for name in tr.losses.__all__],
        "api/learners": [f"truerisk.models.{name}" for name in tr.models.__all__],
        "api/engines": [f"truerisk.engines.{name}" for name in dir(tr.engines)],
        "api/own": [f"truerisk.testing.{name}" for name in tr.testing.__all__],
    }


def in_full(texts: Mapping[str, str], names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the pages with each name that no page lists, at the end of the name's page."""
    listed = {*LISTED.findall("\n".join(texts.values())), *INSIDE}
    full = dict(texts)
    for page, public in names.items():
        text = texts[page]
        end = text.index("\n```", text.index(".. autosummary::"))
        more = [f"\n   ~{name}" for name in public if name.rpartition(".")[2] not in listed]
        full[page] = text[:end] + "".join(more) + text[end:]
    return full


def full_pages(folder: Path) -> dict[str, str]:
    """Return the text of each page of the API, in full."""
    texts = {page: (folder / f"{page}.md").read_text("utf-8") for page in PAGES}
    return in_full(texts, names_by_page())


def write(app: Any) -> None:
    """Write the pages in full, for autosummary to make a page for each name."""
    app.api_pages = full_pages(Path(app.srcdir))
    for page, text in app.api_pages.items():
        (Path(app.srcdir) / f"{page}{IN_FULL}").write_text(text, "utf-8")


def remove(app: Any) -> None:
    """Remove what `write` has written."""
    for page in PAGES:
        (Path(app.srcdir) / f"{page}{IN_FULL}").unlink()


def read(app: Any, page: str, source: list[str]) -> None:
    """Show the pages in full."""
    source[0] = app.api_pages.get(page, source[0])


def setup(app: Any) -> dict[str, Any]:
    """Write the pages before autosummary, whose priority is 500, makes its pages."""
    app.connect("builder-inited", write, priority=400)
    app.connect("builder-inited", remove, priority=600)
    app.connect("source-read", read)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
