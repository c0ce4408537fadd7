"""Tables with more columns than rows, turned into as many columns as there are rows.

What a learner makes of rows through their inner products alone sees no difference when they are
turned; many learners see none either when they are moved first. With V the orthonormal directions
that the rows shown span, a row x is V'x, and what lies across V is known by its length: no row
shown has a part there. The directions are taken by Householder's reflections, which lose no digits
of a row's length; a product XX' would lose half of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack


def is_wide(X: np.ndarray) -> bool:
    """Whether turning makes a table of rows narrower: they and the origin span fewer directions.

    >>> is_wide(np.zeros((3, 5))), is_wide(np.zeros((3, 4)))
    (True, False)
    """
    n_rows, n_features = X.shape
    return n_rows + 1 < n_features


@dataclass(frozen=True, eq=False)
class Turned:
    """`shown` are the rows of a fit in the new columns, whose `directions` have unit length.

    `origin` is where the zero of the table as it was lies now; its columns had `centre` there.
    """

    shown: np.ndarray
    directions: np.ndarray
    centre: np.ndarray
    origin: np.ndarray

    @property
    def n_features(self) -> int:
        """Columns of the table as it was."""
        return len(self.directions)

    def turn(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Other rows in the new columns, and the lengths of their parts that no row shown has."""
        moved = rows - self.centre
        inside = moved @ self.directions
        rest = np.einsum("ij,ij->i", moved, moved) - np.einsum("ij,ij->i", inside, inside)
        return inside, np.sqrt(np.maximum(rest, 0.0))


def turned(X: np.ndarray) -> Turned:
    """The rows of a fit, turned about the zero of the table."""
    shown, directions = _decomposed(X.copy())
    return Turned(shown, directions, np.zeros(X.shape[1]), np.zeros(len(X)))


def turned_about_mean(X: np.ndarray) -> Turned:
    """The rows of a fit, moved to their mean and turned together with the zero of the table."""
    centre = X.mean(axis=0)
    both, directions = _decomposed(np.concatenate([X - centre, -centre[None]]))
    return Turned(both[:-1], directions, centre, both[-1])


def _decomposed(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L and V with rows = L V', V'V = I: the rows' own QR decomposition, transposed."""
    packed, factors, _, failed = lapack.dgeqrf(rows.T, overwrite_a=True)
    assert not failed
    lower = np.triu(packed[: len(rows)]).T
    directions, _, failed = lapack.dorgqr(packed, factors, overwrite_a=True)
    assert not failed
    return np.ascontiguousarray(lower), directions
