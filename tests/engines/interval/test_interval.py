"""The interval engine answers what the generic engine answers, to the letter."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import get_scorer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.contracts import Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.progress import listen
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.interval.interval import Intervals
from truerisk.models import IntervalClassifier
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.counted import Counted
from truerisk.plan.extras.flips import Flips
from truerisk.testing.comparing import require_same
from truerisk.testing.strategies import plans

X9 = np.array([1.0, 2, 4, 8, 13, 21, 31, 45, 66])
Y9 = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])
FAMILY = Family.of(IntervalClassifier(), {"k": [3, 1, 2, 9, 4, 50]})
LABEL = Request("label")


def leave_one_out(n):
    """Each row left out and asked about."""
    builder = PlanBuilder(n)
    for row, block in enumerate(builder.partition(np.arange(n))):
        builder.ask((ALL, (block,)), (block, ()), fold=row)
    return builder.build()


def swapping(codes):
    """All rows as they are, and with each label flipped and its row asked about."""
    builder = PlanBuilder(len(codes))
    builder.ask((ALL, ()), (ALL, ()), part="apparent")
    for row, block in enumerate(builder.partition(np.arange(len(codes)))):
        flips = [(row, 1 - int(codes[row]))]
        builder.ask((ALL, ()), (block, ()), part="swap", fold=row, flips=flips)
    return builder.build()


@st.composite
def data_sets(draw):
    """4 to 12 rows on one column, many with equal x, some between numbers that have no middle."""
    n = draw(st.integers(4, 12))
    values = draw(
        st.sampled_from(
            [
                [0.0, 1.0, 2.0],
                list(range(30)),
                [1.0, 1.0 + 2**-52, 1.0 + 2**-51, 3.0],
                [-0.0, 0.0, 1],
            ]
        )
    )
    x = draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
    rest = draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))
    y = np.array(draw(st.permutations([0, 1, *rest])))
    names = draw(st.sampled_from([[0, 1], [-1, 1], ["b", "a"]]))
    return Data.check(np.array(x, float)[:, None], np.array(names)[y], task="classification")


def same_as_generic(data, plan, request, only=None):
    """Both engines on everything that the interval engine does not refuse."""
    assert Intervals().refuse(FAMILY, data, plan, request) is None
    run = RunOptions(only=only)
    found = Intervals().run(FAMILY, data, plan, request, run)
    expected = Generic().run(FAMILY, data, plan, request, run)
    require_same(expected, found, "the generic engine and this one")
    assert found.values.dtype == expected.values.dtype
    assert found.values.tobytes() == expected.values.tobytes()
    assert (found.extra is None) == (Counted.of(plan) is None)
    if found.extra is not None:
        np.testing.assert_allclose(found.extra.values, expected.extra.values, rtol=1e-12)


@settings(deadline=None, max_examples=10)
@given(data_sets(), st.sampled_from(["label", "probability", "score"]))
def test_equals_generic_on_rows_left_out_and_labels_flipped(data, response) -> None:
    """Leave-one-out and swapping plans, equal x and all, for every k and response."""
    for plan in (leave_one_out(data.n_rows), swapping(data.codes)):
        same_as_generic(data, plan, Request(response))


@settings(deadline=None, max_examples=9)
@given(data_sets(), st.sampled_from(["label", "probability"]), st.booleans())
def test_equals_generic_in_how_many_rows_an_answer_rests_on(data, response, all_of_them) -> None:
    """The rows of the interval, by class, for the questions that ask for them."""
    plan = swapping(data.codes)
    counted = np.arange(plan.n_questions) if all_of_them else np.array([0, 2])
    flips = Flips.of(plan)
    extra = Counted(flips.fit, flips.row, flips.code, counted.astype(np.int32))
    same_as_generic(data, replace(plan, extra=extra), Request(response))


def test_swapping_by_brute_force() -> None:
    """The criterion of the document, with flips fitted one by one and p from the intervals."""
    data = Data.check(X9[:, None], Y9, task="classification")
    for k in range(1, 8):
        model = IntervalClassifier(k).fit(X9, Y9)
        counts = model.counts_[model.apply(X9)]
        p = (counts[:, 1] + 5) / (counts.sum(axis=1) + 10)
        change = []
        for i in range(9):
            as_one, as_zero = Y9.copy(), Y9.copy()
            as_one[i], as_zero[i] = 1, 0
            says = [IntervalClassifier(k).fit(X9, y).predict(X9)[i] for y in (as_one, as_zero)]
            change.append(says[0] - says[1])
        expected = (model.predict(X9) != Y9).mean() + (2 * p * (1 - p) * change).mean()
        found = tr.estimate_risk(IntervalClassifier(k), data.X, Y9, cv="swapping")
        assert found.engine == "interval"
        assert found.value == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_equals_generic_on_any_plan(data) -> None:
    """Folds, overlapping subsets, copies, nested parts, replaced labels."""
    problem = data.draw(data_sets())
    plan = data.draw(plans(problem))
    same_as_generic(problem, plan, Request(data.draw(st.sampled_from(["label", "probability"]))))


def test_a_row_left_out_between_unlike_neighbours_goes_to_the_nearer_one() -> None:
    """Where the boundary falls on the row's place, its x decides, and the left one on a tie."""
    for middle, expected in ((0.4, 0), (0.5, 0), (0.6, 1)):
        data = Data.check(np.array([[0.0], [middle], [1.0]]), [0, 1, 1], task="classification")
        answers = Intervals().run(FAMILY, data, leave_one_out(3), LABEL, RunOptions())
        assert answers.values[2, 1] == expected
        same_as_generic(data, leave_one_out(3), LABEL)


@pytest.mark.parametrize(("k", "delta"), [(2, [1, 0, 1, -1, 0, 0, -2, -1, -2])])
def test_golden_set(k, delta) -> None:
    """On METHODS' nine points δ decides leave-one-out and flips, as far as it can."""
    data = Data.check(X9[:, None], Y9, task="classification")
    family = Family.of(IntervalClassifier(k))
    left_out = Intervals().run(family, data, leave_one_out(9), LABEL, RunOptions()).values[0]
    both = Intervals().run(family, data, swapping(Y9), LABEL, RunOptions()).values[0]
    apparent, flipped = both[:9], both[9:]
    change = (flipped != apparent).astype(int)
    decided = np.array(delta) != 0
    assert (left_out[decided] == (np.array(delta) < 0)[decided]).all()
    assert (change[np.array(delta) == 0] == 1).all()
    assert (change[abs(np.array(delta)) >= 2] == 0).all()
    assert (apparent != Y9).sum() == 2


def test_a_frame_and_other_numbers_are_read_alike() -> None:
    """A frame of one column, integers, float32 and booleans give the generic answers."""
    frame = pd.DataFrame({"x": X9})
    wide = np.array([2**53, 2**53 + 1, 2**53 + 2, 0])[:, None]  # two of these are one float
    for X, y in [
        (frame, Y9),
        (X9.astype(np.float32)[:, None], Y9),
        (X9.astype(np.int16)[:, None], Y9),
        (wide, [0, 1, 0, 1]),
        (X9[:, None] > 8, Y9),
    ]:
        data = Data.check(X, y, task="classification")
        same_as_generic(data, leave_one_out(len(y)), LABEL)


def test_progress_and_times_are_told() -> None:
    """Progress ends at the number of fits; every fit has its share of the time."""
    data = Data.check(X9[:, None], Y9, task="classification")
    told = []
    with listen(lambda progress: told.append((progress.done, progress.total))):
        answers = Intervals().run(FAMILY, data, swapping(Y9), LABEL, RunOptions())
    assert told[0] == (0, 60)
    assert told[-1] == (60, 60)
    assert answers.n_fits == 60
    assert (answers.fit_seconds > 0).all()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"family": Family.of(KNeighborsClassifier())}, "it serves IntervalClassifier, not KNeig"),
        (
            {"family": Family.of(make_pipeline(StandardScaler(), IntervalClassifier()))},
            "it serves IntervalClassifier, not Pipeline.",
        ),
        ({"family": Family.of(IntervalClassifier(), {"k": [1, 0]})}, "k=0 is no number of"),
        ({"family": Family.of(IntervalClassifier(k=True))}, "k=True is no number of"),
        ({"request": Request("scored", get_scorer("accuracy"))}, "needs the fitted model"),
        ({"X": np.ones((9, 2))}, "X is not one column of finite numbers."),
        ({"X": np.full((9, 1), np.nan)}, "X is not one column of finite numbers."),
        ({"X": np.array(list("abcdefghi"))[:, None]}, "X is not one column of finite numbers."),
        ({"y": np.arange(9) % 3}, "y has 3 classes, and intervals alternate between two."),
        ({"fit_params": {"strange": 1}}, r"fit parameters \(strange\) are given."),
    ],
)
def test_what_it_does_not_cover_it_refuses(change, reason) -> None:
    """Other learners, several columns, holes, three classes, scorers: a sentence for each."""
    content = {"X": X9[:, None], "y": Y9, "family": FAMILY, "request": LABEL, "fit_params": {}}
    given = content | change
    data = Data.check(given["X"], given["y"], task="classification", fit_params=given["fit_params"])
    said = Intervals().refuse(given["family"], data, leave_one_out(9), given["request"])
    assert said is not None
    assert re.search(reason, said), said


def test_empty_sets_are_refused() -> None:
    """A fit without rows fails in any engine; the generic one words it."""
    data = Data.check(X9[:, None], Y9, task="classification")
    builder = PlanBuilder(9)
    everything, one = builder.block(np.arange(9)), builder.block(np.array([0]))
    builder.ask((ALL, (everything,)), (one, ()))
    said = Intervals().refuse(FAMILY, data, builder.build(), LABEL)
    assert said == "a fit sees no rows, or is asked about none."
