"""Forward validation and purged folds: splits in the order of time, in any order of rows."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import checked, normal_rows
from tests.support.plans import drawn, sets_of, splits_of

import truerisk as tr
from truerisk.exceptions import FitFailed, TimeLeakWarning
from truerisk.extend import BadData, Refusal
from truerisk.methods import Forward, Nested, Purged, as_method
from truerisk.testing import Case, method_checks
from truerisk.testing.cases import two_class_case

DAY = np.timedelta64(1, "D")
START = np.datetime64("2024-01-01")
X, _, NUMBERS = normal_rows(240, seed=3)
TREE = DecisionTreeClassifier(random_state=0)


def in_time() -> Case:
    """The usual case of the kit, whose rows have times in another order."""
    case = two_class_case()
    times = np.random.default_rng(0).permutation(case.data.n_rows) / 2
    return Case(case.family, checked(case.data.X, case.data.y, time=times), case.loss)


CHECKS = [
    pytest.param(check, id=f"{method.name}-{check.name}")
    for method in (Forward(3), Purged(3))
    for check in method_checks(method, in_time())
    if check.name not in ("same_result_in_another_process", "same_result_on_any_executor")
]
"""Those in other processes are made of each word in tests/testing."""


@pytest.mark.parametrize("check", CHECKS)
def test_temporal_method_conforms_on_rows_with_times(check):
    check()


def splits(method, n=None, **more):
    """Training and tested rows of every split, as lists."""
    n = len(more["time"]) if n is None else n
    return sets_of(drawn(method, checked(np.zeros((n, 1)), np.arange(n) / 2, **more)))


@given(
    st.integers(2, 5), st.integers(0, 3), st.none() | st.integers(1, 9),
    st.none() | st.integers(1, 4), st.integers(40, 60), st.integers(0, 2),
)  # fmt: skip
def test_forward_splits_are_those_of_time_series_split(k, gap, window, size, n, how):
    """Gap, longest training set and test size alike: by rows, by numbers and by dates."""
    theirs = TimeSeriesSplit(k, gap=gap, max_train_size=window, test_size=size)
    expected = [(a.tolist(), b.tolist()) for a, b in theirs.split(np.zeros(n))]
    if how == 2:
        gap, window, size = (None if one is None else one * DAY for one in (gap, window, size))
    time = [None, np.arange(n) + 0.0, START + np.arange(n) * DAY][how]
    assert splits(Forward(k, gap, window, size), n, time=time) == expected


@given(st.lists(st.integers(0, 12), min_size=30, max_size=60), st.integers(0, 3))
def test_forward_models_see_no_time_of_what_they_test(times, gap):
    """With ties and uneven steps: rows of one time are on one side, the gap apart."""
    time = np.array([0, 100, *times])
    try:
        found = splits(Forward(3, gap), time=time)
    except BadData:
        return  # too few distinct times
    assert len({row for _, test in found for row in test}) == sum(len(test) for _, test in found)
    assert all(time[train].max() < time[test].min() - gap for train, test in found)


SHUFFLED = np.random.default_rng(1).permutation(23)
PLACE = np.argsort(SHUFFLED)


@pytest.mark.parametrize(
    ("method", "time", "expected"),
    [
        pytest.param(
            Forward(2, gap=5 * DAY, window=14 * DAY, horizon=10 * DAY),
            START + np.array([0, 1, 2, 3, 10, 11, 20, 21, 22, 30]) * DAY,
            [([0, 1, 2, 3], [5, 6]), ([2, 3, 4, 5], [7, 8, 9])],
            id="lengths",
        ),
        pytest.param(
            Forward(4, 1),
            SHUFFLED,
            [tuple(sorted(PLACE[rows]) for rows in pair) for pair in splits(Forward(4, 1), 23)],
            id="any order",
        ),
        pytest.param(Forward(1), [0] + [1] * 5, [([0], [*range(1, 6)])], id="one early row"),
        pytest.param(
            Forward(1), [0] * 5 + [1] * 7, [([*range(5)], [*range(5, 12)])], id="two times"
        ),
    ],
)
def test_forward_splits_by_time_and_not_by_rows(method, time, expected):
    assert splits(method, time=time) == expected


@pytest.mark.parametrize(
    ("method", "groups", "trained"),
    [
        (Forward(3), [0, 1, 2, 3, 0, 4, 1, 5], [[0, 1], [1, 2, 3], [0, 2, 3, 4, 5]]),
        (Purged(3), [0, 1, 2, 0, 3, 1], [[2, 4], [1, 4, 5], [0, 2, 3]]),
    ],
    ids=str,
)
def test_temporal_training_sets_lack_the_groups_that_they_are_tested_on(method, groups, trained):
    assert [train for train, _ in splits(method, len(groups), groups=np.array(groups))] == trained


def test_forward_inner_splits_go_forward_in_their_part_of_time():
    time = np.random.default_rng(2).permutation(60).astype(float)
    plan = drawn(Nested("forward-3", "forward-2"), checked(X[:60], NUMBERS[:60], time=time))
    assert {"outer", "inner"} == set(plan.parts)
    assert all(time[train].max() < time[test].min() for train, test in splits_of(plan))


@given(st.integers(2, 7), st.integers(8, 40))
def test_purged_without_a_purge_is_kfold_in_the_order_of_time(k, n):
    expected = [(a.tolist(), b.tolist()) for a, b in KFold(k).split(np.zeros(n))]
    assert splits(Purged(k), n) == expected
    assert splits(Purged(k), n, time=np.arange(n) * 2.5) == expected


DAYS = np.array([0, 1, 2, 4, 5, 9, 10, 11, 12, 15, 16, 18, 19, 20])
LABELS = [  # (folds, days until the label is known, embargo), then the rows that trained each
    ((3, 1, 0), [range(5, 14), [*range(5), *range(10, 14)], range(10)]),
    ((3, 3, 0), [range(5, 14), [*range(5), 11, 12, 13], range(9)]),
    ((3, 3, 2), [range(7, 14), range(5), range(9)]),
    ((4, 2, 1), [range(5, 14), [0, 1, 2, *range(9, 14)], [*range(7), 13], range(11)]),
]
"""From purgedcv 0.1.11, whose stretches are half open:
PurgedKFold(k, prediction_times=t, evaluation_times=t + h days, embargo=e days or None).split(X)
with t = 2024-01-01 + DAYS."""


@pytest.mark.parametrize(("given", "trained"), LABELS, ids=str)
@pytest.mark.parametrize("dates", [False, True], ids=["numbers", "dates"])
def test_purged_equals_purgedcv(given, trained, dates):
    """On whole days, where h days of theirs take away what h - 1 of ours do."""
    k, label, embargo = given
    day = DAY if dates else 1
    method = Purged(k, purge=(label - 1) * day, embargo=(embargo + 1) * day if embargo else 0)
    found = splits(method, time=START + DAYS * day if dates else DAYS)
    assert [train for train, _ in found] == [list(rows) for rows in trained]


@given(st.lists(st.integers(0, 30), min_size=30, max_size=50), st.integers(0, 3), st.integers(0, 3))
def test_purged_training_rows_are_far_enough_away(times, purge, embargo):
    """Before by more than the purge, after by more than purge and embargo; ties stay together."""
    time = np.array([0, 40, *times])
    try:
        found = splits(Purged(3, purge, embargo), time=time)
    except BadData:
        return
    assert sorted(row for _, test in found for row in test) == list(range(len(time)))
    for train, test in found:
        first, last = time[test].min(), time[test].max()
        gone = (time >= first - purge) & (time <= last + purge + embargo)
        assert train == np.flatnonzero(~gone).tolist()


@pytest.mark.parametrize(
    ("method", "more", "message"),
    [
        (Forward(5), {"n": 5}, "5 forward splits need at least 6 rows, and these are 5"),
        (Forward(3, gap=50), {"n": 20}, "split 0 has no training rows: the 5 rows before .* gap"),
        (Forward(3, gap=5 * DAY), {"time": [0, 1, 2, 3, 4]}, "in the unit of time="),
        (Forward(3, gap=1.5), {"n": 20}, "whole number of rows"),
        (Forward(3, window=5), {"time": START + np.arange(4) * DAY}, "time= holds dates"),
        (Forward(3, horizon=9), {"n": 20}, "3 stretches of horizon=9 do not fit between 0 and 19"),
        (Forward(3), {"time": [0] * 5 + [1] * 5}, "2 different times, .* 3 splits"),
        (Forward(1), {"time": [1] * 9 + [2]}, "no training rows: all rows before"),
        (Forward(3, horizon=1.0), {"time": [0, 1, 2, 3, 9.0]}, "no row lies in stretch 0"),
        (Forward(2), {"n": 9, "groups": np.arange(9) % 3}, "leave groups out"),
        (Purged(9), {"n": 8}, "9 folds need at least 9 rows, and these are 8"),
        (Purged(3, purge=8), {"n": 9}, "fold 0 has no training rows: purge=8 and embargo=0"),
        (Purged(3), {"time": [0, 0, 0, 0, 1, 1]}, "2 different times, .* 3 splits"),
        (Purged(3, embargo=0.5), {"n": 6}, "embargo=0.5: give a whole number of rows"),
        (Purged(2), {"n": 4, "groups": [0, 1, 0, 1]}, "its own rows and groups leave"),
    ],
    ids=count(),
)
def test_temporal_refuses_rows_that_cannot_be_split(method, more, message):
    with pytest.raises(BadData, match=message):
        splits(method, **more)


def test_forward_notes_say_how_far_ahead_of_which_windows():
    """Of time, of rows, and of a splitter of scikit-learn as of the method by word."""
    rows, y = X[:48], np.arange(48.0)
    hours = START.astype("M8[h]") + np.arange(48) * np.timedelta64(6, "h")
    for options, note in (
        ({"time": hours}, "forecasts 0.25 to 2 days ahead of windows of 8 to 40 rows"),
        ({"cv": Forward(5, window=8)}, "forecasts 1 to 8 rows ahead of windows of 8 rows"),
        ({"cv": TimeSeriesSplit(5)}, "forecasts 1 to 8 rows ahead of windows of 8 to 40 rows"),
        ({"cv": "forward-5"}, "forecasts 1 to 8 rows ahead of windows of 8 to 40 rows"),
    ):
        found = tr.estimate_risk(Ridge(), rows, y, **options)
        assert any(note in one for one in found.notes)
        assert found.target == "Err"


def test_forward_is_the_usual_method_of_rows_with_times():
    """In every verb; what mixes past and future is warned of, and pairs are refused."""
    rows, y, time, grid = X[:60], NUMBERS[:60], np.arange(60.0), {"alpha": [0.1, 10.0]}
    assert tr.risk_curve(Ridge(), grid, rows, y, time=time).common.method == "forward-5"
    search = tr.HonestSearchCV(Ridge(), grid).fit(rows, y, time=time)
    assert search.risk_.method == "nested (forward-5, inner forward-5)"
    assert search.selected_risk_.method == "forward-5"
    found = tr.assess({"ridge": (Ridge(), grid)}, rows, y, time=time)
    assert (found.tuned_by, found.tested_by) == ("forward-5", "forward-5")
    with pytest.warns(TimeLeakWarning, match="'5-fold' ignores it: [0-9]+ rows .first: row 0."):
        tr.estimate_risk(Ridge(), rows, y, cv="5-fold", time=time)
    pairs = tr.HonestSearchCV(Ridge(), grid, outer=tr.methods.Pairs("forward-5"))
    with pytest.raises(Refusal, match="rows before those that it learned from"):
        pairs.fit(rows, y, time=time)


@pytest.mark.parametrize("select_by", ["forward-3", "purged-3", TimeSeriesSplit(3)])
def test_temporal_search_is_tested_in_time(select_by):
    """Also where the order of the rows is all the time there is: no shuffled folds around it."""
    rows, y = tr.datasets.make_daily_load(200, random_state=1)
    search = tr.HonestSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=select_by)
    risk, word = search.fit(rows, y).risk_, as_method(select_by).name
    assert risk.method == f"nested ({word}, inner {word})"
    assert risk.interval is None or risk.interval.method == "hac"
    assert risk.ordered
    timed = clone(search).fit(rows, y, time=np.arange(200)).risk_
    assert (timed.value, timed.interval) == (risk.value, risk.interval)


def test_forward_counts_windows_that_lack_a_class():
    """Their models never say it; one that cannot be fitted so says which class there was."""
    y = np.where(np.arange(120) % 7 == 0, "yes", "no")
    y[:50] = "no"
    given = {"X": X[:120], "y": y, "time": np.arange(120)}
    note = tr.estimate_risk(TREE, **given).notes[-1]
    assert note.startswith("2 of 5 windows lack a class of y, which their models never predict")
    for model in (LogisticRegression(), LinearDiscriminantAnalysis(solver="eigen")):
        with pytest.raises(FitFailed, match="its training rows hold class 'no' only"):
            tr.estimate_risk(model, **given)


@pytest.mark.parametrize("options", [{}, {"cv": "forward-7", "outer": "forward-3"}])
def test_forward_assessment_has_grids_that_suit_the_first_windows(options):
    """No setting asks for more rows than the first forecast inside the first one has."""
    rows, y = tr.datasets.make_difficult(200, random_state=3)
    found = tr.assess(["knn", "lda", "tree"], rows, y, time=np.arange(200), **options)
    assert found.learners["knn"].risk.value > 0


def test_forward_conclusion_says_why_there_is_no_interval():
    rows, y = tr.datasets.make_difficult(80, random_state=3)
    said = tr.assess({"tree": TREE}, rows, y, time=np.arange(80)).conclusion
    assert "no interval, for rows at 65 different times were tested" in " ".join(said.split())


def test_purged_rows_are_meant_to_be_later_and_depend_on_each_other():
    """No warning of later rows; intervals and comparisons are not those of independent rows."""
    found = tr.estimate_risk(Ridge(), X, NUMBERS, cv="purged-4", time=np.arange(240.0))
    assert found.interval.method == "hac"
    assert found.ordered
    assert tr.estimate_risk(Ridge(), X, NUMBERS, cv=Purged(4, 3)).interval.method == "hac"
    curve = tr.risk_curve(Ridge(), {"alpha": [0.1, 10]}, X, NUMBERS, cv="purged-4")
    with pytest.raises(Refusal, match="in the order of time"):
        curve.comparable.losses()
