"""Public names that the API page does not list itself, each at the end of its section.

The page lists names where their order helps a reader. A name without a line there, such as that of
a new result, method or loss, is found in the package.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import truerisk as tr

PAGE = "api/index"
IN_FULL = "api/index_in_full.md"  # in the same folder as the page, so that its paths are the same
LISTED = re.compile(r"^ +~?truerisk\.[\w.]*?(\w+)$", re.MULTILINE)
INSIDE = {"as_method", "registry", "choose_engine", "default_words", "Learner"}


def names_by_section() -> dict[str, list[str]]:
    """Return the public names by the heading of the section where each belongs."""
    own = {name: getattr(tr, name) for name in sorted(tr.__all__)}
    return {
        "Search and verbs": [f"truerisk.{name}" for name in own if inspect.isfunction(own[name])],
        "Results": [f"truerisk.{name}" for name in own if inspect.isclass(own[name])],
        "Methods": [f"truerisk.methods.{name}" for name in dir(tr.methods)],
        "Losses": [f"truerisk.losses.{name}" for name in tr.losses.__all__],
        "Learners": [f"truerisk.models.{name}" for name in tr.models.__all__],
        "Engines": [f"truerisk.engines.{name}" for name in dir(tr.engines)],
        "For methods of your own": [f"truerisk.testing.{name}" for name in tr.testing.__all__],
    }


def in_full(text: str, sections: Mapping[str, Sequence[str]]) -> str:
    """Return the text of the page with each name that it does not list, in the name's section."""
    listed = {*LISTED.findall(text), *INSIDE}
    for heading, names in sections.items():
        before, head, after = text.partition(f"\n## {heading}\n")
        end = after.index("\n```\n", after.index(".. autosummary::"))
        more = [f"\n   ~{name}" for name in names if name.rpartition(".")[2] not in listed]
        text = before + head + after[:end] + "".join(more) + after[end:]
    return text


def write(app: Any) -> None:
    """Write the page in full, for autosummary to make a page for each name."""
    text = (Path(app.srcdir) / f"{PAGE}.md").read_text("utf-8")
    (Path(app.srcdir) / IN_FULL).write_text(in_full(text, names_by_section()), "utf-8")


def remove(app: Any) -> None:
    """Remove what `write` has written."""
    (Path(app.srcdir) / IN_FULL).unlink()


def read(app: Any, page: str, source: list[str]) -> None:
    """Show the page in full."""
    if page == PAGE:
        source[0] = in_full(source[0], names_by_section())


def setup(app: Any) -> dict[str, Any]:
    """Write the page before autosummary, whose priority is 500, makes its pages."""
    app.connect("builder-inited", write, priority=400)
    app.connect("builder-inited", remove, priority=600)
    app.connect("source-read", read)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
