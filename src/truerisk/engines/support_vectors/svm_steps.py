"""SVC's own numbers: kernel values by its arithmetic, and the steps of libsvm to the last bit."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from truerisk.kernels import native


@cache
def _dot() -> Any:
    """The inner product that SVC calls: that of scipy's BLAS, as it is exported to Cython."""
    from scipy.linalg import cython_blas

    return cython_blas.__pyx_capi__["ddot"]


def products(rows: np.ndarray, *, of_differences: bool = False) -> np.ndarray:
    """Inner products of all rows with each other, or of their differences with themselves.

    One call of BLAS for each pair, as in SVC: a product of matrices rounds otherwise.
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    grams = np.empty((len(rows), len(rows)))
    native().svm_products(rows, _dot(), of_differences, grams)
    return grams


def products_between(
    rows: np.ndarray, others: np.ndarray, *, of_differences: bool = False
) -> np.ndarray:
    """The same of rows with other rows: (rows, others)."""
    rows, others = _alike(rows, others)
    grams = np.empty((len(rows), len(others)))
    native().svm_products_between(rows, others, _dot(), of_differences, grams)
    return grams


def products_in_order(
    rows: np.ndarray, others: np.ndarray, *, of_differences: bool = False
) -> np.ndarray:
    """The same by sums over the columns in order, as SVC forms them of the cells of sparse rows."""
    rows, others = _alike(rows, others)
    grams = np.empty((len(rows), len(others)))
    columns = np.ascontiguousarray(others.T)
    native().svm_products_in_order(rows, columns, of_differences, grams)
    return grams


def _alike(rows: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Doubles line by line, of as many columns."""
    if rows.shape[1] != others.shape[1]:
        raise ValueError(f"{rows.shape[1]} columns and {others.shape[1]}")
    first, second = (np.ascontiguousarray(of, dtype=np.float64) for of in (rows, others))
    return first, second


def gaussian_solved(inner: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """exp(−γ d²) of rows with each other as SVC solves on it, and its diagonal before rounding.

    d² is from inner products, and the matrix is rounded to single precision.
    """
    m = len(inner)
    if inner.shape != (m, m):
        raise ValueError(f"inner products of shape {inner.shape} are not of rows with each other")
    single, diagonal = np.empty((m, m), dtype=np.float32), np.empty(m)
    native().svm_gaussian_solved(inner, float(gamma), single, diagonal)
    return single, diagonal


def gaussian_answered(apart: np.ndarray, gamma: float) -> np.ndarray:
    """exp(−γ d²) as SVC answers by it, from d² by differences."""
    cells = np.empty(apart.shape)
    native().svm_gaussian_answered(np.ascontiguousarray(apart), float(gamma), cells)
    return cells


def polynomial(inner: np.ndarray, gamma: float, coef0: float, degree: int) -> np.ndarray:
    """(γ xᵢ'xⱼ + c)ᵈ, the power by repeated squares."""
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
    """Where libsvm stops, for many problems and every C: β, flat, and the intercepts (problem, C).

    Problem p has rows `starts[p]` to `starts[p + 1]`, those of sign +1 first, a copy of a row once
    more; its β are the slice from `len(Cs) * starts[p]` on, in the shape (len(Cs), m). The box of a
    row is wᵢ (C vᵢ), `weights` being w (of rows) and v (of their classes). The β of a problem of
    which a step overflows are not numbers.
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
    """Decision values (C, asked) by sums in SVC's order; `rows` are lines of `cells`."""
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
    """Everything that the kernel would read out of bounds or never end on."""
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
