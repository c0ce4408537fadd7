"""Kernel values and solver steps of SVC (libsvm), reproduced to the last bit by compiled code."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from truerisk.kernels import native


@cache
def _blas_dot() -> Any:
    """Return the inner product that SVC calls: scipy's BLAS function, as exported to Cython."""
    from scipy.linalg import cython_blas

    return cython_blas.__pyx_capi__["ddot"]


def products(rows: np.ndarray, *, of_differences: bool = False) -> np.ndarray:
    """Return the inner products of all rows with each other, or their squared distances.

    BLAS is called once for each pair of rows, as in SVC, because a matrix product rounds
    differently. If `of_differences` is true, the squared distances are inner products of
    differences of rows.
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    inner = np.empty((len(rows), len(rows)))
    native().svm_products(rows, _blas_dot(), of_differences, inner)
    return inner


def products_between(
    rows: np.ndarray, other_rows: np.ndarray, *, of_differences: bool = False
) -> np.ndarray:
    """Return inner products, or squared distances, as a matrix (rows, other rows)."""
    rows, other_rows = _as_doubles(rows, other_rows)
    inner = np.empty((len(rows), len(other_rows)))
    native().svm_products_between(rows, other_rows, _blas_dot(), of_differences, inner)
    return inner


def products_in_order(
    rows: np.ndarray, other_rows: np.ndarray, *, of_differences: bool = False
) -> np.ndarray:
    """Return inner products of two sets of rows, summed as SVC sums sparse rows: by column.

    If `of_differences` is true, return squared distances instead. The result is a matrix (rows,
    others).
    """
    rows, other_rows = _as_doubles(rows, other_rows)
    inner = np.empty((len(rows), len(other_rows)))
    columns = np.ascontiguousarray(other_rows.T)
    native().svm_products_in_order(rows, columns, of_differences, inner)
    return inner


def _as_doubles(rows: np.ndarray, other_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Convert both tables to doubles stored row by row, or raise if their widths differ."""
    if rows.shape[1] != other_rows.shape[1]:
        raise ValueError(f"{rows.shape[1]} columns and {other_rows.shape[1]}")
    row_table, other_table = (
        np.ascontiguousarray(table, dtype=np.float64) for table in (rows, other_rows)
    )
    return row_table, other_table


def gaussian_for_solver(inner: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Return exp(−γ d²) in single precision as SVC's solver uses it, and the diagonal in double.

    The squared distances d² between the rows are computed from their inner products.
    """
    n_rows = len(inner)
    if inner.shape != (n_rows, n_rows):
        raise ValueError(f"inner products of shape {inner.shape} are not of rows with each other")
    single, diagonal = np.empty((n_rows, n_rows), dtype=np.float32), np.empty(n_rows)
    native().svm_gaussian_solved(inner, float(gamma), single, diagonal)
    return single, diagonal


def gaussian_for_prediction(distances: np.ndarray, gamma: float) -> np.ndarray:
    """Return exp(−γ d²) as SVC computes it for predictions, from given squared distances d²."""
    kernel = np.empty(distances.shape)
    native().svm_gaussian_answered(np.ascontiguousarray(distances), float(gamma), kernel)
    return kernel


def polynomial(inner: np.ndarray, gamma: float, coef0: float, degree: int) -> np.ndarray:
    """Return the polynomial kernel (γ xᵢ'xⱼ + c)ᵈ, with the power by repeated squaring."""
    inner, kernel = np.ascontiguousarray(inner), np.empty(inner.shape)
    native().svm_polynomial(inner, float(gamma), float(coef0), int(degree), kernel)
    return kernel


def solve_problems(
    gram: np.ndarray,
    diagonal: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    sign: np.ndarray,
    weights: tuple[np.ndarray, np.ndarray],
    Cs: np.ndarray,
    *,
    tolerance: float,
    shrinking: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Solve many two-class problems for every C as libsvm does; return the β and the intercepts.

    Problem p is trained on the rows `rows[starts[p]:starts[p + 1]]`, first those with label +1. A
    copy of a row is listed again. The coefficients β are returned in one flat array, in which
    problem p has the slice from `len(Cs) * starts[p]` on, of shape (len(Cs), m). The intercepts
    have shape (problem, C). The upper bound of β for a row is wᵢ (C vᵢ), where `weights` holds w
    (of rows) and v (of their classes). The β of a problem with an overflow are not numbers.
    """
    rows = np.ascontiguousarray(rows, dtype=np.int32)
    starts = np.ascontiguousarray(starts, dtype=np.int64)
    row_numbers = [np.ascontiguousarray(array, dtype=np.float64) for array in (sign, *weights)]
    Cs = np.ascontiguousarray(Cs, dtype=np.float64)
    _check_problems(gram, diagonal, rows, starts, row_numbers)
    if not tolerance > 0 or not (np.isfinite(Cs).all() and (Cs > 0).all()):
        raise ValueError(f"tolerance={tolerance!r} and C={Cs!r} must be positive")
    beta, intercept = np.empty(len(Cs) * len(rows)), np.empty((len(starts) - 1, len(Cs)))
    native().svm_steps_of_each(
        gram, diagonal, rows, starts, *row_numbers, Cs, float(tolerance), shrinking, beta, intercept
    )
    return beta, intercept


def stepped_answers(
    kernel_values: np.ndarray, rows: np.ndarray, beta: np.ndarray, intercept: np.ndarray
) -> np.ndarray:
    """Return decision values (C, test row) from coefficients β, summed in SVC's order.

    `rows` are the indices of the training rows in `kernel_values`, the kernel values (training row,
    test row).
    """
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(kernel_values):
        raise ValueError(f"rows name some outside 0 ... {len(kernel_values) - 1}")
    if beta.shape != (len(intercept), len(rows)):
        raise ValueError(f"{beta.shape} weights for {len(intercept)} C and {len(rows)} rows")
    decision_values = np.empty((len(beta), kernel_values.shape[1]))
    native().svm_answers(
        kernel_values,
        np.ascontiguousarray(rows, dtype=np.int32),
        np.ascontiguousarray(beta),
        np.ascontiguousarray(intercept),
        decision_values,
    )
    return decision_values


def _check_problems(
    gram: np.ndarray,
    diagonal: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    row_numbers: list[np.ndarray],
) -> None:
    """Raise ValueError if the compiled code would read out of bounds or not terminate."""
    n = len(gram)
    if gram.shape != (n, n) or gram.dtype != np.float32 or diagonal.shape != (n,):
        raise ValueError("the Gram matrix must be square, in single precision, with its diagonal")
    if any(array.shape != rows.shape for array in row_numbers):
        raise ValueError(
            f"{len(rows)} rows and {[len(array) for array in row_numbers]} of their numbers"
        )
    if not len(rows) or not 0 <= rows.min() <= rows.max() < n:
        raise ValueError(f"rows name some outside 0 ... {n - 1}, or none")
    if len(starts) < 2 or starts[0] != 0 or starts[-1] != len(rows) or (np.diff(starts) < 1).any():
        raise ValueError(f"problems do not cover the {len(rows)} rows one after the other")
    signs, *weights = row_numbers
    smallest_signs, largest_signs = (
        array.reduceat(signs, starts[:-1]) for array in (np.minimum, np.maximum)
    )
    if not (
        (np.abs(signs) == 1).all() and (smallest_signs == -1).all() and (largest_signs == 1).all()
    ):
        raise ValueError("signs must be +1 and -1, and both occur")
    if not all(np.isfinite(array).all() and (array > 0).all() for array in weights):
        raise ValueError("weights must be finite and positive")
