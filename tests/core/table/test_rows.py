"""Any table a user may hold gives its rows, its digest and its equal rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from truerisk.core.errors import BadData
from truerisk.core.table import rows as tables

VALUES = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, 0.0], [0.0, 0.0], [1.0, 5.0]])
ROWS = np.array([3, 0, 0, 4], dtype=np.int32)


def read_only() -> np.ndarray:
    array = VALUES.copy()
    array.flags.writeable = False
    return array


NUMERIC = {
    "numpy": VALUES,
    "float32": VALUES.astype("f4"),
    "big-endian": VALUES.astype(">f8"),
    "fortran": np.asfortranarray(VALUES),
    "read-only": read_only(),
    "strided": np.repeat(VALUES, 2, axis=0)[::2],
    "list": VALUES.tolist(),
    "pandas": pd.DataFrame(VALUES, columns=["a", "b"], index=list("vwxyz")),
    "equal names": pd.DataFrame(VALUES, columns=["a", "a"]),
    "polars": pl.DataFrame({"a": VALUES[:, 0], "b": VALUES[:, 1]}),
    "csr": sp.csr_matrix(VALUES),
    "csc": sp.csc_matrix(VALUES),
    "coo": sp.coo_array(VALUES),
    "bsr": sp.bsr_matrix(VALUES, blocksize=(1, 2)),
    "int": VALUES.astype(int),
}
each_table = pytest.mark.parametrize("name", NUMERIC)


def dense(table) -> np.ndarray:
    return np.asarray(table.todense() if hasattr(table, "todense") else table, dtype=float)


@each_table
def test_rows_are_taken_in_the_asked_order(name) -> None:
    """Rows of any table, repeated and in any order, in the table's own type."""
    table = NUMERIC[name]
    part = tables.take_rows(table, ROWS)
    assert np.array_equal(dense(part), VALUES[ROWS])
    assert tables.n_rows(table) == 5
    if name in ("pandas", "polars", "numpy", "list"):
        assert type(part) is type(table)


@each_table
def test_equal_rows_have_equal_keys(name) -> None:
    """Two rows have one key if and only if their content is equal."""
    keys = tables.row_keys(NUMERIC[name])
    expected = [[bool((VALUES[i] == VALUES[j]).all()) for j in range(5)] for i in range(5)]
    assert (keys[:, None] == keys).tolist() == expected


@each_table
def test_the_digest_sees_every_cell(name) -> None:
    """The digest of equal content is equal; one changed cell, name or dropped row changes it."""
    table = NUMERIC[name]
    assert tables.digest(table) == tables.digest(tables.take_rows(table, np.arange(5)))
    others = {tables.digest(tables.take_rows(table, np.delete(np.arange(5), i))) for i in range(5)}
    swapped = tables.digest(tables.take_rows(table, np.array([1, 0, 2, 3, 4])))
    assert len({tables.digest(table), swapped, *others}) >= 6  # rows 0 and 2 are equal


def test_the_digest_sees_names_and_absence() -> None:
    """Column names, the place of a None and the order of tables are part of the digest."""
    frame = NUMERIC["pandas"]
    distinct = {
        tables.digest(frame),
        tables.digest(frame.rename(columns={"a": "c"})),
        tables.digest(frame, None),
        tables.digest(frame, VALUES[:, 0], None),
        tables.digest(frame, None, VALUES[:, 0]),
    }
    assert len(distinct) == 5


@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", "bc"]),
        np.array(["a", "bc"], dtype=object),
        np.array([True, False]),
        np.array([1 + 2j, 0]),
        np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"),
        np.array([1, 2], dtype=">i4"),
        np.array([1.0, 2.0], dtype="f2"),
        np.array([1.0, 2.0], dtype=np.longdouble),
        np.array([b"a", b"bc"]),
        pd.Series(["a", "bc"], dtype="category"),
        pd.Series(["a", None]),
        pd.Series([1, None], dtype="Int64"),
        pl.Series(["a", "bc"]),
    ],
    ids=lambda y: f"{type(y).__module__.partition('.')[0]}-{y.dtype}",
)
def test_any_type_has_a_digest(y) -> None:
    """Text, dates, categories, nullable numbers: the digest exists and sees the order."""
    assert tables.digest(y) == tables.digest(y)
    assert tables.digest(y) != tables.digest(y[::-1])


def test_mixed_frames_have_keys() -> None:
    """Frames with text, categories, dates and missing cells compare rows by content."""
    frame = pd.DataFrame(
        {
            "text": ["a", "b", "a", "a"],
            "kind": pd.Categorical(["x", "y", "x", "x"]),
            "day": pd.to_datetime(["2020-01-01", "2020-01-01", "2020-01-01", "2020-01-02"]),
            "gap": [np.nan, 1.0, np.nan, np.nan],
        }
    )
    keys = tables.row_keys(frame)
    assert keys[0] == keys[2]
    assert len(set(keys.tolist())) == 3
    polars = tables.row_keys(pl.DataFrame({c: [str(v) for v in frame[c]] for c in frame}))
    assert polars.tolist() == keys.tolist()


def test_text_rows_have_keys() -> None:
    """A list of texts is one text per row."""
    texts = np.array(["a b", "c", "a b"], dtype=object)
    assert tables.row_keys(texts).tolist() == [0, 1, 0]
    assert tables.row_keys(pd.Series(texts)).tolist() == [0, 1, 0]


def test_a_stored_zero_is_a_zero() -> None:
    """Explicit zeros and unsorted entries of a sparse row, and -0.0, do not make rows differ."""
    matrix = sp.csr_matrix(
        (np.array([1.0, 0.0, 2.0, 2.0, 1.0]), np.array([0, 1, 2, 2, 0]), np.array([0, 3, 5])),
        shape=(2, 3),
    )
    assert tables.row_keys(matrix).tolist() == [0, 0]
    assert tables.row_keys(np.array([[0.0], [-0.0]])).tolist() == [0, 0]


@pytest.mark.parametrize("table", [np.empty((3, 0)), np.zeros((3, 2, 2))])
def test_no_keys_where_rows_have_no_cells(table) -> None:
    """Rows without cells, or that are arrays themselves, are not compared."""
    assert tables.row_keys(table) is None


def test_what_has_no_rows_is_refused() -> None:
    """A number is no table."""
    with pytest.raises(BadData, match="int, which has no rows"):
        tables.n_rows(3)


def test_columns_and_names() -> None:
    """Frames have names, arrays do not; equal names stay two."""
    assert tables.column_names(VALUES) is None
    assert tables.column_names(NUMERIC["equal names"]) == ["a", "a"]
    assert tables.column_names(NUMERIC["polars"]) == ["a", "b"]
    assert [tables.n_columns(NUMERIC[k]) for k in ("numpy", "csr", "polars")] == [2, 2, 2]
    assert tables.n_columns(VALUES[:, 0]) is None


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, pd.DataFrame])
def test_columns_are_taken_in_the_given_order(kind) -> None:
    """Of an array, a sparse matrix and a frame, copies too; a sparse matrix stays one of rows."""
    dense = np.arange(6.0).reshape(2, 3)
    taken = tables.take_columns(kind(dense), np.array([2, 0, 0]))
    found = taken.toarray() if hasattr(taken, "toarray") else np.asarray(taken)
    assert found.tolist() == [[2, 0, 0], [5, 3, 3]]
    assert getattr(taken, "format", "csr") == "csr"
