"""Results in a store of studies, a data set a task: a run that was stopped goes on where it was.

Files of JSON lines, one a data set, are read as well, so that earlier results keep their table.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration import learners, problems, rating, tables, trial, usual
from benchmarks.calibration.battery import Cell, told
from truerisk.study.driving import run_cells
from truerisk.study.queue import StudyRunOptions
from truerisk.study.schema import State
from truerisk.study.store import Store
from truerisk.study.values import hash_plain_value
from truerisk.study.versions import initialise_store

__all__ = ["LINES", "cell_of", "collect", "lines"]

KIND = "calibration battery"
LINES = ".jsonl"
FIRST = "first_seed"
SHOWN_ERRORS = 3
MEANT = (trial, usual, problems, rating, tables, learners)


def collect(
    path: Path, cells: Sequence[Cell], seeds: int, executor: Any = None, first: int = 0
) -> int:
    """Run the data sets `first` … first + seeds − 1 of every cell that the store lacks.

    Return how many failed.
    """
    with Store.open_for_writing(path) as store:
        initialise_store(store, KIND, {"name": path.name})
        wanted = [
            found
            for cell in cells
            for found in store.request_replicates([_content(cell, first)], seeds)
        ]
        store.delete_outcomes([State.FAILED])  # what was mended since may work now
        run_cells(store, wanted, _run, executor, rules=StudyRunOptions(progress_unit="data sets"))
        errors = [error for cell in wanted for error in store.errors(cell)]
    for number, state, _, error in errors[:SHOWN_ERRORS]:
        print(f"task {number} {state.name.lower()}: {error.splitlines()[-1]}", file=sys.stderr)
    return len(errors)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Every result with its cell and its seed, each score in a line of its own.

    Those of a changed trial are left out.
    """
    if path.suffix == LINES:
        yield from _of_text(path)
        return
    with Store.open_for_reading(path) as store:
        for stored in store.cells():
            if stored.content["source"] == _source():
                cell, first = cell_of(stored.content), stored.content.get(FIRST, 0)
                for number, *_, found in store.results(stored):
                    seed, scores = first + number, found.pop("scores", {})
                    yield {**_named(cell.alone), "seed": seed, **found}
                    for one in told([cell]):
                        if one.by:
                            yield {**_named(one), "seed": seed, **scores[one.loss]}


def _of_text(path: Path) -> Iterator[dict[str, Any]]:
    """JSON lines; one that a crash cut short is left out."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue


def _run(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict[str, Any]:
    cell = cell_of(content)
    found = trial.run(cell, content.get(FIRST, 0) + number)
    return {**found, "truth": float(found["truth"])}


def _content(cell: Cell, first: int) -> dict[str, Any]:
    """Return what determines the results of a cell: its words, and the files that they mean.

    The seed of its first data set is left out where it is 0, so that earlier results keep theirs.
    """
    seeds = {FIRST: first} if first else {}
    return {"battery": KIND, **_named(cell), **seeds, "source": _source()}


def _named(cell: Cell) -> dict[str, Any]:
    """Its words; those that it does not use are left out, so that earlier results keep theirs."""
    return {word: said for word, said in asdict(cell).items() if said not in ("", ())}


def _source() -> str:
    return hash_plain_value([inspect.getsource(module) for module in MEANT])


def cell_of(line: Mapping[str, Any]) -> Cell:
    """The cell that a stored line belongs to."""
    words = str(line["problem"]), int(line["n"]), str(line["learner"]), str(line.get("loss", ""))
    return Cell(*words, tuple(line.get("scores", ())), str(line.get("by", "")))
