"""Bootstrap samples: how often rows are drawn, within classes, in groups, or as given."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from truerisk.core.errors import BadData, TrueRiskWarning
from truerisk.data.data import Data
from truerisk.splitting.samples import draw_order, draw_samples, given_samples, subsamples

CODES = np.array([0] * 6 + [1] * 3 + [2])


def data(groups=None) -> Data:
    """Ten rows of three classes."""
    return Data.check(np.arange(10.0)[:, None], CODES, task="classification", groups=groups)


pytestmark = pytest.mark.filterwarnings("ignore:.*hold no row of class")


def test_classes_that_samples_lack_are_told() -> None:
    """A class of one row is missed by a third of the samples; drawn within classes, by none."""
    with pytest.warns(TrueRiskWarning, match=r"of 50 bootstrap samples hold no row of class 2: "):
        draw_samples(data(), 50, np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_samples(data(), 50, np.random.default_rng(0), stratify=True)
        draw_samples(data().subset(np.arange(9)), 50, np.random.default_rng(0))


def test_n_draws_with_replacement() -> None:
    """Of n draws a row is in none with probability (1 − 1/n)ⁿ; its count varies by 1 − 1/n."""
    times = draw_samples(data(), 20_000, np.random.default_rng(0))
    assert (times.sum(axis=1) == 10).all()
    assert (times == 0).mean(axis=0) == pytest.approx(np.full(10, 0.9**10), abs=0.015)
    assert times.var(axis=0) == pytest.approx(np.full(10, 0.9), abs=0.05)


def test_within_classes() -> None:
    """Stratified samples hold as many draws of each class as there are rows of it."""
    times = draw_samples(data(), 50, np.random.default_rng(0), stratify=True)
    for c, size in enumerate((6, 3, 1)):
        assert (times[:, c == CODES].sum(axis=1) == size).all()


def test_whole_groups() -> None:
    """All rows of a group are drawn equally often, and as many groups as there are."""
    groups = np.array([5, 5, 5, 7, 7, 7, 1, 1, 2, 3])
    times = draw_samples(data(groups), 50, np.random.default_rng(0))
    first = np.unique(groups, return_index=True)[1]
    for g, place in zip(np.unique(groups), first, strict=True):
        assert (times[:, groups == g] == times[:, [place]]).all()
    assert (times[:, first].sum(axis=1) == 5).all()


def test_groups_within_classes() -> None:
    """Groups of one class each are drawn class by class; mixed groups are refused."""
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 3, 3, 4])
    times = draw_samples(data(groups), 50, np.random.default_rng(0), stratify=True)
    assert (times[:, [0, 3]].sum(axis=1) == 2).all()
    assert (times[:, 9] == 1).all()
    with pytest.raises(BadData, match="2 groups hold rows of several classes"):
        draw_samples(data(np.arange(10) % 2), 5, np.random.default_rng(0), stratify=True)


def test_given_samples_are_counted() -> None:
    """Row numbers become counts, in samples of any common size."""
    assert given_samples([[0, 0, 9], [3, 2, 3]], data()).tolist() == [
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
def test_what_is_no_sample_is_refused(samples, message) -> None:
    """One list, ragged lists, fractions, nothing, numbers that are no rows."""
    with pytest.raises(BadData, match=message):
        given_samples(samples, data())


def test_given_samples_are_for_all_rows() -> None:
    """Inside an outer split their numbers would mean other rows."""
    with pytest.raises(BadData, match="inside an outer split"):
        given_samples([[0, 1]], data().subset(np.arange(5)))


# ---------------- Subsamples: stretches of one order, stratified or of whole groups


Y = np.repeat([0, 1, 2], [60, 30, 10])
DATA = Data.check(np.zeros((100, 1)), Y, task="classification")
ROWS = np.arange(3, 100)


def test_an_order_holds_every_row_once() -> None:
    """It is a permutation of the rows that were given, another with another generator."""
    one, other = (draw_order(DATA, ROWS, np.random.default_rng(s)) for s in (0, 1))
    assert np.sort(one).tolist() == ROWS.tolist()
    assert one.tolist() != other.tolist()


@pytest.mark.parametrize("size", [5, 20, 48])
def test_every_stretch_is_stratified(size) -> None:
    """Each class has its share of every subsample, to within less than two rows."""
    shares = np.bincount(Y[ROWS]) / len(ROWS)
    for seed in range(20):
        order = draw_order(DATA, ROWS, np.random.default_rng(seed))
        for part in subsamples(order, None, size, len(ROWS) // size):
            held = np.bincount(Y[part], minlength=3)
            assert (np.abs(held - size * shares) < 2).all()


def test_sizes_are_nested_and_draws_disjoint() -> None:
    """The first subsample of a size is within that of a larger one; those of a size share none."""
    order = draw_order(DATA, ROWS, np.random.default_rng(0))
    small, large = (subsamples(order, None, size, 97 // size) for size in (12, 30))
    assert set(small[0]) <= set(large[0])
    everything = np.concatenate(small)
    assert len(set(everything)) == len(everything) == 8 * 12


def test_a_regression_is_shuffled() -> None:
    """Without classes the order is a plain shuffle, and not that of the rows."""
    data = Data.check(np.zeros((100, 1)), np.arange(100.0), task="regression")
    order = draw_order(data, ROWS, np.random.default_rng(0))
    assert np.sort(order).tolist() == ROWS.tolist() != order.tolist()


def test_groups_stay_whole() -> None:
    """A group is in one subsample or in none, and sizes are as near as groups allow."""
    groups = np.repeat(np.arange(20), 5)
    data = Data.check(np.zeros((100, 1)), Y, task="classification", groups=groups)
    order = draw_order(data, np.arange(100), np.random.default_rng(0))
    parts = subsamples(order, groups, 17, 5)
    assert [len(part) for part in parts] == [15] * 5
    assert all((np.bincount(groups[part], minlength=20) % 5 == 0).all() for part in parts)
    assert len(np.unique(np.concatenate(parts))) == 75
