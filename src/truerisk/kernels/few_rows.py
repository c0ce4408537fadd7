"""The nearest of a few rows: every distance is measured and all are sorted at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FEW_COLUMNS", "FEW_ROWS", "nearest_of_few"]

FEW_ROWS, FEW_COLUMNS = 256, 16  # beyond these a matrix product and a selection are faster
BLOCK = 12_500  # distances held at once: what is used again and again stays in the cache


def nearest_of_few(
    queries: NDArray[np.float64], rows: NDArray[np.float64], length: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Row numbers and squared distances of the `length` nearest rows, ascending; ties by number.

    The bits of positive floats are ordered like the floats, so a distance whose last bits give way
    to its row number is an integer that carries its row through the sort; integers are sorted
    several times faster than pairs. Rows that the lost bits leave out of order are sorted again.
    """
    n, number = len(rows), np.arange(len(rows))
    low = np.int64((1 << max(n - 1, 1).bit_length()) - 1)
    index = np.empty((len(queries), length), dtype=np.int32)
    squared = np.empty((len(queries), length))
    step = max(1, BLOCK // n)
    for start in range(0, len(queries), step):
        part = slice(start, start + step)
        exact = _squared_distances(queries[part], rows)
        keys = exact.view(np.int64) & ~low
        keys |= number
        keys.sort(axis=1)
        # where the list ends among distances that differ in the lost bits only, others may belong
        cut = (keys[:, length - 1] ^ keys[:, min(length, n - 1)]) <= low
        near = keys[:, :length] & low
        found = exact.ravel()[near + (n * np.arange(len(exact)))[:, None]]
        wrong = (found[:, 1:] < found[:, :-1]).any(axis=1)
        wrong = np.flatnonzero(wrong | cut if length < n else wrong)
        if len(wrong):
            near[wrong] = np.argsort(exact[wrong], axis=1, kind="stable")[:, :length]
            found[wrong] = exact[wrong[:, None], near[wrong]]
        index[part], squared[part] = near, found
    return index, squared


def _squared_distances(
    queries: NDArray[np.float64], rows: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Plain sums: equal rows give exactly 0, equal pairs equal numbers."""
    total = np.zeros((len(queries), len(rows)))
    for column in range(rows.shape[1]):
        difference = np.subtract.outer(queries[:, column], rows[:, column])
        difference *= difference
        total += difference
    return total
