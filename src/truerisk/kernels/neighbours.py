"""The nearest rows of every query, by exact distance: one matrix product and a selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truerisk.kernels.loading import native

__all__ = ["Lists", "Rough", "euclidean", "nearest_lists"]

Rough = Callable[[slice], np.ndarray]
BLOCK = 1 << 21  # distances held at once


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


@dataclass(frozen=True, eq=False)
class Metric:
    """Distances in blocks: `rough(block)` squared ones, off by at most `slack`; exact by `rows`."""

    rough: Rough
    slack: np.ndarray
    ties: np.ndarray
    queries: np.ndarray
    rows: np.ndarray


def euclidean(queries: np.ndarray, rows: np.ndarray) -> Metric:
    """Euclidean distances by one matrix product per block, on centred data, measured again exactly.

    `slack` bounds the rounding of that product; `ties` that of the same product on data that are
    not centred, which is what scikit-learn computes.
    """
    centre = rows.mean(axis=0)
    shifted, inner = queries - centre, rows - centre
    norms, inner_norms = _squares(shifted), _squares(inner)
    right = np.ascontiguousarray(np.column_stack([-2 * inner, inner_norms]).T)

    def rough(block: slice) -> np.ndarray:
        left = np.column_stack([shifted[block], np.ones(len(shifted[block]))])
        product: np.ndarray = left @ right
        product += norms[block, None]
        return product

    unit = 4 * (rows.shape[1] + 8) * np.finfo(np.float64).eps
    slack = unit * (norms + inner_norms.max())
    ties = unit * (_squares(queries) + _squares(rows).max())
    return Metric(rough, slack, ties, queries, rows)


def measured(distances: Callable[[slice], np.ndarray], n_queries: int, largest: float) -> Metric:
    """Any other metric from its own distances; they are taken as they are."""

    def rough(block: slice) -> np.ndarray:
        return np.ascontiguousarray(np.square(distances(block)))

    nothing = np.zeros(n_queries)
    ties = np.full(n_queries, 1e-12 * largest**2)
    return Metric(rough, nothing, ties, np.empty((n_queries, 0)), np.empty((1, 0)))


def nearest_lists(metric: Metric, n_rows: int, length: int) -> Lists:
    """The `length` nearest of `n_rows` rows for every query."""
    n_queries = len(metric.slack)
    length = min(length, n_rows)
    index = np.empty((n_queries, length), dtype=np.int32)
    squared = np.empty((n_queries, length))
    step = max(16, min(512, BLOCK // max(n_rows, 1)))
    select = native().nearest_of_block
    for start in range(0, n_queries, step):
        block = slice(start, min(start + step, n_queries))
        rough = metric.rough(block)
        if rough.shape != (block.stop - block.start, n_rows):
            raise ValueError(f"distances have shape {rough.shape} for {n_rows} rows")
        select(
            rough,
            np.ascontiguousarray(metric.queries[block]),
            metric.rows,
            metric.slack[block],
            index[block],
            squared[block],
        )
    return Lists(index, squared, metric.ties, length == n_rows)


def _squares(rows: np.ndarray) -> np.ndarray:
    squares: np.ndarray = np.einsum("ij,ij->i", rows, rows)
    return squares
