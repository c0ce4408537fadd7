"""Gram matrices of SVC's kernels from inner products of the rows, computed once for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.engines.margins.setting import uses_gamma

__all__ = ["ROUNDING", "Gram", "Products", "gamma_of", "has_one_minimum"]

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
        rows = every[: len(self.rows)]
        found: np.ndarray = squares[: len(rows), None] + squares - 2.0 * (rows @ every.T)
        np.fill_diagonal(found, 0.0)
        np.maximum(found, 0.0, out=found)
        return found

    def gram(self, setting: Mapping[str, Any], gamma: float) -> Gram:
        """The matrix of one kernel; a cell that overflows is infinite, and there is no solution."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._gram(setting, gamma)

    def _gram(self, setting: Mapping[str, Any], gamma: float) -> Gram:
        if setting["kernel"] == "linear":
            double = self.inner
        elif setting["kernel"] == "precomputed":
            double = self.rows
        elif setting["kernel"] == "rbf":
            double = self.squared_distances * -gamma
            np.exp(double, out=double)
        else:
            double = (gamma * self.inner + setting["coef0"]) ** int(setting["degree"])
        return Gram(double, np.ascontiguousarray(double[:, : len(self.rows)], dtype=np.float32))


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
