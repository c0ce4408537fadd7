"""Folds are as equal as they can be, in size, by class, and with groups kept whole."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.core.errors import BadData, TrueRiskWarning
from truerisk.data.data import Data
from truerisk.splitting.folds import draw_folds


def data_of(y, groups=None, task="classification") -> Data:
    return Data.check(np.zeros((len(y), 1)), y, task=task, groups=groups)


def quiet(*arguments, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrueRiskWarning)
        return draw_folds(*arguments, **more)


labels = st.lists(st.integers(0, 3), min_size=2, max_size=40).filter(lambda y: len(set(y)) > 1)


@given(labels, st.integers(2, 12), st.integers(0, 1000), st.booleans())
def test_folds_are_balanced(y, k, seed, stratify) -> None:
    """K folds of sizes that differ by at most 1; stratified, so do the counts of every class."""
    k = min(k, len(y))
    folds = quiet(data_of(y), k, np.random.default_rng(seed), stratify=stratify)
    sizes = np.bincount(folds, minlength=k)
    assert len(sizes) == k
    assert sizes.max() - sizes.min() <= 1
    if stratify:
        for label in set(y):
            counts = np.bincount(folds[np.array(y) == label], minlength=k)
            assert counts.max() - counts.min() <= 1


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=4, max_size=40),
    st.integers(2, 6),
    st.integers(0, 1000),
)
def test_groups_stay_whole(rows, k, seed) -> None:
    """Every group is in one fold, and no fold is without a group."""
    y, groups = (np.array(column) for column in zip(*rows, strict=True))
    if len(set(y)) < 2 or len(set(groups)) < k:
        return
    folds = draw_folds(data_of(y, groups), k, np.random.default_rng(seed))
    assert set(folds) == set(range(k))
    assert all(len(set(folds[groups == g])) == 1 for g in groups)


def test_groups_balance_rows_and_classes() -> None:
    """With many small groups, folds hold about equal shares of rows and of every class."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(100), 5)
    y = (rng.random(100) < 0.3).astype(int)[groups]
    folds = draw_folds(data_of(y, groups), 5, rng)
    for label in (0, 1):
        counts = np.bincount(folds[y == label])
        assert counts.max() - counts.min() <= 10


def test_rows_are_dealt_at_random() -> None:
    """Every row meets every fold number about equally often, and pairs are not kept together."""
    y = [0, 1] * 6
    drawn = np.array([draw_folds(data_of(y), 4, np.random.default_rng(s)) for s in range(800)])
    shares = np.array([(drawn == f).mean(axis=0) for f in range(4)])
    assert np.abs(shares - 0.25).max() < 0.08
    together = np.mean(drawn[:, 0] == drawn[:, 2])  # one class: 3 rows for 2 places of 5 others
    assert 0.08 < together < 0.28


def test_regression_is_not_stratified() -> None:
    """Numbers have no classes; folds are plain."""
    folds = draw_folds(data_of(np.arange(7.0), task="regression"), 3, np.random.default_rng(0))
    assert sorted(np.bincount(folds)) == [2, 2, 3]


@pytest.mark.parametrize("y", [np.array(["a", "b"]), np.array(["a", "b"], dtype=object), [0, 1]])
def test_a_rare_class_is_named(y) -> None:
    """A class with fewer rows than folds is named with its count, as the user wrote it."""
    labels = np.asarray(y)[[0] * 8 + [1] * 2]
    shown = repr(labels[-1].item() if isinstance(labels[-1], np.generic) else labels[-1])
    with pytest.warns(TrueRiskWarning, match=f"class {shown} has 2 rows for 5 folds"):
        draw_folds(data_of(labels), 5, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("groups", "message"),
    [(None, "7 folds need at least 7 rows, and these are 6"), ([0, 0, 1, 1, 2, 2], "7 groups")],
)
def test_too_many_folds_are_refused(groups, message) -> None:
    """More folds than rows, or than groups."""
    with pytest.raises(BadData, match=message):
        draw_folds(data_of([0, 1] * 3, groups), 7, np.random.default_rng(0))
