"""Draw folds that keep spatial blocks of rows whole, and find the rows near a set of rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData
from truerisk.data.data import Data
from truerisk.data.places import (
    DEFAULT_N_CELLS,
    connected_row_groups,
    default_cell_side,
    grid_cells,
)
from truerisk.splitting.folds import draw_folds


def resolve_cell_side(data: Data, cell_size: float | None) -> float:
    """Return the side length of the square cells of a spatial grid: `cell_size` or a default.

    About 25 squares of this side cover the bounding box of all rows.
    """
    coordinates = _row_coordinates(data)
    return (
        float(cell_size)
        if cell_size is not None
        else default_cell_side(coordinates, DEFAULT_N_CELLS)
    )


def spatial_blocks(data: Data, size: float | None) -> np.ndarray:
    """Return the spatial block of each row.

    It is the block label of the row or its grid cell. Blocks that share a group are joined.
    """
    if data.block is not None and data.places is None:
        if size is not None:
            raise BadArgument(
                f"size={size} is the side of cells, and {mention('block')} holds labels, which "
                "have none: leave size out, or give coordinates."
            )
        # The groups exist, because `Data` copies block labels to the groups.
        assert data.groups is not None
        return data.groups
    coordinates, cell_side = _row_coordinates(data), resolve_cell_side(data, size)
    cell_numbers = grid_cells(coordinates, cell_side)
    if cell_numbers.max() == 0:
        extents_text = " × ".join(f"{axis_extent:g}" for axis_extent in np.ptp(coordinates, axis=0))
        raise BadData(
            f"size={cell_side:.15g} puts all {data.n_rows} rows into one block, for the places "
            f"reach over {extents_text}: give a smaller size."
        )
    blocks = (
        cell_numbers if data.groups is None else connected_row_groups(cell_numbers, data.groups)
    )
    if blocks.max() == 0:
        raise BadData(
            "groups tie all blocks together, each group reaching into the next block: no fold can "
            "keep both whole. Leave groups out, or give a larger size."
        )
    return blocks


def draw_block_folds(
    data: Data, k: int, cell_size: float | None, rng: np.random.Generator, *, stratify: bool
) -> np.ndarray:
    """Draw one fold number per row, keeping blocks whole and fold sizes about equal."""
    blocks = spatial_blocks(data, cell_size)
    n_blocks = len(np.unique(blocks))
    if k > n_blocks:
        raise BadData(
            f"{k} folds need at least {k} blocks and there are {n_blocks}: use fewer folds, or "
            f"smaller blocks ({mention('size')})."
        )
    return draw_folds(replace(data, groups=blocks), k, rng, stratify=stratify)


def rows_within_radius(data: Data, rows: np.ndarray, radius: float) -> np.ndarray:
    """Return the rows near a set of rows: those outside it within `radius` of one of its rows.

    The row numbers are ascending.
    """
    from scipy.spatial import cKDTree

    coordinates = _row_coordinates(data)
    other_rows = np.setdiff1d(np.arange(data.n_rows), rows)
    if not len(other_rows):
        return other_rows
    distances = cKDTree(coordinates[rows]).query(coordinates[other_rows])[0]
    return other_rows[distances <= radius]


def _row_coordinates(data: Data) -> np.ndarray:
    """Return the coordinates of the rows, or raise an error that says why they have none."""
    if data.places is not None:
        return data.places
    if data.block is None:
        raise BadData(
            "no places are given: name the coordinates of the rows, or the labels of their blocks, "
            f"by {mention('block')}."
        )
    raise BadData(
        f"{mention('block')} holds labels, and labels lie at no distance from each other: give "
        "coordinates, or use 'blocks-5', which leaves labels out whole."
    )
