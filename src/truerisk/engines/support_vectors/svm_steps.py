"""Kernel values and solver steps of SVC (libsvm), reproduced to the last bit."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from truerisk.kernels import native


@cache
def _dot() -> Any:
    """Return the inner product that SVC calls: scipy's BLAS, as exported to Cython."""
    from scipy.linalg import cython_blas

    return cython_blas.__pyx_capi__["ddot"]


def products(rows: np.ndarray, *, of_differences: bool = False) -> np.ndarray:
    """Return inner products of all rows with each other, or squared lengths of their differences.

    BLAS is called once for each pair, as in SVC, because a matrix product rounds differently.
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    grams = np.empty((len(rows), len(rows)))
    native().svm_products(rows, _dot(), of_differences, grams)
    return grams


def products_between(
    rows: np.ndarray, others: np.ndarray, *, of_differences: bool = False
) -> np.ndarray:
    """Return `products` of rows with other rows, as a matrix (rows, others)."""
    rows, others = _alike(rows, others)
    grams = np.empty((len(rows), len(others)))
    native().svm_products_between(rows, others, _dot(), of_differences, grams)
    return grams


def products_in_order(
    rows: np.ndarray, others: np.ndarray, *, of_differences: bool = False
) -> np.ndarray:
    """Return the same by sums over the columns in order, as SVC does for sparse rows."""
    rows, others = _alike(rows, others)
    grams = np.empty((len(rows), len(others)))
    columns = np.ascontiguousarray(others.T)
    native().svm_products_in_order(rows, columns, of_differences, grams)
    return grams


def _alike(rows: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Convert both to doubles stored by rows, with equal numbers of columns."""
    if rows.shape[1] != others.shape[1]:
        raise ValueError(f"{rows.shape[1]} columns and {others.shape[1]}")
    first, second = (np.ascontiguousarray(of, dtype=np.float64) for of in (rows, others))
    return first, second


def gaussian_solved(inner: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Return exp(−γ d²) between rows as SVC's solver uses it, and its diagonal in double precision.

    d² is computed from inner products, and the matrix is rounded to single precision.
    """
    m = len(inner)
    if inner.shape != (m, m):
        raise ValueError(f"inner products of shape {inner.shape} are not of rows with each other")
    single, diagonal = np.empty((m, m), dtype=np.float32), np.empty(m)
    native().svm_gaussian_solved(inner, float(gamma), single, diagonal)
    return single, diagonal


def gaussian_answered(apart: np.ndarray, gamma: float) -> np.ndarray:
    """Return exp(−γ d²) as SVC uses it for predictions, with d² from differences."""
    cells = np.empty(apart.shape)
    native().svm_gaussian_answered(np.ascontiguousarray(apart), float(gamma), cells)
    return cells


def polynomial(inner: np.ndarray, gamma: float, coef0: float, degree: int) -> np.ndarray:
    """Return (γ xᵢ'xⱼ + c)ᵈ, with the power by repeated squaring."""
    inner, cells = np.ascontiguousarray(inner), np.empty(inner.shape)
    native().svm_polynomial(inner, float(gamma), float(coef0), int(degree), cells)
    return cells


def steps_of_each(
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
    """Solve many problems for every C as libsvm does; return β (flat) and intercepts (problem, C).

    Problem p has rows `starts[p]` to `starts[p + 1]`, those of sign +1 first, and a copy of a row
    is listed again. Its β are the slice from `len(Cs) * starts[p]` on, with shape (len(Cs), m). The
    upper bound of a row is wᵢ (C vᵢ), where `weights` holds w (of rows) and v (of their classes).
    The β of a problem with an overflow are not numbers.
    """
    rows = np.ascontiguousarray(rows, dtype=np.int32)
    starts = np.ascontiguousarray(starts, dtype=np.int64)
    numbers = [np.ascontiguousarray(of, dtype=np.float64) for of in (sign, *weights)]
    Cs = np.ascontiguousarray(Cs, dtype=np.float64)
    _check(gram, diagonal, rows, starts, numbers)
    if not tolerance > 0 or not (np.isfinite(Cs).all() and (Cs > 0).all()):
        raise ValueError(f"tolerance={tolerance!r} and C={Cs!r} must be positive")
    beta, intercept = np.empty(len(Cs) * len(rows)), np.empty((len(starts) - 1, len(Cs)))
    native().svm_steps_of_each(
        gram, diagonal, rows, starts, *numbers, Cs, float(tolerance), shrinking, beta, intercept
    )
    return beta, intercept


def stepped_answers(
    cells: np.ndarray, rows: np.ndarray, beta: np.ndarray, intercept: np.ndarray
) -> np.ndarray:
    """Return decision values (C, tested row) by sums in SVC's order; `rows` index `cells`."""
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(cells):
        raise ValueError(f"rows name some outside 0 ... {len(cells) - 1}")
    if beta.shape != (len(intercept), len(rows)):
        raise ValueError(f"{beta.shape} weights for {len(intercept)} C and {len(rows)} rows")
    answers = np.empty((len(beta), cells.shape[1]))
    native().svm_answers(
        cells,
        np.ascontiguousarray(rows, dtype=np.int32),
        np.ascontiguousarray(beta),
        np.ascontiguousarray(intercept),
        answers,
    )
    return answers


def _check(
    gram: np.ndarray,
    diagonal: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    numbers: list[np.ndarray],
) -> None:
    """Raise if the compiled kernel would read out of bounds or not terminate."""
    n = len(gram)
    if gram.shape != (n, n) or gram.dtype != np.float32 or diagonal.shape != (n,):
        raise ValueError("the Gram matrix must be square, in single precision, with its diagonal")
    if any(of.shape != rows.shape for of in numbers):
        raise ValueError(f"{len(rows)} rows and {[len(of) for of in numbers]} of their numbers")
    if not len(rows) or not 0 <= rows.min() <= rows.max() < n:
        raise ValueError(f"rows name some outside 0 ... {n - 1}, or none")
    if len(starts) < 2 or starts[0] != 0 or starts[-1] != len(rows) or (np.diff(starts) < 1).any():
        raise ValueError(f"problems do not cover the {len(rows)} rows one after the other")
    sign, *weights = numbers
    least, most = (of.reduceat(sign, starts[:-1]) for of in (np.minimum, np.maximum))
    if not ((np.abs(sign) == 1).all() and (least == -1).all() and (most == 1).all()):
        raise ValueError("signs must be +1 and -1, and both occur")
    if not all(np.isfinite(of).all() and (of > 0).all() for of in weights):
        raise ValueError("weights must be finite and positive")
