"""Cells of a grid over places, and rows that are joined."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.data.places import connected_row_groups, default_cell_side, grid_cells

PLACES = np.random.default_rng(2).random((300, 2)) * [10, 4]


def test_grid_cells_are_boxes_of_about_the_side():
    cells = grid_cells(PLACES, 2.1)
    assert cells.max() + 1 == 5 * 2
    boxes = [(PLACES[cells == c].min(axis=0), PLACES[cells == c].max(axis=0)) for c in range(10)]
    for number, (low, high) in enumerate(boxes):
        assert (high - low <= [2.0, 2.0]).all()
        for other_low, other_high in boxes[:number]:
            assert (high < other_low).any() or (other_high < low).any()


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_grid_cells_do_not_depend_on_the_unit(axes, scale):
    places = np.random.default_rng(axes).random((60, axes))
    side = default_cell_side(places, 8)
    moved = grid_cells(places * scale + 3 * scale, side * scale)
    np.testing.assert_array_equal(grid_cells(places, side), moved)


def test_grid_cells_of_a_tiny_side_hold_one_place_each():
    assert len(np.unique(grid_cells(PLACES, 1e-300))) == 300


def test_usual_side_cuts_the_box_into_as_many_squares():
    assert default_cell_side(np.array([[0.0, 0], [5, 5]])) == 1.0
    assert default_cell_side(np.array([[0.0, 0], [5, 1e-9]])) == 0.2
    assert default_cell_side(np.array([[0.0], [5.0]])) == 0.2


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20))
def test_joined_rows_are_those_that_a_chain_connects(pairs):
    first, second = np.array(pairs).T
    member = np.arange(len(pairs))
    for _ in pairs:
        for labels in (first, second):
            for label in np.unique(labels):
                member[labels == label] = member[labels == label].min()
    found = connected_row_groups(first, second)
    assert (found[:, None] == found).tolist() == (member[:, None] == member).tolist()
    assert set(found) == set(range(found.max() + 1))
