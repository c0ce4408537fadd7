"""The cells of a regular grid over places."""

from __future__ import annotations

import numpy as np

__all__ = ["grid_cells", "usual_side"]


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


def usual_side(places: np.ndarray, n_cells: int) -> float:
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
