"""Gram matrices of the kernels of scikit-learn's SVC, rounded exactly as SVC rounds them.

The inner products of the rows are computed once and serve every kernel and every fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.support_vectors.svm_steps import (
    inner_products_between,
    pairwise_inner_products,
    polynomial_kernel,
    prediction_gaussian_kernel,
    sequential_inner_products,
    solver_gaussian_kernel,
)

# A user's Gram matrix counts as symmetric if it differs from its transpose by rounding errors.
# They may be as large as this number times the largest diagonal element.
SYMMETRY_TOLERANCE = 1e-10
LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


class ProductFunction(Protocol):
    """Function that returns the inner products between two sets of rows.

    If `other_rows` is None, the rows are multiplied with each other. If `of_differences` is true,
    the function returns the inner product of x − z with itself (the squared distance) instead of
    that of x with z.
    """

    def __call__(
        self, rows: np.ndarray, other_rows: np.ndarray | None, *, of_differences: bool
    ) -> np.ndarray:
        """Return the inner products, or the squared distances if `of_differences` is true."""


def dense_products(
    rows: np.ndarray, other_rows: np.ndarray | None, *, of_differences: bool
) -> np.ndarray:
    """Compute inner products as SVC does for dense rows, with one BLAS call per pair of rows."""
    if other_rows is None:
        return pairwise_inner_products(rows, of_differences=of_differences)
    return inner_products_between(rows, other_rows, of_differences=of_differences)


def sparse_products(
    rows: np.ndarray, other_rows: np.ndarray | None, *, of_differences: bool
) -> np.ndarray:
    """Compute inner products as SVC does for sparse rows, adding up column after column."""
    other_rows = rows if other_rows is None else other_rows
    return sequential_inner_products(rows, other_rows, of_differences=of_differences)


@frozen(eq=False)
class GramMatrix:
    """Kernel matrix of m training rows, and the kernel values between them and the test rows.

    `float32_kernel` is the m × m matrix in single precision, as libsvm stores it to solve its
    problem; the exact `diagonal` is kept beside it. For decision values libsvm uses kernel values
    in double precision: `compute_test_kernel` returns those between selected training rows and
    selected test rows, both given by index. `is_finite` is False if a kernel value overflows.
    """

    float32_kernel: np.ndarray
    diagonal: np.ndarray
    compute_test_kernel: Callable[[np.ndarray, np.ndarray], np.ndarray]
    is_finite: bool = True


@frozen(eq=False)
class GramRows:
    """Training set of one fit: its distinct rows as indices in the Gram matrix, and class codes.

    `copy_counts` holds the number of copies of each row, and `weights` its sample weight.
    """

    gram_indices: np.ndarray
    class_codes: np.ndarray
    copy_counts: np.ndarray | None
    weights: np.ndarray | None


@frozen(eq=False)
class InnerProducts:
    """Inner products of the training rows with each other and with the test rows.

    If `test_rows` is None, the test rows are among the training rows. Otherwise, the products of a
    training row with all test rows are computed only when a model first needs them, because most
    training rows are not support vectors.
    """

    rows: np.ndarray
    test_rows: np.ndarray | None = None
    product_function: ProductFunction = dense_products
    # Inner products or squared distances between training and test rows, computed when needed.
    # The key True holds squared distances, the key False inner products.
    lazy_products: dict[bool, _LazyProducts] = field(default_factory=dict)

    @cached_property
    def train_products(self) -> np.ndarray:
        """Inner products of the training rows with each other."""
        return self.product_function(self.rows, None, of_differences=False)

    @cached_property
    def train_distances(self) -> np.ndarray:
        """Squared distances between the training rows, computed from their differences."""
        return self.product_function(self.rows, None, of_differences=True)

    def compute_gram(
        self, setting: Mapping[str, Any], gamma: float, *, row_subset: np.ndarray | None = None
    ) -> GramMatrix:
        """Return the Gram matrix of one kernel, for all rows or for the rows given by index.

        Test rows keep their index. The matrix is not finite if a kernel value overflows, and then
        libsvm has no solution. The same holds for a negative gamma, which rounding may produce from
        a variance of 0.
        """
        # With a precomputed kernel, X itself is the kernel matrix.
        if setting["kernel"] == "precomputed":
            return _gram_from_kernel(self.rows, partial(_select_cells, self.rows.T))
        inner = (
            self.train_products
            if row_subset is None
            else self.train_products[np.ix_(row_subset, row_subset)]
        )
        kernel = partial(_kernel_values, setting, gamma)
        # Here the kernel values between all rows are computed once, and serve many fits.
        if row_subset is None and self.test_rows is None:
            products_or_distances = self.train_distances if setting["kernel"] == "rbf" else inner
            test_kernel = partial(_select_cells, kernel(products_or_distances))
        else:
            test_kernel = partial(
                self._compute_test_kernel, kernel, setting["kernel"] == "rbf", row_subset
            )
        if setting["kernel"] != "rbf":
            return _gram_from_kernel(kernel(inner), test_kernel)
        float32_kernel, diagonal = solver_gaussian_kernel(inner, gamma)
        # Rounding may make d² negative for rows far from the origin.
        # With a negative squared distance d² the kernel exp(−γ d²) may overflow.
        is_finite = gamma >= 0 and np.isfinite(float32_kernel.max(initial=0.0))
        return GramMatrix(float32_kernel, diagonal, test_kernel, bool(is_finite))

    def _compute_test_kernel(
        self,
        kernel: Callable[[np.ndarray], np.ndarray],
        uses_distances: bool,
        row_subset: np.ndarray | None,
        rows: np.ndarray,
        test_rows: np.ndarray,
    ) -> np.ndarray:
        rows = rows if row_subset is None else row_subset[rows]
        if self.test_rows is None:
            return kernel(
                _select_cells(
                    self.train_distances if uses_distances else self.train_products, rows, test_rows
                )
            )
        if uses_distances not in self.lazy_products:
            self.lazy_products[uses_distances] = _LazyProducts(
                self.rows, self.test_rows, self.product_function, uses_distances
            )
        return kernel(self.lazy_products[uses_distances].compute(rows, test_rows))


class _LazyProducts:
    """Inner products or squared distances between training and test rows, computed when needed."""

    def __init__(
        self,
        rows: np.ndarray,
        test_rows: np.ndarray,
        product_function: ProductFunction,
        of_differences: bool,
    ) -> None:
        self.rows, self.all_test_rows, self.compute_products, self.computes_distances = (
            rows,
            test_rows,
            product_function,
            of_differences,
        )
        self.cells = np.empty((len(rows), len(test_rows)))
        self.computed = np.zeros(len(rows), dtype=bool)

    def compute(self, rows: np.ndarray, test_rows: np.ndarray) -> np.ndarray:
        rows_to_compute = rows[~self.computed[rows]]
        self.cells[rows_to_compute] = self.compute_products(
            self.rows[rows_to_compute], self.all_test_rows, of_differences=self.computes_distances
        )
        self.computed[rows_to_compute] = True
        return _select_cells(self.cells, rows, test_rows)


def _kernel_values(
    setting: Mapping[str, Any], gamma: float, products_or_distances: np.ndarray
) -> np.ndarray:
    """Compute kernel values in double precision from squared distances (rbf) or inner products."""
    if setting["kernel"] == "rbf":
        return prediction_gaussian_kernel(products_or_distances, gamma)
    if setting["kernel"] == "linear":
        return products_or_distances
    return polynomial_kernel(products_or_distances, gamma, setting["coef0"], int(setting["degree"]))


def _gram_from_kernel(
    kernel_matrix: np.ndarray, test_kernel: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> GramMatrix:
    with np.errstate(over="ignore"):
        float32_kernel = np.ascontiguousarray(kernel_matrix, dtype=np.float32)
    diagonal = np.ascontiguousarray(np.diagonal(kernel_matrix))
    return GramMatrix(
        float32_kernel, diagonal, test_kernel, bool(np.abs(kernel_matrix).max() <= LARGEST_FLOAT32)
    )


def _select_cells(table: np.ndarray, rows: np.ndarray, test_rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(table[np.ix_(rows, test_rows)])
