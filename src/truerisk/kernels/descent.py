"""Where scikit-learn's coordinate descent stops on the elastic net, and how sure that is."""

from __future__ import annotations

import numpy as np

from truerisk.kernels.loading import native

__all__ = ["descend"]


def descend(
    gram: np.ndarray,
    right: np.ndarray,
    square: float,
    penalties: np.ndarray,
    *,
    tolerance: float,
    most: int,
    screens: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Coefficients (penalty, column), passes over the columns, and whether both are sure.

    .. math:: |y - X\beta|^2/2 + \lambda_1 |\beta|_1 + \lambda_2 |\beta|^2/2

    is descended column by column, from 0, until no coefficient moves by more than `tolerance` of
    the largest and the duality gap is at most `tolerance` of y'y. `gram` is X'X, `right` X'y,
    `square` y'y; a line of `penalties` is λ₁ > 0 and λ₂. With `screens` the gap is looked at
    first, and columns that it rules out are left out, as scikit-learn does from 1.8 on.
    Where `most` passes do not suffice they are one more. It is not sure where rounding decides on
    which side of a bound a value lies, and so what is done next.

    >>> of, at = (np.eye(2), np.array([3.0, 0.5]), 9.25), np.array([[1.0, 0.0]])
    >>> beta, passes, sure = descend(*of, at, tolerance=1e-4, most=9, screens=True)
    >>> beta.tolist(), passes.tolist(), sure.tolist()
    ([[2.0, 0.0]], [2], [True])
    """
    p, n = len(right), len(penalties)
    if gram.shape != (p, p) or right.shape != (p,) or not p:
        raise ValueError(f"shapes {gram.shape} of X'X and {right.shape} of X'y differ")
    if penalties.shape != (n, 2) or not (penalties >= 0).all() or not penalties[:, 0].all():
        raise ValueError("penalties must be lines of one that is positive, one not negative")
    given = [np.ascontiguousarray(array, np.float64) for array in (gram, right, penalties)]
    coefficients, passes = np.zeros((n, p)), np.zeros(n, dtype=np.int64)
    sure = np.zeros(n, dtype=np.uint8)
    limits = float(square), float(tolerance), int(most), bool(screens)
    native().descend(*given, *limits, coefficients, passes, sure)
    return coefficients, passes, sure.astype(bool)
