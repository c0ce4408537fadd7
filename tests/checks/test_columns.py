"""Columns that predict alone, were fitted or selected outside the folds, or name each row."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.feature_selection import f_classif, f_regression
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from truerisk.checks import columns as on_columns
from truerisk.checks.columns import column_findings, column_view
from truerisk.checks.selected_columns import (
    SIGNIFICANCE_LEVEL,
    measure_z_spread,
    selection_findings,
)
from truerisk.extend import Data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4)) * [1, 2, 3, 4] + [5, 6, 7, 8]
Y = np.arange(80) % 2
SCALED = StandardScaler().fit_transform(X)


def codes(X, y=Y, task="classification", groups=None):
    """Return the codes of all findings on a table."""
    data = Data.check(X, y, task=task, groups=groups)
    columns = column_view(data.X)
    findings = [*column_findings(data, columns), *selection_findings(data, columns)]
    return {finding.code for finding in findings}


def table(column, make=pd.DataFrame):
    """Return a frame of numbers, words and one more column."""
    return make({"a": X[:, 0].tolist(), "sex": ["f", "f", "m", "m"] * 20, "more": list(column)})


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_iris, load_digits])
def test_column_findings_leave_real_tables_alone(load):
    """In one of them every column is associated with the class."""
    assert codes(*load(return_X_y=True)) == set()
    assert codes(*load_diabetes(return_X_y=True), task="regression") == set()


ILL = np.where(Y == 1, "ill", "well")
NAMES = [f"P{i:03d}" for i in range(80)]
SORTED = np.repeat([0, 1], 40)
OTHER = RNG.normal(size=80)
GAPS = np.where(
    np.isin(np.arange(320).reshape(80, 4), RNG.integers(80, size=12) * 4 + 1), np.nan, X
)


@pytest.mark.parametrize(
    ("table", "y", "expected"),
    [
        (np.c_[X, Y + RNG.normal(size=80) / 50], Y, "column-predicts-alone"),
        (np.c_[X, Y + RNG.normal(size=80)], Y, ""),
        (sparse.csr_matrix(np.c_[X, Y]), Y, "column-predicts-alone"),
        (table(ILL), Y, "column-predicts-alone"),
        (table(ILL, pl.DataFrame), Y, "column-predicts-alone"),
        (np.c_[X, 3 - 2 * OTHER], OTHER, "column-predicts-alone"),
        (np.c_[X, OTHER + RNG.normal(size=80) / 5], OTHER, ""),
        # Eight rows sort some of 500 noise columns by class.
        (np.random.default_rng(1).normal(size=(8, 500)), np.arange(8) % 2, ""),
        # The order of sorted rows is not the order of a column of ties.
        (np.c_[X, np.r_[np.zeros(79), 1]], SORTED, ""),
        (np.c_[X, np.ones(80)], Y, ""),
        (table(NAMES), Y, "text-never-repeats"),
        (table(NAMES, pl.DataFrame), Y, "text-never-repeats"),
        (table([*NAMES[:79], NAMES[0]]), Y, ""),
        (table(range(80)), Y, ""),
        (SCALED, Y, "scaled-outside"),
        (MinMaxScaler().fit_transform(X), Y, "scaled-outside"),
        (np.c_[SCALED[:, :2], X[:, 2:]], Y, ""),
        (SCALED[:60], Y[:60], ""),
        (PCA().fit_transform(X), Y, "rotated-outside"),
        (PCA().fit(X[:40]).transform(X), Y, ""),
        (SimpleImputer(strategy="mean").fit_transform(GAPS), Y, "imputed-outside"),
        (SimpleImputer(strategy="median").fit_transform(GAPS), Y, "imputed-outside"),
        (np.round(X, 1), Y, ""),
    ],
)
def test_column_findings_of_one_table(table, y, expected):
    """Each kind of leak has its code, and a table that only looks like it has none."""
    task = "regression" if y is OTHER else "classification"
    assert codes(table, y, task) == ({expected} if expected else set())


def test_column_findings_say_which_tables_are_too_large(monkeypatch):
    monkeypatch.setattr(on_columns, "MAX_TABLE_CELLS", 100)
    assert "columns-unseen" in codes(X)
    assert "columns-unseen" not in codes(X[:20], Y[:20])


def noise(seed, n=50, p=2000, kept=None, n_classes=2):
    """Noise, and of its columns the best `kept` by their F statistic."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.arange(n) % n_classes
    return (X if kept is None else X[:, np.argsort(-f_classif(X, y)[0])[:kept]]), y


@pytest.mark.parametrize("kept", [20, 50, 100])
def test_selection_outside_is_seen_in_the_best_columns_of_noise(kept):
    """Of 2000 features on 50 rows: in nine of ten draws or more."""
    found = [codes(*noise(seed, kept=kept)) for seed in range(10)]
    assert sum("selection-outside" in codes for codes in found) >= 9


def test_selection_outside_is_seen_with_three_classes_and_with_numbers():
    assert "selection-outside" in codes(*noise(0, 60, kept=30, n_classes=3))
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 2000)), rng.normal(size=60)
    kept = X[:, np.argsort(-f_regression(X, y)[0])[:30]]
    assert "selection-outside" in codes(kept, y, "regression")


@pytest.mark.parametrize("p", [5, 20, 100])
def test_selection_outside_is_not_said_of_unselected_noise(p):
    assert all("selection-outside" not in codes(*noise(seed, p=p)) for seed in range(50))


@pytest.mark.parametrize("shared", [0.0, 0.9, 0.99])
@pytest.mark.parametrize("effect", [2.5, 4.0, 8.0])
def test_selection_outside_is_not_said_of_equally_good_columns(effect, shared):
    """Equal true effects, independent or highly correlated (spectra), are the hardest case.

    False alarms are at most LEVEL per table, up to the approximation: none in 25 is expected.
    """
    rng = np.random.default_rng(3)
    y = np.arange(48) % 2
    for _ in range(25):
        common = rng.normal(size=(48, 1))
        X = np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.normal(size=(48, 20))
        X += np.outer(y, np.full(20, effect * 2 / np.sqrt(48)))
        assert "selection-outside" not in codes(X, y)
        assert "selection-outside" not in codes(X * np.repeat([1, -1], 10), y)
    assert SIGNIFICANCE_LEVEL <= 1e-3


def test_spread_of_equal_effects_is_one_whatever_the_effect():
    rng = np.random.default_rng(4)
    y = np.arange(40) % 2
    spreads = []
    for effect in (3.0, 12.0):
        X = rng.normal(size=(40, 1000)) + np.outer(y, np.full(1000, effect * 2 / np.sqrt(40)))
        spreads.append(measure_z_spread(X, Data.check(X, y, task="classification")).observed_spread)
    assert spreads == pytest.approx([1, 1], abs=0.08)


def test_spread_does_not_depend_on_signs_units_and_names_of_classes():
    rng = np.random.default_rng(5)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 1)) + rng.normal(size=(40, 12)) + np.outer(y, np.full(12, 1.5))
    turned = X * np.repeat([3, -0.1], 6) + 7
    first, second = (
        measure_z_spread(table, Data.check(table, labels, task="classification"))
        for table, labels in ((X, y), (turned, 1 - y))
    )
    assert first.expected_spread == pytest.approx(second.expected_spread)
    assert first.p_value == pytest.approx(second.p_value)
    assert first.p_value < 1
    assert measure_z_spread(X[:, :4], Data.check(X, y, task="classification")) is None  # too few
