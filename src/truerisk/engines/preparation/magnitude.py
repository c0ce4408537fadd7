"""Numbers whose squares are numbers: beyond them closed forms overflow where learners do not."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["distances_fit", "squares_fit"]

MOST = 1e60  # closed forms multiply sums of squares with each other: 1e240
LEAST = 1e-60
FAR, NEAR = 1e140, 1e-140  # a distance squares once, and adds the columns


def squares_fit(table: Any) -> bool:
    """Whether no cell is so large, and no column so small, that products of squares are lost.

    >>> squares_fit(np.array([[1.0, 1e-30], [0.0, 1e30]]))
    True
    >>> squares_fit(np.array([[1.0, 1e-150], [2.0, 0.0]])), squares_fit(np.array([1e150]))
    (False, False)
    """
    if hasattr(table, "tocsr"):
        return bool((np.abs(table.data) <= MOST).all())
    columns = np.asarray(table).reshape(len(table), -1)
    if not columns.size:
        return True
    if (np.abs(columns[0]) >= LEAST).all():  # as in most tables: one look at them as a whole
        return bool(columns.min() >= -MOST and columns.max() <= MOST)
    most = np.maximum(columns.max(axis=0), -columns.min(axis=0))
    return bool(((most <= MOST) & ((most >= LEAST) | (most == 0))).all())


def distances_fit(table: Any) -> bool:
    """Whether squares of the largest cell neither overflow nor vanish, nor sums of many.

    A column of small cells beside a large one takes no part in a distance, and is no matter.

    >>> distances_fit(np.array([[1e100, 1e-150]])), distances_fit(np.array([[1e-150]]))
    (True, False)
    """
    largest = float(np.abs(table).max(initial=0.0))
    return largest == 0.0 or NEAR <= largest <= FAR
