"""Near copies: the law of the spacings, and what leaves it."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.checks.agreement import outcome_of
from truerisk.checks.copies import Scale, find_copies
from truerisk.checks.rows import _Columns


def found(X, y=None, combination=None, seed=0):
    """Return what is found among rows with a coin as y."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, len(X)) if y is None else y
    columns = _Columns.read(X, range(X.shape[1]), np.arange(len(X)))
    steps = columns.steps(np.arange(X.shape[1]))
    scale = Scale(columns.numbers.std(axis=1), columns.n_values, steps)
    return find_copies(X, combination, outcome_of(codes, codes), np.random.default_rng(seed), scale)


@pytest.mark.parametrize("p", [2, 5, 20])
@pytest.mark.parametrize("kind", ["normal", "heavy", "uniform", "rounded"])
def test_gaps_have_their_law_in_independent_rows(p, kind):
    """About 5 % of the rows have a gap and 1 % a wide one, in any dimension, rounded or not."""
    rng = np.random.default_rng(p)
    draw = {
        "normal": lambda: rng.standard_normal((1500, p)),
        "heavy": lambda: rng.standard_t(3, (1500, p)),
        "uniform": lambda: rng.random((1500, p)),
        "rounded": lambda: np.round(5 * rng.standard_normal((1500, p))),
    }[kind]
    several = [found(draw(), seed=seed) for seed in range(4)]
    assert np.mean([one.share for one in several]) == pytest.approx(0.05, abs=0.03)
    assert np.mean([one.wide_share for one in several]) == pytest.approx(0.01, abs=0.01)
    assert not any(one.is_found for one in several)


def test_rows_on_a_curve_are_no_copies():
    """The dimension is that of the curve, whose neighbours are near by nature."""
    t = np.random.default_rng(1).uniform(size=500)
    assert not found(np.c_[t, t**2, np.sin(t)]).is_found


def test_copies_without_agreement_of_y_are_found_by_wide_gaps():
    """Each case stands twice with a small error, and y is a coin for each row."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 5)), 2, axis=0) + rng.normal(size=(80, 5)) / 100
    assert found(X).is_found
    assert found(X).size == 2


def test_copies_of_unequal_clusters_are_found():
    """The position of the gap differs between clusters of one to seven rows."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 8, 40)
        X = np.repeat(rng.standard_normal((40, 5)), sizes, axis=0)
        X += 0.1 * rng.standard_normal(X.shape)
        y = np.repeat(rng.integers(0, 2, 40), sizes)
        assert found(X, y).is_found


def test_exact_copies_are_left_to_their_own_finding():
    """Only one of each set of equal rows is looked at."""
    X = np.random.default_rng(0).standard_normal((100, 4))
    assert not found(np.repeat(X, 3, axis=0)).is_found


def test_copies_are_sought_among_rows_of_one_combination():
    """Cases with three columns are too dense, unless a category keeps most other cases away."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 8, 500)
    X = np.repeat(rng.standard_normal((500, 3)), sizes, axis=0)
    X += 0.1 * rng.standard_normal(X.shape)
    category = np.repeat(rng.integers(0, 6, 500), sizes)
    y = np.repeat(rng.integers(0, 2, 500), sizes)
    assert found(X, y, category).share > 1.2 * found(X, y).share
    assert not found(X, rng.permutation(y), rng.permutation(category)).is_found


def test_small_sets_of_equal_categories_are_no_clusters():
    """The farthest rows of a set of eighteen are outliers, not rows behind a gap."""
    shares = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        category = np.repeat(np.arange(40), 18)
        told = found(rng.standard_t(3, (720, 4)), (category % 2), category, seed)
        assert not told.is_found
        shares.append(told.share)
    assert np.mean(shares) < 0.05


def test_few_rows_or_columns_have_no_answer():
    """There is no result for fewer than 30 distinct rows, or for one column."""
    rng = np.random.default_rng(0)
    assert found(rng.standard_normal((29, 5))) is None
    assert found(np.repeat(rng.standard_normal((20, 5)), 3, axis=0)) is None
    assert found(rng.standard_normal((200, 1))) is None


def test_few_gaps_are_no_finding():
    """Seven of 40 rows have a wide gap: too few to say how large their clusters are."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(36, 5))
    near = X[[0, 1, 2, 0]] + rng.normal(size=(4, 5)) / 1000
    few = found(np.r_[X, near])
    assert few.wide_share > 0.15
    assert not few.is_found
