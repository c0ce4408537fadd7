"""Rotate tables with more columns than rows, so that they have as many columns as rows.

A learner that uses rows only through their inner products is not affected by a rotation; many
learners are not affected by a translation before it either. Let V hold orthonormal directions that
span the training rows. A row x becomes V'x. Of the part of x orthogonal to V only the length
matters, because no training row has such a part. The directions are computed by Householder
reflections, which lose no digits of a row's length; the product XX' would lose half of them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from truerisk.core.frozen import frozen


def is_wide(X: np.ndarray) -> bool:
    """Return True if rotation makes the table narrower.

    The rows and the origin span at most as many directions as there are rows, plus one.

    >>> is_wide(np.zeros((3, 5))), is_wide(np.zeros((3, 4)))
    (True, False)
    """
    n_rows, n_features = X.shape
    return n_rows + 1 < n_features


@frozen(eq=False)
class Turned:
    """Training rows `shown` in the rotated columns, whose `directions` have unit length.

    `origin` is the position of the zero of the original table in the new columns. `centre` holds
    the values of the original columns at the new zero.
    """

    shown: np.ndarray
    directions: np.ndarray
    centre: np.ndarray
    origin: np.ndarray

    @property
    def n_features(self) -> int:
        """Number of columns of the original table."""
        return len(self.directions)

    def turn(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return other rows in the new columns, and the lengths of their orthogonal parts."""
        moved = rows - self.centre
        inside = moved @ self.directions
        rest = np.einsum("ij,ij->i", moved, moved) - np.einsum("ij,ij->i", inside, inside)
        return inside, np.sqrt(np.maximum(rest, 0.0))


def turned(X: np.ndarray) -> Turned:
    """Rotate the training rows about the origin of the table."""
    shown, directions = _decomposed(X.copy())
    return Turned(shown, directions, np.zeros(X.shape[1]), np.zeros(len(X)))


def turned_about_mean(X: np.ndarray) -> Turned:
    """Centre the training rows, and rotate them together with the origin of the table."""
    centre = X.mean(axis=0)
    both, directions = _decomposed(np.concatenate([X - centre, -centre[None]]))
    return Turned(both[:-1], directions, centre, both[-1])


def _decomposed(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return L and V with rows = L V' and V'V = I, by a QR decomposition of the transpose."""
    packed, factors, _, failed = lapack.dgeqrf(rows.T, overwrite_a=True)
    assert not failed
    lower = np.triu(packed[: len(rows)]).T
    directions, _, failed = lapack.dorgqr(packed, factors, overwrite_a=True)
    assert not failed
    return np.ascontiguousarray(lower), directions
