"""The nearest rows of every query, by exact distance: one matrix product and a selection.

Of a few rows every distance is measured, and all are sorted at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.engines.settings import Group
from truerisk.kernels import native

if TYPE_CHECKING:
    from numpy.typing import NDArray


EPS = float(np.finfo(np.float64).eps)
BLOCK = 1 << 22  # distances held at once
QUERIES, ROWS = 256, 4096  # of one product


@dataclass(frozen=True)
class Measure:
    """How the candidates of a group measure; they differ in the number of neighbours only."""

    by_distance: bool
    metric: str
    p: float
    algorithm: str
    is_euclidean: bool

    @classmethod
    def of(cls, group: Group) -> Measure:
        """Read the settings that the candidates of a group share."""
        setting = group.settings[0]
        metric, p = setting["metric"], float(setting["p"])
        is_euclidean = metric in ("euclidean", "l2") or (metric == "minkowski" and p == 2)
        return cls(setting["weights"] == "distance", metric, p, setting["algorithm"], is_euclidean)

    def searches_all(self, n_columns: int, n_rows: int, k: int) -> bool:
        """Return True if scikit-learn measures all distances for this k, as its guide says."""
        many = n_columns > 15 or k >= n_rows // 2
        return self.algorithm == "brute" or (self.algorithm == "auto" and many)

    @property
    def needs_doubles(self) -> bool:
        """True if scikit-learn answers otherwise for a table in single precision, or sparse."""
        return self.by_distance or not self.is_euclidean


@dataclass(frozen=True, eq=False)
class NearestRows:
    """Row i: the nearest rows of query i, ascending by (squared distance, row number).

    Squared distances within `ties[i]` of each other cannot be told apart by peers that compute
    them in another order. `complete` says that a list holds all rows there are.
    """

    index: np.ndarray
    squared: np.ndarray
    ties: np.ndarray
    complete: bool


def nearest(measure: Measure, queries: np.ndarray, rows: np.ndarray, length: int) -> NearestRows:
    """Return the `length` nearest rows of every query, by the distance that is measured."""
    if measure.is_euclidean:
        return euclidean(queries, rows, length)
    from sklearn.metrics import pairwise_distances

    options: dict[str, Any] = {"p": measure.p} if measure.metric == "minkowski" else {}

    def distances(block: slice) -> np.ndarray:
        return pairwise_distances(queries[block], rows, metric=measure.metric, **options)

    rounding = cosine_rounding(rows.shape[1]) if measure.metric == "cosine" else 0.0
    return by_distances(distances, len(queries), len(rows), length, rounding)


def cosine_rounding(n_columns: int) -> float:
    """Of a distance that is what sums leave of 1."""
    return 4 * (n_columns + 8) * EPS


def euclidean(queries: np.ndarray, rows: np.ndarray, length: int) -> NearestRows:
    """Return the `length` nearest of `rows` for every query, by Euclidean distance.

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
        return NearestRows(*nearest_of_few(queries, rows, length), ties, length == n)
    index = np.empty((len(queries), length), dtype=np.int32)
    squared = np.empty((len(queries), length))
    centre = rows.mean(axis=0)
    scale = max(np.abs(queries - centre).max(initial=0), np.abs(rows - centre).max()) or 1.0
    centred, inner = (queries - centre) / scale, (rows - centre) / scale
    norms, inner_norms = _squares(centred), _squares(inner)
    slack = 4 * (d + 8) * float(np.finfo(np.float32).eps) * (norms + inner_norms.max())
    depth = 4 * -(-(d + 1) // 4)  # products of fours are the fastest
    right = np.zeros((depth, n), dtype=np.float32)
    right[:d], right[d] = -2 * inner.T, inner_norms
    left = np.zeros((len(queries), depth), dtype=np.float32)
    left[:, :d], left[:, d] = centred, 1
    block, chunk = min(QUERIES, len(queries)), min(ROWS, n)  # products that stay in the cache
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
    """The `length` nearest of `n_rows` rows for every query, by any distances, block by block.

    Peers may be off by a small part of the largest distance, and by `rounding` besides. A distance
    that is not finite has no order, and leaves all of its query open.
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


FEW_ROWS, FEW_COLUMNS = 256, 16  # beyond these a matrix product and a selection are faster
BLOCK_OF_FEW = 12_500  # distances held at once: what is used again and again stays in the cache


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
    step = max(1, BLOCK_OF_FEW // n)
    for start in range(0, len(queries), step):
        part = slice(start, start + step)
        exact = _squared_distances(queries[part], rows)
        keys = exact.view(np.int64) & ~low
        keys |= number
        keys.sort(axis=1)
        # where the list ends among distances that differ in the lost bits only, others may belong
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
    """Plain sums: equal rows give exactly 0, equal pairs equal numbers."""
    total = np.zeros((len(queries), len(rows)))
    for column in range(rows.shape[1]):
        difference = np.subtract.outer(queries[:, column], rows[:, column])
        difference *= difference
        total += difference
    return total
