"""Any table a user may hold gives its rows, its digest, its equal rows and the marks of rows."""

from itertools import count

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from truerisk.data import rows as tables
from truerisk.data.row_marks import hash_rows, sum_hashes_by_class
from truerisk.data.rows import splitmix64, sums_of
from truerisk.extend import BadData, Data

VALUES = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, 0.0], [0.0, 0.0], [1.0, 5.0]])
ROWS = np.array([3, 0, 0, 4], dtype=np.int32)


def row_sums(table):
    sums = sums_of(table)
    return None if sums is None else sums.sums


def read_only():
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


def dense(table):
    return np.asarray(table.todense() if hasattr(table, "todense") else table, dtype=float)


@each_table
def test_take_rows_keeps_the_given_order(name):
    """Rows of any table, repeated and in any order, in the table's own type."""
    table = NUMERIC[name]
    part = tables.take_rows(table, ROWS)
    assert np.array_equal(dense(part), VALUES[ROWS])
    assert tables.n_rows(table) == 5
    if name in ("pandas", "polars", "numpy", "list"):
        assert type(part) is type(table)


@each_table
def test_row_keys_are_equal_for_equal_rows_alone(name):
    keys = tables.row_keys(NUMERIC[name])
    expected = [[bool((VALUES[i] == VALUES[j]).all()) for j in range(5)] for i in range(5)]
    assert (keys[:, None] == keys).tolist() == expected


@each_table
def test_digest_sees_rows_and_their_order(name):
    table = NUMERIC[name]
    assert tables.digest(table) == tables.digest(tables.take_rows(table, np.arange(5)))
    others = {tables.digest(tables.take_rows(table, np.delete(np.arange(5), i))) for i in range(5)}
    swapped = tables.digest(tables.take_rows(table, np.array([1, 0, 2, 3, 4])))
    assert len({tables.digest(table), swapped, *others}) >= 6  # rows 0 and 2 are equal


def test_digest_sees_names_and_absence():
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
    ids=count(),
)
def test_digest_of_any_type_sees_the_order(y):
    assert tables.digest(y) == tables.digest(y)
    assert tables.digest(y) != tables.digest(y[::-1])


MIXED = pd.DataFrame(
    {
        "text": ["a", "b", "a", "a"],
        "kind": pd.Categorical(["x", "y", "x", "x"]),
        "day": pd.to_datetime(["2020-01-01", "2020-01-01", "2020-01-01", "2020-01-02"]),
        "gap": [np.nan, 1.0, np.nan, np.nan],
    }
)
TEXTS = np.array(["a b", "c", "a b"], dtype=object)
ENTRIES = (np.array([1.0, 0.0, 2.0, 2.0, 1.0]), np.array([0, 1, 2, 2, 0]), np.array([0, 3, 5]))


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        (MIXED, [0, 1, 0, 2]),
        (pl.DataFrame({c: [str(v) for v in MIXED[c]] for c in MIXED}), [0, 1, 0, 2]),
        (TEXTS, [0, 1, 0]),
        (pd.Series(TEXTS), [0, 1, 0]),
        (sp.csr_matrix(ENTRIES, shape=(2, 3)), [0, 0]),  # stored zeros and unsorted entries
        (np.array([[0.0], [-0.0]]), [0, 0]),
        # Callers look for equal rows only where there are some.
        (np.arange(6.0).reshape(3, 2), None),
        (np.array(["a", "b"]), None),
        (pd.DataFrame({"a": [1, 2]}), None),
        (sp.eye(3), None),
        # Rows without cells, or that are arrays themselves, are not compared.
        (np.empty((3, 0)), None),
        (np.zeros((3, 2, 2)), None),
    ],
    ids=count(),
)
def test_row_keys_number_distinct_rows(table, keys):
    found = tables.row_keys(table)
    if keys is None:
        assert found is None
    else:
        assert np.unique(found, return_inverse=True)[1].tolist() == keys


def test_tables_have_names_and_numbers_of_columns():
    assert tables.column_names(VALUES) is None
    assert tables.column_names(NUMERIC["equal names"]) == ["a", "a"]
    assert tables.column_names(NUMERIC["polars"]) == ["a", "b"]
    assert [tables.n_columns(NUMERIC[k]) for k in ("numpy", "csr", "polars")] == [2, 2, 2]
    assert tables.n_columns(VALUES[:, 0]) is None
    with pytest.raises(BadData, match="int, which has no rows"):
        tables.n_rows(3)


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, pd.DataFrame])
def test_take_columns_keeps_the_given_order(kind):
    """Copies too; a sparse matrix stays one of rows."""
    taken = tables.take_columns(kind(np.arange(6.0).reshape(2, 3)), np.array([2, 0, 0]))
    assert dense(taken).tolist() == [[2, 0, 0], [5, 3, 3]]
    assert getattr(taken, "format", "csr") == "csr"


GOLDEN = [1276677212368797696, 13235198884428906496]
WHOLE = np.arange(60_000.0).reshape(-1, 3) % 251


def _by_definition(rows):
    factors = [int(f) | 1 for f in splitmix64(np.arange(rows.shape[1]))]
    bits = (rows + 0).view(np.uint64)
    folded = [[int(b) ^ (int(b) >> 32) for b in row] for row in bits]
    return [sum(f * b for f, b in zip(factors, row, strict=True)) % 2**64 for row in folded]


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("compiled", [True, False])
def test_sums_are_those_of_the_definition(dtype, order, compiled, monkeypatch):
    """Blocks, types and memory order change nothing about a sum, compiled or not."""
    monkeypatch.setattr(tables, "BLOCK_BYTES", 64)
    if not compiled:
        monkeypatch.setattr(tables, "is_available", lambda: False)
    rows = np.random.default_rng(0).normal(size=(11, 3)) * 1e6
    found = row_sums(np.asarray(rows.astype(dtype), order=order))
    assert found.tolist() == _by_definition(rows.astype(dtype))


def test_sums_stay_the_same_between_versions():
    """A stored fingerprint is compared with later ones: these numbers never change."""
    assert row_sums(np.array([[1.0, -2.5], [0.0, 3.0]])).tolist() == GOLDEN
    assert row_sums(np.array([[1.0, -2.5], [-0.0, 3.0]])).tolist() == GOLDEN


def test_sums_tell_rows_apart():
    """Any changed cell is seen, of whole numbers too, whose low bits are all 0."""
    sums = row_sums(WHOLE)
    rng = np.random.default_rng(1)
    for step in (1.0, 2.0**-30, -0.5, 1024.0):
        other = WHOLE.copy()
        row, column = rng.integers(len(WHOLE)), rng.integers(3)
        other[row, column] += step
        assert np.flatnonzero(row_sums(other) != sums).tolist() == [row]
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 6), axis=-1).reshape(-1, 6)
    assert len(np.unique(row_sums(grid))) == len(grid)


def test_sums_without_the_compiled_pass_are_the_same_in_any_layout(monkeypatch):
    table = np.random.default_rng(2).normal(size=(9, 40))
    table[3, 5], table[4, 1] = np.nan, -0.0
    layouts = [table, np.asfortranarray(table), table[::-2, 3:], table.T[5:], table[:, ::3]]
    layouts += [part.astype(np.int64) for part in (1e6 * np.nan_to_num(table), layouts[-1] * 0 + 7)]
    layouts += [np.frombuffer(b"\0" + table.tobytes(), offset=1).reshape(9, 40)]
    compiled = [row_sums(part).tolist() for part in layouts]
    monkeypatch.setattr(tables, "is_available", lambda: False)
    assert [row_sums(part).tolist() for part in layouts] == compiled


@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_see_whether_all_cells_are_finite(order):
    table = np.full((11, 5), np.finfo(float).max, order=order)
    assert sums_of(table).is_finite
    for cell in [(0, 0), (7, 3), (10, 4)]:
        for value in (np.nan, np.inf, -np.inf):
            other = table.copy(order="K")
            other[cell] = value
            assert not sums_of(other).is_finite


# ---------------------------------------------------------------- marks

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
    "sparse": sp.csr_array(np.where(X > 0, X, 0)),
    "texts": WORDS[:, 0],
}


def shuffled(table, rows):
    """Return these rows of a table of any kind, with its columns in another order."""
    if hasattr(table, "iloc"):
        return table.iloc[rows, RNG.permutation(table.shape[1])]
    return table[rows][:, RNG.permutation(table.shape[1])] if len(table.shape) > 1 else table[rows]


def same(marks, others):
    return np.array_equal(marks, others)


@pytest.mark.parametrize("kind", TABLES)
def test_row_marks_do_not_depend_on_the_order_of_rows_and_columns(kind):
    table = TABLES[kind]
    marks = hash_rows(table, Y, None)
    assert (marks.dtype, marks.shape) == (np.uint64, (50,))
    order = RNG.permutation(50)
    assert same(hash_rows(shuffled(table, order), Y[order], None), marks[order])
    shown = table.toarray() if hasattr(table, "toarray") else np.asarray(table).reshape(50, -1)
    rows = [(*map(repr, row), y) for row, y in zip(shown.tolist(), Y.tolist())]
    assert len(set(marks.tolist())) == len(set(rows))


def stored_zeros():
    """Return a sparse table of whole numbers in which some zeros are stored explicitly."""
    table = sp.csr_array(WHOLE_NUMBERS)
    table.data[:3] = 0
    return table


def without_zeros(table):
    table.eliminate_zeros()
    return table


def of_data(y):
    return Data.check(X, y, task="classification").row_marks


WHOLE_NUMBERS = np.round(X)
CLASSES, NAMES = np.array([2, 0, 1])[Y], np.array(["x", "b", "c"])[Y]


@pytest.mark.parametrize(
    ("marks", "others"),
    [
        pytest.param(of_data(Y), of_data(CLASSES), id="classes in another order"),
        pytest.param(of_data(Y), of_data(NAMES), id="names of classes"),
        *(
            pytest.param(hash_rows(one, Y, None), hash_rows(other, Y, None), id=name)
            for name, one, other in [
                ("integers", WHOLE_NUMBERS, WHOLE_NUMBERS.astype(np.int32)),
                ("negative zeros", WHOLE_NUMBERS, WHOLE_NUMBERS * 1.0 - 0.0),
                ("stored zeros", stored_zeros(), without_zeros(stored_zeros())),
            ]
        ),
    ],
)
def test_row_marks_do_not_depend_on_names_of_classes_zeros_and_the_type_of_numbers(marks, others):
    assert same(marks, others)


def test_row_marks_do_not_depend_on_the_last_bit():
    """Another processor computes it otherwise; ten digits tell rows apart."""
    target = X[:, 0] ** 2
    marks = hash_rows(X, None, target)
    for other in (np.nextafter(X, np.inf), np.nextafter(X, -np.inf)):
        assert same(hash_rows(other, None, target), marks)
        assert same(hash_rows(X, None, np.nextafter(target, 9.0)), marks)
    assert (hash_rows(X * (1 + 1e-8), None, target) != marks).all()


@pytest.mark.parametrize(
    ("table", "targets", "n_marks"),
    [
        (np.arange(2.0**33 - 50, 2.0**33)[:, None], np.zeros(50), 50),
        ((np.arange(50) + 10**15)[:, None], np.zeros(50), 50),
        ((1_700_000_000_123_456 + 7.0 * np.arange(50))[:, None], np.zeros(50), 50),
        (np.ones((50, 1)), X[:, :2], len(np.unique(X[:, :2], axis=0))),
    ],
    ids=count(),
)
def test_row_marks_tell_long_whole_numbers_and_several_targets_apart(table, targets, n_marks):
    """Case numbers and times in nanoseconds have no last bits that a processor would decide."""
    assert len(set(hash_rows(table, None, targets).tolist())) == n_marks


def test_summed_by_adds_in_any_order():
    """Sums run modulo 2^64 and do not round."""
    member, marks = RNG.integers(5, size=50), hash_rows(X, Y, None)
    order = RNG.permutation(50)
    assert same(
        sum_hashes_by_class(member, marks), sum_hashes_by_class(member[order], marks[order])
    )
