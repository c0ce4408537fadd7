"""The cells of a regular grid over places, and rows that two labels keep together."""

from __future__ import annotations

import numpy as np

__all__ = ["USUAL_CELLS", "grid_cells", "joined", "usual_side"]

USUAL_CELLS = 25  # over the box around the places, where nobody says how large they are


def grid_cells(places: np.ndarray, side: float) -> np.ndarray:
    """The number of the cell that holds each place; cells that hold none are not counted.

    Every axis, from the least coordinate to the largest, is cut into as many equal parts as come
    nearest to `side`.

    >>> grid_cells(np.array([[0.0, 0.0], [1.0, 9.0], [4.0, 1.0], [0.5, 0.2]]), 5.0).tolist()
    [0, 1, 0, 0]
    """
    low, extent = places.min(axis=0), np.ptp(places, axis=0)
    n_parts = np.minimum(np.maximum(np.rint(extent / side), 1), len(places) ** 2).astype(np.int64)
    share = (places - low) / np.where(extent > 0, extent, 1)
    part = np.minimum((share * n_parts).astype(np.int64), n_parts - 1)
    member: np.ndarray = np.unique(part, axis=0, return_inverse=True)[1].ravel()
    return member


def usual_side(places: np.ndarray, n_cells: int = USUAL_CELLS) -> float:
    """The side of square cells, about `n_cells` of which cover the box around the places.

    An axis along which the places reach less far than a side is one cell wide.

    >>> usual_side(np.array([[0.0, 0.0], [4.0, 1.0]]), 16)
    0.5
    >>> usual_side(np.array([[0.0, 7.0], [3.0, 7.0]]), 6)
    0.5
    """
    extents = np.sort(np.ptp(places, axis=0))
    while True:
        side = float(np.prod(extents) / n_cells) ** (1 / len(extents))
        if len(extents) == 1 or extents[0] > side:
            return side
        extents = extents[1:]


def joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A number for each row, equal for rows that a chain of equal labels of either kind connects.

    >>> joined(np.array([0, 0, 1, 2]), np.array([5, 6, 6, 7])).tolist()
    [0, 0, 0, 1]
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b = (np.unique(labels, return_inverse=True)[1].ravel() for labels in (first, second))
    n, m = a.max() + 1, b.max() + 1
    links = coo_matrix((np.ones(len(a), dtype=np.int8), (a, n + b)), shape=(n + m, n + m))
    member: np.ndarray = connected_components(links, directed=False)[1][a].astype(np.int64)
    return member
