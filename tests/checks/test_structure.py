"""Checks of structure: what they see in drawn tables, and what they leave alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from truerisk.checks import rows as rows_checked
from truerisk.checks.rows import structure_findings
from truerisk.data.data import Data

SEEDS = range(6)


def codes_of(X, y, task="classification", **more):
    """Return the codes of the findings."""
    data = Data.check(X, y, task=task, **more)
    return {finding.code for finding in structure_findings(data)}


def visits(seed, k=40, size=4, noise=0.2, p=5, shuffled=True):
    """Draw patients with several visits each; y is a coin for each patient."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(k), size)
    X = rng.standard_normal((k, p))[patient] + noise * rng.standard_normal((k * size, p))
    y = (rng.random(k) < 0.5)[patient].astype(int)
    order = rng.permutation(len(y)) if shuffled else np.arange(len(y))
    return X[order], y[order], patient[order]


def walk(seed, n=200):
    """Draw a random walk and a table whose first column is the number of the row."""
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.standard_normal(n)) + rng.standard_normal(n)
    return np.column_stack([np.arange(n), rng.standard_normal((n, 2))]), y


def numbered(seed, k=30, size=5, flips=0.1):
    """Draw rows with the number of their group as a column, and some labels flipped."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(k), size))
    y = (rng.random(k) < 0.5)[group] ^ (rng.random(len(group)) < flips)
    return np.column_stack([group, rng.standard_normal((len(group), 4))]), y.astype(int)


def test_near_copies_of_visits_with_noise_are_said():
    """Four visits of each of forty patients are seen if noise is a fifth of the spread."""
    for seed in SEEDS:
        X, y, _ = visits(seed)
        assert codes_of(X, y) == {"near-copies"}


def test_rows_in_order_of_random_walk_are_said():
    """A random walk has an order, although the number of the row is a column."""
    for seed in SEEDS:
        assert "rows-in-order" in codes_of(*walk(seed), task="regression")


def test_group_numbers_with_label_noise_are_said():
    """The number of a group is seen even if a tenth of the labels is flipped."""
    for seed in SEEDS:
        assert "group-numbers" in codes_of(*numbered(seed))


def test_structure_findings_stop_where_groups_times_or_places_are_given():
    """What the user has said of the rows is not said again."""
    X, y, patient = visits(0)
    assert codes_of(X, y, groups=patient) == set()
    assert "near-copies" not in codes_of(X, y, time=np.arange(160))
    assert "near-copies" not in codes_of(X, y, block=X[:, :2])
    X, y = numbered(0)
    assert "group-numbers" not in codes_of(X, y, groups=X[:, 0].astype(int))
    X, y = walk(0)
    assert "rows-in-order" not in codes_of(X, y, task="regression", time=X[:, 0])
    assert codes_of(X, y, task="regression", block=X[:, 1:]) == set()


@pytest.mark.parametrize("p", [2, 5, 20])
def test_structure_findings_leave_independent_rows_alone(p):
    """Normal columns, heavy tails and whole numbers give no finding."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        for X in (
            rng.standard_normal((150, p)),
            rng.standard_t(2, (150, p)),
            np.round(3 * rng.standard_normal((150, p))),
        ):
            f = X[:, 0] + rng.standard_normal(150)
            assert codes_of(X, (f > 0).astype(int)) == set()
            assert codes_of(X, f, task="regression") == set()


def test_structure_findings_leave_real_tables_alone():
    """Four tables of scikit-learn give no finding, though two of them are sorted by class."""
    for load in (load_breast_cancer, load_iris, load_wine):
        assert codes_of(*load(return_X_y=True)) == set()
    assert codes_of(*load_diabetes(return_X_y=True), task="regression") == set()


def test_rows_in_order_are_not_said_of_sorted_tables():
    """Independent rows give no finding if they are sorted by class, by y or by a feature."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 3))
        f = np.sin(2 * X[:, 0]) + 0.5 * rng.standard_normal(200)
        label = (f > 0).astype(int)
        for by in (label, f, X[:, 0]):
            order = np.argsort(by, kind="stable")
            assert codes_of(X[order], label[order]) == set() or by is f
            assert codes_of(X[order], f[order], task="regression") == set() or by is label


def test_structure_findings_do_not_depend_on_scale_columns_or_names_of_classes():
    """The findings stay if columns are reversed and scaled, and if classes are named."""
    for X, y in (visits(1)[:2], numbered(1)):
        expected = codes_of(X, y)
        assert expected
        assert codes_of(X[:, ::-1] * 7 + 3, np.where(y == 1, "a", "b")) == expected
        for scale in (1e250, 1e-300):
            assert codes_of(X * scale, y) == expected


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_structure_findings_read_frames(make):
    """Copies and group numbers are seen in frames of numbers and words."""
    X, y = numbered(2)
    table = {f"x{j}": X[:, j] for j in range(1, 5)}
    assert codes_of(make({**table, "code": [f"g{int(i)}" for i in X[:, 0]]}), y) == {
        "group-numbers"
    }
    X, y, _ = visits(2)
    words = ["u", "v", "w"] * 50 + ["u"] * 10
    assert codes_of(make({**{f"x{j}": X[:, j] for j in range(5)}, "word": words}), y) == {
        "near-copies"
    }


def test_structure_findings_survive_unsuitable_tables():
    """Tables that cannot be compared yield what can be said, which may be nothing."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    for X in (
        sparse.random(80, 30, density=0.1, format="csr", random_state=0),
        [f"text {i}" for i in range(80)],
        rng.standard_normal((80, 3, 2)),
        np.full((80, 3), np.nan),
        np.ones((80, 3)),
        np.array([[None, "a", 1.5]] * 80, dtype=object),
        rng.standard_normal((80, 5000)),
    ):
        assert codes_of(X, y) == set()
    X, y = walk(3)
    assert codes_of(sparse.csr_matrix(X), y, task="regression") == {"rows-in-order"}
    assert codes_of([f"text {i}" for i in range(200)], y, task="regression") == {"rows-in-order"}


class Foreign:
    """A matrix of another library, which can be counted, cut and made an array."""

    def __init__(self, content):
        self.content, self.shape = content, content.shape

    def __len__(self):
        return len(self.content)

    def __getitem__(self, rows):
        if isinstance(rows, tuple):
            raise TypeError("rows alone")
        return Foreign(self.content[rows])

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.content, dtype)


def test_structure_findings_read_matrices_of_other_libraries():
    """A matrix is made an array once; it need not know how columns are taken."""
    X, y, _ = visits(0)
    assert codes_of(Foreign(X), y) == {"near-copies"}


def test_structure_findings_read_numbers_beyond_double_precision():
    """Whole numbers above 1e308, in X or in y, are not compared."""
    X, y = numbered(2)
    huge = pd.Series([10**400 * int(label) for label in y], dtype=object)
    assert codes_of(pd.DataFrame(X).assign(huge=huge), y) == {"group-numbers"}
    assert codes_of(X[:, 1:], huge.to_numpy(), task="other") == set()


def test_near_copies_are_not_sought_in_a_slice_of_one_value():
    """All columns of a large table may be constant in the slice that keeps cases together."""
    whole = np.arange(100_000) // 10_000
    y = np.random.default_rng(0).permutation(len(whole)) % 2
    data = Data.check(np.column_stack([whole, whole + 0.5]), y, task="classification")
    for seed in range(5):
        assert "near-copies" not in {finding.code for finding in structure_findings(data, seed)}


@pytest.mark.parametrize("name", ["find_copies", "order_of_outcomes", "group_number"])
def test_structure_findings_pass_errors_on(name, monkeypatch):
    """An error in a check is a fault of the package, and is not taken for a clean table."""

    def broken(*values, **options):
        raise AttributeError("broken")

    monkeypatch.setattr(rows_checked, name, broken)
    with pytest.raises(AttributeError, match="broken"):
        codes_of(*numbered(0))


def test_group_numbers_by_the_name_of_a_column():
    """A name such as patient_id is enough for the finding, unless groups are given."""
    rng = np.random.default_rng(0)
    X, y, patient = rng.normal(size=(80, 4)), np.arange(80) % 2, np.repeat(np.arange(20), 4)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(patient_id=patient)
    assert "group-numbers" in codes_of(frame, y)
    assert "group-numbers" not in codes_of(frame.rename(columns={"patient_id": "width"}), y)
    assert "group-numbers" not in codes_of(frame, y, groups=patient)


def test_group_numbers_are_found_among_many_columns():
    """The column is among the 200 of 1000 that are looked at: whole numbers and names first."""
    X, y = numbered(4)
    noise = np.random.default_rng(0).standard_normal((len(X), 1000))
    for place in (100, 400, 700, 900):
        wide = noise.copy()
        wide[:, place] = X[:, 0]
        assert codes_of(wide, y) == {"group-numbers"}
    frame = pd.DataFrame(noise[:, :690], columns=[f"x{j}" for j in range(690)])
    assert codes_of(frame.assign(patient_id=X[:, 0]), y) == {"group-numbers"}


def test_structure_findings_do_not_compare_long_texts():
    """Documents that repeat are no group numbers; short words of the same number are."""
    X, y = numbered(5)
    words = [f"g{int(i):02d}" for i in X[:, 0]]
    assert codes_of(pd.DataFrame({"x": X[:, 1], "text": words}), y) == {"group-numbers"}
    assert codes_of(pd.DataFrame({"x": X[:, 1], "text": [w * 100 for w in words]}), y) == set()


def test_group_numbers_are_not_said_of_exact_copies():
    """Rows measured once and joined twice are told as copies; the values repeat with them."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    twice = rng.permutation(np.repeat(np.arange(60), 2))
    assert codes_of(X[twice], y[twice]) == set()
    visits = np.column_stack([np.repeat(np.arange(60), 2), rng.normal(size=120)])
    assert "group-numbers" in codes_of(visits, np.repeat(y, 2))


def test_slices_of_a_table_are_those_of_its_columns():
    """An array is read in blocks, a frame and an array with gaps column by column."""
    X = np.random.default_rng(0).normal(size=(21_000, 4))
    gap = X.copy()
    gap[7, 3] = np.nan

    def slices(table):
        return rows_checked._rows_of_slices(
            table, [0, 1, 2], len(X), 2000, np.random.default_rng(1)
        )

    expected = slices(pd.DataFrame(X, columns=list("abcd")))
    for rows, by_column in zip(slices(X), expected, strict=True):
        np.testing.assert_array_equal(rows, by_column)
        assert 1500 < len(rows) < 2500
    between = rows_checked._rows_between(gap, [0, 3], np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert between is None
    gap[:, :3] = np.where(np.arange(21_000)[:, None] == 7, np.nan, X[:, :3])
    for rows, by_column in zip(slices(gap), expected, strict=True):
        assert len(set(rows) ^ set(by_column)) <= 2  # the row with the gap counts as the median
