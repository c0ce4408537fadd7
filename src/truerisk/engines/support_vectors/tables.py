"""Tables as SVC takes them, dense or sparse, and the number that gamma stands for on their rows.

Of sparse rows SVC forms its sums one column after the other. What is 0 adds nothing to such a sum,
to the last bit, so the same sums over all columns of a dense table are its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.engines.preparation.prepared import OwnArithmetic, dense
from truerisk.engines.preparation.zeros import as_dense
from truerisk.engines.support_vectors.setting import uses_gamma

__all__ = ["Gapped", "cells_of", "gamma_of", "stacked"]


class Gapped:
    """Rows of a sparse table, as SVC itself converts it; with rows that are asked for by places."""

    def __init__(self, table: Any) -> None:
        self.table = table

    @classmethod
    def of(cls, table: Any) -> Gapped:
        """What SVC would refuse, or go through in another order, is its own business."""
        from sklearn.utils import check_array

        taken = check_array(
            table, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )
        sorted_ = taken.copy()
        sorted_.sort_indices()
        if not sorted_.has_canonical_format:
            raise OwnArithmetic("with a cell that is given twice")
        found = cls(taken)
        dense(found.cells)
        return found

    @cached_property
    def cells(self) -> np.ndarray:
        """All of them, zeros as well."""
        return np.ascontiguousarray(as_dense(self.table))

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self.table.shape
        return int(n_rows), int(n_columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: np.ndarray) -> Gapped:
        return Gapped(self.table[rows])


def cells_of(table: np.ndarray | Gapped) -> np.ndarray:
    """A table as a dense one."""
    return table.cells if isinstance(table, Gapped) else table


def stacked(tables: Sequence[np.ndarray | Gapped]) -> np.ndarray:
    """The cells of several, one below the other."""
    return np.vstack([cells_of(table) for table in tables])


def gamma_of(setting: Mapping[str, Any], X: np.ndarray | Gapped, times: np.ndarray | None) -> float:
    """The number that gamma stands for on these training rows, copies and all."""
    gamma = setting["gamma"]
    if not uses_gamma(setting["kernel"]) or gamma == "auto":
        return 1.0 / float(X.shape[1])
    if gamma != "scale":
        return float(gamma)
    every = X if times is None else X[np.repeat(np.arange(len(X)), times)]
    if isinstance(every, Gapped):  # in other sums, and from other moments
        squares = every.table.multiply(every.table)
        variance = float(squares.mean() - every.table.mean() ** 2)
    else:
        variance = float(every.var())
    return float(1.0 / (X.shape[1] * variance)) if variance != 0 else 1.0
