"""Rows leak where a model that did not see them saw another row of their key, by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from tests.plan.test_plan import drawn

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.data.data import Data
from truerisk.methods.words import as_method
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder, split_plan
from truerisk.plan.distances import distances_to_nearest, distances_to_seen
from truerisk.plan.leaks import (
    leaks_of,
    order_of,
)

X = np.arange(24.0).reshape(12, 2)
GROUPS = np.arange(12) // 2
SAMPLES = (".632", ".632+", "optimism", "bootstrap")


def across(plan, keys) -> list[int]:
    """Rows tested by a model that saw others of their key."""
    data = Data(X=None, y=np.zeros(plan.n_rows), task="regression", groups=np.array(keys))
    return leaks_of(data, plan, "groups")["groups"].tolist()


@given(drawn(), st.data())
def test_leaking_rows_are_those_of_the_definition(both, data) -> None:
    """A fit that is asked about a row it did not see saw another row of its key."""
    plan, expected = both
    keys = data.draw(st.lists(st.integers(5, 8), min_size=plan.n_rows, max_size=plan.n_rows))
    leaking = {
        tested
        for train, test, *_ in expected
        for tested in test
        if tested not in train and any(keys[seen] == keys[tested] for seen in train)
    }
    assert across(plan, keys) == sorted(leaking)


def test_rows_taken_away_twice_are_gone_once() -> None:
    """Blocks that overlap do not hide a leak: row 3 is tested beside its copy, row 4."""
    builder = PlanBuilder(5)
    one, two = builder.block(np.array([0, 1, 3])), builder.block(np.array([0, 1, 2, 3]))
    builder.ask((ALL, (one, two)), (one, ()))
    assert across(builder.build(), [8, 8, 8, 9, 9]) == [3]
    assert across(builder.build(), [8, 5, 8, 8, 8]) == [0, 3]


@pytest.mark.parametrize("word", [*SAMPLES, "5-fold", "monte-carlo", "apparent"])
def test_methods_that_keep_groups_cut_none(word) -> None:
    """Also where they ask a fit about rows that it saw: these are no rows of another side."""
    data = Data.check(X, np.arange(12) % 2, task="classification", groups=GROUPS)
    plan = as_method(word).plan(data, Streams(0))
    leaks = leaks_of(data, plan, "groups", "copies")
    assert not len(leaks["groups"])
    assert not len(leaks["copies"])


@pytest.mark.parametrize("word", [*SAMPLES, "loo", "alo", "complete"])
def test_copies_in_other_rows_of_a_plan_are_found(word) -> None:
    """Out of a bag, taken out of the model, out of a drawn train set: rows 0 and 7 are copies."""
    twins = X.copy()
    twins[7] = twins[0]
    data = Data.check(twins, np.arange(12) % 2, task="classification")
    plan = as_method(word).plan(data, Streams(0))
    assert leaks_of(data, plan, "copies")["copies"].tolist() == [0, 7]


@given(drawn(), st.data())
def test_late_rows_are_those_of_the_definition(both, data) -> None:
    """A fit that is asked about a row it did not see saw one of the same or of a later time."""
    plan, expected = both
    times = data.draw(st.lists(st.integers(0, 4), min_size=plan.n_rows, max_size=plan.n_rows))
    times[:2] = [-1, 5]
    late = {
        tested
        for train, test, *_ in expected
        for tested in test
        if tested not in train and any(times[seen] >= times[tested] for seen in train)
    }
    rows = Data.check(
        np.zeros((plan.n_rows, 1)), np.arange(plan.n_rows) / 2, task="regression", time=times
    )
    assert leaks_of(rows, plan, "late")["late"].tolist() == sorted(late)


PLACES = np.random.default_rng(5).integers(12, size=(50, 2)) * 1.0
DATA = Data.check(PLACES, np.arange(50) % 2, task="classification", block=PLACES)
APART = np.sqrt(((PLACES[:, None] - PLACES) ** 2).sum(axis=2))


@pytest.mark.parametrize("word", ["5-fold", "loo", "holdout", "bootstrap", "blocks-3", "apparent"])
def test_they_are_the_least_of_all_distances(word):
    """NaN where the model saw the row itself."""
    plan = as_method(word).plan(DATA, Streams(1))
    found = distances_to_seen(plan, PLACES)
    at = 0
    for q in range(plan.n_questions):
        train = plan.train_rows(int(plan.fit[q]))[0]
        for row in plan.test_rows(q)[0]:
            expected = np.nan if row in train else APART[row, train].min()
            np.testing.assert_allclose(found[at], expected, atol=1e-12)
            at += 1
    assert at == len(found)


def test_the_nearest_row_is_another_one():
    """A copy at the same place lies at distance 0."""
    expected = (APART + np.diag(np.full(50, np.inf))).min(axis=1)
    np.testing.assert_allclose(distances_to_nearest(PLACES), expected)


def test_random_folds_test_by_neighbours_and_blocks_seldom_do():
    """Nine tenths of the rows of ten random folds have their nearest row in the training set."""
    places = np.random.default_rng(6).random((400, 2))
    data = Data.check(places, np.arange(400) % 2, task="classification", block=places)
    shares = []
    for word in ("10-fold", "blocks-5", "apparent"):
        leaks = leaks_of(data, as_method(word).plan(data, Streams(0)), "near")
        shares.append(len(leaks["near"]) / max(len(leaks["apart"]), 1))
    assert shares[0] == pytest.approx(0.9, abs=0.03)
    assert shares[1] < 0.3
    assert shares[2] == 0


N = 24
ROWS = np.arange(N)
SETS_OF_FOUR = ROWS // 4
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
    groups = SETS_OF_FOUR if "Group" in str(splitter) else None
    return list(splitter.split(ROWS[:, None], ROWS, groups))


@pytest.mark.parametrize("name", FORWARD)
def test_forward_splits_are_ordered(name):
    """Also backwards."""
    pairs = pairs_of(FORWARD[name])
    assert order_of(plan_of(pairs)) is not None
    assert order_of(plan_of([(N - 1 - train, N - 1 - test) for train, test in pairs])) is not None


@pytest.mark.parametrize("name", ["growing", "two splits", "with a gap"])
def test_the_order_of_the_rows_does_not_matter(name):
    """Rows that an earlier split tests train a later one: so it is in a table sorted otherwise."""
    pairs = [(SHUFFLED[train], SHUFFLED[test]) for train, test in pairs_of(FORWARD[name])]
    assert order_of(plan_of(pairs)) is not None
    assert order_of(plan_of(pairs[::-1])) is not None


@pytest.mark.parametrize("name", OTHERWISE)
def test_other_splits_are_not(name):
    """Their rows train each other's models, or one rule is tested; in any order of the rows."""
    pairs = pairs_of(OTHERWISE[name])
    assert order_of(plan_of(pairs)) is None
    assert order_of(plan_of([(SHUFFLED[a], SHUFFLED[b]) for a, b in pairs])) is None


@pytest.mark.parametrize("word", tr.methods.names())
def test_no_method_of_ours_is_ordered(word):
    """But forward validation they treat rows alike, in every part that is asked at once."""
    X = ROWS[:, None] + 0.5
    block = X if as_method(word.replace("K", "5")).respects_space else None
    data = Data.check(X, ROWS % 2, task="classification", block=block)
    plan = as_method(word.replace("K", "5")).plan(data, Streams(0))
    if word == "forward-K":
        assert order_of(plan) == "of rows"
        return
    assert all(order_of(plan.only(plan.questions(part))) is None for part in plan.parts)


def test_leaks_of_a_plan_without_questions_are_none() -> None:
    """A part that a plan lacks has no questions, so no rows leak."""
    data = Data.check(
        np.arange(24.0)[:, None],
        np.arange(24) % 2,
        task="classification",
        groups=np.arange(24) // 2,
    )
    outer = as_method("4-fold").plan(data, Streams(0)).part_named("outer")
    assert not len(leaks_of(data, outer, "groups")["groups"])
