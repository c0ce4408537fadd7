"""By how much a risk of ten drawings of the folds varies more than independent losses.

The default interval reads it off the instability (decision 15); here both stand side by side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.calibration.battery import Cell
from benchmarks.calibration.problems import PROBLEMS
from benchmarks.calibration.store import cell_of

__all__ = ["Surplus", "surpluses", "text"]

FEWEST = 10  # data sets: of fewer a variance is a guess, and that of two has no error at all


@dataclass(frozen=True)
class Surplus:
    """The true factor of the variance of independent rows, and the instability that shows it."""

    cell: Cell
    n_sets: int
    instability: float
    factor: float
    error: float


def surpluses(lines: Iterable[dict[str, Any]], cells: Sequence[Cell]) -> list[Surplus]:
    """One for each cell whose rows are independent, the stable ones first."""
    found: dict[Cell, dict[int, dict[str, Any]]] = defaultdict(dict)
    for line in lines:
        if "facts" in line:
            found[cell_of(line)][int(line["seed"])] = line["facts"]
    rows = [
        _of(cell, list(found[cell].values()))
        for cell in cells
        if len(found[cell]) >= FEWEST and _of_single_rows(cell)
    ]
    return sorted(rows, key=lambda row: row.instability)


def _of_single_rows(cell: Cell) -> bool:
    problem = PROBLEMS.get(cell.problem)
    return problem is not None and problem.draw_groups is None


def _of(cell: Cell, facts: Sequence[dict[str, Any]]) -> Surplus:
    means = np.array([one["rows_var"] for one in facts])
    once = np.array([one["moments"][1] for one in facts])
    values = np.array([one["outer"] for one in facts])
    times = len(facts[0]["repeats"])
    squares = (values - values.mean()) ** 2 * len(values) / (len(values) - 1)
    plain = means.mean() / cell.n
    return Surplus(
        cell=cell,
        n_sets=len(values),
        instability=float((1 - means.mean() / once.mean()) * times / (times - 1)),
        factor=float(squares.mean() / plain),
        error=float(squares.std() / np.sqrt(len(values)) / plain),
    )


def text(rows: Sequence[Surplus]) -> str:
    """A table; nothing without rows."""
    if not rows:
        return ""
    head = "variance of the mean of ten drawings over that of independent rows' mean losses"
    lines = ["", head, f"  {'cell':<32} {'instability':>11} {'factor':>13}"]
    for one in rows:
        factor = f"{one.factor:.2f} ± {one.error:.2f}"
        lines.append(f"  {one.cell!s:<32} {one.instability:>11.2f} {factor:>13}")
    return "\n".join(lines)
