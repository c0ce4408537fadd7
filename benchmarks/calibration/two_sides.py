"""Rate on which side intervals miss: `python -m benchmarks.calibration.two_sides [--sets N]`.

Logistic regression, discriminants, neighbours and forests are tuned by log loss, or by Brier, and
the intervals of both losses from pairs are held to the risk of the model of all rows on 20,000
fresh rows, and to the mean of these risks over data sets. An interval is "too high" if it lies
above that risk, and "too low" if it lies below. The low ends were calibrated on the drawings of
another program and seed. A tenth to half a second for each data set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from benchmarks.calibration.rating import rated
from benchmarks.calibration.tuned_slopes import PENALTIES, SHRINKAGES, discriminant, logistic
from benchmarks.calibration.validated import FRESH, rate_cells
from benchmarks.calibration.validated import Cell as Table
from benchmarks.machine import one_blas_thread

__all__ = ["main"]

LOSSES = ("log", "brier")


def neighbours() -> KNeighborsClassifier:
    """Make a classifier by nearest neighbours, which is tuned over their number."""
    return KNeighborsClassifier()


def forest() -> RandomForestClassifier:
    """Make a small random forest, which is tuned over the size of its leaves."""
    return RandomForestClassifier(20, random_state=0)


@dataclass(frozen=True)
class Cell:
    """A learner that is tuned over `grid` by the first of the `losses` that are rated."""

    table: Table
    grid: Mapping[str, Sequence[float]]
    losses: tuple[str, ...] = LOSSES

    def __str__(self) -> str:
        return f"{self.table}, tuned by {self.losses[0]}"


def cell(learner: Callable[[], Any], n: int, p: int, shift: float, grid: Any, *losses: str) -> Cell:
    """Make a cell from the words of its table."""
    return Cell(Table(learner, n, p, shift), grid, losses or LOSSES)


CELLS = (
    cell(logistic, 150, 15, -0.5, PENALTIES),
    cell(logistic, 150, 3, -0.5, PENALTIES),
    cell(logistic, 400, 15, -2.0, PENALTIES),
    cell(logistic, 60, 6, -0.5, PENALTIES),
    cell(logistic, 300, 6, -3.0, PENALTIES),
    cell(discriminant, 150, 15, -0.5, SHRINKAGES),
    cell(neighbours, 150, 5, -0.5, {"n_neighbors": [5, 15, 30, 50]}, "brier"),
    cell(forest, 150, 6, -0.5, {"min_samples_leaf": [3, 8, 20]}, "brier"),
)


def rate(cell: Cell, n_sets: int, seed: int) -> None:
    """Draw the data sets of a cell and print on which side how many intervals miss."""
    rng = np.random.default_rng([seed, *str(cell).encode()])  # no two cells share a data set
    first, *others = cell.losses
    ends: dict[str, list[tuple[float, float]]] = {loss: [] for loss in cell.losses}
    truth: dict[str, list[float]] = {loss: [] for loss in cell.losses}
    for _ in range(n_sets):
        X, y = cell.table.draw(cell.table.n, rng)
        if min(np.bincount(y, minlength=2)) < len(ends) + 4:
            continue  # the folds would lack a class
        search = tr.HonestSearchCV(
            cell.table.learner(), dict(cell.grid), scoring=[first, *tuple(others)]
        ).fit(X, y)
        fresh = cell.table.draw(FRESH, rng)
        for loss in cell.losses:
            found = search.risk_ if loss == first else search.scores_[loss]
            if found.interval is not None:
                ends[loss].append((found.interval.low, found.interval.high))
                truth[loss].append(rated(search, *fresh, "classification", loss))
    print(f"{cell}: {n_sets} sets")
    for loss in cell.losses:
        (low, high), own = np.array(ends[loss]).T, np.array(truth[loss])
        said = [
            f"of {of}: too high {(low > risk).mean():.3f}, too low {(high < risk).mean():.3f}"
            for of, risk in (("the model", own), ("the procedure", own.mean()))
        ]
        print(f"  {loss:6} {len(own)} intervals, {'; '.join(said)}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Rate every cell."""
    rate_cells(CELLS, rate, arguments, __doc__, n_sets=300)


if __name__ == "__main__":
    one_blas_thread()
    main()
