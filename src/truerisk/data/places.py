"""Places of rows and their groups: coordinates, labels of blocks, or cells of a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.arguments import as_array, even_array, mention, shown
from truerisk.core.errors import BadData
from truerisk.data.rows import MOST_AXES, TableView, column_arrays, column_names

# limits of extents: squares and products of smaller or larger ones underflow or overflow
TINIEST, HUGEST = 1e-100, 1e100


def checked_places(block: Any, table: TableView) -> np.ndarray:
    """Return codes of labels, shape (n,), or coordinates, floats of shape (n, d) with d <= 3.

    Labels are integers, texts or other sortable values in one dimension. Floats, and all values in
    two dimensions, are coordinates. A name, or a list of names, stands for columns of X.

    >>> checked_places(["b", "a", "b"], TableView(None, 3))
    array([1, 0, 1])
    >>> checked_places([[0, 1], [2, 3]], TableView(None, 2)).shape
    (2, 2)
    """
    n = table.n_rows
    array = _array(_looked_up(block, table))
    if array.ndim not in (1, 2) or len(array) != n:
        raise BadData(
            f"block has shape {array.shape}; give a label, or coordinates, for each of {n} rows."
        )
    return _coordinates(array) if array.ndim == 2 or array.dtype.kind == "f" else _labels(array)


def _looked_up(block: Any, table: TableView) -> Any:
    if isinstance(block, str):
        return table.column(block, "block")
    if isinstance(block, list | tuple) and table.are_names(block):
        return np.column_stack([np.asarray(table.column(name, "block")) for name in block])
    return block


def _array(block: Any) -> np.ndarray:
    if column_names(block):
        return np.column_stack(column_arrays(block))
    return even_array("block", block, "give every row a label, or the same number of coordinates")


def _coordinates(array: np.ndarray) -> np.ndarray:
    array = array[:, None] if array.ndim == 1 else array
    if not 1 <= array.shape[1] <= MOST_AXES:
        raise BadData(
            f"block has {array.shape[1]} columns: give one to {MOST_AXES} coordinates, or a label."
        )
    try:
        places = as_array(array, np.float64)
    except ValueError:
        raise BadData(
            "block has several columns and not all of them are numbers: give coordinates, or one "
            "label for each row."
        ) from None
    bad = np.flatnonzero(~np.isfinite(places).all(axis=1))
    if len(bad):
        raise BadData(
            f"block of row {bad[0]} is {shown(places[bad[0]].tolist())}: coordinates must be "
            "finite; give the row a place or leave it out."
        )
    if (places == places[0]).all():
        raise BadData("block is one place only: no row lies apart from another.")
    with np.errstate(over="ignore"):
        extent = np.ptp(places, axis=0).max()
    if not TINIEST < extent < HUGEST:
        raise BadData(
            f"block reaches over {extent:.3g}, and the squares of such distances are no numbers: "
            "give the coordinates in another unit."
        )
    return places


def _labels(array: np.ndarray) -> np.ndarray:
    try:
        distinct, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise BadData(
            "block mixes types or misses labels: give one label of one type for each row."
        ) from None
    if len(distinct) < 2:
        raise BadData("block has one label only: no split can keep it on one side.")
    return codes.astype(np.int64)


USUAL_CELLS = 25  # default number of cells over the bounding box of the places


def grid_cells(places: np.ndarray, side: float) -> np.ndarray:
    """Return the number of the grid cell of each place; empty cells are not numbered.

    Every axis, from the smallest coordinate to the largest, is cut into equal parts, as many as
    bring their length nearest to `side`.

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
    """Return the side of square cells, about `n_cells` of which cover the bounding box.

    An axis whose extent is shorter than the side is one cell wide.

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
    """Assign a number to each row, equal for rows connected by a chain of equal labels.

    Equal labels of either kind connect two rows.

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


def usual_clusters(places: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Return the default grid cell of each row, with cells joined that share a group."""
    cells = grid_cells(places, usual_side(places))
    return cells if groups is None else joined(cells, groups)


def tied(groups: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Join groups that share a block, so that folds can keep both groups and blocks whole."""
    both = joined(groups, blocks)
    if both.max() == 0:
        raise BadData(
            f"groups and the labels in {mention('block')} tie all rows together, each group "
            "reaching into the next block: no split can keep both whole. Give one of the two."
        )
    return both
