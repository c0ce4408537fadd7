"""Rows leak where a model that did not see them saw another row of their key, by brute force."""

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
from tests.plan.test_plan import drawn as drawn_plans
from tests.support.plans import drawn, splits_of

import truerisk as tr
from truerisk.extend import ALL, Data, PlanBuilder
from truerisk.methods import as_method
from truerisk.plan.builder import plan_from_splits
from truerisk.plan.distances import distances_to_nearest_row, distances_to_training_rows
from truerisk.plan.leaks import describe_copies, find_leaks, find_split_order

N = 24
ROWS = np.arange(N)
X = ROWS[:, None] + 0.5
SAMPLES = (".632", ".632+", "optimism", "bootstrap")


def checked(X=X, **more):
    return Data.check(X, np.arange(len(X)) % 2, task="classification", **more)


def across(plan, keys) -> list[int]:
    """Rows tested by a model that saw others of their key."""
    data = Data(X=None, y=np.zeros(plan.n_rows), task="regression", groups=np.array(keys))
    return find_leaks(data, plan, "groups")["groups"].tolist()


@given(drawn_plans(), st.data())
def test_leaking_and_late_rows_are_those_of_the_definition(both, data):
    """A fit that is asked about a row it did not see saw another row of its key, or a later one."""
    plan, expected = both
    n = plan.n_rows
    keys = data.draw(st.lists(st.integers(5, 8), min_size=n, max_size=n))
    times = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    times[:2] = [-1, 5]
    leaking, late = set(), set()
    for train, test, *_ in expected:
        for row in {*test} - {*train}:
            if any(keys[seen] == keys[row] for seen in train):
                leaking.add(row)
            if any(times[seen] >= times[row] for seen in train):
                late.add(row)
    assert across(plan, keys) == sorted(leaking)
    rows = Data.check(np.zeros((n, 1)), np.arange(n) / 2, task="regression", time=times)
    assert find_leaks(rows, plan, "late")["late"].tolist() == sorted(late)


def test_leaking_rows_are_not_hidden_by_blocks_that_overlap():
    """Row 3 is tested beside its copy, row 4."""
    builder = PlanBuilder(5)
    one, two = builder.block(np.array([0, 1, 3])), builder.block(np.array([0, 1, 2, 3]))
    builder.ask((ALL, (one, two)), (one, ()))
    assert across(builder.build(), [8, 8, 8, 9, 9]) == [3]
    assert across(builder.build(), [8, 5, 8, 8, 8]) == [0, 3]


@pytest.mark.parametrize("word", [*SAMPLES, "loo", "alo", "complete"])
def test_leaks_of_copies_are_found_in_other_rows_of_a_plan(word):
    """Rows 0 and 6 are copies: out of a bag, out of the model, and out of a drawn training set."""
    twins = X[:12].copy()
    twins[6] = twins[0]
    data = checked(twins)
    assert find_leaks(data, drawn(as_method(word), data), "copies")["copies"].tolist() == [0, 6]


@pytest.mark.parametrize(
    ("task", "y"),
    [
        ("classification", ["no", "yes", "no", "yes"] * 3),
        ("regression", np.arange(12) % 4 * 0.1),
        ("regression", np.c_[np.arange(12) % 4, np.ones(12)]),
        ("survival", np.array([(True, 1.0 + i % 4) for i in range(12)], "?,f8")),
    ],
    ids=["classes", "numbers", "columns", "survival"],
)
def test_leaks_of_copies_are_rows_with_the_same_outcome(task, y):
    """Rows 0 and 8 are copies; rows 3 and 10 have the same X and another y."""
    twins = X[:12].copy()
    twins[8], twins[10] = twins[0], twins[3]
    data = Data.check(twins, y, task=task)
    assert find_leaks(data, drawn(as_method("loo"), data), "copies")["copies"].tolist() == [0, 8]


def test_copies_are_described_by_their_number_and_a_pair():
    """Row 6 is tested by a model that saw row 2, and row 2 is not tested."""
    twins = X[:12].copy()
    twins[6] = twins[2]
    data = checked(twins)
    plan = drawn(as_method(PredefinedSplit(np.where(ROWS[:12] < 4, -1, 0))), data)
    text = describe_copies(data, find_leaks(data, plan, "copies")["copies"])
    assert text.startswith("1 of 12 rows is an exact copy (rows 2 and 6, for example, have equal X")


PLACES = np.random.default_rng(5).integers(12, size=(50, 2)) * 1.0
APART = np.sqrt(((PLACES[:, None] - PLACES) ** 2).sum(axis=2))


@pytest.mark.parametrize("word", ["5-fold", "loo", "holdout", "bootstrap", "blocks-3", "apparent"])
def test_distances_to_seen_are_the_least_of_all_distances(word):
    """NaN where the model saw the row itself."""
    plan = drawn(as_method(word), checked(PLACES, block=PLACES), seed=1)
    expected = [
        np.nan if row in train else APART[row, train].min()
        for train, test in splits_of(plan)
        for row in test
    ]
    np.testing.assert_allclose(distances_to_training_rows(plan, PLACES), expected, atol=1e-12)


def test_distances_to_nearest_are_those_to_another_row():
    """A copy at the same place lies at distance 0."""
    expected = (APART + np.diag(np.full(50, np.inf))).min(axis=1)
    np.testing.assert_allclose(distances_to_nearest_row(PLACES), expected)


def test_near_rows_are_many_in_random_folds_and_few_in_blocks():
    """Nine tenths of the rows of ten random folds have their nearest row in the training set."""
    places = np.random.default_rng(6).random((400, 2))
    data, shares = checked(places, block=places), []
    for word in ("10-fold", "blocks-5", "apparent"):
        leaks = find_leaks(data, drawn(as_method(word), data), "near")
        shares.append(len(leaks["near"]) / max(len(leaks["apart"]), 1))
    assert shares[0] == pytest.approx(0.9, abs=0.03)
    assert shares[1] < 0.3
    assert shares[2] == 0


SHUFFLED = np.random.default_rng(0).permutation(N)
FORWARD = {
    "growing": TimeSeriesSplit(4),
    "two splits": TimeSeriesSplit(2),
    "with a gap": TimeSeriesSplit(3, gap=2, test_size=4),
    "sliding": TimeSeriesSplit(5, max_train_size=3),
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


def order_by(splitter, row=lambda rows: rows, reverse=False):
    """The order that is found in splits of the rows under other numbers."""
    pairs = splitter
    if not isinstance(splitter, list):
        groups = ROWS // 4 if "Group" in str(splitter) else None
        pairs = splitter.split(ROWS[:, None], ROWS, groups)
    pairs = [(row(np.asarray(train)), row(np.asarray(test))) for train, test in pairs]
    return find_split_order(plan_from_splits(N, pairs[::-1] if reverse else pairs))


@pytest.mark.parametrize("name", FORWARD)
def test_order_is_found_in_forward_splits(name):
    """Also backwards, and in a table sorted otherwise where later splits train on earlier tests."""
    splitter = FORWARD[name]
    assert order_by(splitter) is not None
    assert order_by(splitter, lambda rows: N - 1 - rows) is not None
    if name in ("growing", "two splits", "with a gap"):
        for reverse in (False, True):
            assert order_by(splitter, lambda rows: SHUFFLED[rows], reverse) is not None


@pytest.mark.parametrize("name", OTHERWISE)
def test_order_is_not_found_in_other_splits(name):
    """Their rows train each other's models, or one rule is tested; in any order of the rows."""
    assert order_by(OTHERWISE[name]) is None
    assert order_by(OTHERWISE[name], lambda rows: SHUFFLED[rows]) is None


@pytest.mark.parametrize("word", tr.methods.names())
def test_order_is_found_in_no_method_but_forward_validation(word):
    """They treat rows alike, in every part that is asked at once."""
    method = as_method(word.replace("K", "5"))
    plan = drawn(method, checked(block=X if method.respects_space else None))
    if word == "forward-K":
        assert find_split_order(plan) == "of rows"
    else:
        assert all(
            find_split_order(plan.select(plan.questions(part))) is None for part in plan.parts
        )
