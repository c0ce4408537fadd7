"""Class means and scatter of a training set, and two ways to invert a scatter.

`RowsByClass` holds the centred rows class by class. A `ScatterRoot` whitens rows by a Cholesky
decomposition of the scatter matrix of columns scaled to variance 1. A `ScatterSpectrum` is an
eigendecomposition that serves any amount of shrinkage. Both provide bounds on their loss of
precision.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.linalg import blas, eigh, eigvalsh, lapack, svd

from truerisk.core.frozen import frozen

# A column is flat if its standard deviation is below this share of its largest absolute value.
# In a flat column, half of the digits of the centred cells are rounding errors.
FLAT_COLUMN_RATIO = 1e-6
# Smallest eigenvalue, as a share of the mean one, that X'X of scaled columns determines.
MIN_RESOLVED_EIGENVALUE = 1e-7
# From this number of cells on, a NumPy call takes longer for the cells than for the call itself.
MIN_CELLS_PER_CALL = 8192
# A mean counts as exact if its error is below MAX_ERROR_OF_MEAN times the column's spread.
MAX_ERROR_OF_MEAN = 1e-13
# If eigenvalues are below MIN_EIGENVALUE_SHARE times the largest one, X'X is too imprecise for
# them.
MIN_EIGENVALUE_SHARE = 1e-5


@frozen(eq=False)
class RowsByClass:
    """Training rows sorted by class, with the code, size and mean of each class.

    The sizes count every copy of a row. `centred_table[t]` is row `row_order[t]` minus the mean of
    its class, and `row_counts[t]` is its multiplicity (None: all are 1). The rows of class k are
    `centred_table[self.class_slice(k)]`, in ascending order of the rows, and their squares in a
    column sum to `sums_of_squares[k]`. `class_of_row[i]` is the index of row i's class in
    `present_classes`.
    """

    present_classes: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    class_of_row: np.ndarray
    row_order: np.ndarray
    class_starts: np.ndarray
    centred_table: np.ndarray
    sums_of_squares: np.ndarray
    row_counts: np.ndarray | None

    @classmethod
    def from_rows(
        cls, X: np.ndarray, codes: np.ndarray, times: np.ndarray | None = None
    ) -> RowsByClass:
        """Sort the rows by class, and subtract from each row the mean of its class.

        `times` is the number of copies of each row.
        """
        class_counts = np.bincount(codes)
        present_classes = np.flatnonzero(class_counts)
        class_of_row = (
            codes
            if len(present_classes) == len(class_counts)
            else np.searchsorted(present_classes, codes)
        )
        # NumPy sorts 16-bit integers by counting, which is fast.
        sort_keys = codes.astype(np.uint16) if len(class_counts) <= 1 << 16 else codes
        row_order = np.argsort(sort_keys, kind="stable")
        class_starts = np.concatenate([[0], np.cumsum(class_counts[present_classes])])
        times = None if times is None else times[row_order]
        centred_rows = np.empty_like(X)
        sizes = np.empty(len(present_classes))
        means, squares = (np.empty((len(present_classes), X.shape[1])) for _ in range(2))
        # Working class by class keeps the rows of one class in the processor's cache.
        for class_index, (class_start, class_end) in enumerate(pairwise(class_starts)):
            rows_of_class = X.take(
                row_order[class_start:class_end],
                axis=0,
                out=centred_rows[class_start:class_end],
                mode="clip",
            )
            multiplicities = (
                np.ones(class_end - class_start)
                if times is None
                else times[class_start:class_end].astype(np.float64)
            )
            sizes[class_index] = multiplicities.sum()
            means[class_index], squares[class_index] = _centre_rows(
                rows_of_class, multiplicities / sizes[class_index]
            )
        return cls(
            present_classes,
            sizes,
            means,
            class_of_row,
            row_order,
            class_starts,
            centred_rows,
            squares,
            times,
        )

    @property
    def n_rows(self) -> float:
        """Number of rows, each counted as often as it was drawn."""
        return float(self.sizes.sum())

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.centred_table.shape[1])

    def class_slice(self, class_index: int) -> slice:
        """Return the slice of the array `centred_table` that holds the rows of one class."""
        return slice(int(self.class_starts[class_index]), int(self.class_starts[class_index + 1]))

    @cached_property
    def position_of_row(self) -> np.ndarray:
        """Position of each training row in the array `centred_table`, which is sorted by class."""
        row_positions = np.empty(len(self.row_order), dtype=np.intp)
        row_positions[self.row_order] = np.arange(len(row_positions))
        return row_positions

    def centred_rows(self, rows: np.ndarray, class_index: int) -> np.ndarray:
        """Return the given rows of one class, minus the mean of this class."""
        row_slice = self.class_slice(class_index)
        if np.array_equal(rows, self.row_order[row_slice]):
            return self.centred_table[
                row_slice
            ]  # All rows are requested, so that no copy is needed.
        return self.centred_table[self.position_of_row[rows]]

    def centre_on_class(
        self, class_of_mean: int, class_of_rows: int, buffer: np.ndarray
    ) -> np.ndarray:
        """Write the rows of one class, minus the mean of this or another class, into `buffer`."""
        rows = self.centred_table[self.class_slice(class_of_rows)]
        centred_rows: np.ndarray = buffer[: len(rows)]
        if class_of_rows == class_of_mean:
            np.copyto(centred_rows, rows)
        else:
            _subtract_row(rows, self.means[class_of_mean] - self.means[class_of_rows], centred_rows)
        return centred_rows

    def scatter_rows(self, factors: np.ndarray) -> tuple[np.ndarray, float]:
        """Return rows R and a number f such that f R'R is the weighted sum of the class scatters.

        The weights are `factors`.
        """
        if self.row_counts is None and (factors == factors[0]).all():
            # All classes have the same scatter factor, so that the rows need not be copied.
            return self.centred_table, float(factors[0])
        row_factors = np.repeat(factors, np.diff(self.class_starts))
        if self.row_counts is not None:
            row_factors = row_factors * self.row_counts
        return np.sqrt(row_factors)[:, None] * self.centred_table, 1.0

    def scatter_rows_of_class(self, class_index: int) -> np.ndarray:
        """Return rows R such that R'R is the scatter matrix of one class."""
        row_slice = self.class_slice(class_index)
        if self.row_counts is None:
            return self.centred_table[row_slice]
        return np.sqrt(self.row_counts[row_slice])[:, None] * self.centred_table[row_slice]

    @cached_property
    def max_abs_by_column(self) -> np.ndarray:
        """Upper bound on the absolute cell values of each column."""
        max_distances = np.sqrt(
            self.sums_of_squares.sum(axis=0)
        )  # A cell differs from its class mean by at most this distance.
        return np.abs(self.means).max(axis=0) + max_distances

    @property
    def max_abs_value(self) -> float:
        """Upper bound on the absolute values of all cells."""
        return float(self.max_abs_by_column.max())

    @cached_property
    def has_flat_columns(self) -> bool:
        """True if a column varies little within the classes, relative to its largest value."""
        return self._has_flat_column(self.sums_of_squares.sum(axis=0), len(self.centred_table))

    def is_flat(self, class_index: int) -> bool:
        """Return True if a column varies little in this class, relative to its largest value."""
        return self._has_flat_column(
            self.sums_of_squares[class_index], int(np.diff(self.class_starts)[class_index])
        )

    def _has_flat_column(self, squares: np.ndarray, n_rows: int) -> bool:
        return bool((squares <= n_rows * (FLAT_COLUMN_RATIO * self.max_abs_by_column) ** 2).any())


def _centre_rows(rows: np.ndarray, row_shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Subtract the weighted mean from the rows in place; also return it and the sums of squares.

    The mean of the centred rows is the rounding error of the first mean. It is subtracted as well
    if it matters (Chan, Golub and LeVeque, 1983).
    """
    mean = row_shares @ rows
    _subtract_row(rows, mean, rows)
    remaining_mean = row_shares @ rows
    squares = np.einsum("ij,ij->j", rows, rows)
    if (len(rows) * remaining_mean**2 > MAX_ERROR_OF_MEAN**2 * squares).any():
        _subtract_row(rows, remaining_mean, rows)
        squares = np.einsum("ij,ij->j", rows, rows)
    return mean + remaining_mean, squares


def _subtract_row(rows: np.ndarray, row: np.ndarray, result: np.ndarray) -> None:
    """Subtract one row from each row of a table.

    Many short rows are treated as one long row, for speed.
    """
    n, p = rows.shape
    n_rows_at_once = max(1, min(n, MIN_CELLS_PER_CALL // p))
    n_reshaped_rows = n - n % n_rows_at_once
    wide_shape = (-1, n_rows_at_once * p)
    repeated_row = np.concatenate([row] * n_rows_at_once)
    np.subtract(
        rows[:n_reshaped_rows].reshape(wide_shape),
        repeated_row,
        out=result[:n_reshaped_rows].reshape(wide_shape),
    )
    np.subtract(rows[n_reshaped_rows:], row, out=result[n_reshaped_rows:])


@frozen(eq=False)
class ScatterRoot:
    """Lower triangular matrix T such that T'T is the inverse of a scatter matrix.

    T = L⁻¹/`column_scales`, where LL' is the scatter of the columns divided by `column_scales`,
    which has diagonal 1. `inverse_trace` is the trace of the inverse of LL', so that the smallest
    eigenvalue of LL' is at least 1/`inverse_trace`.
    """

    lower_triangle: np.ndarray
    column_scales: np.ndarray
    inverse_trace: float

    def whiten(self, rows: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
        """Multiply each row by the triangular root T, which turns the scatter into the identity."""
        # A product with a triangular matrix takes half of the work of a product with a full one.
        # OpenBLAS is faster with upper than with lower triangles.
        upper_triangle = self.lower_triangle.T
        whitened_rows: np.ndarray = blas.dtrmm(
            1.0, upper_triangle, rows.T, trans_a=1, overwrite_b=overwrite
        )
        return whitened_rows.T

    def solve(self, rows: np.ndarray) -> np.ndarray:
        """Return the inverse of the scatter matrix times each row."""
        return self.whiten(rows) @ self.lower_triangle

    @cached_property
    def log_determinant(self) -> float:
        """Logarithm of the determinant of the scatter matrix."""
        return float(-2 * np.log(np.diag(self.lower_triangle)).sum())

    @property
    def scaled_eigenvalue_bound(self) -> float:
        """Lower bound on the eigenvalues of the scatter matrix of columns scaled to diagonal 1."""
        return 1 / self.inverse_trace

    @property
    def scatter_trace(self) -> float:
        """Trace of the scatter matrix of the unscaled columns."""
        return float(self.column_scales @ self.column_scales)

    @cached_property
    def unscaled_eigenvalue_bound(self) -> float:
        """Lower bound on the eigenvalues of the scatter matrix of the unscaled columns."""
        return 1 / float(np.einsum("ij,ij->", self.lower_triangle, self.lower_triangle))

    def smallest_scaled_eigenvalue(self) -> float:
        """Return the smallest eigenvalue of the scatter matrix of the scaled columns."""
        scaled_triangle = self.lower_triangle * self.column_scales
        return 1 / float(eigvalsh(scaled_triangle.T @ scaled_triangle)[-1])

    def smallest_unscaled_eigenvalue(self) -> float:
        """Return the smallest eigenvalue of the scatter matrix of the unscaled columns."""
        return 1 / float(eigvalsh(self.lower_triangle.T @ self.lower_triangle)[-1])


def squared_row_lengths(rows: np.ndarray) -> np.ndarray:
    """Return the squared Euclidean length of each row."""
    squares: np.ndarray
    if hasattr(np, "vecdot"):  # `vecdot` exists since NumPy 2.0 and is faster.
        squares = np.vecdot(rows, rows)
    else:
        squares = np.einsum("ij,ij->i", rows, rows)
    return squares


def compute_scatter_root(rows: np.ndarray, factor: float = 1.0) -> ScatterRoot | None:
    """Compute the root of the scatter matrix `factor` · R'R of rows R; None if too imprecise."""
    n, p = rows.shape
    if n < p:
        return None
    column_products = blas.dsyrk(1.0, rows.T)
    column_scales = np.sqrt(column_products.diagonal())
    if not (column_scales > 0).all():
        return None
    upper_triangle, has_failed = lapack.dpotrf(column_products, overwrite_a=1, clean=1)
    if has_failed:
        return None
    upper_inverse, has_failed = lapack.dtrtri(upper_triangle, overwrite_c=1)
    lower_inverse = upper_inverse.T
    # This product has the same precision as if columns were scaled before the decomposition.
    scaled_inverse = lower_inverse * column_scales
    trace = float(np.einsum("ij,ij->", scaled_inverse, scaled_inverse))
    if has_failed or not trace * MIN_RESOLVED_EIGENVALUE <= p:
        return None
    if factor != 1:
        column_scales *= np.sqrt(factor)
        lower_inverse /= np.sqrt(factor)
    return ScatterRoot(lower_inverse, column_scales, trace)


@frozen(eq=False)
class ScatterSpectrum:
    """Eigenvalues and eigenvectors of a scatter matrix.

    If `vectors` span only a subspace, directions orthogonal to it have eigenvalue 0.

    The scatter of rotated rows has as many eigenvalues as the rows had columns before the rotation
    (`n_features`).
    """

    values: np.ndarray
    vectors: np.ndarray
    trace: float
    n_features: int

    @property
    def has_null_space(self) -> bool:
        """True if fewer eigenvalues are stored than there are features."""
        return len(self.values) < self.n_features


def compute_scatter_spectrum(
    rows: np.ndarray,
    factor: float = 1.0,
    *,
    n_features: int | None = None,
    added_variance: float = 0.0,
) -> ScatterSpectrum:
    """Return the eigenvalues and eigenvectors of the scatter matrix `factor` · R'R of rows R.

    They are computed from the product if that keeps enough digits, and otherwise by an SVD. Since
    shrinkage will add the variance `added_variance` to each eigenvalue, eigenvalues that are much
    smaller need not be precise.
    """
    n, p = rows.shape
    n_columns = p if n_features is None else n_features
    trace = factor * float(np.einsum("ij,ij->", rows, rows))
    if n >= p:
        lapack_driver = (
            "evd" if p > 1 else "ev"
        )  # Before SciPy 1.11, "evd" fails for a 1 x 1 matrix.
        eigenvalues, vectors = eigh(
            rows.T @ rows, driver=lapack_driver, overwrite_a=True, check_finite=False
        )
        if (
            eigenvalues[0] > MIN_EIGENVALUE_SHARE * eigenvalues[-1]
            or added_variance > MIN_EIGENVALUE_SHARE * factor * eigenvalues[-1]
        ):
            return ScatterSpectrum(factor * np.maximum(eigenvalues, 0.0), vectors, trace, n_columns)
    _, singular_values, right_vectors = svd(rows, full_matrices=False, check_finite=False)
    vectors = np.ascontiguousarray(right_vectors.T)
    return ScatterSpectrum(factor * singular_values**2, vectors, trace, n_columns)
