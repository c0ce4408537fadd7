"""Normal equations of hundreds of fits that lack blocks of rows, and answers from them.

On the same products scikit-learn's coordinate descent stops on the elastic net, and it is told how
sure that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truerisk.kernels import native
from truerisk.kernels.integer_arrays import check_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    answers = np.empty(len(rows))
    native().products_of(
        np.ascontiguousarray(table, np.float64),
        np.ascontiguousarray(rows, np.int32),
        np.ascontiguousarray(coefficients, np.float64),
        np.ascontiguousarray(which, np.int64),
        answers,
    )
    return answers


SHARE = 100  # columns for each penalty up to which X'X pays
FILLED = 8  # cells are filled up to a multiple of it with zeros


def descend(
    X: np.ndarray,
    y: np.ndarray,
    penalties: np.ndarray,
    *,
    tolerance: float,
    most: int,
    screens: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Coefficients (penalty, column), passes over the columns, and whether both are sure.

    .. math:: |y - X\beta|^2/2 + \lambda_1 |\beta|_1 + \lambda_2 |\beta|^2/2

    is descended column by column, from 0, until no coefficient moves by more than `tolerance` of
    the largest and the duality gap is at most `tolerance` of y'y. A line of `penalties` is λ₁ > 0
    and λ₂. A pass goes over X'X, or over X where that is smaller or less work. With `screens` the
    gap is looked at first, and columns that it rules out are left out, as scikit-learn does
    from 1.8 on. Where `most` passes do not suffice they are one more. It is not sure where
    rounding decides on which side of a bound a value lies, and so what is done next.

    >>> of, at = (np.eye(2), np.array([3.0, 0.5])), np.array([[1.0, 0.0]])
    >>> beta, passes, sure = descend(*of, at, tolerance=1e-4, most=9, screens=True)
    >>> beta.tolist(), passes.tolist(), sure.tolist()
    ([[2.0, 0.0]], [2], [True])
    """
    (rows, p), n = X.shape, len(penalties)
    if y.shape != (rows,) or not p:
        raise ValueError(f"shapes {X.shape} of X and {y.shape} of y differ")
    if penalties.shape != (n, 2) or not (penalties >= 0).all() or not penalties[:, 0].all():
        raise ValueError("penalties must be lines of one that is positive, one not negative")
    by_rows = p > min(rows, SHARE * n)  # X'X never takes more memory than X
    lines, right = (X.T, y) if by_rows else (X.T @ X, X.T @ y)
    width = lines.shape[1]
    table = np.zeros((p + by_rows, width + -width % FILLED))
    table[:p, :width] = lines
    filled = np.zeros(table.shape[1])
    filled[:width] = right
    coefficients, passes = np.zeros((n, p)), np.zeros(n, dtype=np.int64)
    converged = np.zeros(n, dtype=np.uint8)
    limits = by_rows, float(y @ y), float(tolerance), int(most), bool(screens)
    lines = np.ascontiguousarray(penalties, np.float64)
    native().descend(table, filled, lines, *limits, coefficients, passes, converged)
    return coefficients, passes, converged.astype(bool)
