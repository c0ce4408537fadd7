"""What the columns of X hold, and sentences on what models cannot read of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from truerisk.data.columns import (
    is_missing,
    kinds_of_columns,
    number_columns_have_holes,
    unreadable,
    with_plain_gaps,
)

DAYS = pd.date_range("2020", periods=2)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_frame_has_kinds_of_columns(frame) -> None:
    """Numbers, truth values and numbers as text are numbers; text and dates are not."""
    table = frame(
        {"a": [1.5, 2], "b": [True, False], "c": ["1", "2.5"], "d": ["u", None], "e": list(DAYS)}
    )
    assert kinds_of_columns(table) == ("number", "number", "number", "text", "date")


def test_categories_and_missing_numbers_of_pandas() -> None:
    """Categories are text, and NA among numbers is a number that is missing."""
    table = pd.DataFrame({"a": pd.Categorical(["u", "v"]), "b": pd.array([1, pd.NA])})
    assert kinds_of_columns(table) == ("text", "number")
    assert number_columns_have_holes(table)
    assert not number_columns_have_holes(table[["a"]])


def test_arrays_of_objects_have_kinds_and_others_hold_numbers() -> None:
    """Only where cells are objects or text does a column need a look."""
    assert kinds_of_columns(np.array([[1, "u"], [2, None]], dtype=object)) == ("number", "text")
    assert kinds_of_columns(np.array([["1", "u"]])) == ("number", "text")
    assert kinds_of_columns(np.ones((2, 2))) is None
    assert kinds_of_columns(sparse.csr_array(np.ones((2, 2)))) is None


@pytest.mark.parametrize(
    ("table", "holes"),
    [
        (np.array([[1.0, np.nan]]), True),
        (np.ones((2, 2)), False),
        (sparse.csr_array(np.ones((2, 2))), False),
        (pl.DataFrame({"a": [1.0, None]}), True),
        (pd.DataFrame({"a": ["u", None]}), False),
    ],
)
def test_holes_are_those_of_numbers(table, holes) -> None:
    """A missing text is a level of its own and no hole."""
    assert number_columns_have_holes(table) is holes


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "X has 2 columns named 'a': rename them."),
        (pd.DataFrame({"a": [1], "t": ["u\nv"]}), "X has text in column 't', such as 'u\\x0av':"),
        (np.array([[1, None], [2, "w"]], dtype=object), "X has text in column 1, such as 'w':"),
        (pd.DataFrame({"when": DAYS}), "X has dates in column 'when': turn them into numbers"),
        (pd.DataFrame({"when": ["2024-05-01"]}), "X has dates in column 'when': turn them into"),
        (np.array([[1, "2024-05-01"]], dtype=object), "X has dates in column 1: turn them into"),
    ],
)
def test_what_models_cannot_read_is_named(table, sentence) -> None:
    """The column, an example, and what to do."""
    assert str(unreadable(table)).startswith(sentence)


def test_numbers_can_be_read_and_text_where_it_is_encoded() -> None:
    """There is nothing to say of numbers, nor of text that becomes indicators."""
    assert unreadable(np.ones((2, 2))) is None
    assert unreadable(pd.DataFrame({"a": [1.0], "b": [pd.NA]})) is None
    assert unreadable(pd.DataFrame({"a": ["u"]}), text=True) is None


def test_a_missing_cell_is_that_of_pandas():
    """Pandas' own NA and NaT are missing; a thing whose class has their name is none."""
    assert all(map(is_missing, (None, float("nan"), pd.NA, pd.NaT)))
    assert not any(map(is_missing, (type("NAType", (), {})(), "NA", 0.0)))


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": pd.array(["u", pd.NA], dtype="string"), "b": pd.array([1, pd.NA])}),
        pl.DataFrame({"a": ["u", None], "b": [1.0, None]}),
        np.array([["u", 1], [np.nan, pd.NA]], dtype=object),
        np.array([["u", 1], [None, np.nan]], dtype=object),
    ],
    ids=["pandas", "polars", "numbers", "objects"],
)
def test_gaps_in_text_become_those_that_encoders_know(table):
    """None, NA of pandas and nulls become NaN, in all columns at once."""
    found = with_plain_gaps(table)
    assert found[0].tolist() == ["u", 1]
    assert [type(cell) is float and np.isnan(cell) for cell in found[1]] == [True, True]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": ["u", np.nan]}, dtype=object),
        pd.DataFrame({"a": ["u", "v"], "b": pd.array([1, pd.NA])}),
        np.ones((2, 2)),
        sparse.csr_array(np.ones((2, 2))),
    ],
    ids=["NaN", "none in the text", "numbers", "sparse"],
)
def test_gaps_that_are_read_already_stay(table):
    """The very table comes back."""
    assert with_plain_gaps(table) is table
