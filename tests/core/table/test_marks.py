"""Marks of rows are theirs, whatever the order of rows, columns and classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from truerisk.core.table.data import Data
from truerisk.core.table.marks import row_marks, summed_by

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
    "frame": pd.DataFrame({"a": X[:, 0], "b": WORDS[:, 0], "c": X[:, 1].astype(int)}),
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
