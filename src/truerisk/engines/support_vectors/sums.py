"""Products of rows with rows, by the arithmetic of the learner that is followed."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from truerisk.kernels.svm_steps import products, products_between, products_in_order

__all__ = ["Sums", "as_called", "in_order"]


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
