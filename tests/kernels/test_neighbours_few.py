"""Few rows are sorted by exact distance, then by number."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.engines.neighbours.distances import BLOCK_OF_FEW, nearest_of_few


def sorted_fully(queries, rows):
    """Distances by plain sums, column after column, and a stable sort."""
    squared = np.zeros((len(queries), len(rows)))
    for column in range(rows.shape[1]):
        squared += (queries[:, None, column] - rows[None, :, column]) ** 2
    order = np.argsort(squared, axis=1, kind="stable")
    return order, np.take_along_axis(squared, order, axis=1)


@pytest.mark.parametrize("n", [1, 2, 3, 50, 256])
@pytest.mark.parametrize("digits", [0, 1, 15])
def test_it_is_a_stable_sort(n, digits):
    """Equal distances come by row number, also across the blocks of queries."""
    rng = np.random.default_rng(n)
    rows = np.round(rng.standard_normal((n, 2)), digits)
    queries = np.round(rng.standard_normal((BLOCK_OF_FEW // n + 7, 2)), digits)
    order, squared = sorted_fully(queries, rows)
    for length in {1, (n + 1) // 2, n}:
        index, found = nearest_of_few(queries, rows, length)
        np.testing.assert_array_equal(index, order[:, :length])
        np.testing.assert_array_equal(found, squared[:, :length])


def test_distances_that_differ_in_the_last_bit_are_told_apart():
    """The sort drops the last bits of a distance; what they say is put right afterwards."""
    rows = np.array([[np.nextafter(1.0, 2.0)], [1.0], [np.nextafter(1.0, 0.0)]])
    index, squared = nearest_of_few(np.zeros((1, 1)), rows, 3)
    assert index.tolist() == [[2, 1, 0]]
    assert (np.diff(squared) > 0).all()
