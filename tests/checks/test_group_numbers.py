"""Columns that hold the number of a group."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.checks.agreement import outcome_of
from truerisk.checks.group_numbers import group_number


def told(codes, y, *, has_order=True):
    """Return True if a column is taken for a group number."""
    codes = np.unique(codes, return_inverse=True)[1]
    outcome = outcome_of(y.astype(int), y) if y.dtype.kind in "bi" else outcome_of(None, y)
    found = group_number(codes, outcome, has_order=has_order)
    return found is not None and found.is_found


def coins(seed, k=30, size=5, flips=0.1):
    """Draw group numbers and a coin for each group, with some labels flipped."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(k), size))
    return group, (rng.random(k) < 0.5)[group] ^ (rng.random(len(group)) < flips)


@pytest.mark.parametrize("has_order", [True, False])
def test_group_numbers_are_found_with_label_noise(has_order):
    """At least 18 of 20 drawings are found, as numbers and as text."""
    assert sum(told(*coins(seed), has_order=has_order) for seed in range(20)) >= 18


def test_group_numbers_of_numeric_outcomes_are_found():
    """Groups that differ in a numeric y are found, and noise is not."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 5)
    assert told(group, rng.standard_normal(40)[group] + 0.5 * rng.standard_normal(200))
    assert not told(group, rng.standard_normal(200))


def test_features_of_whole_numbers_are_no_group_numbers():
    """An age is left alone if y depends on it smoothly, in a step or not at all."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        age = rng.integers(20, 60, 300)
        assert not told(age, rng.random(300) < 1 / (1 + np.exp((40 - age) / 5)))
        assert not told(age, (age > 40) ^ (rng.random(300) < 0.1))
        assert not told(age, rng.random(300) < 0.5)
        assert not told(age, age + 5 * rng.standard_normal(300))


def test_scales_and_lists_of_few_values_are_no_group_numbers():
    """Ten jobs whose shares of y differ are left alone, and so is a scale of eight values."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        job = rng.integers(0, 10, 300)
        assert not told(job, rng.random(300) < rng.random(10)[job], has_order=False)
        ten_words = np.repeat(np.arange(10), 10)
        assert not told(ten_words, rng.permutation(10)[ten_words] < 5, has_order=False)
        scale = rng.integers(0, 8, 300)
        assert not told(scale, rng.random(300) < rng.random(8)[scale])


def test_group_number_does_not_depend_on_names_of_classes_and_direction():
    """Swapped classes and reversed numbers have the same agreement."""
    group, y = coins(3)
    codes = np.unique(group, return_inverse=True)[1]
    plain = group_number(codes, outcome_of(y.astype(int), y), has_order=True)
    turned = group_number(29 - codes, outcome_of(1 - y.astype(int), y), has_order=True)
    assert turned.inside == pytest.approx(plain.inside)
    assert turned.outside == pytest.approx(plain.outside)


def test_agreement_within_and_between_values_is_the_mean_over_pairs():
    """The sums of counts and of ranks give what a loop over the pairs gives."""
    rng = np.random.default_rng(0)
    codes = np.sort(rng.integers(0, 6, 60))
    for outcome in (
        outcome_of(rng.integers(0, 3, 60), np.zeros(60)),
        outcome_of(None, rng.standard_normal((60, 2))),
    ):
        found = group_number(codes, outcome, has_order=True)
        inside, outside = np.empty(6), np.full((6, 2), np.nan)
        for v in range(6):
            mine = np.flatnonzero(codes == v)
            i, j = (a.ravel() for a in np.meshgrid(mine, mine))
            inside[v] = outcome.agreement(i[i != j], j[i != j]).mean()
            for side, other in enumerate((v - 1, v + 1)):
                if 0 <= other < 6:
                    i, j = (a.ravel() for a in np.meshgrid(mine, np.flatnonzero(codes == other)))
                    outside[v, side] = outcome.agreement(i, j).mean()
        weights = np.bincount(codes) / 60
        assert found.inside == pytest.approx(weights @ inside)
        assert found.outside == pytest.approx(weights @ np.nanmean(outside, axis=1))


def test_columns_whose_values_do_not_repeat_are_no_group_numbers():
    """A column needs at least five values that repeat."""
    y = np.arange(100) % 2
    for codes in (np.arange(100), np.arange(100) % 4, np.r_[np.arange(8) // 2, 4:96]):
        assert group_number(codes, outcome_of(y[: len(codes)], y), has_order=True) is None


def test_noise_is_no_group_number():
    """With three rows for each value agreement is large by chance, and so is its error."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        codes = np.repeat(np.arange(16), 3)
        assert not told(codes, rng.random(48) < 0.5)
        assert not told(codes, rng.standard_normal(48))


def test_features_whose_effect_swings_are_no_group_numbers():
    """Neighbouring values still agree at more than half of what equal values do."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        value = rng.integers(0, 40, 1000)
        assert not told(value, rng.random(1000) < 0.5 + 0.5 * np.sin(0.9 * value))
        assert not told(value, 5 * np.sin(0.9 * value) + rng.standard_normal(1000))
