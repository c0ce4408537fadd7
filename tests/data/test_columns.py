"""What the columns of X hold, and sentences on what models cannot read of it."""

from itertools import count

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from truerisk.data.columns import (
    has_missing_numbers,
    is_missing,
    kinds_of_columns,
    message_on_unreadable_column,
    replace_missing_by_nan,
)

DAYS = pd.date_range("2020", periods=2)
KINDS = {"a": [1.5, 2], "b": [True, False], "c": ["1", "2.5"], "d": ["u", None], "e": list(DAYS)}
OF_PANDAS = pd.DataFrame({"a": pd.Categorical(["u", "v"]), "b": pd.array([1, pd.NA])})
ONES = np.ones((2, 2))
SPARSE = sparse.csr_array(ONES)


@pytest.mark.parametrize(
    ("table", "kinds"),
    [
        (pd.DataFrame(KINDS), ("number", "number", "number", "text", "date")),
        (pl.DataFrame(KINDS), ("number", "number", "number", "text", "date")),
        (OF_PANDAS, ("text", "number")),
        (np.array([[1, "u"], [2, None]], dtype=object), ("number", "text")),
        (np.array([["1", "u"]]), ("number", "text")),
        (ONES, None),
        (SPARSE, None),
    ],
    ids=count(),
)
def test_kinds_of_columns_are_numbers_text_and_dates(table, kinds):
    """Truth values and numbers as text are numbers; other arrays need no look at their cells."""
    assert kinds_of_columns(table) == kinds


@pytest.mark.parametrize(
    ("table", "holes"),
    [
        (np.array([[1.0, np.nan]]), True),
        (ONES, False),
        (SPARSE, False),
        (pl.DataFrame({"a": [1.0, None]}), True),
        (pd.DataFrame({"a": ["u", None]}), False),
        (OF_PANDAS, True),
        (OF_PANDAS[["a"]], False),
    ],
    ids=count(),
)
def test_number_columns_have_holes_where_numbers_are_missing(table, holes):
    """A missing text is a level of its own and no hole."""
    assert has_missing_numbers(table) is holes


UNREADABLE = [
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), "X has 2 columns named 'a': rename them."),
    (pd.DataFrame({"a": [1], "t": ["u\nv"]}), "X has text in column 't', such as 'u\\x0av':"),
    (np.array([[1, None], [2, "w"]], dtype=object), "X has text in column 1, such as 'w':"),
    (pd.DataFrame({"when": DAYS}), "X has dates in column 'when': turn them into numbers"),
    (pd.DataFrame({"when": ["2024-05-01"]}), "X has dates in column 'when': turn them into"),
    (np.array([[1, "2024-05-01"]], dtype=object), "X has dates in column 1: turn them into"),
]


@pytest.mark.parametrize(
    ("table", "accepts_text", "sentence"),
    [
        *((table, False, sentence) for table, sentence in UNREADABLE),
        (ONES, False, None),
        (pd.DataFrame({"a": [1.0], "b": [pd.NA]}), False, None),
        (pd.DataFrame({"a": ["u"]}), True, None),
    ],
    ids=count(),
)
def test_unreadable_names_what_models_cannot_read(table, accepts_text, sentence):
    """There is no message for numbers, nor for text if the model accepts text."""
    said = message_on_unreadable_column(table, accepts_text=accepts_text)
    assert said is None if sentence is None else str(said).startswith(sentence)


def test_is_missing_knows_the_gaps_of_pandas():
    """A thing whose class has their name is none."""
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
def test_plain_gaps_are_what_encoders_know(table):
    found = replace_missing_by_nan(table)
    assert found[0].tolist() == ["u", 1]
    assert [type(cell) is float and np.isnan(cell) for cell in found[1]] == [True, True]


def test_plain_gaps_leave_a_table_that_is_read_already():
    gap = pd.DataFrame({"a": ["u", np.nan]}, dtype=object)
    for table in (gap, OF_PANDAS.assign(a=["u", "v"]), ONES, SPARSE):
        assert replace_missing_by_nan(table) is table
