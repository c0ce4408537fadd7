"""Class means and scatter of a training set, and two ways to invert a scatter.

`Classes` holds the centred rows class by class. A `Root` whitens by Cholesky, in columns scaled to
variance 1. A `ScatterSpectrum` is a decomposition that serves any amount of shrinkage. Both of them
know the limits of their precision.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.linalg import blas, eigh, eigvalsh, lapack, svd

from truerisk.core.frozen import frozen

# A column is flat if it varies less than this relative to its size; half of the digits of its
# centred cells are noise.
FLAT = 1e-6
# Share of the mean eigenvalue of scaled columns. A product X'X does not resolve smaller
# eigenvalues.
LEAST = 1e-7
LONG = 8192  # Number of cells from which the loop over them outweighs the overhead of entering it.
DRIFT = 1e-13  # Share of a column's spread. A mean with a smaller error counts as exact.
ENOUGH = 1e-5  # Share of the largest eigenvalue. Smaller ones are not computed from a product X'X.


@frozen(eq=False)
class Classes:
    """Rows class by class: the codes that are present, numbers of rows (with copies), and means.

    `centred[t]` is row `order[t]` minus the mean of its class, and `times[t]` is its multiplicity
    (None: all are 1). The rows of class k are `centred[self.block(k)]`, in ascending order of the
    rows, and their squares in a column sum to `squares[k]`. `member[i]` is the index of row i's
    class in `present`.
    """

    present: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    member: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    centred: np.ndarray
    squares: np.ndarray
    times: np.ndarray | None

    @classmethod
    def from_rows(
        cls, X: np.ndarray, codes: np.ndarray, times: np.ndarray | None = None
    ) -> Classes:
        """Sort the rows by class and centre each class at its mean; `times` counts copies."""
        drawn = np.bincount(codes)
        present = np.flatnonzero(drawn)
        member = codes if len(present) == len(drawn) else np.searchsorted(present, codes)
        # Small integers are sorted by counting.
        narrow = codes.astype(np.uint16) if len(drawn) <= 1 << 16 else codes
        order = np.argsort(narrow, kind="stable")
        starts = np.concatenate([[0], np.cumsum(drawn[present])])
        times = None if times is None else times[order]
        centred = np.empty_like(X)
        sizes = np.empty(len(present))
        means, squares = (np.empty((len(present), X.shape[1])) for _ in range(2))
        # Each class is read several times while it fits into the cache.
        for k, (first, end) in enumerate(pairwise(starts)):
            part = X.take(order[first:end], axis=0, out=centred[first:end], mode="clip")
            counts = np.ones(end - first) if times is None else times[first:end].astype(np.float64)
            sizes[k] = counts.sum()
            means[k], squares[k] = _centre(part, counts / sizes[k])
        return cls(present, sizes, means, member, order, starts, centred, squares, times)

    @property
    def n_rows(self) -> float:
        """Number of rows, each counted as often as it was drawn."""
        return float(self.sizes.sum())

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.centred.shape[1])

    def block(self, place: int) -> slice:
        """Return the slice of a class's rows in `centred`."""
        return slice(int(self.starts[place]), int(self.starts[place + 1]))

    @cached_property
    def positions(self) -> np.ndarray:
        """Position of each row in `centred`."""
        at = np.empty(len(self.order), dtype=np.intp)
        at[self.order] = np.arange(len(at))
        return at

    def centred_rows(self, rows: np.ndarray, place: int) -> np.ndarray:
        """Return rows of one class minus its mean."""
        block = self.block(place)
        if np.array_equal(rows, self.order[block]):
            return self.centred[block]  # All rows are requested, so that no copy is needed.
        return self.centred[self.positions[rows]]

    def seen_from(self, place: int, of: int, out: np.ndarray) -> np.ndarray:
        """Write the rows of class `of` minus the mean of any class into `out`."""
        rows = self.centred[self.block(of)]
        seen: np.ndarray = out[: len(rows)]
        if of == place:
            np.copyto(seen, rows)
        else:
            _subtract_row(rows, self.means[place] - self.means[of], seen)
        return seen

    def rows(self, factors: np.ndarray) -> tuple[np.ndarray, float]:
        """Return rows and a number whose products sum to the scatter with a factor per class."""
        if self.times is None and (factors == factors[0]).all():
            # All factors are equal, so that no copy is needed.
            return self.centred, float(factors[0])
        scale = np.repeat(factors, np.diff(self.starts))
        if self.times is not None:
            scale = scale * self.times
        return np.sqrt(scale)[:, None] * self.centred, 1.0

    def of_class(self, place: int) -> np.ndarray:
        """Return rows whose products sum to the scatter of one class."""
        block = self.block(place)
        if self.times is None:
            return self.centred[block]
        return np.sqrt(self.times[block])[:, None] * self.centred[block]

    @cached_property
    def largest(self) -> np.ndarray:
        """Upper bound on the absolute values of each column."""
        spread = np.sqrt(self.squares.sum(axis=0))  # No cell is farther from its class mean.
        return np.abs(self.means).max(axis=0) + spread

    @property
    def farthest(self) -> float:
        """Upper bound on the absolute values of all cells."""
        return float(self.largest.max())

    @cached_property
    def has_flat_columns(self) -> bool:
        """True if a column hardly varies within classes, relative to the size of its cells."""
        return self._flat(self.squares.sum(axis=0), len(self.centred))

    def is_flat(self, place: int) -> bool:
        """Return True if a column hardly varies within one class, relative to its cells' size."""
        return self._flat(self.squares[place], int(np.diff(self.starts)[place]))

    def _flat(self, squares: np.ndarray, n: int) -> bool:
        return bool((squares <= n * (FLAT * self.largest) ** 2).any())


def _centre(rows: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Subtract the mean from rows; return the mean and the remaining sums of squares.

    The mean of the remainder is the rounding error of the mean, and is subtracted as well if it
    matters (Chan, Golub and LeVeque, 1983).
    """
    mean = shares @ rows
    _subtract_row(rows, mean, rows)
    rest = shares @ rows
    squares = np.einsum("ij,ij->j", rows, rows)
    if (len(rows) * rest**2 > DRIFT**2 * squares).any():
        _subtract_row(rows, rest, rows)
        squares = np.einsum("ij,ij->j", rows, rows)
    return mean + rest, squares


def _subtract_row(rows: np.ndarray, row: np.ndarray, out: np.ndarray) -> None:
    """Subtract a row from all rows, many short rows at a time to save NumPy's overhead."""
    n, p = rows.shape
    at_once = max(1, min(n, LONG // p))
    whole = n - n % at_once
    shape = (-1, at_once * p)
    repeated = np.concatenate([row] * at_once)
    np.subtract(rows[:whole].reshape(shape), repeated, out=out[:whole].reshape(shape))
    np.subtract(rows[whole:], row, out=out[whole:])


@frozen(eq=False)
class Root:
    """A lower triangle T such that T'T is the inverse of a scatter.

    T = L⁻¹/scale, where LL' is the scatter of the columns divided by `scale`, which has diagonal 1.
    `trace` is the trace of the inverse of LL', so that the smallest eigenvalue of LL' is at least
    1/trace.
    """

    triangle: np.ndarray
    scale: np.ndarray
    trace: float

    def whiten(self, rows: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
        """Return T times each row."""
        # A triangular product takes half of the work of a full one. OpenBLAS is faster with upper
        # triangles.
        across = self.triangle.T
        white: np.ndarray = blas.dtrmm(1.0, across, rows.T, trans_a=1, overwrite_b=overwrite)
        return white.T

    def solve(self, rows: np.ndarray) -> np.ndarray:
        """Return the inverse of the scatter times each row."""
        return self.whiten(rows) @ self.triangle

    @cached_property
    def log_determinant(self) -> float:
        """Log determinant of the scatter."""
        return float(-2 * np.log(np.diag(self.triangle)).sum())

    @property
    def least_eigenvalue_bound(self) -> float:
        """Lower bound on the eigenvalues of the scatter of the scaled columns."""
        return 1 / self.trace

    @property
    def total(self) -> float:
        """Trace of the scatter itself."""
        return float(self.scale @ self.scale)

    @cached_property
    def least_unscaled(self) -> float:
        """Lower bound on the eigenvalues of the scatter itself."""
        return 1 / float(np.einsum("ij,ij->", self.triangle, self.triangle))

    def least_exactly(self) -> float:
        """Return the smallest eigenvalue of the scatter of the scaled columns."""
        inverse = self.triangle * self.scale
        return 1 / float(eigvalsh(inverse.T @ inverse)[-1])

    def least_unscaled_exactly(self) -> float:
        """Return the smallest eigenvalue of the scatter itself."""
        return 1 / float(eigvalsh(self.triangle.T @ self.triangle)[-1])


def lengths(rows: np.ndarray) -> np.ndarray:
    """Return the squared length of each row."""
    squares: np.ndarray
    if hasattr(np, "vecdot"):  # `vecdot` exists since NumPy 2.0 and is faster.
        squares = np.vecdot(rows, rows)
    else:
        squares = np.einsum("ij,ij->i", rows, rows)
    return squares


def root_of(rows: np.ndarray, factor: float = 1.0) -> Root | None:
    """Return the root of rows'rows times a factor, or None if too few of its digits are known."""
    n, p = rows.shape
    if n < p:
        return None
    product = blas.dsyrk(1.0, rows.T)
    scale = np.sqrt(product.diagonal())
    if not (scale > 0).all():
        return None
    upper, failed = lapack.dpotrf(product, overwrite_a=1, clean=1)
    if failed:
        return None
    across, failed = lapack.dtrtri(upper, overwrite_c=1)
    inverse = across.T
    scaled = inverse * scale  # This has the same digits as if the columns had been scaled before.
    trace = float(np.einsum("ij,ij->", scaled, scaled))
    if failed or not trace * LEAST <= p:
        return None
    if factor != 1:
        scale *= np.sqrt(factor)
        inverse /= np.sqrt(factor)
    return Root(inverse, scale, trace)


@frozen(eq=False)
class ScatterSpectrum:
    """Eigenvalues and eigenvectors of a scatter.

    If `vectors` span a subspace, the rest has value 0.

    The scatter of rotated rows has as many eigenvalues as the rows had columns before
    (`n_features`).
    """

    values: np.ndarray
    vectors: np.ndarray
    trace: float
    n_features: int

    @property
    def has_rest(self) -> bool:
        """True if fewer eigenvalues are stored than there are features."""
        return len(self.values) < self.n_features


def spectrum_of(
    rows: np.ndarray, factor: float = 1.0, *, n_features: int | None = None, added: float = 0.0
) -> ScatterSpectrum:
    """Return the spectrum of rows'rows times a factor.

    It is computed from the product if that keeps enough digits, and otherwise by an SVD. If every
    eigenvalue is at least as large as the amount that will be `added` to it, smaller ones need no
    digits.
    """
    n, p = rows.shape
    columns = p if n_features is None else n_features
    trace = factor * float(np.einsum("ij,ij->", rows, rows))
    if n >= p:
        driver = "evd" if p > 1 else "ev"  # Before SciPy 1.11, "evd" fails for a single element.
        values, vectors = eigh(rows.T @ rows, driver=driver, overwrite_a=True, check_finite=False)
        if values[0] > ENOUGH * values[-1] or added > ENOUGH * factor * values[-1]:
            return ScatterSpectrum(factor * np.maximum(values, 0.0), vectors, trace, columns)
    _, singular, across = svd(rows, full_matrices=False, check_finite=False)
    vectors = np.ascontiguousarray(across.T)
    return ScatterSpectrum(factor * singular**2, vectors, trace, columns)
