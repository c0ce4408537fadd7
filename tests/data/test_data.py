"""Data are checked once at the door, and their rows are the same rows in every container."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from truerisk.core.errors import BadData
from truerisk.data.columns import non_finite
from truerisk.data.data import Data, has_row_entries

X = np.arange(12.0).reshape(6, 2)
Y = np.array([1, 0, 2, 1, 0, 2])


def check(X=X, y=Y, task="classification", **more) -> Data:
    return Data.check(X, y, task=task, **more)


@pytest.mark.parametrize(
    "y",
    [
        Y,
        Y.tolist(),
        pd.Series(Y, index=list("abcdef")),
        pd.Series(Y, dtype="Int64"),
        pl.Series(Y),
        np.array(["b", "a", "c"])[[0, 1, 2, 0, 1, 2]],
        np.array(["b", "a", "c"], dtype=object)[[0, 1, 2, 0, 1, 2]],
        pd.Series(["b", "a", "c"] * 2, dtype="category"),
        pd.Series(["b", "a", "c"] * 2),
        Y.astype(float),
        Y.astype("u1"),
    ],
    ids=lambda y: f"{type(y).__module__.partition('.')[0]}-{getattr(y, 'dtype', '')}",
)
def test_codes_are_positions_among_sorted_classes(y) -> None:
    """Labels of any kind become 0, 1, 2 in sorted order, and the classes remember the labels."""
    data = check(y=y)
    assert data.codes.tolist() == Y.tolist()
    assert data.n_classes == 3
    assert (data.classes[data.codes] == np.asarray(y)).all()
    assert type(data.label(1)) in (int, float, str)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([7, 3, 9, 3, 7, 7, 4, 3, 9, 3], np.int64),  # gaps
        ([-2, -1, -2, 1, -1, 1], np.int64),
        ([2**62, 5, 5, 2**62], np.int64),  # too far apart to be counted
        ([-(2**63), 1 - 2**63, -(2**63)], np.int64),
        ([2**64 - 1, 2**64 - 2, 2**64 - 1], np.uint64),
        (list(range(-100, 101)), np.int8),  # their differences do not fit
        ([200, 3, 200, 199], np.uint8),
    ],
)
def test_whole_numbers_are_coded_as_sorting_codes_them(labels, kind) -> None:
    """Classes and codes of whole numbers of any type are those of np.unique."""
    y = np.array(labels, dtype=kind)
    data = check(np.zeros((len(y), 1)), y)
    classes, codes = np.unique(y, return_inverse=True)
    assert data.classes.dtype == kind
    assert np.array_equal(data.classes, classes)
    assert np.array_equal(data.codes, codes)


def test_a_subset_keeps_codes_and_names_its_rows() -> None:
    """Cut rows keep their class codes, weights, groups, fit parameters, and original numbers."""
    data = check(
        groups=list("aabbcc"),
        sample_weight=[1, 2, 3, 4, 5, 6],
        fit_params={"own": list(range(6)), "flag": True, "pair": [1, 2]},
    )
    part = data.subset(np.array([1, 4, 5]))
    assert part.X.tolist() == X[[1, 4, 5]].tolist()
    assert part.codes.tolist() == [0, 0, 2]
    assert part.n_classes == 3
    assert part.groups.tolist() == [0, 2, 2]
    assert part.sample_weight.tolist() == [2, 5, 6]
    assert part.fit_params == {"own": [1, 4, 5], "flag": True, "pair": [1, 2]}
    assert part.subset(np.array([0, 2])).row_ids.tolist() == [1, 5]


def test_the_fingerprint_sees_labels_groups_and_weights() -> None:
    """What can change a result changes the fingerprint of the data; copies do not."""
    prints = [
        check().fingerprint,
        check(y=Y[::-1]).fingerprint,
        check(X=X + 1).fingerprint,
        check(groups=Y).fingerprint,
        check(sample_weight=Y + 1).fingerprint,
    ]
    assert len(set(prints)) == 5
    assert check(X=X.copy(), y=Y.copy()).fingerprint == prints[0] == check(X.tolist()).fingerprint


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y is None"),
        (Y[:4], "X has 6 rows and y has 4"),
        ([1, 0, None, 1, 0, 2], "missing .* in 1 of 6 rows, first in row 2"),
        ([1, 0, np.nan, 1, np.inf, 2], "in 2 of 6 rows, first in row 2: leave"),
        (pd.Series([1, 0, pd.NA, 1, 0, 2], dtype="Int64"), "first in row 2"),
        ([1.5, 0, 2, 1, 0, 2], "holds fractions.*use a regressor"),
        (["a", 1, "b", 2, "a", "b"], "mixes int and str; use one type"),
        (np.array(["a", 1, "b", 2, "a", "b"], dtype=object), "mixes int and str"),
        (["a"] * 6, "only one class, 'a'.*Check the target column"),
        (np.ones((6, 2), int), "several columns"),
        (np.ones((6, 2, 2)), "y has 3 dimensions"),
        (pd.date_range("2020", periods=6), "y holds dates or spans of time"),
        (pd.date_range("2020", periods=6, tz="UTC"), "objects of type Timestamp, which scikit"),
        (pd.period_range("2020", periods=6), "y holds objects of type Period"),
        ([10**30, 10**31] * 3, "objects of type int, .* into text, such as y.astype"),
        (np.array([0, 1] * 3, dtype=object), "y holds objects of type int"),
        (np.array([b"a", b"b"] * 3), "y holds objects of type bytes"),
        ([Fraction(1), Fraction(2)] * 3, "y holds objects of type Fraction"),
        ([frozenset("a"), frozenset("b")] * 3, "y holds objects of type frozenset"),
        (Y * 1j, "Complex data not supported"),
    ],
)
def test_a_bad_target_is_named(y, message) -> None:
    """What is wrong with y, in which row, and what to do."""
    with pytest.raises(BadData, match=message):
        check(y=y)


def test_a_regressor_needs_numbers() -> None:
    """The first target that is no number is shown."""
    with pytest.raises(BadData, match=r"y\[2\] is 'x', not a number: .* use a classifier"):
        check(y=["1", "2", "x", "4", "5", "6"], task="regression")
    assert check(y=Y, task="regression").y.dtype == float
    assert check(y=np.ones((6, 2)), task="regression").y.shape == (6, 2)


def test_a_column_vector_is_used_with_a_warning() -> None:
    """One column of y is y, said once."""
    with pytest.warns(DataConversionWarning, match="its one column is used"):
        assert check(y=Y[:, None]).y.shape == (6,)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "X has no rows"),
        (np.empty((0, 3)), "X has no rows"),
        (np.arange(6.0), "one dimension.*reshape"),
        (list(range(6)), "one dimension"),
        ("table.csv", "X='table.csv' is a text, not a table: read the file first"),
        (pd.Series(range(6)), "one dimension"),
        ([[1, 2], [3], [4], [5], [6], [7]], "not equally long"),
        (7, "int, which has no rows"),
    ],
)
def test_a_bad_table_is_named(table, message) -> None:
    """What is wrong with X, and what to do."""
    with pytest.raises(BadData, match=message):
        check(X=table)


def test_lists_of_text_stay_text() -> None:
    """Texts stay one text per row, and numbers beside text stay numbers."""
    texts = check(X=["a b", "c d"] * 3).X
    assert texts.shape == (6,)
    assert texts.dtype == object
    mixed = check(X=[[1, "a"], [2, "b"]] * 3).X
    assert mixed[0].tolist() == [1, "a"]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil", "dok"])
def test_sparse_tables_become_row_wise(kind) -> None:
    """A sparse matrix of any form gives its rows."""
    data = check(X=sp.csr_matrix(X).asformat(kind))
    assert data.rows(np.array([4, 1])).toarray().tolist() == X[[4, 1]].tolist()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"groups": [1, 2]}, r"groups has shape \(2,\).*each of 6 rows"),
        ({"groups": ["a"] * 6}, "one group only"),
        ({"groups": [1, 2, np.nan, 1, 2, 1]}, "groups is NaN, first in row 2"),
        ({"groups": np.array([1, "a", None, 1, 2, 1], dtype=object)}, "one type"),
        ({"sample_weight": [1, 2]}, r"sample_weight has shape \(2,\)"),
        ({"sample_weight": [1, 1, -1, 1, 1, 1]}, r"sample_weight\[2\] is -1.0"),
        ({"sample_weight": [1, 1, np.nan, 1, 1, 1]}, r"sample_weight\[2\] is nan"),
        ({"sample_weight": [0] * 6}, "zero everywhere"),
        ({"sample_weight": ["a"] * 6}, r"sample_weight=\['a', .* holds what is no number"),
    ],
)
def test_bad_groups_and_weights_are_named(more, message) -> None:
    """What is wrong with groups or weights, and where."""
    with pytest.raises(BadData, match=message):
        check(**more)


def test_which_fit_parameters_are_cut() -> None:
    """One entry per row: arrays and lists of that length; never words, dicts or numbers."""
    assert has_row_entries([1, 2, 3], 3)
    assert has_row_entries(np.ones((3, 2)), 3)
    assert has_row_entries(sp.csr_matrix(np.ones((3, 2))), 3)
    for value in (None, "abc", b"abc", {1: 1, 2: 2, 3: 3}, 3, np.float64(3), [1, 2]):
        assert not has_row_entries(value, 3)


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, sp.csr_matrix, sp.coo_array])
def test_the_first_bad_cell_is_shown(make) -> None:
    """Row and column of the first NaN or infinite cell, and the remedy."""
    bad = X.copy()
    bad[4, 0], bad[2, 1] = np.inf, np.nan
    found = non_finite(make(bad))
    assert found.startswith("X has 2 cells that are NaN or infinite, the first (NaN) in row 2")
    assert "column 1" in found.replace("'1'", "1")
    assert "SimpleImputer" in found
    assert non_finite(make(X)) is None


def test_text_tables_have_no_infinite_cells() -> None:
    """Tables that are no numbers are not judged."""
    assert non_finite(pd.DataFrame({"a": ["x", "y"]})) is None
    assert non_finite(np.array(["x", "y"], dtype=object)) is None


@pytest.mark.parametrize("kind", [np.asarray, list, lambda values: values.tolist()])
def test_swapped_table_and_target_are_said_to_be_swapped(kind):
    """Y in the place of X, in numbers or in words, as array or list."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    for y in (np.arange(20) % 2, np.array(["a", "b"] * 10), np.arange(20) / 7):
        with pytest.raises(BadData, match="X and y look swapped: X is one value for each of 20"):
            Data.check(kind(y), kind(X), task="classification")


def test_documents_with_several_targets_are_not_swapped():
    """A text for each row is a table of texts."""
    texts = [f"text number {i}" for i in range(20)]
    data = Data.check(texts, np.zeros((20, 2)) + np.arange(20)[:, None], task="regression")
    assert data.n_rows == 20
