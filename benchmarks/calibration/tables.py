"""Real tables as populations: some rows are drawn without replacement, the rest is the truth.

The tables of scikit-learn are always there; those of the documents where TRUERISK_DATA names their
folder (`--papers DIR`). They are read when they are first drawn from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.calibration.battery import Cell
from benchmarks.calibration.rating import Drawn, Rows, rated
from truerisk.datasets import load
from truerisk.datasets.documents import find_data_folder

__all__ = ["TABLES", "Table", "here"]


@dataclass(frozen=True)
class Table:
    """A table of the registry of data sets, and what is asked of it.

    `of_y` makes of its labels those that are to be told, a negative one where a row is left out.
    """

    name: str
    source: str
    task: str = "classification"
    of_y: Callable[[Rows], Rows] | None = None
    of_documents: bool = False

    @property
    def is_here(self) -> bool:
        """Whether its file can be read."""
        return not self.of_documents or find_data_folder() is not None

    def draw(self, n: int, rng: np.random.Generator) -> Drawn:
        """n rows without replacement, two of each class at least; a rule is rated by the others."""
        X, y = _rows(self)
        while True:
            order = rng.permutation(len(y))
            mine, rest = order[:n], order[n:]
            if self.task == "regression" or np.bincount(y[mine], minlength=y.max() + 1).min() > 1:
                break

        def risk(rule: Any, loss: str) -> float:
            usual = "squared" if self.task == "regression" else "zero-one"
            return rated(rule, X[rest], y[rest], self.task, loss or usual)

        return Drawn(X[mine], y[mine], risk)


@cache
def _rows(table: Table) -> tuple[Rows, Rows]:
    """X with columns of one scale, and y with classes 0, 1, … ."""
    bundle = load(table.source)
    X, y = np.asarray(bundle.X), np.asarray(bundle.y)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if table.task == "regression":
        return X, (y - y.mean()) / y.std()
    told = y.astype(np.int64) if table.of_y is None else table.of_y(y)
    X, told = X[told >= 0], told[told >= 0]
    return X, np.unique(told, return_inverse=True)[1].ravel()


def _odd(y: Rows) -> Rows:
    return np.asarray(y % 2, dtype=np.int64)


def _largest_four(y: Rows) -> Rows:
    """The others hold too few rows for two of each to be drawn."""
    return np.where(np.isin(y, np.argsort(-np.bincount(y))[:4]), y, -1)


TABLES = {
    table.name: table
    for table in (
        Table("digits", "digits"),
        Table("odd-digits", "digits", of_y=_odd),
        Table("diabetes", "diabetes", "regression"),
        Table("satellite", "satellite", of_documents=True),
        Table("a1a", "a1a", of_documents=True),
        Table("yeast", "yeast", of_y=_largest_four, of_documents=True),
        Table("ozone", "ozone", of_documents=True),
        Table("ozone-level", "ozone-level", "regression", of_documents=True),
    )
}


def here(cells: Sequence[Cell]) -> tuple[tuple[Cell, ...], list[str]]:
    """The cells whose problems can be drawn from, and the tables that are not here."""
    missing = {name for name, table in TABLES.items() if not table.is_here}
    kept = tuple(cell for cell in cells if cell.problem not in missing)
    return kept, sorted(missing & {cell.problem for cell in cells})
