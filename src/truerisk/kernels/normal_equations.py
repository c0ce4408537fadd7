"""Normal equations of hundreds of fits that lack blocks of rows, and answers from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truerisk.kernels import native
from truerisk.kernels.votes import check_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["answers_of", "solve_without"]


def solve_without(
    whole: NDArray[np.float64],
    blocks: NDArray[np.float64],
    minus: NDArray[np.int64],
    offsets: NDArray[np.int64],
    ridge: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Coefficients of every fit, one a line, and the condition number of its system.

    .. math:: \Bigl(A - \sum_{b \in B} A_b + \operatorname{diag}(r_f)\Bigr) \beta
              = c - \sum_{b \in B} c_b

    `whole` is A with c as its last column, `blocks` holds A_b and c_b in the same way, and B of fit
    f is ``minus[offsets[f]:offsets[f + 1]]``, r_f a line of `ridge`. The condition number is that
    of the Frobenius norm, and NaN or huge where the matrix is not positive definite.

    >>> both = np.array([[4.0, 8.0]])  # four rows of ones, whose targets sum to 8
    >>> last = np.array([[[3.0, 3.0]]])
    >>> beta, condition = solve_without(
    ...     both, last, np.array([0]), np.array([0, 0, 1]), np.zeros((2, 1))
    ... )
    >>> beta.ravel().tolist(), condition.tolist()
    ([2.0, 5.0], [1.0, 1.0])
    """
    order = len(whole)
    if whole.shape != (order, order + 1) or blocks.shape[1:] != whole.shape or not order:
        raise ValueError(f"shapes {whole.shape} of all rows and {blocks.shape} of blocks differ")
    check_bounds(minus, "minus", 0, len(blocks) - 1, "the last block")
    if not len(offsets) or (np.diff(offsets) < 0).any():
        raise ValueError("offsets must ascend")
    check_bounds(offsets[[0, -1]], "offsets", 0, len(minus), "the length of minus")
    if ridge.shape != (len(offsets) - 1, order):
        raise ValueError(f"ridge must have {order} columns, one line per fit, got {ridge.shape}")
    coefficients, condition = np.empty((len(offsets) - 1, order)), np.empty(len(offsets) - 1)
    native().solve_without(
        np.ascontiguousarray(whole, np.float64),
        np.ascontiguousarray(blocks, np.float64),
        np.ascontiguousarray(minus, np.int64),
        np.ascontiguousarray(offsets, np.int64),
        np.ascontiguousarray(ridge, np.float64),
        coefficients,
        condition,
    )
    return coefficients, condition


def answers_of(
    table: NDArray[np.float64],
    rows: NDArray[np.int32],
    coefficients: NDArray[np.float64],
    which: NDArray[np.int64],
) -> NDArray[np.float64]:
    """``table[rows[p]] @ coefficients[which[p]]`` for every position p, without copies of rows.

    >>> answers_of(np.eye(2), np.array([0, 1]), np.array([[5.0, 7.0]]), np.array([0, 0])).tolist()
    [5.0, 7.0]
    """
    if table.shape[1] != coefficients.shape[1] or rows.shape != which.shape:
        raise ValueError(f"rows of {table.shape[1]} columns, {coefficients.shape[1]} coefficients")
    check_bounds(rows, "rows", 0, len(table) - 1, "the last row")
    check_bounds(which, "which", 0, len(coefficients) - 1, "the last line of coefficients")
    found = np.empty(len(rows))
    native().products_of(
        np.ascontiguousarray(table, np.float64),
        np.ascontiguousarray(rows, np.int32),
        np.ascontiguousarray(coefficients, np.float64),
        np.ascontiguousarray(which, np.int64),
        found,
    )
    return found
