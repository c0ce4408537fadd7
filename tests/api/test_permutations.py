"""Which labels change places: all rows, labels of groups, or groups of equal size."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.api.permutations import Orders
from truerisk.core.errors import BadData
from truerisk.core.table.data import Data


def data(y, groups=None, task="classification"):
    return Data.check(np.arange(float(len(y)))[:, None], y, task=task, groups=groups)


def test_all_rows_change_places():
    """Each order is a permutation with a stream of its own, whichever others are asked for."""
    orders = Orders.of(data([0, 1] * 6), seed=3)
    assert (orders.what, orders.n_units) == ("rows", 12)
    every = [orders.of_number(j) for j in range(5)]
    assert all(sorted(one) == list(range(12)) for one in every)
    assert len({tuple(one) for one in every}) == 5
    assert Orders.of(data([0, 1] * 6), seed=3).of_number(4).tolist() == every[4].tolist()
    assert Orders.of(data([0, 1] * 6), seed=4).of_number(4).tolist() != every[4].tolist()


def test_labels_of_groups_change_places():
    """Groups of any size with one label each: a group has one label in every order, as often."""
    groups = np.array([5, 5, 2, 2, 2, 9, 7, 7, 1, 1])
    y = np.array([0, 0, 1, 1, 1, 0, 2, 2, 1, 1])
    orders = Orders.of(data(y, groups), seed=0)
    assert (orders.what, orders.n_units) == ("labels of groups", 5)
    seen = set()
    for number in range(40):
        found = y[orders.of_number(number)]
        of_group = [set(found[groups == g]) for g in (5, 2, 9, 7, 1)]
        assert all(len(labels) == 1 for labels in of_group)
        told = tuple(labels.pop() for labels in of_group)
        assert sorted(told) == [0, 0, 1, 1, 2]
        seen.add(told)
    assert len(seen) > 10


def test_groups_of_one_size_change_places_whole():
    """Rows that lie apart, labels that differ: in their order they go to a group of that size."""
    groups = np.array([0, 1, 2, 0, 1, 2, 3, 3, 3, 4, 4, 4, 5])
    y = np.array([0, 1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0])
    orders = Orders.of(data(y, groups), seed=0)
    assert (orders.what, orders.n_units) == ("groups of equal size", 5)
    blocks = {g: tuple(y[groups == g]) for g in range(6)}
    for number in range(40):
        order = orders.of_number(number)
        assert sorted(order) == list(range(13))
        moved = {g: tuple(y[order][groups == g]) for g in range(6)}
        assert sorted(moved.values()) == sorted(blocks.values())
        assert moved[5] == blocks[5]
        assert all(len(set(groups[order[groups == g]])) == 1 for g in range(6))


def test_groups_of_single_rows_are_rows():
    """Every row a group: all labels change places."""
    orders = Orders.of(data([0, 1, 1, 0, 1], [4, 2, 0, 1, 3]), seed=0)
    assert orders.n_units == 5
    assert len({tuple(orders.of_number(j)) for j in range(30)}) > 15


def test_what_cannot_change_places_is_refused():
    """Groups that all differ in size, and one value only, each with its sentence."""
    with pytest.raises(BadData, match="3 groups all differ in size and hold several labels each"):
        Orders.of(data([0, 1, 0, 1, 1, 0], [0, 1, 1, 2, 2, 2]), seed=0)
    with pytest.raises(BadData, match="y has one value only"):
        Orders.of(data([2.5] * 4, task="regression"), seed=0)
    with pytest.raises(BadData, match="no target to permute"):
        Orders.of(Data.check(np.eye(3), None, task="other"), seed=0)
