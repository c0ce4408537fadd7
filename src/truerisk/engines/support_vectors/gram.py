"""Gram matrices of SVC's kernels by SVC's arithmetic, from products computed once for all."""

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

ROUNDING = 1e-10  # of the largest diagonal: what is smaller in a given matrix is rounding
LARGEST = float(np.finfo(np.float32).max)


class Sums(Protocol):
    """Inner products of rows with others (None: with each other), or of their differences."""

    def __call__(
        self, rows: np.ndarray, others: np.ndarray | None, *, of_differences: bool
    ) -> np.ndarray: ...


def as_called(rows: np.ndarray, others: np.ndarray | None, *, of_differences: bool) -> np.ndarray:
    """As SVC has them of dense rows: BLAS is called for each pair."""
    if others is None:
        return products(rows, of_differences=of_differences)
    return products_between(rows, others, of_differences=of_differences)


def in_order(rows: np.ndarray, others: np.ndarray | None, *, of_differences: bool) -> np.ndarray:
    """As SVC has them of sparse rows: one column after the other."""
    others = rows if others is None else others
    return products_in_order(rows, others, of_differences=of_differences)


@frozen(eq=False)
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


@frozen(eq=False)
class GramRows:
    """Distinct rows of a train set by their places in the Gram matrix, with codes of classes."""

    places: np.ndarray
    codes: np.ndarray
    times: np.ndarray | None
    weights: np.ndarray | None


@frozen(eq=False)
class Products:
    """Rows to fit on, and the rows asked about where they are others: else they are the same.

    With others each line of products is computed when a machine first rests on its row, and most
    rows are no support vectors.
    """

    rows: np.ndarray
    others: np.ndarray | None = None
    sums: Sums = as_called
    lines: dict[bool, _Lines] = field(default_factory=dict)  # with others: is it of differences?

    @cached_property
    def inner(self) -> np.ndarray:
        return self.sums(self.rows, None, of_differences=False)

    @cached_property
    def apart(self) -> np.ndarray:
        """Squared distances of rows that are asked about themselves, from differences."""
        return self.sums(self.rows, None, of_differences=True)

    def gram(
        self, setting: Mapping[str, Any], gamma: float, *, of: np.ndarray | None = None
    ) -> Gram:
        """The matrix of one kernel, of all rows or of some; rows asked about keep their places.

        A cell that overflows is not finite, and there is no solution; nor is there with a negative
        gamma, which rounding may leave of a variance of 0.
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
        finite = gamma >= 0 and np.isfinite(single.max(initial=0.0))
        return Gram(single, diagonal, towards, bool(finite))

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
            self.lines[apart] = _Lines(self.rows, self.others, self.sums, apart)
        return answered(self.lines[apart].of(rows, asked))


class _Lines:
    """Products of rows with those asked about, computed a line when it is first needed."""

    def __init__(self, rows: np.ndarray, others: np.ndarray, sums: Sums, apart: bool) -> None:
        self.rows, self.others, self.sums, self.apart = rows, others, sums, apart
        self.cells = np.empty((len(rows), len(others)))
        self.computed = np.zeros(len(rows), dtype=bool)

    def of(self, rows: np.ndarray, asked: np.ndarray) -> np.ndarray:
        new = rows[~self.computed[rows]]
        self.cells[new] = self.sums(self.rows[new], self.others, of_differences=self.apart)
        self.computed[new] = True
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
