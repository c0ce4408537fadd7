"""The instability of a learner is one minus the intraclass correlation of its losses."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.methods.instability import instability

RNG = np.random.default_rng(4)


def drawn(n_rows, times, spread):
    """Losses of two candidates, and the same in the order of repeated folds with their rows."""
    level = RNG.normal(size=(2, 1, n_rows))
    losses = level + spread * RNG.normal(size=(2, times, n_rows))
    order = np.concatenate([RNG.permutation(n_rows) for _ in range(times)])
    repeat = np.repeat(np.arange(times), n_rows)
    return losses, losses[:, repeat, order], order


@pytest.mark.parametrize(("n_rows", "times"), [(2, 2), (7, 3), (40, 10)])
def test_it_is_that_of_a_one_way_analysis_of_variance(n_rows, times):
    """1 − (MSB − MSW)/(MSB + (k − 1) MSW), kept between 0 and 1."""
    losses, tested, order = drawn(n_rows, times, 0.5)
    found = instability(tested, losses.mean(axis=1), np.full(n_rows, 1 / n_rows), order)
    msb = times * losses.mean(axis=1).var(axis=1, ddof=1)
    msw = losses.var(axis=1, ddof=1).mean(axis=1)
    expected = 1 - (msb - msw) / (msb + (times - 1) * msw)
    assert found == pytest.approx(np.clip(expected, 0, 1))


@pytest.mark.parametrize(("spread", "low", "high"), [(0.0, 0.0, 1e-9), (1.0, 0.4, 0.6)])
def test_it_is_the_share_that_the_folds_decide(spread, low, high):
    """None where a row's loss never changes, half where it varies as much as rows do."""
    losses, tested, order = drawn(2000, 10, spread)
    found = instability(tested, losses.mean(axis=1), np.full(2000, 1 / 2000), order)
    assert (low <= found).all()
    assert (found <= high).all()


def test_rows_without_weight_do_not_count():
    """As if they were not there."""
    losses, _, _ = drawn(9, 4, 0.5)
    weights = np.array([1, 2, 1, 0, 3, 1, 0, 1, 1.0])
    kept = weights > 0
    found = [
        instability(
            part.reshape(2, -1),
            part.mean(axis=1),
            shares / shares.sum(),
            np.tile(np.arange(part.shape[2]), 4),
        )
        for part, shares in ((losses, weights), (losses[:, :, kept], weights[kept]))
    ]
    assert found[0] == pytest.approx(found[1])


def test_losses_without_any_spread_have_none():
    """No division by zero; a candidate without answers stays apart."""
    losses = np.array([[0.3] * 6, [np.nan] * 6])
    found = instability(losses, losses[:, :3], np.full(3, 1 / 3), np.tile(np.arange(3), 2))
    assert found.tolist() == [0.0, 0.0]
