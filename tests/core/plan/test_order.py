"""Splits that go forward in time are told by their rows, whatever made them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)

import truerisk as tr
from truerisk.core.contracts import Streams
from truerisk.core.plan.builder import split_plan
from truerisk.core.plan.order import is_ordered
from truerisk.core.table.data import Data
from truerisk.methods.words import as_method

N = 24
ROWS = np.arange(N)
GROUPS = ROWS // 4
SHUFFLED = np.random.default_rng(0).permutation(N)
FORWARD = {
    "growing": TimeSeriesSplit(4),
    "two splits": TimeSeriesSplit(2),
    "sliding": TimeSeriesSplit(5, max_train_size=3),
    "with a gap": TimeSeriesSplit(3, gap=2, test_size=4),
    "a gap after a short window": TimeSeriesSplit(3, gap=3, test_size=3, max_train_size=3),
}
OTHERWISE = {
    "blocks": KFold(4),
    "two blocks": KFold(2),
    "shuffled": KFold(4, shuffle=True, random_state=0),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "random": ShuffleSplit(5, random_state=0),
    "groups": GroupKFold(3),
    "each group": LeaveOneGroupOut(),
    "folds after rows that only train": PredefinedSplit(np.where(ROWS < 8, -1, ROWS % 4)),
    "one hold-out of the last rows": PredefinedSplit(np.where(ROWS < 16, -1, 0)),
    "one rule on two sites": [(ROWS[:8], ROWS[8:16]), (ROWS[:8], ROWS[16:])],
}


def plan_of(pairs):
    """A plan of given splits."""
    return split_plan(N, [(np.asarray(train), np.asarray(test)) for train, test in pairs])


def pairs_of(splitter):
    """Its splits of the rows."""
    if isinstance(splitter, list):
        return splitter
    groups = GROUPS if "Group" in str(splitter) else None
    return list(splitter.split(ROWS[:, None], ROWS, groups))


@pytest.mark.parametrize("name", FORWARD)
def test_forward_splits_are_ordered(name):
    """Also backwards."""
    pairs = pairs_of(FORWARD[name])
    assert is_ordered(plan_of(pairs))
    assert is_ordered(plan_of([(N - 1 - train, N - 1 - test) for train, test in pairs]))


@pytest.mark.parametrize("name", ["growing", "two splits", "with a gap"])
def test_the_order_of_the_rows_does_not_matter(name):
    """Rows that an earlier split tests train a later one: so it is in a table sorted otherwise."""
    pairs = [(SHUFFLED[train], SHUFFLED[test]) for train, test in pairs_of(FORWARD[name])]
    assert is_ordered(plan_of(pairs))
    assert is_ordered(plan_of(pairs[::-1]))


@pytest.mark.parametrize("name", OTHERWISE)
def test_other_splits_are_not(name):
    """Their rows train each other's models, or one rule is tested; in any order of the rows."""
    pairs = pairs_of(OTHERWISE[name])
    assert not is_ordered(plan_of(pairs))
    assert not is_ordered(plan_of([(SHUFFLED[a], SHUFFLED[b]) for a, b in pairs]))


@pytest.mark.parametrize("word", tr.methods.names())
def test_no_method_of_ours_is_ordered(word):
    """But forward validation they treat rows alike, in every part that is asked at once."""
    X = ROWS[:, None] + 0.5
    block = X if as_method(word.replace("K", "5")).respects_space else None
    data = Data.check(X, ROWS % 2, task="classification", block=block)
    plan = as_method(word.replace("K", "5")).plan(data, Streams(0))
    if word == "forward-K":
        assert is_ordered(plan)
        return
    assert not any(is_ordered(plan.only(plan.questions(part))) for part in plan.parts)
