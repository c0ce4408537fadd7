"""Class means and scatter of what a fit sees, and two ways to invert a scatter.

`Classes` holds the rows less the mean of their class. A `Root` whitens by Cholesky, in columns
scaled to variance 1; a `Spectrum` is a decomposition that serves any amount of shrinkage. Both
know how far they can be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas, eigh, eigvalsh, lapack, svd

__all__ = ["Classes", "Root", "Spectrum", "root_of", "spectrum_of"]

FLAT = 1e-6  # a column varies less than this, beside its size: its centred cells are half noise
LEAST = 1e-7  # of the mean eigenvalue of scaled columns; a product X'X knows smaller ones badly
ENOUGH = 1e-5  # of the largest eigenvalue; smaller ones are not taken from a product X'X


@dataclass(frozen=True, eq=False)
class Classes:
    """Rows by class: codes that are present, how many rows (copies counted), means, and the rest.

    `member[i]` is the place of row i's class in `present`, `centred[i]` the row less its mean;
    no cell of a column is larger than its `largest`, whatever the sign.
    """

    present: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    member: np.ndarray
    centred: np.ndarray
    times: np.ndarray | None
    largest: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, codes: np.ndarray, times: np.ndarray | None = None) -> Classes:
        counted = np.bincount(codes, weights=times)
        present = np.flatnonzero(counted)
        member = np.searchsorted(present, codes)
        sizes = counted[present].astype(np.float64)
        belongs = (member == np.arange(len(present))[:, None]).astype(np.float64)
        weighed = belongs if times is None else belongs * times
        centre = X[0]  # first of all: sums of far-off numbers lose digits
        centred = X - centre
        means = (weighed @ centred) / sizes[:, None]
        centred -= belongs.T @ means  # each row's own mean: all other terms are 0
        means += centre
        spread = np.sqrt(np.einsum("ij,ij->j", centred, centred))  # no cell lies farther out
        largest = np.abs(means).max(axis=0) + spread
        return cls(present, sizes, means, member, centred, times, largest)

    @property
    def n_rows(self) -> float:
        return float(self.sizes.sum())

    @property
    def n_features(self) -> int:
        return int(self.centred.shape[1])

    def rows(self, factors: np.ndarray) -> tuple[np.ndarray, float]:
        """Rows and a number, whose products sum to the scatter, each class's times its factor."""
        if self.times is None and (factors == factors[0]).all():
            return self.centred, float(factors[0])  # no copy
        scale = factors[self.member]
        if self.times is not None:
            scale = scale * self.times
        return np.sqrt(scale)[:, None] * self.centred, 1.0

    def only(self, place: int) -> Classes:
        """One of the classes alone."""
        mine = self.member == place
        return Classes(
            self.present[place : place + 1],
            self.sizes[place : place + 1],
            self.means[place : place + 1],
            np.zeros(int(mine.sum()), dtype=np.intp),
            self.centred[mine],
            None if self.times is None else self.times[mine],
            self.largest,
        )

    @property
    def farthest(self) -> float:
        """No cell is larger, whatever its sign."""
        return float(self.largest.max())

    @cached_property
    def has_flat_columns(self) -> bool:
        """Whether some column hardly varies within classes, beside the size of its cells."""
        squares = np.einsum("ij,ij->j", self.centred, self.centred)
        return bool((squares <= len(self.centred) * (FLAT * self.largest) ** 2).any())


@dataclass(frozen=True, eq=False)
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
        # a triangle times a matrix: half of the work of a product
        white: np.ndarray = blas.dtrmm(1.0, self.triangle, rows.T, lower=1, overwrite_b=overwrite)
        return white.T

    def solve(self, rows: np.ndarray) -> np.ndarray:
        """The inverse of the scatter times each row."""
        found: np.ndarray = self.whiten(rows) @ self.triangle
        return found

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


def root_of(rows: np.ndarray, factor: float = 1.0) -> Root | None:
    """The root of rows'rows times a factor, or None where too few digits of it are known."""
    n, p = rows.shape
    if n < p:
        return None
    product = blas.dsyrk(1.0, rows.T, lower=1)
    scale = np.sqrt(np.diag(product))
    if not (scale > 0).all():
        return None
    product /= scale
    product /= scale[:, None]
    lower, failed = lapack.dpotrf(product, lower=1, overwrite_a=1, clean=1)
    if failed:
        return None
    inverse, failed = lapack.dtrtri(lower, lower=1, overwrite_c=1)
    trace = float(np.einsum("ij,ij->", inverse, inverse))
    if failed or not trace * LEAST <= p:
        return None
    scale *= np.sqrt(factor)
    inverse /= scale
    return Root(inverse, scale, trace)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and vectors of a scatter; `vectors` may span a part, the rest has value 0."""

    values: np.ndarray
    vectors: np.ndarray
    trace: float

    @property
    def has_rest(self) -> bool:
        return len(self.values) < len(self.vectors)


def spectrum_of(rows: np.ndarray, factor: float = 1.0) -> Spectrum:
    """The spectrum of rows'rows times a factor.

    By the product where that keeps enough digits, else by an SVD.
    """
    n, p = rows.shape
    trace = factor * float(np.einsum("ij,ij->", rows, rows))
    if n >= p:
        driver = "evd" if p > 1 else "ev"  # before SciPy 1.11, "evd" fails on one element
        values, vectors = eigh(rows.T @ rows, driver=driver, overwrite_a=True, check_finite=False)
        if values[0] > ENOUGH * values[-1]:
            return Spectrum(factor * values, vectors, trace)
    _, singular, across = svd(rows, full_matrices=False, check_finite=False)
    return Spectrum(factor * singular**2, np.ascontiguousarray(across.T), trace)
