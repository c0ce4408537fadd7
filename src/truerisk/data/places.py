"""Places of rows: coordinates or block labels, and the grid cells in which coordinates lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.arguments import as_array, mention, repr_on_one_line, to_row_array
from truerisk.core.errors import BadData
from truerisk.data.rows import MAX_COORDINATES, TableView, column_arrays, column_names

# The largest extent of the coordinates must lie between these two limits.
# Beyond the limits, squares and products of extents underflow or overflow.
MIN_EXTENT, MAX_EXTENT = 1e-100, 1e100


def checked_places(block: Any, table: TableView) -> np.ndarray:
    """Return the places of rows: label codes of shape (n,), or coordinates of shape (n, d).

    Coordinates are floats with d <= 3 columns.

    Labels are integers, texts or other sortable values in one dimension. Floats, and all values in
    two dimensions, are coordinates. A column name, or a list of them, stands for columns of X.

    >>> checked_places(["b", "a", "b"], TableView(None, 3))
    array([1, 0, 1])
    >>> checked_places([[0, 1], [2, 3]], TableView(None, 2)).shape
    (2, 2)
    """
    n = table.n_rows
    row_places = _block_array(_columns_named_in_block(block, table))
    if row_places.ndim not in (1, 2) or len(row_places) != n:
        raise BadData(
            f"block has shape {row_places.shape}; give a label, or coordinates, for each of {n} "
            "rows."
        )
    return (
        _checked_coordinates(row_places)
        if row_places.ndim == 2 or row_places.dtype.kind == "f"
        else _label_codes(row_places)
    )


def _columns_named_in_block(block: Any, table: TableView) -> Any:
    if isinstance(block, str):
        return table.column(block, "block")
    if isinstance(block, list | tuple) and table.are_column_names(block):
        return np.column_stack([np.asarray(table.column(name, "block")) for name in block])
    return block


def _block_array(block: Any) -> np.ndarray:
    if column_names(block):
        return np.column_stack(column_arrays(block))
    return to_row_array("block", block, "give every row a label, or the same number of coordinates")


def _checked_coordinates(array: np.ndarray) -> np.ndarray:
    array = array[:, None] if array.ndim == 1 else array
    if not 1 <= array.shape[1] <= MAX_COORDINATES:
        raise BadData(
            f"block has {array.shape[1]} columns: give one to {MAX_COORDINATES} coordinates, or a "
            "label."
        )
    try:
        coordinates = as_array(array, np.float64)
    except ValueError:
        raise BadData(
            "block has several columns and not all of them are numbers: give coordinates, or one "
            "label for each row."
        ) from None
    bad_rows = np.flatnonzero(~np.isfinite(coordinates).all(axis=1))
    if len(bad_rows):
        raise BadData(
            f"block of row {bad_rows[0]} is {repr_on_one_line(coordinates[bad_rows[0]].tolist())}: "
            "coordinates must be finite; give the row a place or leave it out."
        )
    if (coordinates == coordinates[0]).all():
        raise BadData("block is one place only: no row lies apart from another.")
    with np.errstate(over="ignore"):
        extent = np.ptp(coordinates, axis=0).max()
    if not MIN_EXTENT < extent < MAX_EXTENT:
        raise BadData(
            f"block reaches over {extent:.3g}, and the squares of such distances are no numbers: "
            "give the coordinates in another unit."
        )
    return coordinates


def _label_codes(array: np.ndarray) -> np.ndarray:
    try:
        distinct_labels, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise BadData(
            "block mixes types or misses labels: give one label of one type for each row."
        ) from None
    if len(distinct_labels) < 2:
        raise BadData("block has one label only: no split can keep it on one side.")
    return codes.astype(np.int64)


# Default number of cells of the grid that covers the bounding box of all places.
DEFAULT_N_CELLS = 25


def grid_cells(coordinates: np.ndarray, cell_side: float) -> np.ndarray:
    """Return for each place the number of its cell in a grid over all places.

    Only cells that hold a place are numbered. Every axis, from the smallest coordinate to the
    largest, is cut into equal intervals. Their number is chosen so that their length is nearest to
    `cell_side`.

    >>> grid_cells(np.array([[0.0, 0.0], [1.0, 9.0], [4.0, 1.0], [0.5, 0.2]]), 5.0).tolist()
    [0, 1, 0, 0]
    """
    lower_corner, extent = coordinates.min(axis=0), np.ptp(coordinates, axis=0)
    n_intervals = np.minimum(
        np.maximum(np.rint(extent / cell_side), 1), len(coordinates) ** 2
    ).astype(np.int64)
    relative_position = (coordinates - lower_corner) / np.where(extent > 0, extent, 1)
    interval_of_place = np.minimum(
        (relative_position * n_intervals).astype(np.int64), n_intervals - 1
    )
    cell_of_place: np.ndarray = np.unique(interval_of_place, axis=0, return_inverse=True)[1].ravel()
    return cell_of_place


def default_cell_side(coordinates: np.ndarray, n_cells: int = DEFAULT_N_CELLS) -> float:
    """Return the side of square grid cells such that about `n_cells` cells cover the bounding box.

    An axis whose extent is shorter than the side is one cell wide.

    >>> default_cell_side(np.array([[0.0, 0.0], [4.0, 1.0]]), 16)
    0.5
    >>> default_cell_side(np.array([[0.0, 7.0], [3.0, 7.0]]), 6)
    0.5
    """
    extents = np.sort(np.ptp(coordinates, axis=0))
    while True:
        cell_side = float(np.prod(extents) / n_cells) ** (1 / len(extents))
        if len(extents) == 1 or extents[0] > cell_side:
            return cell_side
        extents = extents[1:]


def connected_row_groups(first_labels: np.ndarray, second_labels: np.ndarray) -> np.ndarray:
    """Join rows that share a label in either array, and return a group number for each row.

    Rows joined by a chain of such connections get the same number.

    >>> connected_row_groups(np.array([0, 0, 1, 2]), np.array([5, 6, 6, 7])).tolist()
    [0, 0, 0, 1]
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    first_codes, second_codes = (
        np.unique(labels, return_inverse=True)[1].ravel()
        for labels in (first_labels, second_labels)
    )
    n_first_labels, n_second_labels = first_codes.max() + 1, second_codes.max() + 1
    graph = coo_matrix(
        (np.ones(len(first_codes), dtype=np.int8), (first_codes, n_first_labels + second_codes)),
        shape=(n_first_labels + n_second_labels, n_first_labels + n_second_labels),
    )
    component_of_row: np.ndarray = connected_components(graph, directed=False)[1][
        first_codes
    ].astype(np.int64)
    return component_of_row


def default_clusters(coordinates: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Return a cluster number for each row: its cell in the default grid over the places.

    Cells that hold rows of the same group are joined into one cluster.
    """
    cells = grid_cells(coordinates, default_cell_side(coordinates))
    return cells if groups is None else connected_row_groups(cells, groups)


def join_groups_and_blocks(groups: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Join groups that have rows in the same block into one group, and return the joined groups.

    Folds of joined groups divide neither a group nor a block.
    """
    joined_groups = connected_row_groups(groups, blocks)
    if joined_groups.max() == 0:
        raise BadData(
            f"groups and the labels in {mention('block')} tie all rows together, each group "
            "reaching into the next block: no split can keep both whole. Give one of the two."
        )
    return joined_groups
