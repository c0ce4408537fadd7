"""Plans and data that are drawn, and the same problems in other words."""

import sys

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from truerisk.engines import Generic
from truerisk.exceptions import MissingExtra
from truerisk.extend import ALL, Data, Plan, PlanBuilder
from truerisk.plan.extras.flips import get_label_flips
from truerisk.testing import engine_checks, strategies
from truerisk.testing.brute_force import decode_plan
from truerisk.testing.cases import (
    altered_plans,
    permuted_data,
    permuted_plan,
    read_only_data,
    rename_classes,
)
from truerisk.testing.strategies import NestingBuilder, any_plans, data_sets


@settings(max_examples=60, deadline=None)
@given(st.data(), st.booleans(), st.sampled_from(["classification", "regression"]))
def test_plans_drawn_are_sound(drawer, ties, task):
    """Every fit has rows, every question asks about rows, and JSON gives the plan back."""
    data = drawer.draw(data_sets(task, ties=ties))
    plan = drawer.draw(any_plans(data))
    assert plan.train_sizes.min() > 0
    assert plan.test_sizes.min() > 0
    assert Plan.from_dict(plan.to_dict()).fingerprint == plan.fingerprint
    assert ties or len(np.unique(data.X[:, 0])) == data.n_rows


@pytest.mark.parametrize(
    "wanted",
    [
        lambda plan: plan.blocks.counts is not None,
        lambda plan: plan.extra is not None,
        lambda plan: "inner" in plan.parts,
        lambda plan: "apparent" in plan.parts,
        lambda plan: plan.n_questions > plan.n_fits,
        lambda plan: plan.n_fits == plan.n_rows,
        lambda plan: np.diff(plan.train.offsets).max() > 1,
        lambda plan: bool((plan.train.base >= 0).any()),
    ],
    ids=["copies", "labels", "nested", "apparent", "shared fits", "loo", "minus two", "subsets"],
)
def test_plans_are_drawn_in_every_form(wanted):
    """Hypothesis finds a plan of each form within its usual number of draws."""
    drawn = data_sets().flatmap(any_plans)
    quick = settings(database=None, deadline=None, derandomize=True, phases=[Phase.generate])
    assert wanted(find(drawn, wanted, settings=quick))


def test_strategies_without_hypothesis_say_what_to_install(monkeypatch):
    """The checks that draw say what to install; making the checks needs nothing."""
    monkeypatch.setitem(sys.modules, "hypothesis.strategies", None)
    with pytest.raises(MissingExtra, match="pip install hypothesis"):
        strategies.data_sets()
    assert len(engine_checks(Generic())) > 10


@given(st.integers(0, 2**31), st.integers(4, 12), st.booleans())
def test_nesting_builder_embeds_the_same_questions_about_other_rows(seed, n, exchange):
    """Inner questions on some rows become the same questions with the rows' own numbers."""
    rng = np.random.default_rng(seed)
    outer = NestingBuilder(n)
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
    outer.embed_plan(drawn, rows, outer_set=outer.get_training_set(0), part="inner", unit=7)
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
        flipped, codes = get_label_flips(drawn, own)
        assert get_label_flips(plan, embedded)[0].tolist() == rows[flipped].tolist()
        assert get_label_flips(plan, embedded)[1].tolist() == codes.tolist()
        assert plan.unit[q + 1] == 7
        assert plan.repeat[q + 1] == drawn.repeat[q]


def test_nesting_builder_keeps_copies_of_a_sample_together():
    """Inner folds of a bootstrap sample are folds of its distinct rows: no copy crosses them."""
    outer = NestingBuilder(6)
    sample = outer.block(np.array([0, 0, 0, 2, 5, 5]))
    outer.ask((sample, ()), (ALL, (sample,)), part="outer")
    inner = PlanBuilder(3)
    for fold in inner.partition(np.array([0, 1, 1])):
        inner.ask((ALL, (fold,)), (fold, ()))
    outer.embed_plan(
        inner.build(), np.array([0, 2, 5]), outer.get_training_set(0), part="inner", unit=0
    )
    plan = outer.build()
    trained = [plan.train_rows(int(plan.fit[q])) for q in (1, 2)]
    assert [(rows.tolist(), None if c is None else c.tolist()) for rows, c in trained] == [
        ([2, 5], [1, 2]),
        ([0], [3]),
    ]


# ---------------- the same problem in other words


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_permuted_plan_asks_the_same_about_the_moved_rows(drawer):
    """Train rows with their counts, labels and asked rows are the old ones at their new places."""
    data = drawer.draw(data_sets())
    plan = drawer.draw(any_plans(data))
    order = np.array(drawer.draw(st.permutations(range(data.n_rows))))
    old, new = decode_plan(plan), decode_plan(permuted_plan(plan, order))
    assert [sorted(order[seen]) for seen in new.training_rows] == old.training_rows
    assert [(fit, sorted(order[rows])) for fit, rows in new.test_sets] == old.test_sets
    assert [{order[r]: c for r, c in labels.items()} for labels in new.new_labels] == old.new_labels
    moved = permuted_data(data, order)
    assert np.array_equal(moved.X, data.X[order])
    assert np.array_equal(moved.classes[moved.codes], data.y[order])


def test_renamed_data_move_codes_with_the_order_of_names():
    """Codes follow the sorted new names."""
    data = Data.check(np.eye(3), ["b", "a", "c"], task="classification")
    other = rename_classes(data, ["z", "y", "x"])
    assert other.y.tolist() == ["y", "z", "x"]
    assert other.codes.tolist() == [1, 2, 0]


def test_frozen_data_cannot_be_written_to():
    """The copy is read-only and the original is not."""
    data = Data.check(np.eye(3), [0, 1, 1], task="classification")
    with pytest.raises(ValueError, match="read-only"):
        read_only_data(data).X[0] = 1
    data.X[0] = 1


def test_altered_plans_differ_in_every_array_once():
    """Each altered plan differs in one place, and no array is left out."""
    builder = PlanBuilder(4)
    drawn = builder.block(np.array([0, 0, 2]))
    builder.ask((drawn, ()), (ALL, (drawn,)), flips=[(2, 1)])
    plan = builder.build()
    before = plan.to_dict()
    changed = []
    for what, other in altered_plans(plan):
        after = other.to_dict()
        changed += [
            name for name in before if name != "fingerprint" and before[name] != after[name]
        ]
        assert what
    empty = {name for name, value in before.items() if value == []}
    assert sorted(changed) == sorted(set(before) - empty - {"fingerprint"})
