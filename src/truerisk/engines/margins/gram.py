"""Gram matrices of SVC's kernels from inner products of the rows, computed once for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.engines.margins.setting import uses_gamma

__all__ = ["ROUNDING", "Gram", "Products", "gamma_of", "has_one_minimum"]

AT_ONCE = 1 << 16  # cells
ROUNDING = 1e-10  # of the largest diagonal: what is smaller in a given matrix is rounding


@dataclass(frozen=True, eq=False)
class Gram:
    """A kernel between m rows and the same rows with others after them, (m, M).

    `single` is the square part in single precision: libsvm keeps the matrix that it solves on so,
    and reads decision values off one in double precision.
    """

    double: np.ndarray
    single: np.ndarray


@dataclass(frozen=True, eq=False)
class Products:
    """Rows to fit on, and the rows asked about after them where they are others."""

    rows: np.ndarray
    others: np.ndarray | None = None

    @cached_property
    def every(self) -> np.ndarray:
        return self.rows if self.others is None else np.vstack([self.rows, self.others])

    @cached_property
    def inner(self) -> np.ndarray:
        found: np.ndarray = self.rows @ self.every.T
        return found

    @cached_property
    def squared_distances(self) -> np.ndarray:
        """From rows about their centre, where less cancels."""
        every = self.every - self.rows.mean(axis=0)
        squares = np.einsum("ij,ij->i", every, every)
        found: np.ndarray = every[: len(self.rows)] @ every.T
        for part in _parts(found):
            cells = found[part]
            cells *= -2.0
            cells += squares[part, None] + squares
            np.maximum(cells, 0.0, out=cells)
        np.fill_diagonal(found, 0.0)
        return found

    @cached_property
    def passing(self) -> Gram:
        """Room for a Gaussian matrix that the next one overwrites."""
        return self._room()

    def _room(self) -> Gram:
        n = len(self.rows)
        double = np.empty_like(self.squared_distances)
        return Gram(double, np.empty((n, n), dtype=np.float32))

    def gram(self, setting: Mapping[str, Any], gamma: float, *, passing: bool = False) -> Gram:
        """The matrix of one kernel; a cell that overflows is infinite, and there is no solution.

        One that is `passing` is overwritten by the next such.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            if setting["kernel"] == "rbf":
                return self._gaussian(gamma, passing)
            return self._gram(setting, gamma)

    def _gram(self, setting: Mapping[str, Any], gamma: float) -> Gram:
        if setting["kernel"] == "linear":
            double = self.inner
        elif setting["kernel"] == "precomputed":
            double = self.rows
        else:
            double = (gamma * self.inner + setting["coef0"]) ** int(setting["degree"])
        return Gram(double, np.ascontiguousarray(double[:, : len(self.rows)], dtype=np.float32))

    def _gaussian(self, gamma: float, passing: bool) -> Gram:
        """exp(−γ d²), some rows at a time: they are in the cache when they are rounded."""
        found = self.passing if passing else self._room()
        for part in _parts(found.double):
            cells = np.multiply(self.squared_distances[part], -gamma, out=found.double[part])
            np.exp(cells, out=cells)
            found.single[part] = cells[:, : len(self.rows)]
        return found


def _parts(matrix: np.ndarray) -> Iterator[slice]:
    """Its rows, a few at a time."""
    step = max(1, AT_ONCE // matrix.shape[1])
    for start in range(0, len(matrix), step):
        yield slice(start, min(start + step, len(matrix)))


def gamma_of(setting: Mapping[str, Any], X: np.ndarray, times: np.ndarray | None) -> float:
    """The number that gamma stands for on these training rows, copies and all."""
    gamma = setting["gamma"]
    if not uses_gamma(setting["kernel"]) or gamma == "auto":
        return 1.0 / float(X.shape[1])
    if gamma != "scale":
        return float(gamma)
    every = X if times is None else np.repeat(X, times, axis=0)
    variance = float(every.var())
    return float(1.0 / (X.shape[1] * variance)) if variance != 0 else 1.0


def has_one_minimum(gram: np.ndarray) -> bool:
    """Whether a given matrix has no negative eigenvalue, up to rounding: else there may be several.

    By Cholesky's decomposition, which ends at the first pivot that is not positive.
    """
    diagonal = np.diagonal(gram)
    shifted = gram + np.diag(np.full(len(gram), ROUNDING * max(float(diagonal.max()), 0.0)))
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return False
    return True
