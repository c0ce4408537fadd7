"""Rotation of tables with more columns than rows, so that they have as many columns as rows.

A learner that uses rows only through their inner products is not affected by a rotation; many
learners are not affected by a translation before it either. Let V hold orthonormal directions that
span the training rows. A row x becomes V'x. Only the length of the component of x orthogonal to V
matters, because that component is zero for every training row. The directions are computed by
Householder reflections, which lose no digits of a row's length; the product XX' would lose half of
them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from truerisk.core.frozen import frozen


def is_wide(X: np.ndarray) -> bool:
    """Return True if a table has so many columns that a rotation of its rows reduces them.

    The rows and the origin span at most as many directions as there are rows, plus one.

    >>> is_wide(np.zeros((3, 5))), is_wide(np.zeros((3, 4)))
    (True, False)
    """
    n_rows, n_features = X.shape
    return n_rows + 1 < n_features


@frozen(eq=False)
class RotatedRows:
    """Training rows rotated to fewer columns, without a change of their distances.

    `train_rows` holds the rotated rows, and `directions` the unit vectors of the rotated columns.
    `origin` holds the coordinates of the original table's zero in the rotated columns. `centre`
    holds the coordinates of the rotated zero in the original columns.
    """

    train_rows: np.ndarray
    directions: np.ndarray
    centre: np.ndarray
    origin: np.ndarray

    @property
    def n_features(self) -> int:
        """Number of columns of the original table."""
        return len(self.directions)

    def rotate(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotate further rows; also return each row's distance from the span of rotated columns."""
        centred_rows = rows - self.centre
        rotated_rows = centred_rows @ self.directions
        squared_residual_lengths = np.einsum("ij,ij->i", centred_rows, centred_rows) - np.einsum(
            "ij,ij->i", rotated_rows, rotated_rows
        )
        return rotated_rows, np.sqrt(np.maximum(squared_residual_lengths, 0.0))


def rotate_rows(X: np.ndarray) -> RotatedRows:
    """Rotate the training rows about zero, without centring them."""
    rotated_rows, directions = _rows_and_directions(X.copy())
    return RotatedRows(rotated_rows, directions, np.zeros(X.shape[1]), np.zeros(len(X)))


def rotate_about_mean(X: np.ndarray) -> RotatedRows:
    """Centre the training rows, and rotate them together with the origin of the original space."""
    centre = X.mean(axis=0)
    rotated_rows_and_origin, directions = _rows_and_directions(
        np.concatenate([X - centre, -centre[None]])
    )
    return RotatedRows(
        rotated_rows_and_origin[:-1], directions, centre, rotated_rows_and_origin[-1]
    )


def _rows_and_directions(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factorise the rows as L V' with V'V = I, by a QR decomposition; return L and V."""
    packed_reflectors, reflector_scales, _, lapack_status = lapack.dgeqrf(rows.T, overwrite_a=True)
    assert not lapack_status
    lower_triangle = np.triu(packed_reflectors[: len(rows)]).T
    directions, _, lapack_status = lapack.dorgqr(
        packed_reflectors, reflector_scales, overwrite_a=True
    )
    assert not lapack_status
    return np.ascontiguousarray(lower_triangle), directions
