"""The builder codes what it is given, and shares what is equal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit
from tests.support.data import normal_rows
from tests.support.plans import drawn, sets_of

from truerisk.extend import ALL, Data, PlanBuilder, Refusal
from truerisk.methods import as_method
from truerisk.plan.builder import add_training_row_test_sets, plan_from_splits, plan_one_fit


@pytest.mark.parametrize(
    "labels",
    [
        np.array([2, 0, 2, 1, 0], dtype=np.uint8),
        np.array(["c", "a", "c", "b", "a"]),
        np.array([2.5, -1.0, 2.5, 0.0, -1.0]),
        np.array([2, 0, 2, 1, 0]) > 0,
    ],
)
def test_partition_makes_a_block_of_every_label_in_their_order(labels):
    builder = PlanBuilder(5)
    for block in builder.partition(labels):
        builder.ask((ALL, (block,)), (block, ()))
    found = [test for _, test in sets_of(builder.build())]
    assert found == [np.flatnonzero(labels == v).tolist() for v in sorted(set(labels.tolist()))]


def test_builder_makes_one_fit_of_equal_train_sets_and_labels():
    """In whatever order their blocks are named; the order of the flips is none."""
    builder = PlanBuilder(6)
    a, b, c = builder.partition(np.array([0, 0, 1, 1, 2, 2]))
    for left_out, asked in (((a, b), a), ((b, a, a), b), ((a, c), c)):
        builder.ask((ALL, left_out), (asked, ()))
    assert builder.build().fit.tolist() == [0, 0, 1]
    builder = PlanBuilder(3)
    one = builder.block(np.array([0]))
    for flips in ([], [(1, 0), (2, 1)], [(2, 1), (1, 0)], [(1, 1), (2, 1)]):
        builder.ask((ALL, ()), (one, ()), flips=flips)
    assert builder.build().fit.tolist() == [0, 1, 1, 2]


def test_plan_of_one_fit_is_that_that_the_builder_makes():
    """The plan of a single question is written down at once, and is the same to the last type."""
    builder = PlanBuilder(5)
    builder.ask(train=(ALL, ()), test=(builder.block(np.array([0, 3])), ()), part="apparent")
    assert plan_one_fit(5, np.array([0, 3])).to_dict() == builder.build().to_dict()


def test_builder_counts_repeated_rows():
    """A bootstrap sample is its distinct rows and how often each was drawn."""
    builder = PlanBuilder(5)
    sample = builder.block(np.array([4, 1, 4, 4, 0]))
    builder.ask((sample, ()), (ALL, (sample,)))
    plan = builder.build()
    rows, counts = plan.train_rows(0)
    assert (rows.tolist(), counts.tolist()) == ([0, 1, 4], [1, 1, 3])
    assert plan.test_rows(0)[0].tolist() == [2, 3]
    assert plan.train_sizes.tolist() == [5]


@pytest.mark.parametrize(
    "splitter", [KFold(4), ShuffleSplit(5, random_state=0), TimeSeriesSplit(3)], ids=str
)
def test_split_plan_keeps_any_splits(splitter):
    pairs = list(splitter.split(np.zeros((23, 1))))
    assert sets_of(plan_from_splits(23, pairs)) == [(sorted(a), sorted(b)) for a, b in pairs]


ROWS = st.lists(st.integers(0, 3), min_size=1, max_size=6)


@given(st.lists(st.tuples(ROWS, ROWS), min_size=1, max_size=3))
def test_split_plan_keeps_repeats_and_gaps(pairs):
    """Copies, overlaps and left-out rows of given splits survive the coding, never "the rest"."""
    plan = plan_from_splits(4, [(np.array(train), np.array(test)) for train, test in pairs])
    for q, (train, test) in enumerate(pairs):
        both = (train, plan.train_rows(int(plan.fit[q]))), (test, plan.test_rows(q))
        for given_rows, (rows, counts) in both:
            times = np.ones(len(rows), int) if counts is None else counts
            assert np.repeat(rows, times).tolist() == sorted(given_rows)


DATA = Data.check(normal_rows(24)[0], np.arange(24) % 2, task="classification")


@pytest.mark.parametrize("word", ["4-fold", "2x3-fold", "loo", "oob", "holdout"])
def test_plan_with_training_rows_asks_about_them_in_its_second_half(word):
    """The fits and the first questions stay what they are; copies of a row are counted."""
    plan = drawn(as_method(word), DATA)
    both, n = add_training_row_test_sets(plan), plan.n_questions
    assert (both.n_questions, both.n_fits) == (2 * n, plan.n_fits)
    assert both.select(np.arange(n)).asks_like(plan)
    counted = []
    for question in range(n):
        asked, seen = both.test_rows(n + question), plan.train_rows(int(plan.fit[question]))
        np.testing.assert_array_equal(asked[0], seen[0])
        times = [np.ones(len(r)) if counts is None else counts for r, counts in (asked, seen)]
        np.testing.assert_array_equal(*times)
        counted.append(seen[1] is not None)
    assert both.own_rows[n:].sum() == n - sum(counted)
    assert both.parts[-1] == "apparent"
    assert len(both.positions[0]) == both.test_sizes.sum()


def test_plan_of_drawn_train_sets_has_no_training_rows_to_ask_about():
    with pytest.raises(Refusal, match="return_train_score=False"):
        add_training_row_test_sets(drawn(as_method("exact-oob"), DATA))
