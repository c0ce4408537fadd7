"""Plans made array by array equal those made question by question."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.data import checked
from tests.support.plans import drawn, splits_of

from truerisk.extend import ALL, Plan, PlanBuilder, Streams
from truerisk.methods import Nested, as_method
from truerisk.plan.builder import merge_equal_fits, plan_leave_one_fold_out
from truerisk.plan.extras.counted import counted_offsets, plan_label_flips
from truerisk.plan.extras.flips import Flips, get_label_flips
from truerisk.plan.extras.laws import SampleDistribution, distribution_of_fit, plan_all_draws
from truerisk.plan.extras.model_facts import ModelFacts, fits_with_freedom, fits_with_rules
from truerisk.plan.nesting import nest_plans
from truerisk.plan.partitions import count_row_copies, leave_pairs_out, plan_sample_fits
from truerisk.testing.strategies import NestingBuilder


def asked(plan):
    """Every question of a plan in plain rows, with what its fit saw."""
    questions = []
    for q in range(plan.n_questions):
        fit = int(plan.fit[q])
        sets = [*plan.train_rows(fit), *plan.test_rows(q), *get_label_flips(plan, fit)]
        place = [int(column[q]) for column in (plan.unit, plan.repeat, plan.fold)]
        plain = [None if a is None else a.tolist() for a in sets]
        questions.append(repr((plan.parts[plan.part[q]], place, plain)))
    return sorted(questions)


def read_back(plan):
    return Plan.from_dict(json.loads(json.dumps(plan.to_dict())))


@given(st.lists(st.permutations([0, 0, 1, 1, 2, 2, 3]), min_size=1, max_size=3))
def test_leave_pairs_out_leaves_out_every_pair_of_blocks_once(partitions):
    """It is the builder's plan: fold i by the fit without i and j, code i K + j."""
    labels = [np.array(row) for row in partitions]
    builder = PlanBuilder(7)
    for repeat, row in enumerate(labels):
        folds = builder.partition(row)
        for i, tested in enumerate(folds):
            for j, other in enumerate(folds):
                out = (tested,) if i == j else (tested, other)
                builder.ask((ALL, out), (tested, ()), repeat=repeat, fold=4 * i + j)
    expected, plan = builder.build(), leave_pairs_out(7, labels)
    assert asked(plan) == asked(expected)
    assert plan.n_fits == expected.n_fits
    assert plan.fingerprint == leave_pairs_out(7, labels).fingerprint


@given(st.lists(st.lists(st.integers(0, 4), min_size=7, max_size=7), min_size=1, max_size=3))
def test_leave_out_leaves_out_every_block_once(partitions):
    labels = [np.array(row) for row in partitions]
    builder = PlanBuilder(7)
    for repeat, row in enumerate(labels):
        for fold, block in enumerate(builder.partition(row)):
            builder.ask((ALL, (block,)), (block, ()), repeat=repeat, fold=fold)
    expected, plan = builder.build(), plan_leave_one_fold_out(7, labels)
    assert asked(plan) == asked(expected)
    assert plan.n_fits == expected.n_fits
    np.testing.assert_array_equal(plan.positions[0], expected.positions[0])
    np.testing.assert_array_equal(plan.test_sizes, expected.test_sizes)


@pytest.mark.parametrize("outer", ["3-fold", "2x3-fold", "monte-carlo", "loo", "reversed 4-fold"])
@pytest.mark.parametrize("inner", ["3-fold", "loo", "2x2-fold", "reversed 3-fold", "holdout"])
def test_nest_asks_the_inner_plan_within_each_outer_training_set(outer, inner):
    n, streams, inside = 17, Streams(5), []
    data = checked(np.arange(2.0 * n).reshape(n, 2), np.arange(n) % 2)
    outside, builder = as_method(outer).plan(data, streams), NestingBuilder(n)
    builder.embed_plan(outside, np.arange(n, dtype=np.int32), (ALL, ()), part="outer", unit=-1)
    for q, (rows, _) in enumerate(splits_of(outside)):
        inside.append(as_method(inner).plan(data.subset(rows), streams.child(f"{q}")))
        builder.embed_plan(inside[-1], rows, builder.get_training_set(q), part="inner", unit=q)
    expected, plan = builder.build(), nest_plans(outside, inside)
    assert asked(plan) == asked(expected)
    assert plan.n_fits == expected.n_fits
    sizes = [len(plan.train_rows(fit)[0]) for fit in range(plan.n_fits)]
    np.testing.assert_array_equal(plan.train_sizes, sizes)
    assert (plan.least_train_sizes <= sizes).all()


def test_nest_keeps_bootstrap_copies_and_flips():
    """Counts of an outer sample reach its inner fits, and flipped labels keep their rows."""
    builder, local = PlanBuilder(6), PlanBuilder(4)
    sample, fold = builder.block(np.array([0, 0, 2, 3, 3, 5])), local.block(np.array([1]))
    builder.ask((sample, ()), (ALL, (sample,)))
    local.ask((ALL, (fold,)), (fold, ()), flips=[(3, 1)])
    plan = nest_plans(builder.build(), [local.build()])
    (question,) = plan.questions("inner")
    fit = int(plan.fit[question])
    rows, counts = plan.train_rows(fit)
    assert (rows.tolist(), counts.tolist()) == ([0, 3, 5], [2, 2, 1])
    assert plan.test_rows(question)[0].tolist() == [2]
    assert [a.tolist() for a in get_label_flips(plan, fit)] == [[5], [1]]


def test_nest_makes_one_fit_of_equal_train_sets():
    """The same partition on both levels shares 'all but folds i and j': K(K-1)/2 inner fits."""
    folds = np.arange(20) % 5
    outer = plan_leave_one_fold_out(20, [folds])
    plan = nest_plans(outer, [plan_leave_one_fold_out(16, [folds[folds != k]]) for k in range(5)])
    assert (plan.n_questions, plan.n_fits) == (5 + 20, 5 + 10)
    assert merge_equal_fits(plan) is plan


def test_fits_of_other_copies_or_labels_are_kept_apart():
    """Row i j times and row j − 1 i + 1 times are different train sets."""
    times = np.stack([np.roll(np.arange(7) == 0, i) * j for i in range(6) for j in range(1, 7)])
    same_size = np.array([[2, 0, 0, 3, 0], [0, 1, 4, 0, 0], [0, 1, 0, 3, 1]])
    for samples, n_fits in ((times, len(times)), (same_size, 3), (times[[0, 1, 0]], 2)):
        assert (
            plan_sample_fits(samples, tests_missed_rows=True, adds_apparent_fit=False).n_fits
            == n_fits
        )
    builder = PlanBuilder(3)
    for flips in ([], [(0, 1)], [(0, 2)], [(1, 1)]):
        builder.ask((ALL, ()), (ALL, ()), flips=flips)
    assert merge_equal_fits(builder.build()).n_fits == 4


def test_flip_each_asks_all_rows_and_each_under_its_other_label():
    codes, builder = np.array([1, 0, 0, 1, 0]), PlanBuilder(5)
    builder.ask((ALL, ()), (builder.block(np.arange(5)), ()), part="apparent")
    for row, code in enumerate(codes):
        block = builder.block(np.array([row]))
        builder.ask((ALL, ()), (block, ()), part="swap", fold=row, flips=[(row, code)])
    plan = plan_label_flips(codes)
    assert asked(plan) == asked(builder.build())
    assert plan.n_fits == 6
    assert plan.extra.counted_test_sets.tolist() == [0]


OUTER = plan_leave_one_fold_out(9, [np.arange(9) % 3])


def test_laws_stay_with_their_fits_when_plans_are_nested_and_cut():
    plan = nest_plans(OUTER, [plan_all_draws(6, "subsets", size) for size in (3, 4, 5)])
    assert plan.n_fits == 3 + 3  # the outer fits see the same rows, all of them
    inner = plan.questions("inner")
    laws = [distribution_of_fit(plan, int(plan.fit[q])) for q in inner]
    assert laws == [SampleDistribution("subsets", size) for size in (3, 4, 5)]
    assert plan.train_sizes[plan.fit[inner]].tolist() == [3, 4, 5]
    assert all(distribution_of_fit(plan, int(plan.fit[q])) is None for q in plan.questions("outer"))
    second = plan.select(inner[1:2])
    assert distribution_of_fit(second, 0) == SampleDistribution("subsets", 4)
    assert second.train_rows(0)[0].tolist() == OUTER.train_rows(1)[0].tolist()
    assert plan.select(plan.questions("outer")).extra is None


def test_counted_questions_stay_counted_when_plans_are_nested_and_cut():
    """The questions on all outer training rows, and no other."""
    plan = nest_plans(OUTER, [plan_label_flips(np.zeros(6, int)) for _ in range(3)])
    assert [plan.test_sizes[q] for q in plan.extra.counted_test_sets] == [6, 6, 6]
    assert counted_offsets(plan).tolist() == [0, 6, 12, 18]
    assert plan.select(np.flatnonzero(plan.unit == 1)).extra.counted_test_sets.tolist() == [0]
    assert "counted" not in plan.select(plan.questions("outer")).needs


def test_laws_of_the_same_rows_are_one_fit_only_if_kind_and_size_are_equal():
    twice = plan_leave_one_fold_out(6, [np.array([0, 0, 0, 1, 1, 1])] * 2)  # two fits, asked twice
    apart = np.arange(4, dtype=np.int32)
    outer = replace(twice, train=twice.train.take(twice.fit), fit=apart)  # four, equal in pairs
    laws = [("subsets", 2), ("subsets", 1), ("subsets", 2), ("bootstraps", 1)]
    plan = nest_plans(outer, [plan_all_draws(3, *law) for law in laws])
    inner = plan.select(plan.questions("inner"))
    assert (inner.n_questions, inner.n_fits) == (4, 3)
    assert [distribution_of_fit(inner, int(f)) for f in inner.fit] == [
        SampleDistribution(*law) for law in laws
    ]


def test_fingerprint_depends_on_laws_and_counted_questions():
    plans = [plan_all_draws(5, *law) for law in (("subsets", 3), ("subsets", 4), ("bootstraps", 3))]
    flips = plan_label_flips(np.array([1, 0, 1]))
    uncounted = Flips(*(getattr(flips.extra, f) for f in ("fit", "row", "code")))
    plans += [flips, replace(flips, extra=uncounted)]
    assert len({plan.fingerprint for plan in plans}) == 5


@pytest.mark.parametrize(
    ("name", "fits_of"), [("freedom", fits_with_freedom), ("rules", fits_with_rules)]
)
def test_model_facts_are_asked_of_inner_questions_alone(name, fits_of):
    """A question keeps its wish when plans are nested, cut and stored; outer ones have none."""
    builder = PlanBuilder(6)
    builder.ask((ALL, ()), (ALL, ()))
    inner = builder.build(ModelFacts(**{name: np.zeros(1, np.int32)}))
    plan = nest_plans(OUTER, [inner] * 3)
    assert plan.n_fits == 3  # the outer fits are the inner ones
    wishes = getattr(plan.extra, name).tolist()
    assert wishes == plan.questions("inner").tolist()
    assert fits_of(plan).tolist() == [0, 1, 2]
    outside, second = (
        plan.select(plan.questions("outer")),
        plan.select(plan.questions("inner")[1:2]),
    )
    assert (outside.extra, fits_of(outside).tolist()) == (None, [])
    assert (getattr(second.extra, name).tolist(), fits_of(second).tolist()) == ([0], [0])
    assert getattr(read_back(plan).extra, name).tolist() == wishes
    assert replace(plan, extra=None).fingerprint != plan.fingerprint


TIMES = np.array([[2, 0, 1, 0], [1, 1, 1, 1], [0, 4, 0, 0], [2, 0, 1, 0]])


@pytest.mark.parametrize("apparent", [False, True])
@pytest.mark.parametrize("missed", [False, True])
def test_plan_of_samples_is_that_of_the_builder(missed, apparent):
    builder = PlanBuilder(4)
    for b, times in enumerate(TIMES):
        out = np.flatnonzero(times == 0)
        if missed and not len(out):
            continue
        sample = builder.block(np.repeat(np.arange(4), times))
        test = (builder.block(out), ()) if missed else (-1, ())
        builder.ask((sample, ()), test, repeat=b)
    if apparent:
        builder.ask((-1, ()), (-1, ()), part="apparent")
    wanted, found = (
        builder.build(),
        plan_sample_fits(TIMES, tests_missed_rows=missed, adds_apparent_fit=apparent),
    )
    assert asked(found) == asked(wanted)
    assert (found.n_fits, found.parts) == (wanted.n_fits, wanted.parts)
    for name in ("part", "repeat", "fold", "unit", "train_sizes", "test_sizes"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist()
    assert found.positions[0].tolist() == wanted.positions[0].tolist()


def test_times_drawn_are_read_back_from_a_plan_of_samples():
    """Also where samples lose rows to inner folds."""
    plan, inner = (
        plan_sample_fits(TIMES, tests_missed_rows=False, adds_apparent_fit=False),
        PlanBuilder(2),
    )
    assert count_row_copies(plan, np.arange(4)).tolist() == TIMES.tolist()
    fold = inner.block(np.array([0]))
    inner.ask((-1, (fold,)), (fold, ()))
    both = nest_plans(plan.select(np.array([0])), [inner.build()])
    assert count_row_copies(both, both.questions("inner")).tolist() == [[0, 0, 1, 0]]


def test_questions_out_of_bag_keep_their_mark():
    """Nested, cut out, written as JSON: the inner questions stay marked, the outer ones are not."""
    data = checked(np.arange(20.0).reshape(10, 2), np.arange(10) % 2)
    plan = drawn(Nested("2-fold", "oob"), data)
    assert (plan.n_fits, plan.n_questions) == (2, 4)
    marked, back = plan.extra.question.tolist(), read_back(plan)
    assert marked == plan.questions("inner").tolist() == back.extra.question.tolist()
    assert type(back.extra) is type(plan.extra)
    assert back.fingerprint == plan.fingerprint
    assert plan.select(plan.questions("inner")).extra.question.tolist() == [0, 1]
    assert plan.select(plan.questions("outer")).extra is None
