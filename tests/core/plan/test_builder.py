"""The builder codes what it is given, and shares what is equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit

from truerisk.core.plan.builder import PlanBuilder, one_fit, split_plan
from truerisk.core.plan.plan import ALL


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


@given(st.integers(0, 2**31), st.integers(4, 12), st.booleans())
def test_an_embedded_plan_stays_inside(seed, n, exchange) -> None:
    """Inner questions on some rows become the same questions with the rows' own numbers."""
    rng = np.random.default_rng(seed)
    outer = PlanBuilder(n)
    tested = rng.choice(n, size=2, replace=False)
    held_out = outer.block(tested)
    rows = np.setdiff1d(np.arange(n), tested)
    inside = (outer.block(rows), ()) if exchange else (ALL, (held_out,))
    outer.ask(inside, (held_out, ()), part="outer")

    inner = PlanBuilder(len(rows))
    for fold in inner.partition(np.arange(len(rows)) % 2):
        inner.ask((ALL, (fold,)), (fold, ()), fold=fold, flips=[(0, 1)])
    sample = inner.block(rng.integers(len(rows), size=len(rows)))
    inner.ask((sample, ()), (ALL, (sample,)), repeat=3)
    drawn = inner.build()
    outer.embed(drawn, rows, inside=outer.trained(0), part="inner", unit=7)
    plan = outer.build()

    for q in range(drawn.n_questions):
        own, embedded = int(drawn.fit[q]), int(plan.fit[q + 1])
        for (a, a_counts), (b, b_counts) in (
            (drawn.train_rows(own), plan.train_rows(embedded)),
            (drawn.test_rows(q), plan.test_rows(q + 1)),
        ):
            assert rows[a].tolist() == b.tolist()
            assert (a_counts is None) == (b_counts is None)
            assert a_counts is None or a_counts.tolist() == b_counts.tolist()
        flipped, codes = drawn.flips_of(own)
        assert plan.flips_of(embedded)[0].tolist() == rows[flipped].tolist()
        assert plan.flips_of(embedded)[1].tolist() == codes.tolist()
        assert plan.unit[q + 1] == 7
        assert plan.repeat[q + 1] == drawn.repeat[q]


def test_copies_stay_together_inside_a_bootstrap_sample() -> None:
    """Inner folds of a bootstrap sample are folds of its distinct rows: no copy crosses them."""
    outer = PlanBuilder(6)
    sample = outer.block(np.array([0, 0, 0, 2, 5, 5]))
    outer.ask((sample, ()), (ALL, (sample,)), part="outer")
    inner = PlanBuilder(3)
    for fold in inner.partition(np.array([0, 1, 1])):
        inner.ask((ALL, (fold,)), (fold, ()))
    outer.embed(inner.build(), np.array([0, 2, 5]), outer.trained(0), part="inner", unit=0)
    plan = outer.build()
    trained = [plan.train_rows(int(plan.fit[q])) for q in (1, 2)]
    assert [(rows.tolist(), None if c is None else c.tolist()) for rows, c in trained] == [
        ([2, 5], [1, 2]),
        ([0], [3]),
    ]
