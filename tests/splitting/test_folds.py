"""Folds are as equal as they can be, in size, by class, and with groups kept whole."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.extend import BadData, Data, TrueRiskWarning
from truerisk.splitting.folds import draw_folds

LABELS = st.lists(st.integers(0, 3), min_size=2, max_size=40).filter(lambda y: len(set(y)) > 1)


def folds_of(y, k, seed=0, groups=None, task="classification", **more):
    data = Data.check(np.zeros((len(y), 1)), y, task=task, groups=groups)
    return draw_folds(data, k, np.random.default_rng(seed), **more)


@given(LABELS, st.integers(2, 12), st.integers(0, 1000), st.booleans())
def test_draw_folds_balances_sizes_and_classes(y, k, seed, stratify):
    """K folds of sizes that differ by at most 1; stratified, so do the counts of every class."""
    k = min(k, len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrueRiskWarning)
        folds = folds_of(y, k, seed, stratify=stratify)
    labels = set(y) if stratify else ()
    for some in (np.ones(len(y), bool), *(np.array(y) == label for label in labels)):
        counts = np.bincount(folds[some], minlength=k)
        assert len(counts) == k
        assert counts.max() - counts.min() <= 1


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=4, max_size=40),
    st.integers(2, 6),
    st.integers(0, 1000),
)
def test_draw_folds_keeps_groups_whole_and_no_fold_empty(rows, k, seed):
    y, groups = (np.array(column) for column in zip(*rows, strict=True))
    if len(set(y)) < 2 or len(set(groups)) < k:
        return
    folds = folds_of(y, k, seed, groups)
    assert set(folds) == set(range(k))
    assert all(len(set(folds[groups == g])) == 1 for g in groups)


def test_draw_folds_of_many_small_groups_balances_rows_and_classes():
    groups = np.repeat(np.arange(100), 5)
    y = (np.random.default_rng(0).random(100) < 0.3).astype(int)[groups]
    folds = folds_of(y, 5, groups=groups)
    for label in (0, 1):
        counts = np.bincount(folds[y == label])
        assert counts.max() - counts.min() <= 10


def test_draw_folds_deals_rows_at_random():
    """Every row meets every fold number about equally often, and pairs are not kept together."""
    drawn = np.array([folds_of([0, 1] * 6, 4, seed) for seed in range(600)])
    shares = np.array([(drawn == f).mean(axis=0) for f in range(4)])
    assert np.abs(shares - 0.25).max() < 0.08
    together = np.mean(drawn[:, 0] == drawn[:, 2])  # one class: 3 rows for 2 places of 5 others
    assert 0.08 < together < 0.28


def test_draw_folds_of_numbers_is_not_stratified():
    assert sorted(np.bincount(folds_of(np.arange(7.0), 3, task="regression"))) == [2, 2, 3]


@pytest.mark.parametrize("y", [np.array(["a", "b"]), np.array(["a", "b"], dtype=object), [0, 1]])
def test_draw_folds_names_a_rare_class(y):
    labels = np.asarray(y)[[0] * 8 + [1] * 2]
    shown = repr(labels[-1].item() if isinstance(labels[-1], np.generic) else labels[-1])
    with pytest.warns(TrueRiskWarning, match=f"class {shown} has 2 rows for 5 folds"):
        folds_of(labels, 5)


@pytest.mark.parametrize(
    ("groups", "message"),
    [(None, "7 folds need at least 7 rows, and these are 6"), ([0, 0, 1, 1, 2, 2], "7 groups")],
)
def test_draw_folds_refuses_more_folds_than_rows_or_groups(groups, message):
    with pytest.raises(BadData, match=message):
        folds_of([0, 1] * 3, 7, groups=groups)
