"""The builder codes what it is given, and shares what is equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit

from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder, one_fit, split_plan


@pytest.mark.parametrize(
    "labels",
    [
        np.array([2, 0, 2, 1, 0], dtype=np.uint8),
        np.array(["c", "a", "c", "b", "a"]),
        np.array([2.5, -1.0, 2.5, 0.0, -1.0]),
        np.array([2, 0, 2, 1, 0]) > 0,
    ],
)
def test_a_partition_by_any_labels(labels) -> None:
    """One ascending block per distinct label, in the order of the labels, whatever their type."""
    builder = PlanBuilder(5)
    for block in builder.partition(labels):
        builder.ask((ALL, (block,)), (block, ()))
    plan = builder.build()
    found = [plan.test_rows(q)[0].tolist() for q in range(plan.n_questions)]
    assert found == [np.flatnonzero(labels == v).tolist() for v in sorted(set(labels.tolist()))]


def test_equal_train_sets_are_one_fit() -> None:
    """Two questions to one train set are one fit, in whatever order its blocks are named."""
    builder = PlanBuilder(6)
    a, b, c = builder.partition(np.array([0, 0, 1, 1, 2, 2]))
    builder.ask((ALL, (a, b)), (a, ()))
    builder.ask((ALL, (b, a, a)), (b, ()))
    builder.ask((ALL, (a, c)), (c, ()))
    plan = builder.build()
    assert plan.fit.tolist() == [0, 0, 1]


def test_flips_make_another_fit() -> None:
    """The same rows with other labels are another fit; the order of the flips is none."""
    builder = PlanBuilder(3)
    one = builder.block(np.array([0]))
    for flips in ([], [(1, 0), (2, 1)], [(2, 1), (1, 0)], [(1, 1), (2, 1)]):
        builder.ask((ALL, ()), (one, ()), flips=flips)
    assert builder.build().fit.tolist() == [0, 1, 1, 2]


def test_one_fit_is_the_plan_that_the_builder_makes() -> None:
    """The plan of a single question is written down at once, and is the same to the last type."""
    builder = PlanBuilder(5)
    builder.ask(train=(ALL, ()), test=(builder.block(np.array([0, 3])), ()), part="apparent")
    assert one_fit(5, np.array([0, 3])).to_dict() == builder.build().to_dict()


def test_repeated_rows_become_counts() -> None:
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
def test_any_splits_are_kept(splitter) -> None:
    """The plan of given splits trains and tests on exactly these rows."""
    pairs = list(splitter.split(np.zeros((23, 1))))
    plan = split_plan(23, pairs)
    for q, (train, test) in enumerate(pairs):
        assert plan.train_rows(int(plan.fit[q]))[0].tolist() == sorted(train)
        assert plan.test_rows(q)[0].tolist() == sorted(test)


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 3), min_size=1, max_size=6),
            st.lists(st.integers(0, 3), min_size=1, max_size=6),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_given_rows_with_repeats_and_gaps_are_kept(pairs) -> None:
    """Copies, overlaps and left-out rows of given splits survive the coding, never "the rest"."""
    plan = split_plan(4, [(np.array(train), np.array(test)) for train, test in pairs])
    for q, (train, test) in enumerate(pairs):
        for given_rows, (rows, counts) in (
            (train, plan.train_rows(int(plan.fit[q]))),
            (test, plan.test_rows(q)),
        ):
            times = np.ones(len(rows), int) if counts is None else counts
            assert np.repeat(rows, times).tolist() == sorted(given_rows)
