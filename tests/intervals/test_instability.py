"""The instability of a learner is one minus the intraclass correlation of its losses."""

import numpy as np
import pytest

from truerisk.intervals.instability import (
    exchanged_training_share,
    repeated_cv_instability,
    within_row_variance_share,
)
from truerisk.plan.builder import plan_from_splits

RNG = np.random.default_rng(4)


def drawn(n_rows, times, spread, weights=None):
    """Losses of two candidates in repeated drawings, and the instability that is found."""
    level = RNG.normal(size=(2, 1, n_rows))
    losses = level + spread * RNG.normal(size=(2, times, n_rows))
    order = np.concatenate([RNG.permutation(n_rows) for _ in range(times)])
    tested = losses[:, np.repeat(np.arange(times), n_rows), order]
    shares = np.full(n_rows, 1 / n_rows) if weights is None else weights / weights.sum()
    return losses, within_row_variance_share(tested, losses.mean(axis=1), shares, order)


@pytest.mark.parametrize(("n_rows", "times"), [(2, 2), (7, 3), (40, 10)])
def test_instability_is_that_of_a_one_way_analysis_of_variance(n_rows, times):
    """1 − (MSB − MSW)/(MSB + (k − 1) MSW), kept between 0 and 1."""
    losses, found = drawn(n_rows, times, 0.5)
    msb = times * losses.mean(axis=1).var(axis=1, ddof=1)
    msw = losses.var(axis=1, ddof=1).mean(axis=1)
    expected = 1 - (msb - msw) / (msb + (times - 1) * msw)
    assert found == pytest.approx(np.clip(expected, 0, 1))


@pytest.mark.parametrize(("spread", "low", "high"), [(0.0, 0.0, 1e-9), (1.0, 0.4, 0.6)])
def test_instability_is_the_share_that_the_folds_decide(spread, low, high):
    """None where a row's loss never changes, half where it varies as much as rows do."""
    _, found = drawn(2000, 10, spread)
    assert ((low <= found) & (found <= high)).all()


def test_instability_does_not_count_rows_without_weight():
    losses, _ = drawn(9, 4, 0.5)
    weights = np.array([1, 2, 1, 0, 3, 1, 0, 1, 1.0])
    found = [
        within_row_variance_share(
            losses[:, :, kept].reshape(2, -1),
            losses[:, :, kept].mean(axis=1),
            weights[kept] / weights.sum(),
            np.tile(np.arange(kept.sum()), 4),
        )
        for kept in (weights >= 0, weights > 0)
    ]
    assert found[0] == pytest.approx(found[1])


def test_instability_of_losses_without_spread_is_0_and_of_failed_ones_nan():
    losses = np.array([[0.3] * 6, [np.nan] * 6])
    found = within_row_variance_share(
        losses, losses[:, :3], np.full(3, 1 / 3), np.tile(np.arange(3), 2)
    )
    np.testing.assert_array_equal(found, [0, np.nan])


def test_instability_is_not_biased_by_weights():
    """The variance of means is divided by 1 − Σw²: weighted or not, half of it is the folds'."""
    weights = np.array([5.0, 1, 1, 1, 1, 1, 1, 1])
    found = [drawn(8, 2, 1.0, weights)[1].mean() for _ in range(1200)]
    assert np.mean(found) == pytest.approx(0.53, abs=0.03)  # a ratio: somewhat above one half


def folds_of(*lines):
    """A plan that tests every row once in each drawing of its folds."""
    rows = np.arange(len(lines[0]))
    splits = [(rows[f != k], rows[f == k]) for f in map(np.array, lines) for k in np.unique(f)]
    return plan_from_splits(len(rows), splits)


ROWS = np.arange(40)
HALVES, QUARTERS = ROWS // 20, ROWS % 4
MOVED = RNG.permutation(QUARTERS)


@pytest.mark.parametrize(
    ("lines", "is_shown"),
    [
        ([QUARTERS, MOVED], True),
        ([HALVES, QUARTERS, MOVED], True),
        ([(RNG.permutation(12) % 4)[np.arange(48) // 4] for _ in range(9)], True),
        ([QUARTERS], False),
        ([QUARTERS, QUARTERS], False),
        ([QUARTERS, (QUARTERS + 1) % 4], False),
        ([ROWS, ROWS[::-1]], False),
        ([RNG.permutation(np.minimum(ROWS, 38)) for _ in range(9)], False),
        ([RNG.permutation(ROWS // 2) for _ in range(9)], False),
        ([np.where(ROWS < 30, ROWS // 10, RNG.permutation(40) % 3) for _ in range(2)], False),
        ([(RNG.permutation(12) % 6)[np.arange(48) // 4] for _ in range(9)], False),
    ],
    ids=[
        *("anew", "three", "three groups a fold", "once", "same", "renumbered", "single rows"),
        *("almost single", "pairs", "large folds stay", "two groups a fold"),
    ],
)
def test_instabilities_are_shown_only_by_training_sets_that_change(lines, is_shown):
    """A rule that was trained on the same rows says the same, however unstable it is."""
    plan, n = folds_of(*lines), len(lines[0])
    losses, means = RNG.random((1, len(plan.positions[0]))), np.zeros((1, n))
    np.add.at(means[0], plan.positions[0], losses[0] / len(lines))
    found = repeated_cv_instability(losses, means, np.full(n, 1 / n), plan)
    assert (found is not None) == is_shown


def test_exchanged_is_the_share_of_training_rows_that_change():
    """K times the mean share of a row's training rows that are not in its next training set."""
    lines = np.array([RNG.permutation(30) % 5, RNG.permutation(30) % 5])
    shares = []
    for row in range(30):
        first, second = (set(np.flatnonzero(f != f[row])) for f in lines)
        shares.append(len(first - second) / len(first))
    assert exchanged_training_share(lines) == pytest.approx(5 * np.mean(shares))


def test_instabilities_tell_rows_apart_in_their_order_of_testing():
    """The instability of a plan is that of the rows' losses, wherever they stand in it."""
    plan = folds_of(QUARTERS, MOVED, HALVES)
    by_row = RNG.normal(size=40) + RNG.normal(size=(3, 40))
    drawing = np.repeat(np.searchsorted([4, 8], np.arange(10), side="right"), plan.test_sizes)
    losses = by_row[drawing, plan.positions[0]][None]
    found = repeated_cv_instability(losses, by_row.mean(axis=0)[None], np.full(40, 1 / 40), plan)
    within, of_means = by_row.var(axis=0, ddof=1).mean(), by_row.mean(axis=0).var(ddof=1)
    assert found == pytest.approx(within / (of_means + within * 2 / 3))
