"""Kernel values and solver steps of SVC (libsvm), reproduced to the last bit by compiled code."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from truerisk.kernels import native_module


@cache
def _blas_dot() -> Any:
    """Return the inner product that SVC calls: scipy's BLAS function, as exported to Cython."""
    from scipy.linalg import cython_blas

    return cython_blas.__pyx_capi__["ddot"]


def pairwise_inner_products(rows: np.ndarray, *, of_differences: bool = False) -> np.ndarray:
    """Return the inner products of all rows with each other, or their squared distances.

    BLAS is called once for each pair of rows, as in SVC, because a matrix product rounds
    differently. If `of_differences` is true, the squared distances are inner products of
    differences of rows.
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    product_matrix = np.empty((len(rows), len(rows)))
    native_module().svm_products(rows, _blas_dot(), of_differences, product_matrix)
    return product_matrix


def inner_products_between(
    rows: np.ndarray, other_rows: np.ndarray, *, of_differences: bool = False
) -> np.ndarray:
    """Return the matrix of inner products, or squared distances, of `rows` with `other_rows`."""
    rows, other_rows = _as_doubles(rows, other_rows)
    product_matrix = np.empty((len(rows), len(other_rows)))
    native_module().svm_products_between(
        rows, other_rows, _blas_dot(), of_differences, product_matrix
    )
    return product_matrix


def sequential_inner_products(
    rows: np.ndarray, other_rows: np.ndarray, *, of_differences: bool = False
) -> np.ndarray:
    """Return inner products of two sets of rows, summed as SVC sums sparse rows: by column.

    If `of_differences` is true, return squared distances instead. The result is a matrix (rows,
    others).
    """
    rows, other_rows = _as_doubles(rows, other_rows)
    product_matrix = np.empty((len(rows), len(other_rows)))
    columns = np.ascontiguousarray(other_rows.T)
    native_module().svm_products_in_order(rows, columns, of_differences, product_matrix)
    return product_matrix


def _as_doubles(rows: np.ndarray, other_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Convert both tables to doubles stored row by row, or raise if their widths differ."""
    if rows.shape[1] != other_rows.shape[1]:
        raise ValueError(f"{rows.shape[1]} columns and {other_rows.shape[1]}")
    row_table, other_table = (
        np.ascontiguousarray(table, dtype=np.float64) for table in (rows, other_rows)
    )
    return row_table, other_table


def solver_gaussian_kernel(
    inner_products: np.ndarray, gamma: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gaussian kernel in the precision of SVC's solver, and its diagonal.

    The squared distances d² between the rows are computed from their inner products.
    """
    n_rows = len(inner_products)
    if inner_products.shape != (n_rows, n_rows):
        raise ValueError(
            f"inner products of shape {inner_products.shape} are not of rows with each other"
        )
    float32_kernel, diagonal = np.empty((n_rows, n_rows), dtype=np.float32), np.empty(n_rows)
    native_module().svm_gaussian_solved(inner_products, float(gamma), float32_kernel, diagonal)
    return float32_kernel, diagonal


def prediction_gaussian_kernel(squared_distances: np.ndarray, gamma: float) -> np.ndarray:
    """Return the Gaussian kernel as SVC computes it for predictions, from squared distances."""
    kernel_values = np.empty(squared_distances.shape)
    native_module().svm_gaussian_answered(
        np.ascontiguousarray(squared_distances), float(gamma), kernel_values
    )
    return kernel_values


def polynomial_kernel(
    inner_products: np.ndarray, gamma: float, coef0: float, degree: int
) -> np.ndarray:
    """Return the polynomial kernel, computed from inner products as SVC does.

    It is `(gamma * inner_product + coef0) ** degree`, with the power by repeated squaring.
    """
    inner_products, kernel_values = (
        np.ascontiguousarray(inner_products),
        np.empty(inner_products.shape),
    )
    native_module().svm_polynomial(
        inner_products, float(gamma), float(coef0), int(degree), kernel_values
    )
    return kernel_values


def solve_binary_problems(
    gram: np.ndarray,
    diagonal: np.ndarray,
    rows: np.ndarray,
    problem_starts: np.ndarray,
    signs: np.ndarray,
    weights: tuple[np.ndarray, np.ndarray],
    C_values: np.ndarray,
    *,
    tolerance: float,
    shrinking: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Solve many two-class SVM problems as libsvm does, each for every value of C.

    Return the coefficients β and the intercepts. Problem p is trained on the rows
    `rows[problem_starts[p]:problem_starts[p + 1]]`, first those with label +1. A copy of a row is
    listed again. The coefficients β are returned in one flat array, in which problem p has the
    slice from `len(C_values) * problem_starts[p]` on, of shape (len(C_values), m). The intercepts
    have shape (problem, C). The upper bound of β for a row is wᵢ (C vᵢ), where `weights` holds w
    (of rows) and v (of their classes). The β of a problem with an overflow are not numbers.
    """
    rows = np.ascontiguousarray(rows, dtype=np.int32)
    problem_starts = np.ascontiguousarray(problem_starts, dtype=np.int64)
    signs_and_weights = [
        np.ascontiguousarray(array, dtype=np.float64) for array in (signs, *weights)
    ]
    C_values = np.ascontiguousarray(C_values, dtype=np.float64)
    _check_binary_problems(gram, diagonal, rows, problem_starts, signs_and_weights)
    if not tolerance > 0 or not (np.isfinite(C_values).all() and (C_values > 0).all()):
        raise ValueError(f"tolerance={tolerance!r} and C={C_values!r} must be positive")
    beta, intercept = (
        np.empty(len(C_values) * len(rows)),
        np.empty((len(problem_starts) - 1, len(C_values))),
    )
    native_module().svm_steps_of_each(
        gram,
        diagonal,
        rows,
        problem_starts,
        *signs_and_weights,
        C_values,
        float(tolerance),
        shrinking,
        beta,
        intercept,
    )
    return beta, intercept


def stepped_answers(
    kernel_values: np.ndarray, rows: np.ndarray, beta: np.ndarray, intercept: np.ndarray
) -> np.ndarray:
    """Return the decision value of each test row for each C, summed in SVC's order.

    `rows` are the indices of the training rows in `kernel_values`, the kernel values (training row,
    test row).
    """
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(kernel_values):
        raise ValueError(f"rows name some outside 0 ... {len(kernel_values) - 1}")
    if beta.shape != (len(intercept), len(rows)):
        raise ValueError(f"{beta.shape} weights for {len(intercept)} C and {len(rows)} rows")
    decision_values = np.empty((len(beta), kernel_values.shape[1]))
    native_module().svm_answers(
        kernel_values,
        np.ascontiguousarray(rows, dtype=np.int32),
        np.ascontiguousarray(beta),
        np.ascontiguousarray(intercept),
        decision_values,
    )
    return decision_values


def _check_binary_problems(
    gram: np.ndarray,
    diagonal: np.ndarray,
    rows: np.ndarray,
    problem_starts: np.ndarray,
    signs_and_weights: list[np.ndarray],
) -> None:
    """Raise ValueError if the compiled code would read out of bounds or not terminate."""
    n = len(gram)
    if gram.shape != (n, n) or gram.dtype != np.float32 or diagonal.shape != (n,):
        raise ValueError("the Gram matrix must be square, in single precision, with its diagonal")
    if any(array.shape != rows.shape for array in signs_and_weights):
        raise ValueError(
            f"{len(rows)} rows and {[len(array) for array in signs_and_weights]} of their numbers"
        )
    if not len(rows) or not 0 <= rows.min() <= rows.max() < n:
        raise ValueError(f"rows name some outside 0 ... {n - 1}, or none")
    if (
        len(problem_starts) < 2
        or problem_starts[0] != 0
        or problem_starts[-1] != len(rows)
        or (np.diff(problem_starts) < 1).any()
    ):
        raise ValueError(f"problems do not cover the {len(rows)} rows one after the other")
    signs, *weights = signs_and_weights
    smallest_signs, largest_signs = (
        array.reduceat(signs, problem_starts[:-1]) for array in (np.minimum, np.maximum)
    )
    if not (
        (np.abs(signs) == 1).all() and (smallest_signs == -1).all() and (largest_signs == 1).all()
    ):
        raise ValueError("signs must be +1 and -1, and both occur")
    if not all(np.isfinite(array).all() and (array > 0).all() for array in weights):
        raise ValueError("weights must be finite and positive")
