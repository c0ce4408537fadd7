"""Tables of scores: frames, mappings, arrays, several results in a cell, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.support.demsar import C45, DATA_SETS, METHODS

import truerisk as tr
from truerisk.comparison.scores import read_scores
from truerisk.core.errors import BadData, Refusal, UnknownName

FRAME = pd.DataFrame(C45, columns=METHODS, index=DATA_SETS)


@pytest.mark.parametrize(
    "given",
    [
        FRAME,
        FRAME.rename_axis("data set").reset_index(),
        pl.DataFrame({"name": DATA_SETS, **{m: C45[:, j] for j, m in enumerate(METHODS)}}),
        {m: dict(zip(DATA_SETS, C45[:, j], strict=True)) for j, m in enumerate(METHODS)},
    ],
    ids=["index", "column", "polars", "mapping"],
)
def test_every_kind_of_table_is_the_same(given):
    """Names come along."""
    found = read_scores(given)
    assert np.array_equal(found.values, C45)
    assert (found.methods, found.data_sets) == (tuple(METHODS), tuple(DATA_SETS))


def test_tables_without_names():
    """Counted from 1, or named by arguments."""
    assert read_scores(C45).methods == ("1", "2", "3", "4")
    assert read_scores({"a": [1, 2], "b": [2, 3]}).data_sets == ("1", "2")
    named = read_scores(C45, methods=METHODS, data_sets=DATA_SETS)
    assert (named.methods[0], named.data_sets[-1]) == ("C4.5", "wine")


def test_several_results_in_a_cell_are_their_mean():
    """An array with splits, or lists; a hole in them is a missing cell."""
    array = C45[:, :, None] + np.linspace(-0.01, 0.01, 5)
    assert np.allclose(read_scores(array).values, C45)
    lists = {"a": [[1.0, 3.0], [2.0, 4.0]], "b": [[0.0, 1.0], [np.nan, 1.0]]}
    found = read_scores(lists)
    assert np.array_equal(found.values, [[2.0, 0.5], [3.0, np.nan]], equal_nan=True)
    assert found.splits[0].tolist() == [[1.0, 0.0], [3.0, 1.0]]
    assert found.splits[1] is None


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ([[0.1, 0.2]], Refusal, "1 data set: what holds on one says nothing of others"),
        ([[0.1], [0.2]], Refusal, "1 method: a comparison needs at least two"),
        ({}, Refusal, "no methods: a comparison needs at least two"),
        ({"a": [1, 2, 3], "b": [None] * 3}, Refusal, "'b' has no value on any data set"),
        ({"a": [1, None], "b": [None, 2]}, Refusal, "only 0 of 2 data sets have a value of every"),
        ({"a": [1, 2], "b": [1]}, BadData, "unlike length or kind"),
        ({"a": "12", "b": "34"}, BadData, "unlike length or kind"),
        ({"a": [1, "x"], "b": [1, 2]}, BadData, "the value of 'a' on '2' is 'x', no finite number"),
        ({"a": [1, np.inf], "b": [1, 2]}, BadData, "no finite number; what is missing is None"),
        ({"a": [[1, 2], 3], "b": [[1, 2, 3], 3]}, BadData, "on '1' methods have 2 to 3 results"),
        ([["x", "y"]], BadData, "is no table of numbers"),
        (np.ones(4), BadData, r"scores has shape \(4,\)"),
        (np.ones((3, 51)), Refusal, "51 methods: at most"),
        (
            pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "c": [1, 2]}),
            BadData,
            "columns 'a' and 'b' hold text",
        ),
        (pd.DataFrame({"n": ["x", "x"], "a": [1, 2], "b": [1, 3]}), BadData, "called 'x'"),
    ],
)
def test_what_is_no_table_is_a_sentence(given, error, sentence):
    """By its kind and its place."""
    with pytest.raises(error, match=sentence):
        tr.compare_many(given)


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ({"better": "high"}, "better='high'; did you mean 'higher'"),
        ({"missing": None}, "missing=None. Known: 'leave-out'"),
        ({"pairwise": "t"}, "pairwise='t'"),
        ({"control": "C4"}, "control=: the table has no method 'C4'"),
        ({"rope": -1}, "rope=-1"),
        ({"confidence_level": 95}, "confidence_level=95"),
        ({"random_state": "x"}, "random_state='x'"),
        ({"methods": ["a"]}, "give 4 names, one for each method"),
        ({"data_sets": "abc"}, "give 14 names, one for each data set"),
    ],
)
def test_wrong_terms_are_sentences(terms, sentence):
    """With what is known."""
    with pytest.raises((UnknownName, BadData), match=sentence):
        tr.compare_many(C45, **terms)


def test_a_correlation_of_no_splits_is_refused():
    """With one number for each method and data set there is nothing that it would say."""
    with pytest.raises(BadData, match="one number on each data set"):
        read_scores([[0.1, 0.2], [0.2, 0.3]], correlation=0.1)


# ---------------- Missing cells: left out or ranked last, as asked, and always said


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
