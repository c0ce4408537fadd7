"""Compiled solvers: normal equations of many fits without blocks of rows, and coordinate descent.

The coordinate descent reproduces scikit-learn's elastic net on products of columns, and reports
whether rounding could have changed its steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truerisk.kernels import native_module
from truerisk.kernels.integer_arrays import check_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray


def solve_without_blocks(
    all_products: NDArray[np.float64],
    blocks: NDArray[np.float64],
    minus: NDArray[np.int64],
    offsets: NDArray[np.int64],
    ridge: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return the coefficients and the condition numbers of fits that leave out blocks of rows.

    The least-squares coefficients β of fit f solve

    .. math:: \Bigl(A - \sum_{b \in B} A_b + \operatorname{diag}(r_f)\Bigr) \beta
              = c - \sum_{b \in B} c_b

    The matrix A holds the products of the columns of all rows, and c those of the columns with the
    targets; A_b and c_b are the same for the rows of block b. `all_products` is A with c as its
    last column, and `blocks` holds A_b and c_b in the same way. The set B of blocks that fit f
    lacks is ``minus[offsets[f]:offsets[f + 1]]``, and r_f is a row of `ridge`. The condition number
    is computed from the Frobenius norm; it is NaN or huge if the matrix is not positive definite.

    >>> both = np.array([[4.0, 8.0]])  # four rows of ones, whose targets sum to 8
    >>> last = np.array([[[3.0, 3.0]]])
    >>> beta, condition = solve_without_blocks(
    ...     both, last, np.array([0]), np.array([0, 0, 1]), np.zeros((2, 1))
    ... )
    >>> beta.ravel().tolist(), condition.tolist()
    ([2.0, 5.0], [1.0, 1.0])
    """
    n_coefficients = len(all_products)
    if (
        all_products.shape != (n_coefficients, n_coefficients + 1)
        or blocks.shape[1:] != all_products.shape
        or not n_coefficients
    ):
        raise ValueError(
            f"shapes {all_products.shape} of all rows and {blocks.shape} of blocks differ"
        )
    check_bounds(minus, "minus", 0, len(blocks) - 1, "the last block")
    if not len(offsets) or (np.diff(offsets) < 0).any():
        raise ValueError("offsets must ascend")
    check_bounds(offsets[[0, -1]], "offsets", 0, len(minus), "the length of minus")
    if ridge.shape != (len(offsets) - 1, n_coefficients):
        raise ValueError(
            f"ridge must have {n_coefficients} columns, one line per fit, got {ridge.shape}"
        )
    coefficients, condition_numbers = (
        np.empty((len(offsets) - 1, n_coefficients)),
        np.empty(len(offsets) - 1),
    )
    native_module().solve_without(
        np.ascontiguousarray(all_products, np.float64),
        np.ascontiguousarray(blocks, np.float64),
        np.ascontiguousarray(minus, np.int64),
        np.ascontiguousarray(offsets, np.int64),
        np.ascontiguousarray(ridge, np.float64),
        coefficients,
        condition_numbers,
    )
    return coefficients, condition_numbers


def predict_rows(
    table: NDArray[np.float64],
    rows: NDArray[np.int32],
    coefficients: NDArray[np.float64],
    coefficient_rows: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the prediction of each listed row by the coefficients that are listed with it.

    Prediction p is ``table[rows[p]] @ coefficients[coefficient_rows[p]]``.

    >>> predict_rows(np.eye(2), np.array([0, 1]), np.array([[5.0, 7.0]]), np.array([0, 0])).tolist()
    [5.0, 7.0]
    """
    if table.shape[1] != coefficients.shape[1] or rows.shape != coefficient_rows.shape:
        raise ValueError(f"rows of {table.shape[1]} columns, {coefficients.shape[1]} coefficients")
    check_bounds(rows, "rows", 0, len(table) - 1, "the last row")
    check_bounds(
        coefficient_rows, "which", 0, len(coefficients) - 1, "the last line of coefficients"
    )
    predictions = np.empty(len(rows))
    native_module().products_of(
        np.ascontiguousarray(table, np.float64),
        np.ascontiguousarray(rows, np.int32),
        np.ascontiguousarray(coefficients, np.float64),
        np.ascontiguousarray(coefficient_rows, np.int64),
        predictions,
    )
    return predictions


MAX_COLUMNS_PER_PENALTY = (
    100  # With at most MAX_COLUMNS_PER_PENALTY columns per penalty, computing X'X first is faster.
)
# Rows of the table are padded with zeros to a multiple of PADDING_MULTIPLE cells.
PADDING_MULTIPLE = 8


def descend(
    X: np.ndarray,
    y: np.ndarray,
    penalties: np.ndarray,
    *,
    tolerance: float,
    max_passes: int,
    screens: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Minimise the objective of the elastic net by coordinate descent, for every given penalty.

    Return the coefficients `(penalty, column)`, the numbers of passes, and a mask of certain
    results. The objective

    .. math:: |y - X\beta|^2/2 + \lambda_1 |\beta|_1 + \lambda_2 |\beta|^2/2

    is minimised by coordinate descent from 0, until no coefficient changes by more than `tolerance`
    times the largest coefficient and the duality gap is at most `tolerance` times y'y. A row of
    `penalties` holds λ₁ > 0 and λ₂. A pass goes over X'X, or over X if that is smaller or less
    work. With `screens` the duality gap is computed first, and columns that it rules out are
    skipped, as scikit-learn does from version 1.8 on. If `max_passes` passes do not suffice, the
    reported number of passes is `max_passes` + 1. A result is uncertain if rounding decides whether
    a value exceeds a bound, and so which step is taken next.

    >>> of, at = (np.eye(2), np.array([3.0, 0.5])), np.array([[1.0, 0.0]])
    >>> beta, passes, sure = descend(*of, at, tolerance=1e-4, max_passes=9, screens=True)
    >>> beta.tolist(), passes.tolist(), sure.tolist()
    ([[2.0, 0.0]], [2], [True])
    """
    (n_rows, p), n = X.shape, len(penalties)
    if y.shape != (n_rows,) or not p:
        raise ValueError(f"shapes {X.shape} of X and {y.shape} of y differ")
    if penalties.shape != (n, 2) or not (penalties >= 0).all() or not penalties[:, 0].all():
        raise ValueError("penalties must be lines of one that is positive, one not negative")
    uses_rows = p > min(
        n_rows, MAX_COLUMNS_PER_PENALTY * n
    )  # By this rule X'X takes no more memory than X.
    compiled_input, compiled_targets = (X.T, y) if uses_rows else (X.T @ X, X.T @ y)
    n_used_columns = compiled_input.shape[1]
    padded_table = np.zeros((p + uses_rows, n_used_columns + -n_used_columns % PADDING_MULTIPLE))
    padded_table[:p, :n_used_columns] = compiled_input
    padded_targets = np.zeros(padded_table.shape[1])
    padded_targets[:n_used_columns] = compiled_targets
    coefficients, n_passes = np.zeros((n, p)), np.zeros(n, dtype=np.int64)
    is_certain = np.zeros(n, dtype=np.uint8)
    compiled_settings = uses_rows, float(y @ y), float(tolerance), int(max_passes), bool(screens)
    compiled_input = np.ascontiguousarray(penalties, np.float64)
    native_module().descend(
        padded_table,
        padded_targets,
        compiled_input,
        *compiled_settings,
        coefficients,
        n_passes,
        is_certain,
    )
    return coefficients, n_passes, is_certain.astype(bool)
