"""Subsamples: stretches of one order, stratified or of whole groups."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.table.data import Data
from truerisk.resampling.samples import draw_order, subsamples

Y = np.repeat([0, 1, 2], [60, 30, 10])
DATA = Data.check(np.zeros((100, 1)), Y, task="classification")
ROWS = np.arange(3, 100)


def test_an_order_holds_every_row_once() -> None:
    """It is a permutation of the rows that were given, another with another generator."""
    one, other = (draw_order(DATA, ROWS, np.random.default_rng(s)) for s in (0, 1))
    assert np.sort(one).tolist() == ROWS.tolist()
    assert one.tolist() != other.tolist()


@pytest.mark.parametrize("size", [5, 20, 48])
def test_every_stretch_is_stratified(size) -> None:
    """Each class has its share of every subsample, to within less than two rows."""
    shares = np.bincount(Y[ROWS]) / len(ROWS)
    for seed in range(20):
        order = draw_order(DATA, ROWS, np.random.default_rng(seed))
        for part in subsamples(order, None, size, len(ROWS) // size):
            held = np.bincount(Y[part], minlength=3)
            assert (np.abs(held - size * shares) < 2).all()


def test_sizes_are_nested_and_draws_disjoint() -> None:
    """The first subsample of a size is within that of a larger one; those of a size share none."""
    order = draw_order(DATA, ROWS, np.random.default_rng(0))
    small, large = (subsamples(order, None, size, 97 // size) for size in (12, 30))
    assert set(small[0]) <= set(large[0])
    everything = np.concatenate(small)
    assert len(set(everything)) == len(everything) == 8 * 12


def test_a_regression_is_shuffled() -> None:
    """Without classes the order is a plain shuffle, and not that of the rows."""
    data = Data.check(np.zeros((100, 1)), np.arange(100.0), task="regression")
    order = draw_order(data, ROWS, np.random.default_rng(0))
    assert np.sort(order).tolist() == ROWS.tolist() != order.tolist()


def test_groups_stay_whole() -> None:
    """A group is in one subsample or in none, and sizes are as near as groups allow."""
    groups = np.repeat(np.arange(20), 5)
    data = Data.check(np.zeros((100, 1)), Y, task="classification", groups=groups)
    order = draw_order(data, np.arange(100), np.random.default_rng(0))
    parts = subsamples(order, groups, 17, 5)
    assert [len(part) for part in parts] == [15] * 5
    assert all((np.bincount(groups[part], minlength=20) % 5 == 0).all() for part in parts)
    assert len(np.unique(np.concatenate(parts))) == 75
