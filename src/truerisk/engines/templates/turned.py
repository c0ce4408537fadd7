"""Tables with more columns than rows, turned into as many columns as there are rows.

What a learner makes of rows through their inner products alone sees no difference when they are
moved to their mean and turned. With V the orthonormal directions that the rows shown span, a row x
is V'(x − c), and what lies across V is known by its length: no row shown has a part there. The
directions are taken by Householder's reflections, which lose no digits of a row's length; a product
XX' would lose half of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

__all__ = ["Turned", "is_wide", "turned"]


def is_wide(X: np.ndarray) -> bool:
    """Whether turning makes a table of rows narrower: they and the origin span fewer directions.

    >>> is_wide(np.zeros((3, 5))), is_wide(np.zeros((3, 4)))
    (True, False)
    """
    n_rows, n_features = X.shape
    return n_rows + 1 < n_features


@dataclass(frozen=True, eq=False)
class Turned:
    """`shown` are the rows of a fit and `asked` those of its questions, in the new columns.

    `across[q]` are the lengths of the asked rows' parts that no row shown has. `origin` is where
    the zero of the table as it was lies now. `n_features` columns it had, and no cell of the rows
    shown was larger than `farthest`.
    """

    shown: np.ndarray
    asked: list[np.ndarray]
    across: list[np.ndarray]
    origin: np.ndarray
    n_features: int
    farthest: float


def turned(X: np.ndarray, tests: Sequence[np.ndarray]) -> Turned:
    """Turn the rows of a fit, and with them those that it is asked about."""
    centre = X.mean(axis=0)
    spanning = np.concatenate([X - centre, -centre[None]])
    upper, directions = _decomposed(spanning)
    asked, across = [], []
    for rows in tests:
        moved = rows - centre
        inside = moved @ directions
        rest = np.einsum("ij,ij->i", moved, moved) - np.einsum("ij,ij->i", inside, inside)
        asked.append(inside)
        across.append(np.sqrt(np.maximum(rest, 0.0)))
    farthest = float(np.abs(X).max(initial=0.0))
    return Turned(upper[:-1], asked, across, upper[-1], X.shape[1], farthest)


def _decomposed(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L and V with rows = L V', V'V = I: the rows' own QR decomposition, transposed."""
    packed, factors, _, failed = lapack.dgeqrf(rows.T, overwrite_a=True)
    assert not failed
    lower = np.triu(packed[: len(rows)]).T
    directions, _, failed = lapack.dorgqr(packed, factors, overwrite_a=True)
    assert not failed
    return np.ascontiguousarray(lower), directions
