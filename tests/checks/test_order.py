"""Rows in order: the correlation of y along the table, and what explains it."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.checks.agreement import (
    columns_in_order,
    is_counter,
    is_sorted,
    order_given_columns,
    order_of_outcomes,
    outcome_of,
)


def of_classes(y):
    """Return class codes as an outcome."""
    return outcome_of(np.asarray(y), np.asarray(y))


def of_numbers(y):
    """Return numbers as an outcome."""
    return outcome_of(None, np.asarray(y, float))


def autoregression(seed, a, n=200):
    """Draw y that depends on the row before."""
    y, noise = np.zeros(n), np.random.default_rng(seed).standard_normal(n)
    for i in range(n):
        y[i] = a * y[i - 1] + noise[i]
    return y


def test_order_of_autoregression_is_suspected():
    """An order is suspected in at least 18 of 20 series with coefficient .4, and in none with 0."""
    told = [order_of_outcomes(of_numbers(autoregression(b, 0.4))) for b in range(20)]
    assert sum(one is not None for one in told) >= 18
    told = [order_of_outcomes(of_numbers(autoregression(b, 0.0))) for b in range(20)]
    assert not any(told)


def test_order_of_random_rows_has_its_law():
    """The correlation of numbers has the stated variance, and 3.3 standard errors are rare."""
    rng = np.random.default_rng(0)
    for y in (rng.standard_normal(150), rng.integers(0, 3, 150), rng.random(150) < 0.2):
        outcomes = [rng.permutation(y) for _ in range(400)]
        make = of_numbers if y.dtype.kind == "f" else lambda v: of_classes(v.astype(int))
        drawn = [make(v) for v in outcomes]
        if y.dtype.kind == "f":
            first = np.arange(149)
            means = [one.agreement(first, first + 1).mean() for one in drawn]
            assert 0.85 < np.std(means) / np.sqrt(drawn[0].variance / 149) < 1.15
        assert sum(order_of_outcomes(one) is not None for one in drawn) <= 3


def test_two_rare_neighbours_are_no_order():
    """Three of six events in 300 rows stand together by chance."""
    y = np.zeros(300, int)
    y[[10, 11, 12, 100, 200, 250]] = 1
    assert order_of_outcomes(of_classes(y)) is None


def test_sorted_outcomes_have_no_order():
    """Numbers that rise or fall are sorted, also in several parts."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.standard_normal(200))
    for numbers in (y, y[::-1], np.r_[y[::4], y[1::4], y[2::4], y[3::4]], np.round(y)):
        assert is_sorted(of_numbers(numbers))
    assert not is_sorted(of_numbers(np.cumsum(rng.standard_normal(200))))
    assert not is_sorted(of_numbers(np.sin(np.arange(200) / 8)))


@pytest.mark.parametrize(
    "runs", [[0, 1, 2], [2, 0, 1], [0, 1, 0, 1], [0, 1, 2, 3, 0, 2], [0, 1, 0]]
)
def test_classes_in_one_or_two_sorted_parts_have_no_order(runs):
    """Training and test rows, each sorted by class, stand one after the other."""
    assert is_sorted(of_classes(np.repeat(runs, 25)))


@pytest.mark.parametrize(
    "runs", [[0, 1, 0, 1, 0], [0, 1, 2, 1, 0], [0, 1, 2, 1, 0, 2], [0, 1, 2] * 3]
)
def test_classes_that_come_back_in_another_order_have_an_order(runs):
    """A state that drifts up and down has few runs, and its table is not sorted."""
    assert not is_sorted(of_classes(np.repeat(runs, 25)))


def test_order_within_given_groups_is_not_counted():
    """Visits that stand together agree; with groups only rows of different groups are compared."""
    rng = np.random.default_rng(0)
    y = of_classes(np.repeat(rng.integers(0, 2, 60), 4))
    assert order_of_outcomes(y) is not None
    assert order_of_outcomes(y, np.repeat(np.arange(60), 4)) is None
    assert order_of_outcomes(y, np.repeat([0, 1], 120)) is None


def test_counters_are_monotone_with_equal_steps():
    """A row number is a counter in any unit; a sorted feature has steps of every size."""
    rng = np.random.default_rng(0)
    scaled = (np.arange(100) / 3).astype(np.float32)  # steps differ by rounding
    for counter in (np.arange(100), 7 - 0.1 * np.arange(100), np.r_[np.arange(50), 60:110], scaled):
        assert is_counter(counter.astype(float))
    for feature in (np.sort(rng.standard_normal(100)), np.arange(100) // 4, rng.random(100)):
        assert not is_counter(feature.astype(float))


def test_columns_in_order_leave_counters_out():
    """A sorted feature and a slow series have an order; noise and the row number have none."""
    rng = np.random.default_rng(0)
    noise, series = rng.standard_normal(200), np.sin(np.arange(200) / 8)
    X = np.c_[np.arange(200), noise, np.sort(noise), series]
    assert columns_in_order(X).tolist() == [2, 3]


def test_order_is_explained_by_a_sorted_feature():
    """A sorted feature explains the order of independent rows, but not that of a random walk."""
    explained, walks = 0, 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = np.sort(rng.standard_normal(200))[:, None]
        y = np.sin(2 * x[:, 0]) + 0.5 * rng.standard_normal(200)
        value, bound = order_given_columns(x, of_numbers(y))
        explained += value <= bound
        value, bound = order_given_columns(x, of_numbers(np.cumsum(rng.standard_normal(200))))
        walks += value > bound
    assert (explained, walks) == (10, 10)


def test_order_is_explained_by_a_series_among_the_columns():
    """A slow series among the columns explains the order of y, whose noise is independent."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = autoregression(seed, 0.9, 600)
        y = x + rng.standard_normal(600)
        assert order_of_outcomes(of_numbers(y)) is not None
        value, bound = order_given_columns(x[:, None], of_numbers(y))
        assert value <= max(bound, 0.1)
