"""Find the nearest rows of every query by exact distance, with a matrix product and a selection.

If there are few rows, all distances are computed and sorted at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.settings import Group
from truerisk.kernels import native_module

if TYPE_CHECKING:
    from numpy.typing import NDArray


EPS = float(np.finfo(np.float64).eps)
MAX_DISTANCES_IN_MEMORY = 1 << 22  # Largest number of distances that are held in memory at once.
MAX_QUERIES_PER_PRODUCT, MAX_ROWS_PER_PRODUCT = (
    256,
    4096,
)  # maximum numbers of queries and of rows in one matrix product


@frozen
class MetricSettings:
    """Settings of the metric, which candidates share that differ in `n_neighbors` only."""

    has_distance_weights: bool
    metric: str
    p: float
    algorithm: str
    is_euclidean: bool

    @classmethod
    def from_group(cls, group: Group) -> MetricSettings:
        """Read the metric settings that the candidates of a group share."""
        setting = group.settings[0]
        metric, p = setting["metric"], float(setting["p"])
        is_euclidean = metric in ("euclidean", "l2") or (metric == "minkowski" and p == 2)
        return cls(setting["weights"] == "distance", metric, p, setting["algorithm"], is_euclidean)

    def computes_all_distances(self, n_columns: int, n_rows: int, k: int) -> bool:
        """Return True if scikit-learn computes the distances of all rows to find k neighbours.

        See scikit-learn's user guide.
        """
        uses_brute_force = n_columns > 15 or k >= n_rows // 2
        return self.algorithm == "brute" or (self.algorithm == "auto" and uses_brute_force)

    @property
    def needs_float64(self) -> bool:
        """True if the table must be dense and in double precision.

        With these settings, scikit-learn predicts differently for sparse or single-precision
        tables.
        """
        return self.has_distance_weights or not self.is_euclidean


@frozen(eq=False)
class NearestRows:
    """Rows nearest to each query, in ascending order of squared distance.

    Rows at equal distances are in the order of their row numbers. Squared distances from query i
    that differ by at most `tie_bounds[i]` cannot be ordered reliably, since other programs may
    round them differently. `holds_all_rows` is True if each list holds all rows.
    """

    index: np.ndarray
    squared_distances: np.ndarray
    tie_bounds: np.ndarray
    holds_all_rows: bool


def find_nearest(
    metric_settings: MetricSettings, queries: np.ndarray, rows: np.ndarray, length: int
) -> NearestRows:
    """Return the `length` nearest rows of every query by the metric of the candidates."""
    if metric_settings.is_euclidean:
        return find_nearest_euclidean(queries, rows, length)
    from sklearn.metrics import pairwise_distances

    metric_options: dict[str, Any] = (
        {"p": metric_settings.p} if metric_settings.metric == "minkowski" else {}
    )

    def distances(block: slice) -> np.ndarray:
        return pairwise_distances(
            queries[block], rows, metric=metric_settings.metric, **metric_options
        )

    rounding_bound = (
        cosine_rounding_bound(rows.shape[1]) if metric_settings.metric == "cosine" else 0.0
    )
    return find_nearest_by_distance(distances, len(queries), len(rows), length, rounding_bound)


def cosine_rounding_bound(n_columns: int) -> float:
    """Return a bound on the rounding error of 1 minus the sum that gives a cosine distance."""
    return 4 * (n_columns + 8) * EPS


def find_nearest_euclidean(queries: np.ndarray, rows: np.ndarray, list_length: int) -> NearestRows:
    """Return for every query the `list_length` rows with the smallest Euclidean distances.

    A matrix product in single precision, on centred and scaled data, finds all rows that may belong
    to a list given the rounding error. The distances of these rows are computed again in double
    precision, so that the lists are exact. (If there are few rows, all distances are computed at
    once.) `ties` in the result bounds the rounding error of the same product in double precision on
    data that are not centred, which is what scikit-learn computes.
    """
    list_length = min(list_length, len(rows))
    n_rows, n_columns = rows.shape
    relative_error = 4 * (n_columns + 8) * float(np.finfo(np.float64).eps)
    tie_bounds = relative_error * (_squared_norms(queries) + _squared_norms(rows).max())
    if n_rows <= MAX_ROWS_TO_SORT and n_columns <= MAX_COLUMNS_TO_SORT:
        return NearestRows(
            *find_nearest_of_few_rows(queries, rows, list_length), tie_bounds, list_length == n_rows
        )
    nearest_indices = np.empty((len(queries), list_length), dtype=np.int32)
    squared_distances = np.empty((len(queries), list_length))
    column_means = rows.mean(axis=0)
    largest_deviation = (
        max(np.abs(queries - column_means).max(initial=0), np.abs(rows - column_means).max()) or 1.0
    )
    scaled_queries, scaled_rows = (
        (queries - column_means) / largest_deviation,
        (rows - column_means) / largest_deviation,
    )
    query_norms, row_norms = _squared_norms(scaled_queries), _squared_norms(scaled_rows)
    error_bounds = (
        4 * (n_columns + 8) * float(np.finfo(np.float32).eps) * (query_norms + row_norms.max())
    )
    # Matrix products are fastest if their inner dimension is a multiple of four.
    padded_depth = 4 * -(-(n_columns + 1) // 4)
    row_factor = np.zeros((padded_depth, n_rows), dtype=np.float32)
    row_factor[:n_columns], row_factor[n_columns] = -2 * scaled_rows.T, row_norms
    query_factor = np.zeros((len(queries), padded_depth), dtype=np.float32)
    query_factor[:, :n_columns], query_factor[:, n_columns] = scaled_queries, 1
    # With blocks of this size the matrix products stay in the processor's cache.
    query_block_size, row_block_size = (
        min(MAX_QUERIES_PER_PRODUCT, len(queries)),
        min(MAX_ROWS_PER_PRODUCT, n_rows),
    )
    nearest_selector = native_module().Nearest(query_block_size, list_length)
    rough_distances = np.empty(query_block_size * row_block_size, dtype=np.float32)
    for first_query in range(0, len(queries), query_block_size):
        query_slice = slice(first_query, first_query + query_block_size)
        for first_row in range(0, n_rows, row_block_size):
            row_block = row_factor[:, first_row : first_row + row_block_size]
            product_shape = len(query_factor[query_slice]), row_block.shape[1]
            block_product = rough_distances[: product_shape[0] * product_shape[1]].reshape(
                product_shape
            )
            np.matmul(query_factor[query_slice], row_block, out=block_product)
            nearest_selector.add(block_product, first_row, error_bounds[query_slice])
        nearest_selector.finish(
            queries[query_slice],
            rows,
            error_bounds[query_slice],
            nearest_indices[query_slice],
            squared_distances[query_slice],
        )
    return NearestRows(nearest_indices, squared_distances, tie_bounds, list_length == n_rows)


def find_nearest_by_distance(
    distances: Callable[[slice], np.ndarray],
    n_queries: int,
    n_rows: int,
    list_length: int,
    rounding_bound: float = 0.0,
) -> NearestRows:
    """Return for every query the nearest of `n_rows` rows, by a function of distances.

    There are `list_length` rows for each query. `distances` returns the distances of a block of
    queries to all rows. Other programs may round a distance by a small share of the largest
    distance, plus `rounding_bound`. If a distance of a query is not finite, its rows cannot be
    ordered, and its predictions are left to scikit-learn.
    """
    list_length = min(list_length, n_rows)
    nearest_indices = np.empty((n_queries, list_length), dtype=np.int32)
    neighbour_distances = np.empty((n_queries, list_length))
    tie_bounds = np.empty(n_queries)
    for query_block in _query_blocks(n_queries, n_rows):
        block_distances = np.ascontiguousarray(distances(query_block), dtype=np.float64)
        if block_distances.shape != (query_block.stop - query_block.start, n_rows):
            raise ValueError(f"distances have shape {block_distances.shape} for {n_rows} rows")
        largest_distances = block_distances.max(axis=1)
        is_finite = np.isfinite(largest_distances)
        if not is_finite.all():
            block_distances = np.where(is_finite[:, None], block_distances, 0.0)
        native_module().smallest_of_block(
            block_distances, nearest_indices[query_block], neighbour_distances[query_block]
        )
        largest_distances = np.where(is_finite, largest_distances, np.inf)
        tie_bounds[query_block] = largest_distances * (
            1e-12 * largest_distances + 2 * rounding_bound
        )
    return NearestRows(nearest_indices, neighbour_distances**2, tie_bounds, list_length == n_rows)


def _queries_per_block(n_rows: int) -> int:
    return max(16, min(256, MAX_DISTANCES_IN_MEMORY // max(n_rows, 1)))


def _query_blocks(n_queries: int, n_rows: int) -> Iterator[slice]:
    block_size = _queries_per_block(n_rows)
    for first_query in range(0, n_queries, block_size):
        yield slice(first_query, min(first_query + block_size, n_queries))


def _squared_norms(rows: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", rows, rows)


MAX_ROWS_TO_SORT, MAX_COLUMNS_TO_SORT = (
    256,
    16,
)  # For larger tables a matrix product and selection are faster.
MAX_DISTANCES_IN_CACHE = 12_500  # Number of distances that fit into the processor's cache.


def find_nearest_of_few_rows(
    queries: NDArray[np.float64], rows: NDArray[np.float64], list_length: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the numbers and the squared distances of the rows nearest to each query.

    There are `list_length` rows for each query. Rows at equal distances are ordered by row number.
    The bit patterns of positive floats are ordered like the floats. If the last bits of a distance
    are replaced by its row number, the result is an integer that carries its row through the sort,
    and integers are sorted several times faster than pairs. Queries whose order depends on the lost
    bits are sorted again.
    """
    n_rows, row_numbers = len(rows), np.arange(len(rows))
    row_number_mask = np.int64((1 << max(n_rows - 1, 1).bit_length()) - 1)
    nearest_indices = np.empty((len(queries), list_length), dtype=np.int32)
    squared_distances = np.empty((len(queries), list_length))
    block_size = max(1, MAX_DISTANCES_IN_CACHE // n_rows)
    for first_query in range(0, len(queries), block_size):
        query_slice = slice(first_query, first_query + block_size)
        exact_distances = _squared_distances(queries[query_slice], rows)
        sort_keys = exact_distances.view(np.int64) & ~row_number_mask
        sort_keys |= row_numbers
        sort_keys.sort(axis=1)
        # If distances near the end of a list differ in lost bits only, the list may hold wrong
        # rows.
        is_end_uncertain = (
            sort_keys[:, list_length - 1] ^ sort_keys[:, min(list_length, n_rows - 1)]
        ) <= row_number_mask
        nearest_rows = sort_keys[:, :list_length] & row_number_mask
        distances = exact_distances.ravel()[
            nearest_rows + (n_rows * np.arange(len(exact_distances)))[:, None]
        ]
        is_unsorted = (distances[:, 1:] < distances[:, :-1]).any(axis=1)
        is_unsorted = np.flatnonzero(
            is_unsorted | is_end_uncertain if list_length < n_rows else is_unsorted
        )
        if len(is_unsorted):
            nearest_rows[is_unsorted] = np.argsort(
                exact_distances[is_unsorted], axis=1, kind="stable"
            )[:, :list_length]
            distances[is_unsorted] = exact_distances[
                is_unsorted[:, None], nearest_rows[is_unsorted]
            ]
        nearest_indices[query_slice], squared_distances[query_slice] = nearest_rows, distances
    return nearest_indices, squared_distances


def _squared_distances(
    queries: NDArray[np.float64], rows: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return squared Euclidean distances, summed column by column without a matrix product.

    Equal rows therefore have distance exactly 0, and equal pairs of rows equal distances.
    """
    squared_distances = np.zeros((len(queries), len(rows)))
    for column in range(rows.shape[1]):
        difference = np.subtract.outer(queries[:, column], rows[:, column])
        difference *= difference
        squared_distances += difference
    return squared_distances
