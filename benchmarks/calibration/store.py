"""Results, one JSON line a data set; a run goes on where the last one ended."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.calibration.battery import Cell

__all__ = ["Store"]


class Store:
    """An append-only file of results, keyed by problem, rows, learner and seed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> Iterator[dict[str, Any]]:
        """All results; a last line that was cut short is left out."""
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8") as file:
            for line in file:
                try:
                    yield json.loads(line)
                except json.JSONDecodeError:
                    continue

    def done(self) -> set[tuple[Cell, int]]:
        """Which data sets are there."""
        return {(cell_of(line), int(line["seed"])) for line in self.lines()}

    def add(self, cell: Cell, seed: int, found: dict[str, Any]) -> None:
        """Append one result, in one write, on a line of its own."""
        content = {"problem": cell.problem, "n": cell.n, "learner": cell.learner, "seed": seed}
        text = json.dumps({**content, **found}) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_APPEND | os.O_CREAT | os.O_RDWR, 0o644)
        try:
            size = os.fstat(handle).st_size
            cut = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            os.write(handle, (("\n" if cut else "") + text).encode())
        finally:
            os.close(handle)


def cell_of(line: dict[str, Any]) -> Cell:
    """The cell that a stored line belongs to."""
    return Cell(str(line["problem"]), int(line["n"]), str(line["learner"]))
