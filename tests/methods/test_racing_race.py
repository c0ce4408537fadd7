"""A race: who cannot win any more leaves, and fits that serve two races are made once."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.methods.racing import LEAST, MORE, UNSEEN, hopeless


def by_hand(losses, n_left):
    """The z of every candidate, from n rows of the same weight."""
    n, best = losses.shape[1], losses[losses.sum(1).argmin()]
    more = losses - best
    typical = (more[more != 0] ** 2).mean()
    found = []
    for d in more:
        spread = ((d - d.mean()) ** 2).sum() / n + UNSEEN * typical / n
        found.append(d.mean() * (n + n_left) / np.sqrt(spread * n_left * (n + n_left) / n))
    return np.array(found)


@pytest.mark.parametrize("n_left", [5, 40, 400])
def test_it_is_the_formula(n_left):
    """The difference on all rows is foretold from those that were seen."""
    rng = np.random.default_rng(0)
    losses = (rng.random((8, 30)) < np.linspace(0.1, 0.5, 8)[:, None]) * 1.0
    away = by_hand(losses, n_left)
    limit = LEAST + MORE * 30 / (30 + n_left)
    found = hopeless(losses, np.ones(30), 30.0 + n_left)
    assert found.tolist() == (away > limit).tolist()
    assert 0 < found.sum() < 8


def test_the_best_and_its_equals_stay():
    """Whatever is left; also where none differs from another."""
    losses = np.array([[0.0, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]])
    for total in (4.001, 10, 1000):
        assert not hopeless(losses, np.ones(4), total)[:2].any()
    assert not hopeless(np.ones((3, 5)), np.ones(5), 50.0).any()


def test_no_unit_of_y_counts():
    """Losses and weights in other units give the same farewells."""
    rng = np.random.default_rng(0)
    losses = rng.gamma(2, size=(6, 20)) * np.linspace(1, 3, 6)[:, None]
    weights = rng.random(20) + 0.5
    found = hopeless(losses, weights, 50.0)
    assert 0 < found.sum() < 6
    assert hopeless(losses * 1e6, weights * 3, 150.0).tolist() == found.tolist()


def test_a_weight_of_two_is_a_group_of_two():
    """Two copies of a row in one group are one row that weighs twice as much."""
    rng = np.random.default_rng(0)
    losses = (rng.random((6, 15)) < np.linspace(0.1, 0.6, 6)[:, None]) * 1.0
    twice = np.repeat(losses, 2, axis=1)
    grouped = hopeless(twice, np.ones(30), 60.0, np.repeat(np.arange(15)[::-1], 2))
    assert grouped.tolist() == hopeless(losses, np.full(15, 2.0), 60.0).tolist()
    assert hopeless(twice, np.ones(30), 60.0).sum() > grouped.sum()


def test_failed_candidates_leave_and_stand_for_nobody():
    """Without a loss there is no risk; where all have failed, the rule has its own words."""
    losses = np.array([[np.nan, 0, 0, 0], [0.0, 1, 0, 0], [0.0, 1, 0, 1]])
    assert hopeless(losses, np.ones(4), 40.0).tolist() == [True, False, False]
    assert not hopeless(np.full((2, 3), np.nan), np.ones(3), 30.0).any()
