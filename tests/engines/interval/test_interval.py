"""The interval engine answers what the generic engine answers, to the letter."""

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
from tests.engines.closed_forms import data_of, family_of, plan_of, values_of
from tests.support.data import NINE

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.core.progress import listen
from truerisk.engines import Generic, Intervals
from truerisk.extend import ALL, PlanBuilder, Request
from truerisk.methods import Swapping
from truerisk.models import IntervalClassifier
from truerisk.plan.extras.counted import Counted
from truerisk.plan.extras.flips import Flips
from truerisk.testing.comparing import require_same_answers
from truerisk.testing.strategies import any_plans

X9, Y9 = NINE
DATA = data_of(*NINE)
FAMILY = family_of(IntervalClassifier(), {"k": [3, 1, 2, 9, 4, 50]})
LABEL = Request("label")


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
    close = [1.0, 1.0 + 2**-52, 1.0 + 2**-51, 3.0]
    values = draw(st.sampled_from([[0.0, 1.0, 2.0], list(range(30)), close, [-0.0, 0.0, 1]]))
    x = draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
    rest = draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))
    y = np.array(draw(st.permutations([0, 1, *rest])))
    names = draw(st.sampled_from([[0, 1], [-1, 1], ["b", "a"]]))
    return data_of(np.array(x, float)[:, None], np.array(names)[y])


def require_as_generic(data, method, request):
    """Both engines on everything that the interval engine does not refuse."""
    plan = plan_of(method, data)
    assert Intervals().refuse(FAMILY, data, plan, request) is None
    found, expected = (
        engine.run(FAMILY, data, plan, request, RunOptions()) for engine in (Intervals(), Generic())
    )
    require_same_answers(expected, found, "the generic engine and this one")
    assert found.values.dtype == expected.values.dtype
    assert found.values.tobytes() == expected.values.tobytes()
    assert (found.extra is None) == (Counted.from_holder(plan) is None)
    if found.extra is not None:
        np.testing.assert_allclose(found.extra.values, expected.extra.values, rtol=1e-12)
    return found.values


@settings(deadline=None, max_examples=19)
@given(
    data=data_sets(),
    request=st.sampled_from(["label", "probability", "score"]),
    counted=st.sampled_from(["none", "some", "all"]),
)
def test_intervals_equal_generic_on_rows_left_out_and_labels_flipped(data, request, counted):
    """Every k and response, and the rows of the interval by class where they are asked for."""
    require_as_generic(data, "loo", Request(request))
    plan = swapping(data.codes)
    if counted != "none" and request != "score":
        asked = np.arange(plan.n_questions) if counted == "all" else np.array([0, 2])
        flips = Flips.from_holder(plan)
        extra = Counted(flips.fit, flips.row, flips.code, asked.astype(np.int32))
        plan = replace(plan, extra=extra)
    require_as_generic(data, plan, Request(request))


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_intervals_equal_generic_on_any_plan(data):
    problem = data.draw(data_sets())
    plan = data.draw(any_plans(problem))
    require_as_generic(problem, plan, Request(data.draw(st.sampled_from(["label", "probability"]))))


def test_swapping_of_intervals_is_its_criterion_by_brute_force():
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
        found = tr.estimate_risk(IntervalClassifier(k), X9, Y9, cv=Swapping())
        assert found.engine == "interval"
        assert found.value == pytest.approx(expected, abs=1e-12)


def test_intervals_of_nine_points_are_decided_by_delta():
    """On METHODS' nine points δ decides leave-one-out and flips, as far as it can."""
    delta = np.array([1, 0, 1, -1, 0, 0, -2, -1, -2])
    left_out = values_of(Intervals(), FAMILY, DATA, plan_of("loo", DATA), LABEL)[2]
    both = values_of(Intervals(), FAMILY, DATA, swapping(Y9), LABEL)[2]  # of k = 2
    apparent, flipped = both[:9], both[9:]
    change = (flipped != apparent).astype(int)
    assert (left_out[delta != 0] == (delta < 0)[delta != 0]).all()
    assert (change[delta == 0] == 1).all()
    assert (change[abs(delta) >= 2] == 0).all()
    assert (apparent != Y9).sum() == 2


WIDE = np.array([2**53, 2**53 + 1, 2**53 + 2, 0])[:, None]  # two of these are one float


@pytest.mark.parametrize(
    ("X", "y", "answer"),
    [
        (pd.DataFrame({"x": X9[:, 0]}), Y9, {}),
        (X9.astype(np.float32), Y9, {}),
        (X9.astype(np.int16), Y9, {}),
        (X9 > 8, Y9, {}),
        (WIDE, [0, 1, 0, 1], {}),
        (np.array([[0.0], [0.4], [1.0]]), [0, 1, 1], {(2, 1): 0}),  # the nearer side decides,
        (np.array([[0.0], [0.5], [1.0]]), [0, 1, 1], {(2, 1): 0}),  # the left one on a tie
        (np.array([[0.0], [0.6], [1.0]]), [0, 1, 1], {(2, 1): 1}),
    ],
)
def test_intervals_equal_generic_on_one_column_of_any_type(X, y, answer):
    values = require_as_generic(data_of(X, y), "loo", LABEL)
    assert {place: values[place] for place in answer} == answer


def test_intervals_tell_progress_and_times():
    told = []
    with listen(lambda progress: told.append((progress.done, progress.total))):
        answers = Intervals().run(FAMILY, DATA, swapping(Y9), LABEL, RunOptions())
    assert (told[0], told[-1]) == ((0, 60), (60, 60))
    assert answers.n_fits == 60
    assert (answers.fit_seconds > 0).all()


EMPTY = PlanBuilder(9)
EMPTY.ask((ALL, (EMPTY.block(np.arange(9)),)), (EMPTY.block(np.array([0])), ()))
PIPED = make_pipeline(StandardScaler(), IntervalClassifier())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": KNeighborsClassifier()}, "it serves IntervalClassifier, not KNeig"),
        ({"model": PIPED}, r"it serves IntervalClassifier, not Pipeline\."),
        ({"grid": {"k": [1, 0]}}, "k=0 is no number of"),
        ({"model": IntervalClassifier(k=True)}, "k=True is no number of"),
        ({"request": Request("scored", get_scorer("accuracy"))}, "needs the fitted model"),
        ({"X": np.ones((9, 2))}, r"X is not one column of finite numbers\."),
        ({"X": np.full((9, 1), np.nan)}, r"X is not one column of finite numbers\."),
        ({"X": np.array(list("abcdefghi"))[:, None]}, r"X is not one column of finite numbers\."),
        ({"y": np.arange(9) % 3}, r"y has 3 classes, and intervals alternate between two\."),
        ({"params": {"strange": 1}}, r"fit parameters \(strange\) are given\."),
        ({"plan": EMPTY.build()}, r"a fit sees no rows, or is asked about none\."),
    ],
)
def test_intervals_refuse_what_they_do_not_cover(change, reason):
    given = {"X": X9, "y": Y9, "params": {}, "model": IntervalClassifier(), "grid": None, **change}
    data = data_of(given["X"], given["y"], **given["params"])
    family, plan = family_of(given["model"], given["grid"]), plan_of(given.get("plan", "loo"), data)
    said = Intervals().refuse(family, data, plan, given.get("request", LABEL))
    assert re.search(reason, str(said)), said
