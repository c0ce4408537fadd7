"""Every loss and score by itself: coverage of both targets, and the problems that fall short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.calibration.battery import Cell
from benchmarks.calibration.summary import Row, Total, by_interval, rows

__all__ = ["OfLoss", "by_loss", "text"]

LEAST = 0.93  # of the data sets of a problem; one below is named
PROMISED = "default"  # what is held to it, with any number of folds


@dataclass(frozen=True)
class OfLoss:
    """One interval of one loss; `short` are the problems below the promise, the worst first.

    Each of these has its coverage of Err and of Err_XY, and its number of data sets.
    """

    loss: str
    total: Total
    short: tuple[tuple[str, float, float, int], ...]


def by_loss(lines: Iterable[dict[str, Any]], cells: Sequence[Cell]) -> list[OfLoss]:
    """Every interval of every loss, in the order of the battery."""
    found = rows(lines, cells)
    losses = dict.fromkeys(row.cell.loss for row in found)
    return [
        OfLoss(loss, total, tuple(_short(found, loss, total)))
        for loss in losses
        for total in by_interval([row for row in found if row.cell.loss == loss])
    ]


def _short(found: Sequence[Row], loss: str, total: Total) -> list[tuple[str, float, float, int]]:
    short = []
    for covers, _, problem in total.by_problem:
        if covers < LEAST:
            of = [r for r in found if (r.cell.loss, r.word) == (loss, total.word)]
            mine = [row for row in of if row.cell.problem == problem]
            n = [row.n_sets for row in mine]
            of_rule = np.average([row.covers_rule or 0.0 for row in mine], weights=n)
            short.append((problem, covers, float(of_rule), sum(n)))
    return short


def text(found: Sequence[OfLoss]) -> str:
    """Two tables; nothing where there is one loss only."""
    if len({one.loss for one in found}) < 2:
        return ""
    head = f"  {'loss':<18} {'interval':<18} {'sets':>5} {'Err':>10} {'Err_XY':>6} {'width':>5}"
    lines = ["", "each loss by itself", f"{head}  lowest and highest problem"]
    for one in found:
        total = one.total
        low, high = (
            f"{name} {100 * c:.1f}" for c, _, name in (total.by_problem[0], total.by_problem[-1])
        )
        lines.append(
            f"  {one.loss:<18} {total.word:<18} {total.n_sets:>5} {100 * total.covers:>5.1f} "
            f"± {100 * total.error:.1f} {100 * total.covers_rule:>6.1f} {total.width:>5.2f}  "
            f"{low}, {high}"
        )
    lines += ["", f"problems below {LEAST:.0%} of Err (Err_XY, data sets)"]
    for one in found:
        if one.total.word.startswith(PROMISED) and one.short:
            said = (f"{p} {100 * c:.1f} ({100 * r:.1f}, {n})" for p, c, r, n in one.short)
            lines.append(f"  {one.loss:<18} {one.total.word:<14} {'; '.join(said)}")
    return "\n".join(lines)
