"""Columns that part the rows: where they come from, their order, gaps, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.validation.subgroups import MISSING, levels_of

FRAME = pd.DataFrame(
    {
        "sex": ["m", "f", "m", "f"],
        "grade": [10.0, 9.0, np.nan, 10.0],
        "centre": pd.Categorical(["b", "a", "b", None]),
        "flag": pd.array([True, None, False, True], dtype="boolean"),
    }
)


def test_columns_of_a_frame_are_named():
    """By their names, in the order asked for; levels stand in the order of their values."""
    grade, sex = levels_of(["grade", "sex"], FRAME, 4)
    assert (grade.column, grade.names, grade.codes.tolist()) == (
        "grade", ("9", "10", MISSING), [1, 0, 2, 1],
    )  # fmt: skip
    assert (sex.names, sex.codes.tolist(), sex.n_missing) == (("f", "m"), [1, 0, 1, 0], 0)


@pytest.mark.parametrize("name", ["grade", "centre", "flag"])
def test_a_missing_level_is_its_own(name):
    """NaN, None and the NA of pandas are one level, the last, and are counted."""
    (found,) = levels_of(name, FRAME, 4)
    assert found.names[-1] == MISSING
    assert found.n_missing == (found.codes == len(found.names) - 1).sum() == 1


def test_numbers_that_look_alike_are_levels_of_their_own():
    """Codes of a million, which six digits do not tell apart; whole numbers are written so."""
    codes = np.array([1000001.0, 1000002.0, np.nan, 0.1])
    (found,) = levels_of({"code": codes}, None, 4)
    assert found.names == ("0.1", "1000001", "1000002", MISSING)
    assert found.codes.tolist() == [1, 2, 3, 0]
    (close,) = levels_of({"x": [0.1234561, 0.1234562]}, None, 2)
    assert close.names == ("0.1234561", "0.1234562")


def test_a_level_that_is_called_missing_is_none():
    """Rows without a value are beside it."""
    (found,) = levels_of({"x": ["missing", "b", None]}, None, 3)
    assert (found.names, found.n_missing) == (("b", "missing", "missing (no value)"), 1)
    assert found.codes.tolist() == [1, 0, 2]
    assert found.note == "1 row has no 'x': they are the level 'missing (no value)'."


@pytest.mark.parametrize(
    "given",
    [
        FRAME[["sex"]],
        FRAME["sex"],
        {"sex": ["m", "f", "m", "f"]},
        {"sex": np.array(["m", "f", "m", "f"])},
    ],
    ids=["frame", "series", "dict of lists", "dict of arrays"],
)
def test_the_same_levels_in_every_form(given):
    """A frame, a series and a dict of their own need no column of X."""
    (found,) = levels_of(given, None, 4)
    assert (found.column, found.names, found.codes.tolist()) == ("sex", ("f", "m"), [1, 0, 1, 0])


def test_columns_of_an_array_have_numbers():
    """A table without names is asked by number; an array of its own has a column per level."""
    X = np.array([[0, 1], [1, 1], [0, 2], [1, 2]])
    assert levels_of([1], X, 4)[0].codes.tolist() == [0, 0, 1, 1]
    assert [one.column for one in levels_of(X, None, 4)] == ["column 0", "column 1"]


@pytest.mark.parametrize(
    ("given", "X", "kind", "why"),
    [
        (["age"], FRAME, UnknownName, "no column 'age'; it has sex, grade"),
        ([7], FRAME, UnknownName, "no column 7; it has 4"),
        (["sex"], np.zeros((4, 2)), BadArgument, "without names"),
        ([], FRAME, BadArgument, "names no column"),
        ([0, 1, 0, 1], FRAME, BadArgument, "for one level a row give an array"),
        (3.5, FRAME, BadArgument, "subgroups=3.5"),
        ({"sex": ["m", "f"]}, None, BadData, "shape (2,)"),
        ({"sex": ["m"] * 4}, None, BadData, "one level only, 'm'"),
        ({"sex": [None] * 4}, None, BadData, "one level only, 'missing'"),
    ],
)
def test_bad_columns_are_refused(given, X, kind, why):
    """A sentence names the column, what is wrong with it, and what there is."""
    with pytest.raises(kind) as refused:
        levels_of(given, X, 4)
    assert why in str(refused.value)


def test_numbers_are_to_be_cut():
    """A column with more levels than can be compared is refused, and ranges are named."""
    with pytest.raises(BadData, match=r"has 40 levels.*pandas\.cut"):
        levels_of({"age": np.arange(40.0)}, None, 40)
