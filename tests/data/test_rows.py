"""Any table a user may hold gives its rows, its digest and its equal rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy import sparse

from truerisk.core.errors import BadData
from truerisk.data import rows as tables
from truerisk.data.data import Data
from truerisk.data.row_marks import row_marks, summed_by
from truerisk.data.rows import mixed, sums_of

VALUES = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, 0.0], [0.0, 0.0], [1.0, 5.0]])
ROWS = np.array([3, 0, 0, 4], dtype=np.int32)


def row_sums(table) -> np.ndarray | None:
    """The checksums alone."""
    sums = sums_of(table)
    return None if sums is None else sums.sums


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


@pytest.mark.parametrize(
    "table",
    [np.arange(6.0).reshape(3, 2), np.array(["a", "b"]), pd.DataFrame({"a": [1, 2]}), sp.eye(3)],
    ids=["numbers", "texts", "frame", "sparse"],
)
def test_row_keys_are_none_if_all_rows_differ(table) -> None:
    """Callers look for equal rows only where there are some."""
    assert tables.row_keys(table) is None


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


GOLDEN = [1276677212368797696, 13235198884428906496]
WHOLE = np.arange(60_000.0).reshape(-1, 3) % 251


def _by_definition(rows: np.ndarray) -> list[int]:
    factors = [int(f) | 1 for f in mixed(np.arange(rows.shape[1]))]
    bits = (rows + 0).view(np.uint64)
    folded = [[int(b) ^ (int(b) >> 32) for b in row] for row in bits]
    return [sum(f * b for f, b in zip(factors, row, strict=True)) % 2**64 for row in folded]


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("compiled", [True, False])
def test_sums_are_those_of_the_definition(dtype, order, compiled, monkeypatch) -> None:
    """Blocks, types and memory order change nothing about a sum, compiled or not."""
    monkeypatch.setattr(tables, "BYTES", 64)
    if not compiled:
        monkeypatch.setattr(tables, "available", lambda: False)
    rows = np.random.default_rng(0).normal(size=(11, 3)) * 1e6
    found = row_sums(np.asarray(rows.astype(dtype), order=order))
    assert found.tolist() == _by_definition(rows.astype(dtype))


def test_sums_stay_the_same_between_versions() -> None:
    """A stored fingerprint is compared with later ones: these numbers never change."""
    assert row_sums(np.array([[1.0, -2.5], [0.0, 3.0]])).tolist() == GOLDEN


def test_one_changed_cell_changes_one_sum() -> None:
    """Any single change, of whole numbers too, whose low bits are all 0, is seen."""
    sums = row_sums(WHOLE)
    rng = np.random.default_rng(1)
    for step in (1.0, 2.0**-30, -0.5, 1024.0):
        other = WHOLE.copy()
        row, column = rng.integers(len(WHOLE)), rng.integers(3)
        other[row, column] += step
        assert np.flatnonzero(row_sums(other) != sums).tolist() == [row]


def test_few_distinct_rows_keep_distinct_sums() -> None:
    """All 15,625 rows of six small whole numbers have sums of their own."""
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 6), axis=-1).reshape(-1, 6)
    assert len(np.unique(row_sums(grid))) == len(grid)


def test_minus_zero_is_zero() -> None:
    """Cells that compare equal sum equally."""
    assert row_sums(np.array([[-0.0, 1.0]])).tolist() == row_sums(np.array([[0.0, 1.0]])).tolist()


@pytest.mark.parametrize(
    "table",
    [np.zeros((2, 2), np.float32), np.zeros(3), np.zeros((0, 2)), np.array([["a"]], object)],
    ids=["float32", "one dimension", "empty", "objects"],
)
def test_other_tables_have_no_sums(table) -> None:
    """What is no table of 8-byte numbers is left to slower ways."""
    assert row_sums(table) is None


def test_the_fingerprint_of_data_sees_each_cell() -> None:
    """Data with one changed cell, or two changed rows, have another fingerprint."""
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    prints = {Data.check(X, y, task="classification").fingerprint}
    for cell in np.ndindex(X.shape):
        other = X.copy()
        other[cell] = np.nextafter(other[cell], 9.0)
        prints.add(Data.check(other, y, task="classification").fingerprint)
    prints.add(Data.check(X[[1, 0, *range(2, 20)]], y, task="classification").fingerprint)
    assert len(prints) == 62


def test_without_the_compiled_pass_the_sums_are_the_same(monkeypatch) -> None:
    """A fingerprint does not depend on whether the compiled module is there, nor on the layout."""
    table = np.random.default_rng(2).normal(size=(9, 40))
    table[3, 5], table[4, 1] = np.nan, -0.0
    layouts = [table, np.asfortranarray(table), table[::-2, 3:], table.T[5:], table[:, ::3]]
    layouts += [part.astype(np.int64) for part in (1e6 * np.nan_to_num(table), layouts[-1] * 0 + 7)]
    layouts += [np.frombuffer(b"\0" + table.tobytes(), offset=1).reshape(9, 40)]
    compiled = [row_sums(part).tolist() for part in layouts]
    with monkeypatch.context() as patch:
        patch.setattr(tables, "available", lambda: False)
        assert [row_sums(part).tolist() for part in layouts] == compiled


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_pass_sees_whether_all_cells_are_finite(order) -> None:
    """A NaN or an infinite cell anywhere is seen, the largest number is none of them."""
    table = np.full((11, 5), np.finfo(float).max, order=order)
    assert sums_of(table).finite
    for cell in [(0, 0), (7, 3), (10, 4)]:
        for value in (np.nan, np.inf, -np.inf):
            other = table.copy(order="K")
            other[cell] = value
            assert not sums_of(other).finite


RNG = np.random.default_rng(3)
X = np.round(RNG.normal(size=(50, 4)), 1)
Y = RNG.integers(0, 3, size=50)
WORDS = np.array(["a", "bé", "", "\udc80"], dtype=object)[RNG.integers(4, size=(50, 2))]
TABLES = {
    "numbers": X,
    "single precision": X.astype(np.float32),
    "truth values": X > 0,
    "text": WORDS.astype("U"),
    "objects": WORDS,
    "gaps": np.where(X > 1, np.nan, X),
    "Fortran": np.asfortranarray(X),
    # The text dtype of pandas cannot hold half a surrogate pair where pyarrow is installed.
    "frame": pd.DataFrame(
        {"a": X[:, 0], "b": pd.Series(WORDS[:, 0], dtype=object), "c": X[:, 1].astype(int)}
    ),
    "sparse": sparse.csr_array(np.where(X > 0, X, 0)),
    "texts": WORDS[:, 0],
}


def taken(table, rows, columns=None):
    """Rows, and columns, of a table of any kind."""
    if columns is None or np.ndim(table) < 2:
        return table.iloc[rows] if hasattr(table, "iloc") else table[rows]
    cut = table.iloc[rows, columns] if hasattr(table, "iloc") else table[rows]
    return cut if hasattr(table, "iloc") else cut[:, columns]


@pytest.mark.parametrize("kind", TABLES)
def test_the_order_of_rows_and_columns_does_not_matter(kind):
    """Every row keeps its mark; rows that differ have different ones."""
    table = TABLES[kind]
    marks = row_marks(table, Y, None)
    assert (marks.dtype, marks.shape) == (np.uint64, (50,))
    order = RNG.permutation(50)
    columns = RNG.permutation(table.shape[1]) if len(table.shape) == 2 else None
    np.testing.assert_array_equal(
        row_marks(taken(table, order, columns), Y[order], None), marks[order]
    )
    shown = table.toarray() if hasattr(table, "toarray") else np.asarray(table).reshape(50, -1)
    rows = [(*map(repr, row), y) for row, y in zip(shown.tolist(), Y.tolist())]
    assert len(set(marks.tolist())) == len(set(rows))


def test_names_of_classes_do_not_matter():
    """Classes under other names, in any order, and numbers as text."""
    marks = Data.check(X, Y, task="classification").row_marks
    for names in (np.array([2, 0, 1]), np.array(["x", "b", "c"])):
        renamed = Data.check(X, names[Y], task="classification").row_marks
        np.testing.assert_array_equal(renamed, marks)


def test_zeros_and_the_type_of_numbers_do_not_matter():
    """Stored zeros of a sparse table, -0.0, and whole numbers as floats."""
    whole = np.round(X)
    np.testing.assert_array_equal(
        row_marks(whole, Y, None), row_marks(whole.astype(np.int32), Y, None)
    )
    np.testing.assert_array_equal(
        row_marks(whole + 0.0, Y, None), row_marks(whole * 1.0 - 0.0, Y, None)
    )
    stored = sparse.csr_array(whole)
    zeros = stored.copy()
    zeros.data[:3] = 0
    dropped = zeros.copy()
    dropped.eliminate_zeros()
    np.testing.assert_array_equal(row_marks(zeros, Y, None), row_marks(dropped, Y, None))


def test_the_last_bit_of_a_number_does_not_matter():
    """Another processor computes it otherwise; ten digits tell rows apart."""
    target = X[:, 0] ** 2
    marks = row_marks(X, None, target)
    for other in (np.nextafter(X, np.inf), np.nextafter(X, -np.inf)):
        np.testing.assert_array_equal(row_marks(other, None, target), marks)
        np.testing.assert_array_equal(row_marks(X, None, np.nextafter(target, 9.0)), marks)
    assert (row_marks(X * (1 + 1e-8), None, target) != marks).all()
    large = np.arange(2.0**33 - 50, 2.0**33)[:, None]
    assert len(set(row_marks(large, None, None).tolist())) == 50


def test_long_whole_numbers_are_told_apart():
    """Case numbers and times in nanoseconds have no last bits that a processor would decide."""
    for ids in (np.arange(50) + 10**15, 1_700_000_000_123_456 + 7.0 * np.arange(50)):
        assert len(set(row_marks(ids[:, None], None, np.zeros(50)).tolist())) == 50


def test_targets_of_several_columns():
    """Regression with several targets has marks, too."""
    assert len(set(row_marks(np.ones((50, 1)), None, X[:, :2]).tolist())) == len(
        np.unique(X[:, :2], axis=0)
    )


def test_members_are_summed_in_any_order():
    """Sums run modulo 2^64 and do not round."""
    member, marks = RNG.integers(5, size=50), row_marks(X, Y, None)
    order = RNG.permutation(50)
    np.testing.assert_array_equal(summed_by(member, marks), summed_by(member[order], marks[order]))
