"""Neighbour lists are those of a full sort by exact distance."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.engines.neighbours import distances as neighbours
from truerisk.engines.neighbours.distances import (
    MAX_DISTANCES_IN_CACHE,
    find_nearest_by_distance,
    find_nearest_euclidean,
    find_nearest_of_few_rows,
)


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
        mock.patch.object(neighbours, "MAX_ROWS_TO_SORT", few_rows),
        mock.patch.object(neighbours, "MAX_ROWS_PER_PRODUCT", chunk),
        mock.patch.object(neighbours, "MAX_QUERIES_PER_PRODUCT", max(4, chunk // 4)),
    ):
        lists = find_nearest_euclidean(queries, rows, length)
    order, squared = sorted_fully(queries, rows)
    length = min(length, len(rows))
    np.testing.assert_allclose(lists.squared_distances, squared[:, :length], rtol=1e-12, atol=0)
    if not np.array_equal(lists.index, order[:, :length]):  # sums in another order may differ
        gaps = np.take_along_axis(squared, np.argsort(order, axis=1), axis=1)
        mine = np.take_along_axis(gaps, lists.index, axis=1)
        np.testing.assert_allclose(mine, squared[:, :length], rtol=1e-12, atol=0)
    assert lists.holds_all_rows == (length == len(rows))


def test_lists_much_shorter_than_the_data_are_exact():
    rng = np.random.default_rng(0)
    rows = rng.standard_cauchy(size=(3000, 3))
    rows[::7] = rows[0]
    order, _ = sorted_fully(rows[:40], rows)
    np.testing.assert_array_equal(find_nearest_euclidean(rows[:40], rows, 25).index, order[:, :25])


@pytest.mark.parametrize("order", ["nearest last", "nearest first", "one distance"])
def test_lists_are_exact_whatever_the_order_of_rows(order):
    """Rows that come ever nearer, ever farther, or all equally far: the lists stay exact."""
    turn = np.random.default_rng(2).normal(size=(9000, 3))
    radius = {"nearest last": np.linspace(9, 1, 9000), "nearest first": np.linspace(1, 9, 9000)}
    rows = turn / np.linalg.norm(turn, axis=1)[:, None] * radius.get(order, np.ones(9000))[:, None]
    rows[::11] = rows[5]
    queries = np.vstack([np.zeros(3), rows[:9]])
    whole, squared = sorted_fully(queries, rows)
    lists = find_nearest_euclidean(queries, rows, 40)
    np.testing.assert_allclose(lists.squared_distances, squared[:, :40], rtol=1e-12)
    if order != "one distance":
        np.testing.assert_array_equal(lists.index, whole[:, :40])


def test_lists_of_any_distances_are_sorted_block_by_block():
    rng = np.random.default_rng(1)
    given_ = np.abs(rng.integers(0, 9, size=(7, 12)).astype(float))
    lists = find_nearest_by_distance(lambda block: given_[block], 7, 12, 5)
    order = np.argsort(given_, axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(lists.index, order)
    np.testing.assert_array_equal(
        lists.squared_distances, np.take_along_axis(given_, order, axis=1) ** 2
    )


def sorted_stably(queries, rows):
    """Distances by plain sums, column after column, and a stable sort."""
    squared = np.zeros((len(queries), len(rows)))
    for column in range(rows.shape[1]):
        squared += (queries[:, None, column] - rows[None, :, column]) ** 2
    order = np.argsort(squared, axis=1, kind="stable")
    return order, np.take_along_axis(squared, order, axis=1)


@pytest.mark.parametrize("n", [1, 2, 3, 50, 256])
@pytest.mark.parametrize("digits", [0, 1, 15])
def test_lists_of_few_rows_are_a_stable_sort(n, digits):
    """Equal distances come by row number, also across the blocks of queries."""
    rng = np.random.default_rng(n)
    rows = np.round(rng.standard_normal((n, 2)), digits)
    queries = np.round(rng.standard_normal((MAX_DISTANCES_IN_CACHE // n + 7, 2)), digits)
    order, squared = sorted_stably(queries, rows)
    for length in {1, (n + 1) // 2, n}:
        index, found = find_nearest_of_few_rows(queries, rows, length)
        np.testing.assert_array_equal(index, order[:, :length])
        np.testing.assert_array_equal(found, squared[:, :length])


def test_lists_of_few_rows_tell_the_last_bit_apart():
    """The sort drops the last bits of a distance; what they say is put right afterwards."""
    rows = np.array([[np.nextafter(1.0, 2.0)], [1.0], [np.nextafter(1.0, 0.0)]])
    index, squared = find_nearest_of_few_rows(np.zeros((1, 1)), rows, 3)
    assert index.tolist() == [[2, 1, 0]]
    assert (np.diff(squared) > 0).all()
