"""Gram matrices of SVC's kernels by SVC's arithmetic, from products computed once for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.engines.support_vectors.setting import uses_gamma
from truerisk.kernels.svm_steps import gaussian, inner_products, polynomial

__all__ = ["ROUNDING", "Gram", "Products", "gamma_of", "has_one_minimum"]

ROUNDING = 1e-10  # of the largest diagonal: what is smaller in a given matrix is rounding
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Gram:
    """A kernel between m rows and the same rows with others after them, (m, M).

    `single` is the square part in single precision: libsvm keeps the matrix that it solves on so,
    but for its `diagonal`, and reads decision values off one in double precision.
    """

    double: np.ndarray
    single: np.ndarray
    diagonal: np.ndarray
    finite: bool = True


@dataclass(frozen=True, eq=False)
class Products:
    """Rows to fit on, and the rows asked about after them where they are others.

    The minimum may be sought on inner products that are rounded as in a product of matrices.
    """

    rows: np.ndarray
    others: np.ndarray | None = None
    exact: bool = True

    @cached_property
    def every(self) -> np.ndarray:
        every = self.rows if self.others is None else np.vstack([self.rows, self.others])
        return np.ascontiguousarray(every, dtype=np.float64)

    @cached_property
    def inner(self) -> np.ndarray:
        if not self.exact:
            return self.every[: len(self.rows)] @ self.every.T
        return inner_products(self.every, len(self.rows))

    @cached_property
    def apart(self) -> np.ndarray:
        """Squared distances, from differences."""
        return inner_products(self.every, len(self.rows), of_differences=True)

    @cached_property
    def passing(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Room for a Gaussian matrix that the next one overwrites."""
        return self._room()

    def _room(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n = len(self.rows)
        return np.empty((n, n), dtype=np.float32), np.empty(n), np.empty((n, len(self.every)))

    def gram(self, setting: Mapping[str, Any], gamma: float, *, passing: bool = False) -> Gram:
        """The matrix of one kernel; one that is `passing` is overwritten by the next such.

        A cell that overflows is not finite, and there is no solution.
        """
        if setting["kernel"] == "rbf":
            single, diagonal, double = room = self.passing if passing else self._room()
            gaussian(self.inner, self.apart, gamma, room)
            # Far from 0 a d² from inner products may be negative, and its exponential overflow.
            finite = np.isfinite(double.sum()) and np.isfinite(single.max(initial=0.0))
            return Gram(double, single, diagonal, bool(finite))
        return self._gram(setting, gamma)

    def _gram(self, setting: Mapping[str, Any], gamma: float) -> Gram:
        n = len(self.rows)
        if setting["kernel"] == "precomputed":  # fitted on rows, and asked by columns
            solved, double = self.rows, np.ascontiguousarray(self.rows.T)
        elif setting["kernel"] == "linear":
            solved = double = self.inner
        else:
            degree = int(setting["degree"])
            solved = double = polynomial(self.inner, gamma, setting["coef0"], degree)
        with np.errstate(over="ignore"):
            single = np.ascontiguousarray(solved[:, :n], dtype=np.float32)
        diagonal = np.ascontiguousarray(np.diagonal(solved))
        return Gram(double, single, diagonal, bool(np.abs(double).max() <= LARGEST))


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
