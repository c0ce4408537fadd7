"""A coded plan says exactly what plain sets of rows say."""

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
from tests.support.data import checked
from tests.support.plans import drawn as drawn_plan

from truerisk.extend import ALL, BadData, Plan, PlanBuilder
from truerisk.methods import LeaveOneOut, Nested, as_method
from truerisk.plan.builder import plan_one_fit
from truerisk.plan.extras.flips import get_label_flips

PARTS = ("test", "inner", "outer")


def classes(n):
    """Rows of two classes."""
    return checked(np.arange(2.0 * n).reshape(n, 2), np.arange(n) % 2)


@st.composite
def drawn(draw, n: int | None = None):
    """A plan and, for each question, the train and test sets as counters of rows, and the flips."""
    n = draw(st.integers(2, 9)) if n is None else n
    row = st.integers(0, n - 1)
    blocks = draw(st.lists(st.lists(row, max_size=n + 2), min_size=1, max_size=5))
    number = st.integers(0, len(blocks) - 1)
    row_set = st.tuples(st.integers(ALL, len(blocks) - 1), st.lists(number, max_size=3))
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
        place = {"part": part, "repeat": number % 2, "fold": number, "unit": unit}
        builder.ask(coded(train), coded(test), flips=flips.items(), **place)
        expected.append((meant(train), meant(test), flips, part, unit, number))
    return builder.build(), expected


def counted(pair) -> Counter:
    rows, counts = pair
    assert (np.diff(rows) > 0).all()
    return Counter(dict(zip(rows.tolist(), np.ones(len(rows), int) if counts is None else counts)))


def says(plan: Plan):
    """Every question as plain sets."""
    questions = []
    for q in range(plan.n_questions):
        fit = int(plan.fit[q])
        row, code = get_label_flips(plan, fit)
        flips = dict(zip(row.tolist(), code.tolist(), strict=True))
        sets = counted(plan.train_rows(fit)), counted(plan.test_rows(q)), flips
        place = plan.parts[plan.part[q]], int(plan.unit[q]), int(plan.fold[q])
        questions.append((*sets, *place))
    return questions


@given(drawn())
def test_plan_is_its_plain_sets(both):
    """Train rows, test rows, counts, flips, parts and units are those that were asked for.

    Sizes, offsets and the flat list of positions agree with them; and so it is through JSON.
    """
    plan, expected = both
    assert says(plan) == expected
    assert plan.test_sizes.tolist() == [len(test) for _, test, *_ in expected]
    assert plan.test_offsets.tolist() == np.cumsum([0, *plan.test_sizes]).tolist()
    sizes = plan.train_sizes[plan.fit].tolist()
    assert sizes == [sum(train.values()) for train, *_ in expected]
    rows, counts = plan.positions
    flat = [(r, c) for _, test, *_ in expected for r, c in sorted(test.items())]
    assert rows.tolist() == [r for r, _ in flat]
    assert ([1] * len(rows) if counts is None else counts.tolist()) == [c for _, c in flat]
    again = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert again.fingerprint == plan.fingerprint
    assert says(again) == expected


@given(drawn())
def test_plan_has_no_two_fits_of_one_code(both):
    plan, _ = both
    order, starts = plan.questions_of
    asked = [order[a:b].tolist() for a, b in itertools.pairwise(starts)]
    assert sorted(q for questions in asked for q in questions) == list(range(plan.n_questions))
    assert all(asked)
    codes = [
        (
            int(plan.train.base[f]),
            plan.train.get_removed_blocks(f).tolist(),
            *map(tuple, get_label_flips(plan, f)),
        )
        for f in range(plan.n_fits)
    ]
    assert len({repr(code) for code in codes}) == plan.n_fits


@given(drawn(), st.data())
def test_plan_of_some_questions_asks_the_same(both, data):
    """In the asked order, with the fits they need and no others; so do those of a named part.

    An unknown name has none. As a plan of its own a part is made once.
    """
    plan, expected = both
    questions = st.lists(st.integers(0, plan.n_questions - 1), min_size=1, unique=True)
    which = data.draw(questions, label="questions")
    part = plan.select(np.array(which))
    assert says(part) == [expected[q] for q in which]
    assert part.n_fits == len(set(plan.fit[which].tolist()))
    for name in (*PARTS, "nothing"):
        asked = [q for q, question in enumerate(expected) if question[3] == name]
        assert plan.questions(name).tolist() == asked
        part = plan.part_named(name)
        assert says(part) == [expected[q] for q in asked]
        assert plan.part_named(name) is part


@given(drawn())
def test_plan_tells_seen_and_own_rows_by_the_definition(both):
    """A row is seen where it is in the train set; own rows are all of it, each once."""
    plan, expected = both
    for q, (train, test, *_) in enumerate(expected):
        assert plan.seen(q).tolist() == [row in train for row in sorted(test)]
        once = set(train.values()) <= {1} and set(test.values()) <= {1}
        assert plan.own_rows[q] == (bool(train) and train == test and once)


def test_plan_without_copies_that_are_left_out_has_no_counts():
    """What is left of a block once its repeated rows are gone: each row once."""
    builder = PlanBuilder(2)
    both = builder.block(np.array([0, 0, 1])), (builder.block(np.array([0])),)
    builder.ask(both, both)
    plan = builder.build()
    assert plan.train_rows(0)[1] is None
    assert plan.test_rows(0)[1] is None
    assert plan.own_rows.tolist() == [True]


@pytest.mark.parametrize(
    ("word", "own"),
    [("apparent", [True]), ("oob", [False]), ("alo", [False]), ("loo", [False] * 5)],
)
def test_own_rows_are_none_where_the_row_is_not_in_the_model(word, own):
    """Out of bag and taken out: the row is in the train set but not in the model."""
    plan = drawn_plan(as_method(word), classes(5))
    assert plan.own_rows.tolist() == own
    assert plan.without_row.any() == (word in ("oob", "alo"))


def bootstrap_plan() -> Plan:
    """Counts, flips, units and two parts in one small plan."""
    builder = PlanBuilder(5)
    sample, rest = builder.block(np.array([0, 0, 2, 3])), builder.block(np.array([1, 4]))
    builder.ask((sample, ()), (rest, ()), part="outer", unit=-1, flips=[(2, 1)])
    builder.ask((ALL, (rest,)), (rest, ()), part="inner", unit=0)
    return builder.build()


def test_fingerprint_of_a_given_plan_never_changes():
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


def test_stored_plan_is_refused_if_any_number_was_altered():
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


STORED = plan_one_fit(6, np.arange(6)).to_dict() | {"test.base": [-1]}
CUT = {"test.minus": [0, 0], "test.offsets": [0, 2]}


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"n_rows": "x", "parts": []},
        {"n_rows": 3},
        STORED | {"n_rows": 10**15} | CUT,
        STORED | {"n_rows": 10**30} | CUT,
        STORED | {"test.base": [10**30]},
    ],
)
def test_stored_plan_is_refused_if_it_is_none_or_its_numbers_too_large(content):
    """A number that does not fit into memory or into an array is refused like any other change."""
    with pytest.raises(BadData, match="not a stored plan"):
        Plan.from_dict(content)


def test_plan_of_leave_one_out_of_many_rows_costs_o_n():
    """The plan of leave-one-out of 20,000 rows is under 10 MB, and drawing it costs O(n)."""
    data = classes(20_000)
    tracemalloc.start()
    plan = drawn_plan(LeaveOneOut(), data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(pickle.dumps(plan)) < 2e6
    assert peak < 50e6  # n² bits alone are 50 MB
    assert plan.train_sizes.tolist() == [19_999] * 20_000
    for fit in (0, 777, 19_999):
        assert np.array_equal(plan.train_rows(fit)[0], np.delete(np.arange(20_000), fit))
        assert plan.test_rows(fit)[0].tolist() == [fit]


def test_plan_of_nested_folds_holds_each_row_about_k_plus_1_times():
    """Nested 10 × 10-fold of n rows does not copy folds K² times."""
    plan = drawn_plan(Nested("10-fold", "10-fold"), classes(5000))
    assert plan.n_fits == 110
    assert len(pickle.dumps(plan)) < 5000 * 4 * 12
