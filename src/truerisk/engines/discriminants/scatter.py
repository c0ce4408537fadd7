"""Class means and scatter of what a fit sees, and two ways to invert a scatter.

`Classes` holds the rows class by class, less the mean. A `Root` whitens by Cholesky, in columns
scaled to variance 1; a `ScatterSpectrum` is a decomposition that serves any amount of shrinkage.
Both know how far they can be trusted.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.linalg import blas, eigh, eigvalsh, lapack, svd

from truerisk.core.frozen import frozen

FLAT = 1e-6  # a column varies less than this, beside its size: its centred cells are half noise
LEAST = 1e-7  # of the mean eigenvalue of scaled columns; a product X'X knows smaller ones badly
LONG = 8192  # cells: the loop over these hides what it costs to enter it
DRIFT = 1e-13  # of the spread of a column: a mean that is off by less is right
ENOUGH = 1e-5  # of the largest eigenvalue; smaller ones are not taken from a product X'X


@frozen(eq=False)
class Classes:
    """Rows class by class: codes that are present, how many rows (copies counted), and means.

    `centred[t]` is row `order[t]` less the mean of its class, `times[t]` how often it counts (None:
    once); those of class k are `centred[self.block(k)]`, in ascending order of the rows, and the
    squares in a column sum to `squares[k]`.
    `member[i]` is the place of row i's class in `present`.
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
    def of(cls, X: np.ndarray, codes: np.ndarray, times: np.ndarray | None = None) -> Classes:
        drawn = np.bincount(codes)
        present = np.flatnonzero(drawn)
        member = codes if len(present) == len(drawn) else np.searchsorted(present, codes)
        narrow = codes.astype(np.uint16) if len(drawn) <= 1 << 16 else codes  # sorted by counting
        order = np.argsort(narrow, kind="stable")
        starts = np.concatenate([[0], np.cumsum(drawn[present])])
        times = None if times is None else times[order]
        centred = np.empty_like(X)
        sizes = np.empty(len(present))
        means, squares = (np.empty((len(present), X.shape[1])) for _ in range(2))
        for k, (first, end) in enumerate(pairwise(starts)):  # what a cache holds, several times
            part = X.take(order[first:end], axis=0, out=centred[first:end], mode="clip")
            counts = np.ones(end - first) if times is None else times[first:end].astype(np.float64)
            sizes[k] = counts.sum()
            means[k], squares[k] = _centre(part, counts / sizes[k])
        return cls(present, sizes, means, member, order, starts, centred, squares, times)

    @property
    def n_rows(self) -> float:
        return float(self.sizes.sum())

    @property
    def n_features(self) -> int:
        return int(self.centred.shape[1])

    def block(self, place: int) -> slice:
        """Where the rows of a class stand in `centred`."""
        return slice(int(self.starts[place]), int(self.starts[place + 1]))

    @cached_property
    def at(self) -> np.ndarray:
        """Where each row stands in `centred`."""
        at = np.empty(len(self.order), dtype=np.intp)
        at[self.order] = np.arange(len(at))
        return at

    def centred_rows(self, rows: np.ndarray, place: int) -> np.ndarray:
        """Rows of one class, less its mean."""
        block = self.block(place)
        if np.array_equal(rows, self.order[block]):
            return self.centred[block]  # all of them: no copy
        return self.centred[self.at[rows]]

    def seen_from(self, place: int, of: int, out: np.ndarray) -> np.ndarray:
        """Rows of class `of` less the mean of another (or their own), written into `out`."""
        rows = self.centred[self.block(of)]
        seen: np.ndarray = out[: len(rows)]
        if of == place:
            np.copyto(seen, rows)
        else:
            _less(rows, self.means[place] - self.means[of], seen)
        return seen

    def rows(self, factors: np.ndarray) -> tuple[np.ndarray, float]:
        """Rows and a number, whose products sum to the scatter, each class's times its factor."""
        if self.times is None and (factors == factors[0]).all():
            return self.centred, float(factors[0])  # no copy
        scale = np.repeat(factors, np.diff(self.starts))
        if self.times is not None:
            scale = scale * self.times
        return np.sqrt(scale)[:, None] * self.centred, 1.0

    def of_class(self, place: int) -> np.ndarray:
        """Rows whose products sum to the scatter of one class."""
        block = self.block(place)
        if self.times is None:
            return self.centred[block]
        return np.sqrt(self.times[block])[:, None] * self.centred[block]

    @cached_property
    def largest(self) -> np.ndarray:
        """No cell of a column is larger, whatever its sign."""
        spread = np.sqrt(self.squares.sum(axis=0))  # no cell lies farther out
        return np.abs(self.means).max(axis=0) + spread

    @property
    def farthest(self) -> float:
        """No cell is larger, whatever its sign."""
        return float(self.largest.max())

    @cached_property
    def has_flat_columns(self) -> bool:
        """Whether some column hardly varies within classes, beside the size of its cells."""
        return self._flat(self.squares.sum(axis=0), len(self.centred))

    def is_flat(self, place: int) -> bool:
        """Whether some column hardly varies within one class, beside the size of its cells."""
        return self._flat(self.squares[place], int(np.diff(self.starts)[place]))

    def _flat(self, squares: np.ndarray, n: int) -> bool:
        return bool((squares <= n * (FLAT * self.largest) ** 2).any())


def _centre(rows: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Take the mean away from rows; the mean, and the sums of squares that are left.

    The mean of what is left is what rounding took from the mean, and goes as well where it counts
    (Chan, Golub and LeVeque, 1983).
    """
    mean = shares @ rows
    _less(rows, mean, rows)
    rest = shares @ rows
    squares = np.einsum("ij,ij->j", rows, rows)
    if (len(rows) * rest**2 > DRIFT**2 * squares).any():
        _less(rows, rest, rows)
        squares = np.einsum("ij,ij->j", rows, rows)
    return mean + rest, squares


def _less(rows: np.ndarray, row: np.ndarray, out: np.ndarray) -> None:
    """Rows less a row, many short ones at a time: to turn to the next takes NumPy longer."""
    n, p = rows.shape
    at_once = max(1, min(n, LONG // p))
    whole = n - n % at_once
    shape = (-1, at_once * p)
    repeated = np.concatenate([row] * at_once)
    np.subtract(rows[:whole].reshape(shape), repeated, out=out[:whole].reshape(shape))
    np.subtract(rows[whole:], row, out=out[whole:])


@frozen(eq=False)
class Root:
    """A lower triangle T, with T'T the inverse of a scatter.

    T = L⁻¹/scale, where LL' is the scatter of the columns divided by `scale`, which has diagonal
    1. `trace` is the trace of its inverse: its least eigenvalue is at least 1/trace.
    """

    triangle: np.ndarray
    scale: np.ndarray
    trace: float

    def whiten(self, rows: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
        """T times each row."""
        # a triangle times a matrix: half of the work of a product; OpenBLAS likes upper ones more
        across = self.triangle.T
        white: np.ndarray = blas.dtrmm(1.0, across, rows.T, trans_a=1, overwrite_b=overwrite)
        return white.T

    def solve(self, rows: np.ndarray) -> np.ndarray:
        """The inverse of the scatter times each row."""
        return self.whiten(rows) @ self.triangle

    @cached_property
    def log_determinant(self) -> float:
        """Of the scatter."""
        return float(-2 * np.log(np.diag(self.triangle)).sum())

    @property
    def least(self) -> float:
        """A bound from below on the least eigenvalue of the scatter of the scaled columns."""
        return 1 / self.trace

    @property
    def total(self) -> float:
        """The trace of the scatter itself."""
        return float(self.scale @ self.scale)

    @cached_property
    def least_unscaled(self) -> float:
        """A bound from below on the least eigenvalue of the scatter itself."""
        return 1 / float(np.einsum("ij,ij->", self.triangle, self.triangle))

    def least_exactly(self) -> float:
        """The least eigenvalue of the scatter of the scaled columns."""
        inverse = self.triangle * self.scale
        return 1 / float(eigvalsh(inverse.T @ inverse)[-1])

    def least_unscaled_exactly(self) -> float:
        """The least eigenvalue of the scatter itself."""
        return 1 / float(eigvalsh(self.triangle.T @ self.triangle)[-1])


def lengths(rows: np.ndarray) -> np.ndarray:
    """The squared length of each row."""
    squares: np.ndarray
    if hasattr(np, "vecdot"):  # since NumPy 2.0, and quicker
        squares = np.vecdot(rows, rows)
    else:
        squares = np.einsum("ij,ij->i", rows, rows)
    return squares


def root_of(rows: np.ndarray, factor: float = 1.0) -> Root | None:
    """The root of rows'rows times a factor, or None where too few digits of it are known."""
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
    scaled = inverse * scale  # as if the columns had been scaled before: the same digits
    trace = float(np.einsum("ij,ij->", scaled, scaled))
    if failed or not trace * LEAST <= p:
        return None
    if factor != 1:
        scale *= np.sqrt(factor)
        inverse /= np.sqrt(factor)
    return Root(inverse, scale, trace)


@frozen(eq=False)
class ScatterSpectrum:
    """Eigenvalues and vectors of a scatter; `vectors` may span a part, the rest has value 0.

    Of turned rows the scatter has as many eigenvalues as they had columns (`n_features`) before.
    """

    values: np.ndarray
    vectors: np.ndarray
    trace: float
    n_features: int

    @property
    def has_rest(self) -> bool:
        return len(self.values) < self.n_features


def spectrum_of(
    rows: np.ndarray, factor: float = 1.0, *, n_features: int | None = None, added: float = 0.0
) -> ScatterSpectrum:
    """The spectrum of rows'rows times a factor.

    By the product where that keeps enough digits, else by an SVD. Where every eigenvalue is at
    least as large as what will be `added` to it, smaller ones need no digits.
    """
    n, p = rows.shape
    columns = p if n_features is None else n_features
    trace = factor * float(np.einsum("ij,ij->", rows, rows))
    if n >= p:
        driver = "evd" if p > 1 else "ev"  # before SciPy 1.11, "evd" fails on one element
        values, vectors = eigh(rows.T @ rows, driver=driver, overwrite_a=True, check_finite=False)
        if values[0] > ENOUGH * values[-1] or added > ENOUGH * factor * values[-1]:
            return ScatterSpectrum(factor * np.maximum(values, 0.0), vectors, trace, columns)
    _, singular, across = svd(rows, full_matrices=False, check_finite=False)
    vectors = np.ascontiguousarray(across.T)
    return ScatterSpectrum(factor * singular**2, vectors, trace, columns)
