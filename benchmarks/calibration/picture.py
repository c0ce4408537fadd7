"""The coverage of every interval, one point a cell, as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration.battery import Cell
from benchmarks.calibration.summary import rows

__all__ = ["draw"]


def draw(lines: Iterable[dict[str, Any]], cells: Sequence[Cell], path: Path) -> None:
    """Coverage of Err against the width as a share of NCV's, with the band that is asked for."""
    from matplotlib.figure import Figure

    found = [row for row in rows(lines, cells) if row.covers is not None]
    widths = {row.cell: row.width for row in found if row.word == "ncv"}
    words = list(dict.fromkeys(row.word for row in found))
    figure = Figure(figsize=(7, 0.4 * len(words) + 1.5), layout="constrained")
    ax = figure.subplots()
    ax.axvspan(0.93, 0.98, color="0.92", zorder=0)
    for place, word in enumerate(words):
        mine = [row for row in found if row.word == word]
        ax.plot([row.covers for row in mine], [place] * len(mine), "|", color="C0", ms=12)
        mean = np.average([row.covers or 0 for row in mine], weights=[row.n_sets for row in mine])
        ax.plot([mean], [place], "o", color="C1")
        ratio = np.mean([(row.width or 0) / (widths[row.cell] or np.nan) for row in mine])
        ax.annotate(f"{ratio:.2f}", (1.01, place), xycoords=("axes fraction", "data"), va="center")
    ax.set_yticks(range(len(words)), words)
    ax.invert_yaxis()
    ax.set_xlabel("coverage of Err (bars: learners and problems, dot: all); right: width / ncv")
    figure.savefig(path)
