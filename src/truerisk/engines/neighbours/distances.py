"""Find the nearest rows of every query by exact distance: one matrix product and a selection.

If there are few rows, all distances are computed and sorted at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.settings import Group
from truerisk.kernels import native

if TYPE_CHECKING:
    from numpy.typing import NDArray


EPS = float(np.finfo(np.float64).eps)
BLOCK = 1 << 22  # number of distances that are held at once
QUERIES, ROWS = 256, 4096  # numbers of queries and rows in one matrix product


@frozen
class Measure:
    """The metric settings shared by the candidates of a group, which differ in n_neighbors only."""

    by_distance: bool
    metric: str
    p: float
    algorithm: str
    is_euclidean: bool

    @classmethod
    def from_group(cls, group: Group) -> Measure:
        """Read the settings that the candidates of a group share."""
        setting = group.settings[0]
        metric, p = setting["metric"], float(setting["p"])
        is_euclidean = metric in ("euclidean", "l2") or (metric == "minkowski" and p == 2)
        return cls(setting["weights"] == "distance", metric, p, setting["algorithm"], is_euclidean)

    def searches_all(self, n_columns: int, n_rows: int, k: int) -> bool:
        """Return True if scikit-learn measures all distances for this k (see its user guide)."""
        many = n_columns > 15 or k >= n_rows // 2
        return self.algorithm == "brute" or (self.algorithm == "auto" and many)

    @property
    def needs_doubles(self) -> bool:
        """True if scikit-learn's answers differ for sparse or single-precision tables."""
        return self.by_distance or not self.is_euclidean


@frozen(eq=False)
class NearestRows:
    """The nearest rows of each query i, in ascending order of (squared distance, row number).

    Squared distances that differ by at most `ties[i]` cannot be ordered reliably, since other
    programs may round them differently. `complete` is True if each list holds all rows.
    """

    index: np.ndarray
    squared: np.ndarray
    ties: np.ndarray
    complete: bool


def nearest(measure: Measure, queries: np.ndarray, rows: np.ndarray, length: int) -> NearestRows:
    """Return the `length` nearest rows of every query, by the group's metric."""
    if measure.is_euclidean:
        return euclidean(queries, rows, length)
    from sklearn.metrics import pairwise_distances

    options: dict[str, Any] = {"p": measure.p} if measure.metric == "minkowski" else {}

    def distances(block: slice) -> np.ndarray:
        return pairwise_distances(queries[block], rows, metric=measure.metric, **options)

    rounding = cosine_rounding(rows.shape[1]) if measure.metric == "cosine" else 0.0
    return by_distances(distances, len(queries), len(rows), length, rounding)


def cosine_rounding(n_columns: int) -> float:
    """Return the rounding error of a distance that is computed as 1 minus a sum."""
    return 4 * (n_columns + 8) * EPS


def euclidean(queries: np.ndarray, rows: np.ndarray, length: int) -> NearestRows:
    """Return the `length` nearest of `rows` for every query, by Euclidean distance.

    A matrix product in single precision, on centred and scaled data, finds all rows that may belong
    to a list given the rounding error. Their distances are computed again in double precision, so
    that the lists are exact. (If there are few rows, all distances are computed at once.) `ties`
    bounds the rounding error of the same product in double precision on data that are not centred,
    which is what scikit-learn computes.
    """
    length = min(length, len(rows))
    n, d = rows.shape
    unit = 4 * (d + 8) * float(np.finfo(np.float64).eps)
    ties = unit * (_squares(queries) + _squares(rows).max())
    if n <= FEW_ROWS and d <= FEW_COLUMNS:
        return NearestRows(*nearest_of_few(queries, rows, length), ties, length == n)
    index = np.empty((len(queries), length), dtype=np.int32)
    squared = np.empty((len(queries), length))
    centre = rows.mean(axis=0)
    scale = max(np.abs(queries - centre).max(initial=0), np.abs(rows - centre).max()) or 1.0
    centred, inner = (queries - centre) / scale, (rows - centre) / scale
    norms, inner_norms = _squares(centred), _squares(inner)
    slack = 4 * (d + 8) * float(np.finfo(np.float32).eps) * (norms + inner_norms.max())
    depth = 4 * -(-(d + 1) // 4)  # products with a depth that is a multiple of four are the fastest
    right = np.zeros((depth, n), dtype=np.float32)
    right[:d], right[d] = -2 * inner.T, inner_norms
    left = np.zeros((len(queries), depth), dtype=np.float32)
    left[:, :d], left[:, d] = centred, 1
    # sizes at which the products stay in the cache
    block, chunk = min(QUERIES, len(queries)), min(ROWS, n)
    selected = native().Nearest(block, length)
    rough = np.empty(block * chunk, dtype=np.float32)
    for start in range(0, len(queries), block):
        part = slice(start, start + block)
        for first in range(0, n, chunk):
            some = right[:, first : first + chunk]
            shape = len(left[part]), some.shape[1]
            product = rough[: shape[0] * shape[1]].reshape(shape)
            np.matmul(left[part], some, out=product)
            selected.add(product, first, slack[part])
        selected.finish(queries[part], rows, slack[part], index[part], squared[part])
    return NearestRows(index, squared, ties, length == n)


def by_distances(
    distances: Callable[[slice], np.ndarray],
    n_queries: int,
    n_rows: int,
    length: int,
    rounding: float = 0.0,
) -> NearestRows:
    """Return the `length` nearest of `n_rows` rows for every query, from blocks of given distances.

    Other programs may round a distance by a small part of the largest distance, plus `rounding`. If
    a distance is not finite, its query has no order, and all its answers are left open.
    """
    length = min(length, n_rows)
    index = np.empty((n_queries, length), dtype=np.int32)
    squared = np.empty((n_queries, length))
    ties = np.empty(n_queries)
    for block in _blocks(n_queries, n_rows):
        given = np.ascontiguousarray(distances(block), dtype=np.float64)
        if given.shape != (block.stop - block.start, n_rows):
            raise ValueError(f"distances have shape {given.shape} for {n_rows} rows")
        largest = given.max(axis=1)
        finite = np.isfinite(largest)
        if not finite.all():
            given = np.where(finite[:, None], given, 0.0)
        native().smallest_of_block(given, index[block], squared[block])
        largest = np.where(finite, largest, np.inf)
        ties[block] = largest * (1e-12 * largest + 2 * rounding)
    return NearestRows(index, squared**2, ties, length == n_rows)


def _step(n_rows: int) -> int:
    return max(16, min(256, BLOCK // max(n_rows, 1)))


def _blocks(n_queries: int, n_rows: int) -> Iterator[slice]:
    step = _step(n_rows)
    for start in range(0, n_queries, step):
        yield slice(start, min(start + step, n_queries))


def _squares(rows: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", rows, rows)


FEW_ROWS, FEW_COLUMNS = 256, 16  # Beyond these sizes a matrix product and a selection are faster.
BLOCK_OF_FEW = 12_500  # number of distances held at once, so that reused values stay in the cache


def nearest_of_few(
    queries: NDArray[np.float64], rows: NDArray[np.float64], length: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return row numbers and squared distances of the `length` nearest rows, ties by row number.

    The bit patterns of positive floats are ordered like the floats. If the last bits of a distance
    are replaced by its row number, the result is an integer that carries its row through the sort,
    and integers are sorted several times faster than pairs. Queries whose order depends on the lost
    bits are sorted again.
    """
    n, number = len(rows), np.arange(len(rows))
    low = np.int64((1 << max(n - 1, 1).bit_length()) - 1)
    index = np.empty((len(queries), length), dtype=np.int32)
    squared = np.empty((len(queries), length))
    step = max(1, BLOCK_OF_FEW // n)
    for start in range(0, len(queries), step):
        part = slice(start, start + step)
        exact = _squared_distances(queries[part], rows)
        keys = exact.view(np.int64) & ~low
        keys |= number
        keys.sort(axis=1)
        # If the list ends among distances that differ in the lost bits only, other rows may belong
        # to it.
        cut = (keys[:, length - 1] ^ keys[:, min(length, n - 1)]) <= low
        near = keys[:, :length] & low
        distances = exact.ravel()[near + (n * np.arange(len(exact)))[:, None]]
        wrong = (distances[:, 1:] < distances[:, :-1]).any(axis=1)
        wrong = np.flatnonzero(wrong | cut if length < n else wrong)
        if len(wrong):
            near[wrong] = np.argsort(exact[wrong], axis=1, kind="stable")[:, :length]
            distances[wrong] = exact[wrong[:, None], near[wrong]]
        index[part], squared[part] = near, distances
    return index, squared


def _squared_distances(
    queries: NDArray[np.float64], rows: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return squared distances by plain sums, so that equal rows have distance exactly 0.

    Equal pairs of rows have exactly equal distances.
    """
    total = np.zeros((len(queries), len(rows)))
    for column in range(rows.shape[1]):
        difference = np.subtract.outer(queries[:, column], rows[:, column])
        difference *= difference
        total += difference
    return total
