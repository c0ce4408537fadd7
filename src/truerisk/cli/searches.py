"""The search that a learner's word stands for on a table."""

from __future__ import annotations

from typing import Any

from truerisk.cli.source import Source

__all__ = ["search_of"]


def search_of(word: str, source: Source, *, n_rows: int | None = None, **options: Any) -> Any:
    """The learner of a word, tuned over its usual grid; `n_rows` is what the grid is made for."""
    from truerisk.api.road.usual_word import parts_of
    from truerisk.api.search import HonestSearchCV
    from truerisk.models.learners import learner

    rows = len(source.y) if n_rows is None else n_rows
    layout = {"n_rows": rows, "n_classes": source.n_classes, **source.layout}
    layout["parts"] = parts_of(source, [options.get("select_by")])
    return HonestSearchCV(*learner(word, source.task, **layout), **options)
