"""The nearest rows of every query, by exact distance: one matrix product and a selection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from truerisk.kernels.few_rows import FEW_COLUMNS, FEW_ROWS, nearest_of_few
from truerisk.kernels.loading import native

__all__ = ["Lists", "by_distances", "euclidean"]

BLOCK = 1 << 22  # distances held at once


@dataclass(frozen=True, eq=False)
class Lists:
    """Row i: the nearest rows of query i, ascending by (squared distance, row number).

    Squared distances within `ties[i]` of each other cannot be told apart by peers that compute
    them in another order. `complete` says that a list holds all rows there are.
    """

    index: np.ndarray
    squared: np.ndarray
    ties: np.ndarray
    complete: bool


def euclidean(queries: np.ndarray, rows: np.ndarray, length: int) -> Lists:
    """The `length` nearest of `rows` for every query, by Euclidean distance.

    A matrix product in single precision, on centred and scaled data, finds the candidates: all
    that its rounding error could let into the list. They are measured again in double precision,
    so the lists are exact. (Of few rows, all distances are measured at once.) `ties` bounds the
    rounding of the same product in double precision on data that are not centred, which is what
    scikit-learn computes.
    """
    length = min(length, len(rows))
    n, d = rows.shape
    unit = 4 * (d + 8) * float(np.finfo(np.float64).eps)
    ties = unit * (_squares(queries) + _squares(rows).max())
    if n <= FEW_ROWS and d <= FEW_COLUMNS:
        return Lists(*nearest_of_few(queries, rows, length), ties, length == n)
    index = np.empty((len(queries), length), dtype=np.int32)
    squared = np.empty((len(queries), length))
    centre = rows.mean(axis=0)
    scale = max(np.abs(queries - centre).max(initial=0), np.abs(rows - centre).max()) or 1.0
    left, inner = (queries - centre) / scale, (rows - centre) / scale
    norms, inner_norms = _squares(left), _squares(inner)
    right = np.vstack([-2 * inner.T, inner_norms]).astype(np.float32)
    slack = 4 * (d + 8) * float(np.finfo(np.float32).eps) * (norms + inner_norms.max())
    left = np.column_stack([left, np.ones(len(queries))]).astype(np.float32)
    rough = np.empty((_step(n), n), dtype=np.float32)
    for block in _blocks(len(queries), n):
        part = rough[: block.stop - block.start]
        np.matmul(left[block], right, out=part)
        native().nearest_of_block(
            part, queries[block], rows, slack[block], index[block], squared[block]
        )
    return Lists(index, squared, ties, length == n)


def by_distances(
    distances: Callable[[slice], np.ndarray], n_queries: int, n_rows: int, length: int
) -> Lists:
    """The `length` nearest of `n_rows` rows for every query, by any distances, block by block."""
    length = min(length, n_rows)
    index = np.empty((n_queries, length), dtype=np.int32)
    squared = np.empty((n_queries, length))
    ties = np.empty(n_queries)
    for block in _blocks(n_queries, n_rows):
        given = np.ascontiguousarray(distances(block), dtype=np.float64)
        if given.shape != (block.stop - block.start, n_rows):
            raise ValueError(f"distances have shape {given.shape} for {n_rows} rows")
        native().smallest_of_block(given, index[block], squared[block])
        ties[block] = 1e-12 * given.max(axis=1) ** 2
    return Lists(index, squared**2, ties, length == n_rows)


def _step(n_rows: int) -> int:
    return max(16, min(256, BLOCK // max(n_rows, 1)))


def _blocks(n_queries: int, n_rows: int) -> Iterator[slice]:
    step = _step(n_rows)
    for start in range(0, n_queries, step):
        yield slice(start, min(start + step, n_queries))


def _squares(rows: np.ndarray) -> np.ndarray:
    squares: np.ndarray = np.einsum("ij,ij->i", rows, rows)
    return squares
