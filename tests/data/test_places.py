"""Places are labels of blocks or coordinates, one to three for each row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.core.errors import BadData
from truerisk.data.places import checked_places, grid_cells, joined, usual_side
from truerisk.data.rows import TableView

FRAME = {"x": [0.0, 1.0, 2.0], "y": [5, 5, 6], "site": ["a", "b", "a"]}


@pytest.mark.parametrize(
    "given",
    [["b", "a", "b"], [7, 3, 7], pd.Series(["b", "a", "b"])],
    ids=["texts", "numbers", "series"],
)
def test_texts_and_whole_numbers_are_labels(given) -> None:
    """One code for each row, in the order of the sorted labels."""
    assert checked_places(given, TableView(None, 3)).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "given",
    [[0.0, 1.0, 2.0], [[0], [1], [2]], pl.DataFrame({"x": [0, 1, 2]}), [["0"], ["1"], ["2"]]],
    ids=["floats", "column", "frame", "texts"],
)
def test_floats_and_columns_are_coordinates(given) -> None:
    """Whatever has two dimensions, numbers or texts of numbers; and floats in one."""
    assert checked_places(given, TableView(None, 3)).tolist() == [[0.0], [1.0], [2.0]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_names_are_columns_of_the_frame(frame) -> None:
    """One of labels, or several of coordinates; texts that are no columns are labels."""
    X = frame(FRAME)
    assert checked_places("site", TableView(X, 3)).tolist() == [0, 1, 0]
    assert checked_places(["x", "y"], TableView(X, 3)).tolist() == [[0, 5], [1, 5], [2, 6]]
    assert checked_places(["p", "q", "p"], TableView(X, 3)).tolist() == [0, 1, 0]
    with pytest.raises(BadData, match="block='z': X has no such column"):
        checked_places("z", TableView(X, 3))
    with pytest.raises(BadData, match="block='yy': X has no such column; did you mean 'y'"):
        checked_places(["x", "yy"], TableView(X, 3))
    with pytest.raises(BadData, match="block has shape"):
        checked_places(["p"] * 4, TableView(X, 3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a", "b"], r"shape \(2,\); give a label, or coordinates, for each of 3 rows"),
        (["a"] * 3, "one label only"),
        ([[1, 2]] * 3, "one place only"),
        ([[0, 1], [0, np.nan], [1, 1]], r"block of row 1 is \[0.0, nan\]"),
        ([[0, "p"], [0, "q"], [1, "r"]], "not all of them are numbers"),
        (np.arange(12.0).reshape(3, 4), "4 columns: give one to 3 coordinates"),
        (np.empty((3, 0)), "0 columns"),
        (np.array(["a", None, 1], dtype=object), "mixes types"),
        ([[1], [2, 3], [4]], "not equally long"),
    ],
)
def test_what_is_no_place_is_named(given, message) -> None:
    """What is wrong, where, and what to do."""
    with pytest.raises(BadData, match=message):
        checked_places(given, TableView(None, 3))


PLACES = np.random.default_rng(2).random((300, 2)) * [10, 4]


def test_a_cell_is_a_box_of_about_the_side():
    """As many parts along an axis as come nearest; no two cells overlap."""
    cells = grid_cells(PLACES, 2.1)
    assert cells.max() + 1 == 5 * 2
    boxes = [(PLACES[cells == c].min(axis=0), PLACES[cells == c].max(axis=0)) for c in range(10)]
    for number, (low, high) in enumerate(boxes):
        assert (high - low <= [2.0, 2.0]).all()
        for other_low, other_high in boxes[:number]:
            assert (high < other_low).any() or (other_high < low).any()


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_unit_does_not_count(axes, scale):
    """Places and side in metres or kilometres have the same cells; so have moved places."""
    places = np.random.default_rng(axes).random((60, axes))
    side = usual_side(places, 8)
    moved = grid_cells(places * scale + 3 * scale, side * scale)
    np.testing.assert_array_equal(grid_cells(places, side), moved)


def test_a_tiny_side_gives_each_place_its_own_cell():
    """Without a number of parts beyond what integers hold."""
    assert len(np.unique(grid_cells(PLACES, 1e-300))) == 300


def test_the_usual_side_cuts_the_box_into_as_many_squares():
    """25 of a square; of a strip as many along it; of a line as many parts."""
    assert usual_side(np.array([[0.0, 0], [5, 5]])) == 1.0
    assert usual_side(np.array([[0.0, 0], [5, 1e-9]])) == 0.2
    assert usual_side(np.array([[0.0], [5.0]])) == 0.2


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20))
def test_rows_are_joined_where_a_chain_connects_them(pairs):
    """By merging the labels of rows until nothing changes."""
    first, second = np.array(pairs).T
    member = np.arange(len(pairs))
    for _ in pairs:
        for labels in (first, second):
            for label in np.unique(labels):
                member[labels == label] = member[labels == label].min()
    found = joined(first, second)
    assert (found[:, None] == found).tolist() == (member[:, None] == member).tolist()
    assert set(found) == set(range(found.max() + 1))
