"""Log loss of answers that rule classes out: which data sets have no interval, and what one held.

    python -m benchmarks.calibration.ruled_out [--sets 100] [--papers DIR]

Of each cell and of all: the share of data sets whose interval is withheld, how many of the others
hold `Err`, and how many of the withheld ones would have. The seeds took no part in the choice of
the share beyond which it is withheld (`methods/parts/caveats.py`).
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks.calibration.battery import Cell
from benchmarks.calibration.learners import learner
from benchmarks.calibration.tables import TABLES, here
from benchmarks.machine import one_blas_thread

__all__ = ["CELLS", "main"]

CELLS = tuple(
    Cell(table, n, who, "log")
    for table, n, who in (
        ("a1a", 150, "knn"),
        ("a1a", 250, "tree"),
        ("odd-digits", 250, "knn"),
        ("odd-digits", 250, "tree"),
        ("satellite", 250, "knn"),
        ("yeast", 250, "knn"),
        ("ozone", 200, "knn"),
        ("ozone", 200, "tree"),
        ("digits", 300, "knn"),
    )
)


def _of_set(cell: Cell, seed: int) -> tuple[float, ...]:
    """Whether there is an interval, its ends (those it would have without the rule), the truth."""
    import truerisk as tr

    drawn = TABLES[cell.problem].draw(
        cell.n, np.random.default_rng([33, seed, cell.n, *cell.problem.encode()])
    )
    model, grid = learner(cell.learner, "classification", cell.n)
    search = tr.HonestSearchCV(model, grid, scoring="log", random_state=seed)
    interval = search.fit(drawn.X, drawn.y).risk_.interval
    given = interval is not None
    if not given:
        with mock.patch("truerisk.methods.parts.caveats.MAX_RULED_OUT_SHARE", 1.0):
            interval = search.fit(drawn.X, drawn.y).risk_.interval
    ends = (np.nan, np.nan) if interval is None else (interval.low, interval.high)
    return given, *ends, drawn.risk(search.best_estimator_, "log")


def lines(cells: Sequence[Cell], n_sets: int) -> Iterator[str]:
    """One for each cell, then one for all."""
    every = []
    for cell in cells:
        given, low, high, truth = np.array([_of_set(cell, seed) for seed in range(n_sets)]).T
        held = (low <= truth.mean()) & (truth.mean() <= high)
        every.append((given > 0, held))
        yield f"{cell}: {_counted(given > 0, held)}"
    yield f"all: {_counted(*map(np.concatenate, zip(*every, strict=True)))}"


def _counted(given: np.ndarray, held: np.ndarray) -> str:
    def of(part: np.ndarray) -> str:
        return f"{held[part].mean():.1%} of {part.sum()}" if part.any() else "none"

    return f"withheld {1 - given.mean():.1%}; held {of(given)}, withheld ones {of(~given)}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.calibration.ruled_out")
    parser.add_argument("--sets", type=int, default=100, help="data sets of each cell (100)")
    parser.add_argument("--papers", type=Path, help="folder of the tables of the documents")
    given = parser.parse_args(arguments)
    if given.papers is not None:
        os.environ["TRUERISK_DATA"] = str(given.papers)
    warnings.simplefilter("ignore")
    for line in lines(here(CELLS)[0], given.sets):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
