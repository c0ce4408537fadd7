"""Where scikit-learn's coordinate descent stops on the elastic net, and how sure that is."""

from __future__ import annotations

import numpy as np

from truerisk.kernels import native

__all__ = ["descend"]

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
    sure = np.zeros(n, dtype=np.uint8)
    limits = by_rows, float(y @ y), float(tolerance), int(most), bool(screens)
    lines = np.ascontiguousarray(penalties, np.float64)
    native().descend(table, filled, lines, *limits, coefficients, passes, sure)
    return coefficients, passes, sure.astype(bool)
