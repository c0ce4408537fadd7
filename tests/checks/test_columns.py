"""Checks of columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from truerisk.checks import columns as on_columns
from truerisk.checks.columns import column_findings, columns_of
from truerisk.data.data import Data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4)) * [1, 2, 3, 4] + [5, 6, 7, 8]
Y = np.arange(80) % 2


def codes(X, y=Y, task="classification", groups=None):
    """Codes of the findings on a table."""
    data = Data.check(X, y, task=task, groups=groups)
    return {f.code for f in column_findings(data, columns_of(data.X))}


@pytest.mark.parametrize(
    ("load", "task"),
    [
        (load_breast_cancer, "classification"),
        (load_wine, "classification"),
        (load_iris, "classification"),
        (load_diabetes, "regression"),
    ],
)
def test_usual_tables_have_no_finding(load, task):
    """Scikit-learn's tables raise no alarm (diabetes comes scaled, each column to length 1)."""
    assert codes(*load(return_X_y=True), task=task) == set()


def test_a_column_that_is_y_is_found():
    """A copy of y with noise far below the gap predicts alone; one that overlaps does not."""
    assert "column-predicts-alone" in codes(np.c_[X, Y + RNG.normal(size=80) / 50])
    assert "column-predicts-alone" not in codes(np.c_[X, Y + RNG.normal(size=80)])


def test_a_text_that_names_the_class_is_found():
    """A column of words, each of one class."""
    frame = pd.DataFrame(X).assign(result=np.where(Y == 1, "ill", "well")).rename(columns=str)
    assert "column-predicts-alone" in codes(frame)
    assert "column-predicts-alone" in codes(pl.DataFrame({n: list(frame[n]) for n in frame}))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_text_that_never_repeats_is_found(make):
    """The number of a patient; numbers that never repeat are measurements, and words repeat."""
    names = [f"P{i:03d}" for i in range(80)]
    table = {"a": X[:, 0].tolist(), "sex": ["f", "f", "m", "m"] * 20}
    assert "text-never-repeats" in codes(make({**table, "patient": names}))
    assert "text-never-repeats" not in codes(make({**table, "patient": names[:79] + names[:1]}))
    assert "text-never-repeats" not in codes(make({**table, "patient": list(range(80))}))
    assert codes(make(table)) == set()


def test_a_number_that_is_a_numeric_y_is_found():
    """Correlation 1 with y; .99 is a good column, no more."""
    y = RNG.normal(size=80)
    assert "column-predicts-alone" in codes(np.c_[X, 3 - 2 * y], y, "regression")
    worse = y + RNG.normal(size=80) / 5
    assert "column-predicts-alone" not in codes(np.c_[X, worse], y, "regression")


def test_few_rows_and_many_columns_separate_by_chance():
    """8 rows sort one of 500 noise columns by class: no finding."""
    wide = np.random.default_rng(1).normal(size=(8, 500))
    assert "column-predicts-alone" not in codes(wide, np.arange(8) % 2)


def test_ties_in_rows_sorted_by_class_tell_nothing():
    """One value in all rows but one: the order of the rows is not the order of the column."""
    sparse_column = np.r_[np.zeros(79), 1]
    assert "column-predicts-alone" not in codes(np.c_[X, sparse_column], np.repeat([0, 1], 40))


def test_a_constant_column_tells_nothing():
    """Ties are not counted as order."""
    assert codes(np.c_[X, np.ones(80)]) == set()


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()])
def test_scaling_before_the_folds_is_seen(scaler):
    """All columns have mean 0 and deviation 1, or run from 0 to 1; half of them is not enough."""
    scaled = scaler.fit_transform(X)
    assert "scaled-outside" in codes(scaled)
    assert "scaled-outside" not in codes(np.c_[scaled[:, :2], X[:, 2:]])
    assert "scaled-outside" not in codes(scaled[:60], Y[:60])


def test_principal_components_are_seen():
    """Scores of all rows are uncorrelated to the last digit; those of other rows are not."""
    assert "rotated-outside" in codes(PCA().fit_transform(X))
    assert "rotated-outside" not in codes(PCA().fit(X[:40]).transform(X))


@pytest.mark.parametrize("strategy", ["mean", "median"])
def test_filled_gaps_are_seen(strategy):
    """A value that repeats and is the mean of all others; a rounded column has no such value."""
    gaps = X.copy()
    gaps[RNG.integers(80, size=12), 1] = np.nan
    assert "imputed-outside" in codes(SimpleImputer(strategy=strategy).fit_transform(gaps))
    assert "imputed-outside" not in codes(np.round(X, 1))


def test_a_table_that_is_too_large_is_not_looked_through(monkeypatch):
    """It is said, not passed over."""
    monkeypatch.setattr(on_columns, "LARGEST", 100)
    assert "columns-unseen" in codes(X)
    assert "columns-unseen" not in codes(X[:20], Y[:20])


def test_sparse_tables_are_read():
    """A sparse matrix has the findings of its dense copy."""
    leaking = np.c_[X, Y]
    assert codes(sparse.csr_matrix(leaking)) == codes(leaking) != set()
