"""A coded plan says exactly what plain sets of rows say."""

from __future__ import annotations

import itertools
import json
import pickle
import tracemalloc
from collections import Counter
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.contracts import Streams
from truerisk.core.errors import BadData
from truerisk.data.data import Data
from truerisk.methods import KFold, LeaveOneOut, Nested, as_method
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder, one_fit
from truerisk.plan.extras.flips import flips_of
from truerisk.plan.plan import Plan

PARTS = ("test", "inner", "outer")


@st.composite
def drawn(draw, n: int | None = None):
    """A plan and, for each question, the train and test sets as counters of rows, and the flips."""
    n = draw(st.integers(2, 9)) if n is None else n
    row = st.integers(0, n - 1)
    blocks = draw(st.lists(st.lists(row, max_size=n + 2), min_size=1, max_size=5))
    row_set = st.tuples(
        st.integers(ALL, len(blocks) - 1), st.lists(st.integers(0, len(blocks) - 1), max_size=3)
    )
    builder = PlanBuilder(n)
    numbers = [builder.block(np.array(rows, dtype=np.int64)) for rows in blocks]

    def coded(spoken):
        base, minus = spoken
        return (base if base == ALL else numbers[base], tuple(numbers[b] for b in minus))

    def meant(spoken):
        base, minus = spoken
        rows = Counter(range(n) if base == ALL else blocks[base])
        gone = {r for b in minus for r in blocks[b]}
        return Counter({r: c for r, c in rows.items() if r not in gone})

    expected = []
    for number in range(draw(st.integers(1, 6))):
        train, test = draw(row_set), draw(row_set)
        flips = draw(st.dictionaries(row, st.integers(0, 2), max_size=2))
        part, unit = draw(st.sampled_from(PARTS)), draw(st.integers(-1, 3))
        builder.ask(
            coded(train),
            coded(test),
            part=part,
            repeat=number % 2,
            fold=number,
            unit=unit,
            flips=flips.items(),
        )
        expected.append((meant(train), meant(test), flips, part, unit, number))
    return builder.build(), expected


def counted(pair) -> Counter:
    rows, counts = pair
    assert (np.diff(rows) > 0).all()
    return Counter(dict(zip(rows.tolist(), np.ones(len(rows), int) if counts is None else counts)))


def says(plan: Plan, q: int):
    """Question q as plain sets."""
    fit = int(plan.fit[q])
    row, code = flips_of(plan, fit)
    return (
        counted(plan.train_rows(fit)),
        counted(plan.test_rows(q)),
        dict(zip(row.tolist(), code.tolist(), strict=True)),
        plan.parts[plan.part[q]],
        int(plan.unit[q]),
        int(plan.fold[q]),
    )


@given(drawn())
def test_a_coded_plan_is_its_plain_sets(both) -> None:
    """Train rows, test rows, counts, flips, parts and units are those that were asked for."""
    plan, expected = both
    assert [says(plan, q) for q in range(plan.n_questions)] == expected


@given(drawn())
def test_sizes_and_positions_are_counted_from_the_sets(both) -> None:
    """Sizes, offsets and the flat list of positions agree with the plain sets."""
    plan, expected = both
    assert plan.test_sizes.tolist() == [len(test) for _, test, *_ in expected]
    assert plan.test_offsets.tolist() == np.cumsum([0, *plan.test_sizes]).tolist()
    sizes = plan.train_sizes[plan.fit].tolist()
    assert sizes == [sum(train.values()) for train, *_ in expected]
    rows, counts = plan.positions
    flat = [(r, c) for _, test, *_ in expected for r, c in sorted(test.items())]
    assert rows.tolist() == [r for r, _ in flat]
    assert ([1] * len(rows) if counts is None else counts.tolist()) == [c for _, c in flat]


@given(drawn())
def test_equal_train_sets_of_equal_code_are_one_fit(both) -> None:
    """There are no two fits of one code, and every fit is asked something."""
    plan, _ = both
    order, starts = plan.questions_of
    asked = [order[a:b].tolist() for a, b in itertools.pairwise(starts)]
    assert sorted(q for questions in asked for q in questions) == list(range(plan.n_questions))
    assert all(asked)
    codes = [
        (int(plan.train.base[f]), plan.train.without(f).tolist(), *map(tuple, flips_of(plan, f)))
        for f in range(plan.n_fits)
    ]
    assert len({repr(code) for code in codes}) == plan.n_fits


@given(drawn(), st.data())
def test_a_part_of_a_plan_asks_the_same(both, data) -> None:
    """`only` keeps the questions in the asked order, with the fits they need and no others."""
    plan, expected = both
    which = data.draw(
        st.lists(st.integers(0, plan.n_questions - 1), min_size=1, unique=True), label="questions"
    )
    part = plan.only(np.array(which))
    assert [says(part, q) for q in range(part.n_questions)] == [expected[q] for q in which]
    assert part.n_fits == len(set(plan.fit[which].tolist()))


@given(drawn())
def test_questions_of_a_part_are_found_by_its_name(both) -> None:
    """A named part is the questions asked under that name; an unknown name has none.

    As a plan of its own it is made once.
    """
    plan, expected = both
    for name in (*PARTS, "nothing"):
        asked = [q for q, question in enumerate(expected) if question[3] == name]
        assert plan.questions(name).tolist() == asked
        part = plan.part_named(name)
        assert [says(part, q) for q in range(part.n_questions)] == [expected[q] for q in asked]
        assert plan.part_named(name) is part


@given(drawn())
def test_rows_of_the_fit_itself_are_those_of_the_definition(both) -> None:
    """A row is seen where it is in the train set; own rows are all of it, each once."""
    plan, expected = both
    for q, (train, test, *_) in enumerate(expected):
        assert plan.seen(q).tolist() == [row in train for row in sorted(test)]
        once = set(train.values()) <= {1} and set(test.values()) <= {1}
        assert plan.own_rows[q] == (bool(train) and train == test and once)


def test_copies_that_are_left_out_leave_plain_rows() -> None:
    """What is left of a block once its repeated rows are gone: each row once, with no counts."""
    builder = PlanBuilder(2)
    block, minus = builder.block(np.array([0, 0, 1])), builder.block(np.array([0]))
    both = (block, (minus,))
    builder.ask(both, both, part="test", repeat=0, fold=0, unit=0)
    plan = builder.build()
    assert plan.train_rows(0)[1] is None
    assert plan.test_rows(0)[1] is None
    assert plan.own_rows.tolist() == [True]


@pytest.mark.parametrize(
    ("word", "own"),
    [("apparent", [True]), ("oob", [False]), ("alo", [False]), ("loo", [False] * 5)],
)
def test_an_answer_without_the_row_is_none_of_its_own(word, own) -> None:
    """Out of bag and taken out: the row is in the train set but not in the model."""
    data = Data.check(np.arange(10.0).reshape(5, 2), [0, 1, 0, 1, 0], task="classification")
    plan = as_method(word).plan(data, Streams(0))
    assert plan.own_rows.tolist() == own
    assert plan.without_row.any() == (word in ("oob", "alo"))


@given(drawn())
def test_json_gives_the_same_plan_back(both) -> None:
    """A plan that went through JSON asks the same and has the same fingerprint."""
    plan, expected = both
    again = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert again.fingerprint == plan.fingerprint
    assert [says(again, q) for q in range(again.n_questions)] == expected


def ten_rows() -> Data:
    X = np.arange(20.0).reshape(10, 2)
    return Data.check(X, np.arange(10) % 2, task="classification")


def bootstrap_plan() -> Plan:
    """Counts, flips, units and two parts in one small plan."""
    builder = PlanBuilder(5)
    sample, rest = builder.block(np.array([0, 0, 2, 3])), builder.block(np.array([1, 4]))
    builder.ask((sample, ()), (rest, ()), part="outer", unit=-1, flips=[(2, 1)])
    builder.ask((ALL, (rest,)), (rest, ()), part="inner", unit=0)
    return builder.build()


def test_the_fingerprint_of_a_given_plan_never_changes() -> None:
    """Stored results name plans by fingerprint, so it is the same on every machine and release."""
    assert bootstrap_plan().fingerprint == "576939f3bee515a2"


def altered(content: dict):
    """Every single number of a stored plan, changed by one."""
    for name, value in content.items():
        if name in ("fingerprint", "parts"):
            continue
        for at in range(len(value)) if isinstance(value, list) else [None]:
            other = deepcopy(content)
            if at is None:
                other[name] += 1
            else:
                other[name][at] += 1
            yield f"{name}[{at}]", other


def test_any_altered_number_of_a_stored_plan_is_refused() -> None:
    """One changed number anywhere in the file, or a lost list, and the plan is not accepted."""
    content = bootstrap_plan().to_dict()
    Plan.from_dict(content)
    changed = dict(altered(content))
    assert len(changed) > 30
    for where, other in changed.items():
        with pytest.raises(BadData, match="altered|not a stored plan"):
            pytest.fail(f"{where} went unnoticed: {Plan.from_dict(other)}")
    for name in content:
        with pytest.raises(BadData, match="altered|not a stored plan"):
            Plan.from_dict({k: v for k, v in content.items() if k != name})


@pytest.mark.parametrize("content", [{}, {"n_rows": "x", "parts": []}, {"n_rows": 3}])
def test_a_foreign_file_is_no_plan(content) -> None:
    """What is not a plan is named so."""
    with pytest.raises(BadData, match="not a stored plan"):
        Plan.from_dict(content)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_rows": 10**15, "test.minus": [0, 0], "test.offsets": [0, 2]},
        {"n_rows": 10**30, "test.minus": [0, 0], "test.offsets": [0, 2]},
        {"test.base": [10**30]},
    ],
)
def test_plan_from_dict_refuses_numbers_that_are_too_large(changes) -> None:
    """A number that does not fit into memory or into an array is refused like any other change."""
    content = one_fit(6, np.arange(6)).to_dict() | {"test.base": [-1]}
    with pytest.raises(BadData, match="not a stored plan"):
        Plan.from_dict(content | changes)


def test_another_seed_is_another_plan() -> None:
    """The seed decides the plan, and nothing else does."""
    method = KFold(3)
    prints = [method.plan(ten_rows(), Streams(seed)).fingerprint for seed in (0, 0, 1)]
    assert prints[0] == prints[1] != prints[2]


def test_leave_one_out_of_many_rows_costs_o_n() -> None:
    """The plan of leave-one-out of 20,000 rows is under 10 MB, and drawing it costs O(n)."""
    data = Data.check(np.zeros((20_000, 1)), np.arange(20_000) % 2, task="classification")
    tracemalloc.start()
    plan = LeaveOneOut().plan(data, Streams(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(pickle.dumps(plan)) < 2e6
    assert peak < 50e6  # n² bits alone are 50 MB
    assert plan.train_sizes.tolist() == [19_999] * 20_000
    for fit in (0, 777, 19_999):
        assert np.array_equal(plan.train_rows(fit)[0], np.delete(np.arange(20_000), fit))
        assert plan.test_rows(fit)[0].tolist() == [fit]


def test_nested_folds_are_never_copied() -> None:
    """Nested 10 × 10-fold of n rows holds each row about K + 1 times, not K² times."""
    data = Data.check(np.zeros((5000, 1)), np.arange(5000) % 2, task="classification")
    plan = Nested("10-fold", "10-fold").plan(data, Streams(0))
    assert plan.n_fits == 110
    assert len(pickle.dumps(plan)) < 5000 * 4 * 12


def test_questions_out_of_bag_keep_their_mark() -> None:
    """Nested, cut out, written as JSON: the inner questions stay marked, the outer ones are not."""
    plan = Nested("2-fold", "oob").plan(ten_rows(), Streams(0))
    assert (plan.n_fits, plan.n_questions) == (2, 4)
    assert plan.extra.question.tolist() == plan.questions("inner").tolist()
    back = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert type(back.extra) is type(plan.extra)
    assert (back.fingerprint, back.extra.question.tolist()) == (
        plan.fingerprint,
        plan.extra.question.tolist(),
    )
    assert plan.only(plan.questions("inner")).extra.question.tolist() == [0, 1]
    assert plan.only(plan.questions("outer")).extra is None
