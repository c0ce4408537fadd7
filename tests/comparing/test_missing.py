"""Missing cells: left out or ranked last, as asked, and always said."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr
from truerisk.core.errors import Refusal

RNG = np.random.default_rng(0)
WHOLE = RNG.normal(size=(9, 3))
HOLES = WHOLE.copy()
HOLES[2, 0] = HOLES[5, 0] = HOLES[5, 2] = np.nan


def compared(values, **terms):
    """Methods a, b and c."""
    return tr.compare_many(values, methods=["a", "b", "c"], **terms)


def test_a_data_set_with_a_hole_takes_no_part():
    """By default: everything is that of the other data sets, and the note names what is gone."""
    found, kept = compared(HOLES), compared(WHOLE[[0, 1, 3, 4, 6, 7, 8]])
    assert (found.ranks, found.pairs, found.friedman) == (kept.ranks, kept.pairs, kept.friedman)
    assert found.left_out == ("3", "6")
    assert (found.n_compared, len(found.data_sets)) == (7, 9)
    assert found.values[5] == (None, WHOLE[5, 1], None)
    assert found.notes[0] == (
        "2 of 9 data sets take no part, as a method has no value there (a on 2, c on 1): 3, 6"
    )
    assert found.conclusion[-1] == "All of this rests on 7 of 9 data sets: see the notes."


def test_or_a_method_without_a_value_ranks_last():
    """Tied where several have none; two methods differ on the data sets of both."""
    found = compared(HOLES, missing="last")
    filled = np.where(np.isnan(HOLES), 100.0, HOLES)
    assert found.ranks == compared(filled).ranks
    assert found.left_out == ()
    assert found.n_compared == 9
    assert [pair.n for pair in found.pairs] == [7, 7, 8]
    assert (
        found.pair("b", "c").difference
        == compared(np.delete(WHOLE, 5, 0)).pair("b", "c").difference
    )
    assert found.notes[0].startswith("3 of 27 cells are missing and rank last (those of one data")
    assert "a on 3, a on 6, c on 6" in found.notes[0]


def test_last_is_last_where_higher_is_better_too():
    """The worst rank, whatever the direction."""
    found = compared(HOLES, missing="last", better="higher")
    assert found.ranks == compared(np.where(np.isnan(HOLES), -100.0, HOLES), better="higher").ranks


def test_methods_that_never_meet_are_refused():
    """Two data sets on which both have values are the least."""
    values = WHOLE.copy()
    values[:4, 0] = np.nan
    values[5:, 1] = np.nan
    with pytest.raises(Refusal, match="'a' and 'b' have values on 1 common data set: leave one"):
        compared(values, missing="last")
    with pytest.raises(Refusal, match="only 1 of 9 data sets have a value of every method; 'a'"):
        compared(values)
