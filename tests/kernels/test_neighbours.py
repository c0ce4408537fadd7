"""Neighbour lists are those of a full sort by exact distance."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.engines.neighbours import distances as neighbours
from truerisk.engines.neighbours.distances import by_distances, euclidean


def sorted_fully(queries, rows):
    squared = ((queries[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
    order = np.lexsort((np.broadcast_to(np.arange(len(rows)), squared.shape), squared), axis=1)
    return order, np.take_along_axis(squared, order, axis=1)


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, m, d = draw(st.integers(1, 80)), draw(st.integers(1, 30)), draw(st.integers(1, 6))
    rows, queries = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    kind = draw(st.sampled_from(["plain", "grid", "copies", "far", "constant", "tiny"]))
    if kind == "grid":
        rows, queries = np.round(rows), np.round(queries)
    if kind == "copies":
        rows = rows[rng.integers(0, max(1, n // 3), n)]
        queries = rows[rng.integers(0, n, m)]
    if kind == "far":
        rows, queries = rows + 1e6, queries + 1e6
    if kind == "constant":
        rows, queries = np.ones_like(rows), np.ones_like(queries)
    if kind == "tiny":
        rows, queries = rows * 1e-200, queries * 1e-200
    return queries, rows, draw(st.integers(1, n + 3))


@pytest.mark.parametrize(("few_rows", "chunk"), [(0, 4096), (256, 4096), (0, 16), (0, 17)])
@settings(max_examples=80, deadline=None)
@given(case=tables())
def test_lists_are_sorted_by_exact_distance_then_row(few_rows, chunk, case):
    """No neighbour is lost by the rough product, between its chunks, or by the sort of few rows."""
    queries, rows, length = case
    with (
        mock.patch.object(neighbours, "FEW_ROWS", few_rows),
        mock.patch.object(neighbours, "ROWS", chunk),
        mock.patch.object(neighbours, "QUERIES", max(4, chunk // 4)),
    ):
        lists = euclidean(queries, rows, length)
    order, squared = sorted_fully(queries, rows)
    length = min(length, len(rows))
    np.testing.assert_allclose(lists.squared, squared[:, :length], rtol=1e-12, atol=0)
    if not np.array_equal(lists.index, order[:, :length]):  # sums in another order may differ
        gaps = np.take_along_axis(squared, np.argsort(order, axis=1), axis=1)
        mine = np.take_along_axis(gaps, lists.index, axis=1)
        np.testing.assert_allclose(mine, squared[:, :length], rtol=1e-12, atol=0)
    assert lists.complete == (length == len(rows))


def test_long_rows_use_the_sampled_threshold():
    """Lists much shorter than the data are exact as well, with far-off values among them."""
    rng = np.random.default_rng(0)
    rows = rng.standard_cauchy(size=(3000, 3))
    rows[::7] = rows[0]
    order, _ = sorted_fully(rows[:40], rows)
    np.testing.assert_array_equal(euclidean(rows[:40], rows, 25).index, order[:, :25])


@pytest.mark.parametrize("order", ["nearest last", "nearest first", "one distance"])
def test_limits_hold_whatever_the_order_of_rows(order):
    """Rows that come ever nearer, ever farther, or all equally far: the lists stay exact."""
    turn = np.random.default_rng(2).normal(size=(9000, 3))
    radius = {"nearest last": np.linspace(9, 1, 9000), "nearest first": np.linspace(1, 9, 9000)}
    rows = turn / np.linalg.norm(turn, axis=1)[:, None] * radius.get(order, np.ones(9000))[:, None]
    rows[::11] = rows[5]
    queries = np.vstack([np.zeros(3), rows[:9]])
    whole, squared = sorted_fully(queries, rows)
    lists = euclidean(queries, rows, 40)
    np.testing.assert_allclose(lists.squared, squared[:, :40], rtol=1e-12)
    if order != "one distance":
        np.testing.assert_array_equal(lists.index, whole[:, :40])


def test_any_distances_give_their_own_lists():
    """by_distances sorts what it is given, block by block."""
    rng = np.random.default_rng(1)
    given_ = np.abs(rng.integers(0, 9, size=(7, 12)).astype(float))
    lists = by_distances(lambda block: given_[block], 7, 12, 5)
    order = np.argsort(given_, axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(lists.index, order)
    np.testing.assert_array_equal(lists.squared, np.take_along_axis(given_, order, axis=1) ** 2)


def test_distances_of_the_wrong_shape_are_refused():
    """A block of distances must have a column for every row."""
    with pytest.raises(ValueError, match=r"shape \(7, 3\) for 12 rows"):
        by_distances(lambda _: np.zeros((7, 3)), 7, 12, 5)
