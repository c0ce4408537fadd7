"""truerisk.kernels.integer_arrays: types, dimensions and bounds, checked before a loop runs."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.kernels.integer_arrays import check_bounds, integers


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, 1], r"rows must have 2 dimension\(s\), got shape \(2,\)"),
        ([[0.0, 1.0]], "rows must hold integers, got float64"),
        ([["a", "b"]], "rows must hold integers"),
    ],
)
def test_integers_names_what_is_wrong(values, message):
    """Another dimension or type is refused with what was given."""
    with pytest.raises(ValueError, match=message):
        integers(values, "rows", n_dimensions=2)


def test_integers_takes_an_array_as_it_is():
    """An array of integers is not copied; without entries any type will do."""
    array = np.array([[3, 1]], dtype=np.int32)
    assert integers(array, "rows", n_dimensions=2) is array
    assert integers([], "rows", n_dimensions=1).size == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0, 1], [4, 5]], r"rows\[1, 0\] is 4: it must lie in 0 .. 3 \(the last row\)"),
        ([[-1, 0]], r"rows\[0, 0\] is -1"),
        ([[2**40]], r"rows\[0, 0\] is 1099511627776"),
    ],
)
def test_check_bounds_names_the_first_value_outside(values, message):
    """A value below or above is refused with its place, its value and the bounds."""
    with pytest.raises(ValueError, match=message):
        check_bounds(np.array(values), "rows", 0, 3, "the last row")


def test_check_bounds_takes_the_bounds_themselves():
    """Both ends are inside, and an empty array has no value outside."""
    check_bounds(np.array([0, 3]), "rows", 0, 3, "the last row")
    check_bounds(np.array([], dtype=int), "rows", 0, 3, "the last row")
