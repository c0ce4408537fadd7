"""Held-out parts, bootstrap samples and subsamples: by class, in whole groups, or as given."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.extend import BadData, Data, TrueRiskWarning
from truerisk.splitting.samples import (
    count_given_samples,
    cut_subsamples,
    draw_held_out,
    draw_samples,
    shuffle_for_subsamples,
)


def data_of(y, groups=None, task="classification"):
    return Data.check(np.zeros((len(y), 1)), y, task=task, groups=groups)


def rng(seed=0):
    return np.random.default_rng(seed)


# ---------------- a held-out part

LABELS = st.lists(st.integers(0, 3), min_size=2, max_size=40).filter(lambda y: len(set(y)) > 1)


@given(LABELS, st.floats(0.01, 0.99), st.integers(0, 1000), st.booleans())
def test_draw_held_out_keeps_the_share(y, share, seed, stratify):
    """Distinct ascending rows, as many as the share says, and as near in every class."""
    n, part = len(y), draw_held_out(data_of(y), share, rng(seed), stratify=stratify)
    size = min(max(round(n * share), 1), n - 1)
    assert len(part) == size
    assert (np.diff(part) > 0).all()
    for label in set(y) if stratify else ():
        of_class = np.array(y) == label
        assert abs(of_class[part].sum() - of_class.sum() * size / n) < 1 + 1e-9


@given(st.lists(st.integers(0, 6), min_size=2, max_size=30), st.floats(0.05, 0.95))
def test_draw_held_out_keeps_groups_whole_with_rows_on_both_sides(groups, share):
    n, groups = len(groups), np.array(groups)
    if len(set(groups)) < 2:
        return
    part = draw_held_out(data_of(np.arange(n) % 2, groups), share, rng())
    rest = np.setdiff1d(np.arange(n), part)
    assert min(len(part), len(rest)) > 0
    assert not set(groups[part]) & set(groups[rest])


def test_draw_held_out_takes_every_row_equally_often():
    data, drawn = data_of([0] * 9 + [1] * 3), np.zeros(12)
    for seed in range(1200):
        drawn[draw_held_out(data, 1 / 3, rng(seed))] += 1
    assert np.abs(drawn / 1200 - 1 / 3).max() < 0.06


TWO_GROUPS = data_of([0, 1, 0], [0, 0, 1])


@pytest.mark.parametrize(
    ("data", "share", "message"),
    [
        *((TWO_GROUPS, share, "use 0 < share < 1") for share in (0, 1, -0.5, 1.5, np.nan)),
        (TWO_GROUPS.subset(np.array([0])), 0.5, "n_samples=1.* cannot be split"),
        (TWO_GROUPS.subset(np.array([0, 1])), 0.5, "one group cannot be split"),
    ],
)
def test_draw_held_out_refuses_to_leave_a_side_empty(data, share, message):
    with pytest.raises(BadData, match=message):
        draw_held_out(data, share, rng())


# ---------------- bootstrap samples

CODES = np.array([0] * 6 + [1] * 3 + [2])
TEN = data_of(CODES)
QUIET = pytest.mark.filterwarnings("ignore:.*hold no row of class")


def test_draw_samples_warns_of_classes_that_samples_lack():
    """A class of one row is missed by a third of the samples; drawn within classes, by none."""
    with pytest.warns(TrueRiskWarning, match=r"of 50 bootstrap samples hold no row of class 2: "):
        draw_samples(TEN, 50, rng())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_samples(TEN, 50, rng(), stratify=True)
        draw_samples(TEN.subset(np.arange(9)), 50, rng())


@QUIET
def test_draw_samples_draws_n_rows_with_replacement():
    """Of n draws a row is in none with probability (1 − 1/n)ⁿ; its count varies by 1 − 1/n."""
    times = draw_samples(TEN, 20_000, rng())
    assert (times.sum(axis=1) == 10).all()
    assert (times == 0).mean(axis=0) == pytest.approx(np.full(10, 0.9**10), abs=0.015)
    assert times.var(axis=0) == pytest.approx(np.full(10, 0.9), abs=0.05)


def test_draw_samples_within_classes_keeps_their_sizes():
    """Groups of one class each are drawn class by class; mixed groups are refused."""
    times = draw_samples(TEN, 50, rng(), stratify=True)
    for c, size in enumerate((6, 3, 1)):
        assert (times[:, c == CODES].sum(axis=1) == size).all()
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 3, 3, 4])
    times = draw_samples(data_of(CODES, groups), 50, rng(), stratify=True)
    assert (times[:, [0, 3]].sum(axis=1) == 2).all()
    assert (times[:, 9] == 1).all()
    with pytest.raises(BadData, match="2 groups hold rows of several classes"):
        draw_samples(data_of(CODES, np.arange(10) % 2), 5, rng(), stratify=True)


@QUIET
def test_draw_samples_draws_whole_groups():
    """All rows of a group equally often, and as many groups as there are."""
    groups = np.array([5, 5, 5, 7, 7, 7, 1, 1, 2, 3])
    times = draw_samples(data_of(CODES, groups), 50, rng())
    _, first, of_row = np.unique(groups, return_index=True, return_inverse=True)
    assert (times == times[:, first[of_row]]).all()
    assert (times[:, first].sum(axis=1) == 5).all()


def test_given_samples_are_counted():
    assert count_given_samples([[0, 0, 9], [3, 2, 3]], TEN).tolist() == [
        [2, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        [0, 0, 1, 2, 0, 0, 0, 0, 0, 0],
    ]


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([0, 1, 2], r"shape \(3,\) are no \(replicates, n\) array"),
        ([[0, 1], [2]], "no .replicates, n. array"),
        ([[0.5, 1.0]], "no .replicates, n. array"),
        ([], "no .replicates, n. array"),
        ([[0, 1], [2, 10]], r"sample 1 names rows outside 0 … 9"),
        ([[0, -1]], "sample 0 names rows outside"),
    ],
)
def test_given_samples_refuses_what_is_no_sample(samples, message):
    with pytest.raises(BadData, match=message):
        count_given_samples(samples, TEN)
    with pytest.raises(BadData, match="inside an outer split"):
        count_given_samples([[0, 1]], TEN.subset(np.arange(5)))  # the numbers would mean other rows


# ---------------- subsamples: stretches of one order

Y = np.repeat([0, 1, 2], [60, 30, 10])
HUNDRED, ROWS = data_of(Y), np.arange(3, 100)


@pytest.mark.parametrize("data", [HUNDRED, data_of(np.arange(100.0), task="regression")])
def test_draw_order_is_a_random_permutation(data):
    one, other = (shuffle_for_subsamples(data, ROWS, rng(seed)) for seed in (0, 1))
    assert np.sort(one).tolist() == ROWS.tolist() != one.tolist()
    assert one.tolist() != other.tolist()


@pytest.mark.parametrize("size", [5, 20, 48])
def test_subsamples_are_stratified(size):
    """Each class has its share of every subsample, to within less than two rows."""
    shares = np.bincount(Y[ROWS]) / len(ROWS)
    for seed in range(20):
        order = shuffle_for_subsamples(HUNDRED, ROWS, rng(seed))
        for part in cut_subsamples(order, None, size, len(ROWS) // size):
            assert (np.abs(np.bincount(Y[part], minlength=3) - size * shares) < 2).all()


def test_subsamples_of_a_size_are_disjoint_and_the_first_within_that_of_a_larger_size():
    order = shuffle_for_subsamples(HUNDRED, ROWS, rng())
    small, large = (cut_subsamples(order, None, size, 97 // size) for size in (12, 30))
    assert set(small[0]) <= set(large[0])
    assert len(np.unique(np.concatenate(small))) == 8 * 12


def test_subsamples_keep_groups_whole():
    """A group is in one subsample or in none, and sizes are as near as groups allow."""
    groups = np.repeat(np.arange(20), 5)
    order = shuffle_for_subsamples(data_of(Y, groups), np.arange(100), rng())
    parts = cut_subsamples(order, groups, 17, 5)
    assert [len(part) for part in parts] == [15] * 5
    assert all((np.bincount(groups[part], minlength=20) % 5 == 0).all() for part in parts)
    assert len(np.unique(np.concatenate(parts))) == 75
