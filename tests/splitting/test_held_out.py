"""A held-out part has the asked share, by class and by whole groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.core.errors import BadData
from truerisk.data.data import Data
from truerisk.splitting.samples import draw_held_out


def data_of(y, groups=None) -> Data:
    return Data.check(np.zeros((len(y), 1)), y, task="classification", groups=groups)


labels = st.lists(st.integers(0, 3), min_size=2, max_size=40).filter(lambda y: len(set(y)) > 1)


@given(labels, st.floats(0.01, 0.99), st.integers(0, 1000), st.booleans())
def test_the_share_is_kept(y, share, seed, stratify) -> None:
    """Distinct ascending rows, as many as the share says, and as near in every class."""
    n = len(y)
    part = draw_held_out(data_of(y), share, np.random.default_rng(seed), stratify=stratify)
    size = min(max(round(n * share), 1), n - 1)
    assert len(part) == size
    assert (np.diff(part) > 0).all()
    if stratify:
        for label in set(y):
            of_class = np.array(y) == label
            assert abs(of_class[part].sum() - of_class.sum() * size / n) < 1 + 1e-9


@given(st.lists(st.integers(0, 6), min_size=2, max_size=30), st.floats(0.05, 0.95))
def test_groups_stay_whole(groups, share) -> None:
    """Whole groups only, and something on both sides."""
    groups = np.array(groups)
    if len(set(groups)) < 2:
        return
    part = draw_held_out(
        data_of(np.arange(len(groups)) % 2, groups), share, np.random.default_rng(0)
    )
    rest = np.setdiff1d(np.arange(len(groups)), part)
    assert len(part)
    assert len(rest)
    assert not set(groups[part]) & set(groups[rest])


def test_every_row_is_held_out_equally_often() -> None:
    """The chance of each row is the share."""
    y = [0] * 9 + [1] * 3
    drawn = np.zeros(12)
    for seed in range(1500):
        drawn[draw_held_out(data_of(y), 1 / 3, np.random.default_rng(seed))] += 1
    assert np.abs(drawn / 1500 - 1 / 3).max() < 0.06


@pytest.mark.parametrize("share", [0, 1, -0.5, 1.5, float("nan")])
def test_a_share_leaves_something_on_both_sides(share) -> None:
    """Nothing or everything held out is refused."""
    with pytest.raises(BadData, match="use 0 < share < 1"):
        draw_held_out(data_of([0, 1]), share, np.random.default_rng(0))


def test_one_row_or_one_group_cannot_be_split() -> None:
    """What is one cannot be two."""
    two_groups = data_of([0, 1, 0], [0, 0, 1])
    with pytest.raises(BadData, match="n_samples=1.* cannot be split"):
        draw_held_out(two_groups.subset(np.array([0])), 0.5, np.random.default_rng(0))
    with pytest.raises(BadData, match="one group cannot be split"):
        draw_held_out(two_groups.subset(np.array([0, 1])), 0.5, np.random.default_rng(0))
