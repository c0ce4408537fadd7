"""Gram matrices of SVC's kernels with SVC's arithmetic, from products computed once for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.support_vectors.svm_steps import (
    gaussian_answered,
    gaussian_solved,
    polynomial,
    products,
    products_between,
    products_in_order,
)

# Share of the largest diagonal element. Smaller asymmetries of a given matrix are rounding errors.
ROUNDING = 1e-10
LARGEST = float(np.finfo(np.float32).max)


class Sums(Protocol):
    """Inner products of rows with others (None: with each other), or of their differences."""

    def __call__(
        self, rows: np.ndarray, others: np.ndarray | None, *, of_differences: bool
    ) -> np.ndarray:
        """Return inner products, or squared distances if `of_differences` is true."""


def as_called(rows: np.ndarray, others: np.ndarray | None, *, of_differences: bool) -> np.ndarray:
    """Compute the products as SVC does for dense rows, with one call of BLAS per pair."""
    if others is None:
        return products(rows, of_differences=of_differences)
    return products_between(rows, others, of_differences=of_differences)


def in_order(rows: np.ndarray, others: np.ndarray | None, *, of_differences: bool) -> np.ndarray:
    """Compute the products as SVC does for sparse rows, one column after the other."""
    others = rows if others is None else others
    return products_in_order(rows, others, of_differences=of_differences)


@frozen(eq=False)
class Gram:
    """A kernel between m rows, and between these rows and the rows that may be tested.

    `single` is the first one in single precision: libsvm stores the matrix of its problem in this
    form, except for its `diagonal`. It computes decision values from the second one in double
    precision: `towards` returns the cells of some of the m rows with some of the tested rows, both
    given by index.
    """

    single: np.ndarray
    diagonal: np.ndarray
    towards: Callable[[np.ndarray, np.ndarray], np.ndarray]
    finite: bool = True


@frozen(eq=False)
class GramRows:
    """Distinct rows of a training set as indices into the Gram matrix, with class codes."""

    places: np.ndarray
    codes: np.ndarray
    times: np.ndarray | None
    weights: np.ndarray | None


@frozen(eq=False)
class Products:
    """Rows to fit on and rows to test on, which are the same rows if `others` is None.

    For other rows, each line of products is computed when a machine first needs its row, because
    most rows are not support vectors.
    """

    rows: np.ndarray
    others: np.ndarray | None = None
    sums: Sums = as_called
    # Lines for other rows; the key is True for products of differences.
    lines: dict[bool, _Lines] = field(default_factory=dict)

    @cached_property
    def inner(self) -> np.ndarray:
        """Inner products of the rows to fit on with each other."""
        return self.sums(self.rows, None, of_differences=False)

    @cached_property
    def self_distances(self) -> np.ndarray:
        """Squared distances, computed from differences, of rows that are tested themselves."""
        return self.sums(self.rows, None, of_differences=True)

    def gram(
        self, setting: Mapping[str, Any], gamma: float, *, of: np.ndarray | None = None
    ) -> Gram:
        """Return the matrix of one kernel for all rows or for some; tested rows keep their index.

        If a cell overflows it is not finite, and there is no solution. The same holds for a
        negative gamma, which rounding may produce from a variance of 0.
        """
        # A precomputed kernel is fitted on rows and tested by columns.
        if setting["kernel"] == "precomputed":
            return _solved_on(self.rows, partial(_cells, self.rows.T))
        inner = self.inner if of is None else self.inner[np.ix_(of, of)]
        answered = partial(_answered, setting, gamma)
        if of is None and self.others is None:  # These cells serve many fits.
            far = self.self_distances if setting["kernel"] == "rbf" else inner
            towards = partial(_cells, answered(far))
        else:
            towards = partial(self._towards, answered, setting["kernel"] == "rbf", of)
        if setting["kernel"] != "rbf":
            return _solved_on(answered(inner), towards)
        single, diagonal = gaussian_solved(inner, gamma)
        # Far from 0 a d² from inner products may be negative, and its exponential may overflow.
        finite = gamma >= 0 and np.isfinite(single.max(initial=0.0))
        return Gram(single, diagonal, towards, bool(finite))

    def _towards(
        self,
        answered: Callable[[np.ndarray], np.ndarray],
        apart: bool,
        of: np.ndarray | None,
        rows: np.ndarray,
        test_rows: np.ndarray,
    ) -> np.ndarray:
        rows = rows if of is None else of[rows]
        if self.others is None:
            return answered(_cells(self.self_distances if apart else self.inner, rows, test_rows))
        if apart not in self.lines:
            self.lines[apart] = _Lines(self.rows, self.others, self.sums, apart)
        return answered(self.lines[apart].compute(rows, test_rows))


class _Lines:
    """Products of rows with tested rows, each line computed when it is first needed."""

    def __init__(self, rows: np.ndarray, others: np.ndarray, sums: Sums, apart: bool) -> None:
        self.rows, self.others, self.sums, self.apart = rows, others, sums, apart
        self.cells = np.empty((len(rows), len(others)))
        self.computed = np.zeros(len(rows), dtype=bool)

    def compute(self, rows: np.ndarray, test_rows: np.ndarray) -> np.ndarray:
        new = rows[~self.computed[rows]]
        self.cells[new] = self.sums(self.rows[new], self.others, of_differences=self.apart)
        self.computed[new] = True
        return _cells(self.cells, rows, test_rows)


def _answered(setting: Mapping[str, Any], gamma: float, cells: np.ndarray) -> np.ndarray:
    """Return the kernel in double precision, from inner products or (Gaussian) from distances."""
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


def _cells(table: np.ndarray, rows: np.ndarray, test_rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(table[np.ix_(rows, test_rows)])
