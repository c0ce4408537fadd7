"""Gram matrices of SVC's kernels by SVC's arithmetic, from products computed once for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from truerisk.engines.support_vectors.setting import uses_gamma
from truerisk.kernels.svm_steps import (
    gaussian_answered,
    gaussian_solved,
    polynomial,
    products,
    products_between,
)

__all__ = ["ROUNDING", "Gram", "Products", "gamma_of", "has_one_minimum"]

ROUNDING = 1e-10  # of the largest diagonal: what is smaller in a given matrix is rounding
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Gram:
    """A kernel between m rows, and between these and the rows that may be asked about.

    `single` is the first in single precision: libsvm keeps the matrix that it solves on so, but
    for its `diagonal`. It reads decision values off the second in double precision: `towards` gives
    the cells of some of the m rows, by their places, with some of those asked about, by theirs.
    """

    single: np.ndarray
    diagonal: np.ndarray
    towards: Callable[[np.ndarray, np.ndarray], np.ndarray]
    finite: bool = True


@dataclass(frozen=True, eq=False)
class Products:
    """Rows to fit on, and the rows asked about where they are others: else they are the same.

    With others each line of products is computed when a machine first rests on its row, and most
    rows are no support vectors. The minimum may be sought on inner products that are rounded as in
    a product of matrices.
    """

    rows: np.ndarray
    others: np.ndarray | None = None
    exact: bool = True
    lines: dict[bool, _Lines] = field(default_factory=dict)  # with others: is it of differences?

    @cached_property
    def inner(self) -> np.ndarray:
        return products(self.rows) if self.exact else self.rows @ self.rows.T

    @cached_property
    def apart(self) -> np.ndarray:
        """Squared distances of rows that are asked about themselves, from differences."""
        return products(self.rows, of_differences=True)

    def gram(
        self, setting: Mapping[str, Any], gamma: float, *, of: np.ndarray | None = None
    ) -> Gram:
        """The matrix of one kernel, of all rows or of some; rows asked about keep their places.

        A cell that overflows is not finite, and there is no solution.
        """
        if setting["kernel"] == "precomputed":  # fitted on rows, and asked by columns
            return _solved_on(self.rows, partial(_cells, self.rows.T))
        inner = self.inner if of is None else self.inner[np.ix_(of, of)]
        answered = partial(_answered, setting, gamma)
        if of is None and self.others is None:  # many fits are asked by these cells
            far = self.apart if setting["kernel"] == "rbf" else inner
            towards = partial(_cells, answered(far))
        else:
            towards = partial(self._towards, answered, setting["kernel"] == "rbf", of)
        if setting["kernel"] != "rbf":
            return _solved_on(answered(inner), towards)
        single, diagonal = gaussian_solved(inner, gamma)
        # Far from 0 a d² from inner products may be negative, and its exponential overflow.
        return Gram(single, diagonal, towards, bool(np.isfinite(single.max(initial=0.0))))

    def _towards(
        self,
        answered: Callable[[np.ndarray], np.ndarray],
        apart: bool,
        of: np.ndarray | None,
        rows: np.ndarray,
        asked: np.ndarray,
    ) -> np.ndarray:
        rows = rows if of is None else of[rows]
        if self.others is None:
            return answered(_cells(self.apart if apart else self.inner, rows, asked))
        if apart not in self.lines:
            self.lines[apart] = _Lines(self.rows, self.others, apart, self.exact or apart)
        return answered(self.lines[apart].of(rows, asked))


class _Lines:
    """Products of rows with those asked about, computed a line when it is first needed."""

    def __init__(self, rows: np.ndarray, others: np.ndarray, apart: bool, exact: bool) -> None:
        self.rows, self.others, self.apart, self.exact = rows, others, apart, exact
        self.cells = np.empty((len(rows), len(others)))
        self.known = np.zeros(len(rows), dtype=bool)

    def of(self, rows: np.ndarray, asked: np.ndarray) -> np.ndarray:
        new = rows[~self.known[rows]]
        if self.exact:
            found = products_between(self.rows[new], self.others, of_differences=self.apart)
        else:
            found = self.rows[new] @ self.others.T
        self.cells[new], self.known[new] = found, True
        return _cells(self.cells, rows, asked)


def _answered(setting: Mapping[str, Any], gamma: float, cells: np.ndarray) -> np.ndarray:
    """The kernel in double precision, from inner products or, of a Gaussian one, distances."""
    if setting["kernel"] == "rbf":
        return gaussian_answered(cells, gamma)
    if setting["kernel"] == "linear":
        return cells
    return polynomial(cells, gamma, setting["coef0"], int(setting["degree"]))


def _solved_on(cells: np.ndarray, towards: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Gram:
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(cells, dtype=np.float32)
    diagonal = np.ascontiguousarray(np.diagonal(cells))
    return Gram(single, diagonal, towards, bool(np.abs(cells).max() <= LARGEST))


def _cells(table: np.ndarray, rows: np.ndarray, asked: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(table[np.ix_(rows, asked)])


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
