"""The cells of a study: what a specification asks for, resolved and tried once before it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.api.studying.replicate import (
    Drawn,
    draw,
    family_of,
    generator,
    method_of,
    replicate,
)
from truerisk.core.contracts import Streams
from truerisk.core.errors import TrueRiskError
from truerisk.core.loss_words import as_loss
from truerisk.core.table.data import Data
from truerisk.methods.interval_wanted import with_interval
from truerisk.methods.parts.interval_choice import choose
from truerisk.study.keys import digest_of
from truerisk.study.spec import Entry, Spec

__all__ = ["SCHEMA", "FixedTable", "cells_of", "places_of", "replicate_of", "tables_of"]

SCHEMA = "truerisk.study-cell/2"


@dataclass(frozen=True, eq=False)
class FixedTable:
    """A problem that is a table: replicates are rows drawn from it without replacement."""

    X: np.ndarray
    y: np.ndarray
    about: Mapping[str, Any]


def tables_of(spec: Spec) -> dict[str, FixedTable]:
    """The tables among the problems, by the name of the problem."""
    found = {}
    for i, entry in enumerate(spec.problems):
        try:
            table = _table(entry, spec.folder)
        except (TrueRiskError, TypeError, ValueError) as error:
            spec.mistake(str(error), "problems", i)
        if table is not None:
            found[entry.name] = table
    return found


def _table(entry: Entry, folder: str) -> FixedTable | None:
    written = entry.content
    if "file" in written:
        from truerisk.datasets import read_table

        path = Path(folder, written["file"])
        table = read_table(path, written["target"], target_type=written.get("target_type"))
        columns = {
            "numeric": list(table.numeric),
            "text": list(table.text),
            "missing": table.n_missing > 0,
        }
        about = {"columns": columns, "n_classes": table.n_classes, "target": table.target}
        return _fixed(table.X, table.y, about)
    if "import" in written or callable(generator(written)):
        return None
    bundle = generator(written).bundle()
    n_classes = len(np.unique(bundle.y)) if bundle.task == "classification" else 0
    return _fixed(bundle.X, bundle.y, {"n_classes": n_classes, "word": written["word"]})


def _fixed(X: np.ndarray, y: np.ndarray, about: dict[str, Any]) -> FixedTable:
    return FixedTable(X, y, {**about, "data": [digest_of(X), digest_of(y)]})


def cells_of(spec: Spec, tables: Mapping[str, FixedTable]) -> list[dict[str, Any]]:
    """The contents of all cells: everything that determines a replicate but its number."""
    cells = [
        {
            "schema": SCHEMA,
            "problem": {"name": problem.name, **_problem(problem, tables)},
            "size": size,
            "learner": {"name": learner.name, **learner.content},
            "method": _method(method),
            "loss": spec.loss,
            "rule": spec.rule,
            "confidence_level": spec.confidence_level,
            "n_test": spec.n_test,
            "seed": spec.seed,
        }
        for problem in spec.problems
        for size in spec.sizes
        for learner in spec.learners
        for method in spec.methods
    ]
    _try(spec, cells, tables)
    return cells


def _method(entry: Entry) -> Any:
    """A bare word stays one, so that the key of its cells is what it always was."""
    bare = entry.content == {"word": entry.name}
    return entry.name if bare else {"name": entry.name, **entry.content}


def _problem(entry: Entry, tables: Mapping[str, FixedTable]) -> Mapping[str, Any]:
    return tables[entry.name].about if entry.name in tables else entry.content


def _try(spec: Spec, cells: Sequence[Mapping[str, Any]], tables: Mapping[str, FixedTable]) -> None:
    """Each learner on the smallest data set of each problem: what cannot be is said before."""
    names = [problem.name for problem in spec.problems]
    for name, table in tables.items():
        for j, size in enumerate(spec.sizes):
            if size > len(table.y):
                spec.mistake(f"problem '{name}' has {len(table.y)} rows, not {size}.", "sizes", j)
    for cell in _smallest(spec, cells):
        i = names.index(cell["problem"]["name"])
        arrays = _arrays(cell, tables)
        try:
            drawn = draw(cell, 0, arrays)
        except (TrueRiskError, TypeError, ValueError) as error:
            spec.mistake(str(error), "problems", i)
        try:
            family_of(cell, drawn)
        except (TrueRiskError, TypeError, ValueError) as error:
            learners = [learner.name for learner in spec.learners]
            j = learners.index(cell["learner"]["name"])
            part = [name for name in ("set", "grid") if name in spec.learners[j].content]
            spec.mistake(str(error), "learners", j, *part)
        _try_methods(spec, cell, drawn)


def _try_methods(spec: Spec, cell: Mapping[str, Any], drawn: Drawn) -> None:
    """Imported methods, and intervals that are not made for the loss or the data."""
    for i, entry in enumerate(spec.methods):
        content = {**cell, "method": _method(entry)}
        try:
            method, interval = method_of(content)
            if interval is not None:
                data = Data.check(drawn.X, drawn.y, task=drawn.task)
                method = with_interval(method, interval)
                plan = method.plan(data, Streams(0))
                choose(interval, as_loss(spec.loss, data), data, method, plan)
        except (TrueRiskError, TypeError, ValueError) as error:
            spec.mistake(str(error), "methods", i)


def _smallest(spec: Spec, cells: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    size, method = min(spec.sizes), _method(spec.methods[0])
    return (cell for cell in cells if cell["size"] == size and cell["method"] == method)


def _arrays(cell: Mapping[str, Any], tables: Mapping[str, FixedTable]) -> list[np.ndarray]:
    table = tables.get(cell["problem"]["name"])
    return [] if table is None else [table.X, table.y]


def places_of(tables: Mapping[str, FixedTable]) -> dict[str, int]:
    """Where the arrays of a table stand in the list that all workers have."""
    return {table.about["data"][0]: 2 * i for i, table in enumerate(tables.values())}


def replicate_of(
    places: Mapping[str, int], content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]
) -> dict[str, Any]:
    """The work of a study: `replicate` with the arrays of its own problem."""
    data = content["problem"].get("data")
    first = 0 if data is None else places[data[0]]
    return replicate(content, number, [] if data is None else arrays[first : first + 2])
