"""Plans made array by array equal those made question by question."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.data.data import Data
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder, leave_out, merge_equal_fits
from truerisk.plan.extras.counted import counted_offsets, flip_each
from truerisk.plan.extras.flips import Flips, flips_of
from truerisk.plan.extras.laws import Law, draw_every, law_of
from truerisk.plan.extras.model_facts import ModelFacts, free_fits, ruled_fits
from truerisk.plan.nesting import nest
from truerisk.plan.partitions import (
    leave_pairs_out,
    plan_of_samples,
    times_drawn,
)
from truerisk.plan.plan import Plan
from truerisk.testing.strategies import NestingBuilder


def asked(plan):
    """Every question of a plan in plain rows, with what its fit saw."""
    questions = []
    for q in range(plan.n_questions):
        fit = int(plan.fit[q])
        rows, counts = plan.train_rows(fit)
        tested, times = plan.test_rows(q)
        place = [int(column[q]) for column in (plan.unit, plan.repeat, plan.fold)]
        sets = [None if a is None else a.tolist() for a in (rows, counts, tested, times)]
        flips = [a.tolist() for a in flips_of(plan, fit)]
        questions.append(repr((plan.parts[plan.part[q]], place, sets, flips)))
    return sorted(questions)


@given(st.lists(st.permutations([0, 0, 1, 1, 2, 2, 3]), min_size=1, max_size=3))
def test_every_pair_of_blocks_is_left_out_once(partitions):
    """leave_pairs_out is the builder's plan: fold i by the fit without i and j, code i K + j."""
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
def test_every_block_is_left_out_once(partitions):
    """leave_out is the builder's plan of the same partitions, in the same order."""
    labels = [np.array(row) for row in partitions]
    builder = PlanBuilder(7)
    for repeat, row in enumerate(labels):
        for fold, block in enumerate(builder.partition(row)):
            builder.ask((ALL, (block,)), (block, ()), repeat=repeat, fold=fold)
    expected, plan = builder.build(), leave_out(7, labels)
    assert asked(plan) == asked(expected)
    assert plan.n_fits == expected.n_fits
    np.testing.assert_array_equal(plan.positions[0], expected.positions[0])
    np.testing.assert_array_equal(plan.test_sizes, expected.test_sizes)


@pytest.mark.parametrize("outer", ["3-fold", "2x3-fold", "monte-carlo", "loo", "reversed 4-fold"])
@pytest.mark.parametrize("inner", ["3-fold", "loo", "2x2-fold", "reversed 3-fold", "holdout"])
def test_a_nested_plan_is_the_inner_plan_within_each_outer_training_set(outer, inner):
    """Nest asks exactly what the builder's embedding asks, with as many fits."""
    n = 17
    data = Data.check(np.arange(2.0 * n).reshape(n, 2), np.arange(n) % 2, task="classification")
    streams = Streams(5)
    outside = tr.methods.as_method(outer).plan(data, streams)
    inside = []
    builder = NestingBuilder(n)
    builder.embed(outside, np.arange(n, dtype=np.int32), (ALL, ()), part="outer", unit=-1)
    for q in range(outside.n_questions):
        rows, _ = outside.train_rows(int(outside.fit[q]))
        drawn = tr.methods.as_method(inner).plan(data.subset(rows), streams.child(f"{q}"))
        inside.append(drawn)
        builder.embed(drawn, rows, builder.trained(q), part="inner", unit=q)
    expected, plan = builder.build(), nest(outside, inside)
    assert asked(plan) == asked(expected)
    assert plan.n_fits == expected.n_fits
    sizes = [len(plan.train_rows(fit)[0]) for fit in range(plan.n_fits)]
    np.testing.assert_array_equal(plan.train_sizes, sizes)
    assert (plan.least_train_sizes <= sizes).all()


def test_bootstrap_copies_and_flips_stay_in_nested_plans():
    """Counts of an outer sample reach its inner fits, and flipped labels keep their rows."""
    builder = PlanBuilder(6)
    sample = builder.block(np.array([0, 0, 2, 3, 3, 5]))
    builder.ask((sample, ()), (ALL, (sample,)))
    outer = builder.build()
    local = PlanBuilder(4)
    fold = local.block(np.array([1]))
    local.ask((ALL, (fold,)), (fold, ()), flips=[(3, 1)])
    plan = nest(outer, [local.build()])
    (question,) = plan.questions("inner")
    fit = int(plan.fit[question])
    rows, counts = plan.train_rows(fit)
    assert (rows.tolist(), counts.tolist()) == ([0, 3, 5], [2, 2, 1])
    assert plan.test_rows(question)[0].tolist() == [2]
    assert [a.tolist() for a in flips_of(plan, fit)] == [[5], [1]]


def test_equal_train_sets_are_one_fit():
    """The same partition on both levels shares 'all but folds i and j': K(K-1)/2 inner fits."""
    folds = np.arange(20) % 5
    outer = leave_out(20, [folds])
    inner = [leave_out(16, [folds[folds != k]]) for k in range(5)]
    plan = nest(outer, inner)
    assert plan.n_questions == 5 + 20
    assert plan.n_fits == 5 + 10
    assert merge_equal_fits(plan) is plan


def test_copies_keep_fits_apart():
    """Row i j times and row j − 1 i + 1 times are different train sets."""
    times = np.stack([np.roll(np.arange(7) == 0, i) * j for i in range(6) for j in range(1, 7)])
    assert plan_of_samples(times, missed=True, apparent=False).n_fits == len(times)
    same_size = np.array([[2, 0, 0, 3, 0], [0, 1, 4, 0, 0], [0, 1, 0, 3, 1]])
    assert plan_of_samples(same_size, missed=True, apparent=False).n_fits == 3
    assert plan_of_samples(times[[0, 1, 0]], missed=True, apparent=False).n_fits == 2


def test_flipped_labels_keep_fits_apart():
    """Two fits on the same rows are one only if they are shown the same labels."""
    builder = PlanBuilder(3)
    for flips in ([], [(0, 1)], [(0, 2)], [(1, 1)]):
        builder.ask((ALL, ()), (ALL, ()), flips=flips)
    assert merge_equal_fits(builder.build()).n_fits == 4


def test_every_label_is_flipped_once():
    """flip_each is the builder's plan: all rows first, then each row under its other label."""
    codes = np.array([1, 0, 0, 1, 0])
    builder = PlanBuilder(5)
    builder.ask((ALL, ()), (builder.block(np.arange(5)), ()), part="apparent")
    for row, code in enumerate(codes):
        block = builder.block(np.array([row]))
        builder.ask((ALL, ()), (block, ()), part="swap", fold=row, flips=[(row, code)])
    plan = flip_each(codes)
    assert asked(plan) == asked(builder.build())
    assert plan.n_fits == 6
    assert plan.extra.counted.tolist() == [0]


def test_drawn_train_sets_stay_drawn_inside_outer_ones():
    """Laws and counted questions keep their fits and questions when plans are nested and cut."""
    outer = leave_out(9, [np.arange(9) % 3])
    plan = nest(outer, [draw_every(6, "subsets", size) for size in (3, 4, 5)])
    assert plan.n_fits == 3 + 3  # the outer fits see the same rows, all of them
    inner = plan.questions("inner")
    laws = [law_of(plan, int(plan.fit[q])) for q in inner]
    assert laws == [Law("subsets", size) for size in (3, 4, 5)]
    assert plan.train_sizes[plan.fit[inner]].tolist() == [3, 4, 5]
    assert all(law_of(plan, int(plan.fit[q])) is None for q in plan.questions("outer"))
    second = plan.only(inner[1:2])
    assert law_of(second, 0) == Law("subsets", 4)
    assert second.train_rows(0)[0].tolist() == outer.train_rows(1)[0].tolist()
    assert plan.only(plan.questions("outer")).extra is None


def test_counted_questions_stay_counted_inside_outer_ones():
    """The questions on all outer training rows are counted, and no other."""
    outer = leave_out(9, [np.arange(9) % 3])
    plan = nest(outer, [flip_each(np.zeros(6, int)) for _ in range(3)])
    assert [plan.test_sizes[q] for q in plan.extra.counted] == [6, 6, 6]
    assert counted_offsets(plan).tolist() == [0, 6, 12, 18]
    assert plan.only(np.flatnonzero(plan.unit == 1)).extra.counted.tolist() == [0]
    assert "counted" not in plan.only(plan.questions("outer")).needs


def test_equal_laws_are_one_fit_and_others_are_not():
    """Draws from the same rows are one fit only if kind and size are the same."""
    twice = leave_out(6, [np.array([0, 0, 0, 1, 1, 1])] * 2)  # two fits, asked twice
    apart = np.arange(4, dtype=np.int32)
    outer = replace(twice, train=twice.train.take(twice.fit), fit=apart)  # four, equal in pairs
    laws = [("subsets", 2), ("subsets", 1), ("subsets", 2), ("bootstraps", 1)]
    plan = nest(outer, [draw_every(3, *law) for law in laws])
    inner = plan.only(plan.questions("inner"))
    assert (inner.n_questions, inner.n_fits) == (4, 3)
    assert [law_of(inner, int(f)) for f in inner.fit] == [Law(*law) for law in laws]


@pytest.mark.parametrize(
    "plan", [flip_each(np.array([1, 0, 1])), draw_every(5, "bootstraps", 5)], ids=["flips", "law"]
)
def test_laws_and_counted_questions_survive_json(plan):
    """A plan read back has its fingerprint, its laws and its counted questions."""
    back = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert back.fingerprint == plan.fingerprint
    laws = [[law_of(p, fit) for fit in range(p.n_fits)] for p in (back, plan)]
    assert laws[0] == laws[1]
    assert type(back.extra) is type(plan.extra)


def test_the_fingerprint_depends_on_the_law():
    """Another kind or size is another plan, and so is one without counted questions."""
    plans = [draw_every(5, *law) for law in (("subsets", 3), ("subsets", 4), ("bootstraps", 3))]
    flips = flip_each(np.array([1, 0, 1]))
    plans += [
        flips,
        replace(flips, extra=Flips(*(getattr(flips.extra, f) for f in ("fit", "row", "code")))),
    ]
    assert len({plan.fingerprint for plan in plans}) == 5


def test_degrees_of_freedom_are_asked_of_inner_questions_alone():
    """A question keeps its wish when plans are nested, cut and stored; outer ones have none."""
    builder = PlanBuilder(6)
    builder.ask((ALL, ()), (ALL, ()))
    inner = builder.build(ModelFacts(freedom=np.zeros(1, np.int32)))
    outer = leave_out(9, [np.arange(9) % 3])
    plan = nest(outer, [inner] * 3)
    assert plan.n_fits == 3  # the outer fits are the inner ones
    assert plan.extra.freedom.tolist() == plan.questions("inner").tolist()
    assert free_fits(plan).tolist() == [0, 1, 2]
    assert plan.only(plan.questions("outer")).extra is None
    second = plan.only(plan.questions("inner")[1:2])
    assert (second.extra.freedom.tolist(), free_fits(second).tolist()) == ([0], [0])
    back = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert back.extra.freedom.tolist() == plan.extra.freedom.tolist()
    assert replace(plan, extra=None).fingerprint != plan.fingerprint


def test_linear_rules_are_asked_of_inner_questions_alone():
    """As degrees of freedom: nested, cut and stored."""
    builder = PlanBuilder(6)
    builder.ask((ALL, ()), (ALL, ()))
    inner = builder.build(ModelFacts(rules=np.zeros(1, np.int32)))
    plan = nest(leave_out(9, [np.arange(9) % 3]), [inner] * 3)
    assert plan.extra.rules.tolist() == plan.questions("inner").tolist()
    assert ruled_fits(plan).tolist() == [0, 1, 2]
    assert plan.only(plan.questions("outer")).extra is None
    assert ruled_fits(plan.only(plan.questions("outer"))).tolist() == []
    second = plan.only(plan.questions("inner")[1:2])
    assert (second.extra.rules.tolist(), ruled_fits(second).tolist()) == ([0], [0])
    back = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert back.extra.rules.tolist() == plan.extra.rules.tolist()
    assert replace(plan, extra=None).fingerprint != plan.fingerprint


TIMES = np.array([[2, 0, 1, 0], [1, 1, 1, 1], [0, 4, 0, 0], [2, 0, 1, 0]])


@pytest.mark.parametrize("apparent", [False, True])
@pytest.mark.parametrize("missed", [False, True])
def test_same_as_question_by_question(missed, apparent) -> None:
    """Every fit, count and question is that of the builder; equal samples are one fit."""
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
    wanted, found = builder.build(), plan_of_samples(TIMES, missed=missed, apparent=apparent)
    assert (found.n_fits, found.parts) == (wanted.n_fits, wanted.parts)
    for q in range(wanted.n_questions):
        for ask in ("test_rows", "train_rows"):
            pairs = [
                getattr(plan, ask)(q if ask == "test_rows" else int(plan.fit[q]))
                for plan in (wanted, found)
            ]
            assert pairs[0][0].tolist() == pairs[1][0].tolist()
            counts = [None if c is None else c.tolist() for _, c in pairs]
            assert counts[0] == counts[1]
    for name in ("part", "repeat", "fold", "unit", "train_sizes", "test_sizes"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist()
    assert found.positions[0].tolist() == wanted.positions[0].tolist()


def test_times_come_back() -> None:
    """The counts a plan was made of are read back, also where samples lose rows to inner folds."""
    plan = plan_of_samples(TIMES, missed=False, apparent=False)
    assert times_drawn(plan, np.arange(4)).tolist() == TIMES.tolist()
    inner = PlanBuilder(2)
    fold = inner.block(np.array([0]))
    inner.ask((-1, (fold,)), (fold, ()))
    outer = plan.only(np.array([0]))
    both = nest(outer, [inner.build()])
    assert times_drawn(both, both.questions("inner")).tolist() == [[0, 0, 1, 0]]
