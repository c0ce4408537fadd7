"""Forward validation: the splits of TimeSeriesSplit, in any order of rows and at any times."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import (
    BadArgument,
    BadData,
    FitFailed,
    Refusal,
    TimeLeakWarning,
    UnknownName,
)
from truerisk.data.data import Data
from truerisk.methods.nested import Nested
from truerisk.methods.temporal import Forward
from truerisk.methods.words import as_method
from truerisk.testing import method_checks
from truerisk.testing.cases import two_classes

DAY = np.timedelta64(1, "D")


def in_time(case):
    """The usual case, whose rows have times in another order."""
    n = case.data.n_rows
    times = np.random.default_rng(0).permutation(n) / 2
    rows = {"X": case.data.X, "y": case.data.y, "task": case.data.task}
    return type(case)(case.family, Data.check(**rows, time=times), case.loss)


@pytest.mark.parametrize("check", method_checks(Forward(3), in_time(two_classes())))
def test_conforms(check):
    """The published checks of any method."""
    check()


def splits(method, n=None, **more):
    """(train, test) row numbers of every split."""
    n = len(more["time"]) if n is None else n
    data = Data.check(np.zeros((n, 1)), np.arange(n) / 2, task="regression", **more)
    return splits_on(method, data)


def splits_on(method, data):
    plan = method.plan(data, Streams(0))
    return [
        (plan.train_rows(int(plan.fit[q]))[0].tolist(), plan.test_rows(q)[0].tolist())
        for q in range(plan.n_questions)
    ]


@given(
    st.integers(2, 5), st.integers(0, 3), st.none() | st.integers(1, 9),
    st.none() | st.integers(1, 4), st.integers(40, 60), st.integers(0, 2),
)  # fmt: skip
def test_equals_time_series_split(k, gap, window, size, n, how):
    """Gap, longest training set and test size alike: by rows, by numbers and by dates."""
    theirs = TimeSeriesSplit(k, gap=gap, max_train_size=window, test_size=size)
    expected = [(a.tolist(), b.tolist()) for a, b in theirs.split(np.zeros(n))]
    if how == 2:
        gap, window, size = (None if one is None else one * DAY for one in (gap, window, size))
    time = [None, np.arange(n) + 0.0, np.datetime64("2024-01-01") + np.arange(n) * DAY][how]
    assert splits(Forward(k, gap, window, size), n, time=time) == expected


def test_rows_may_stand_in_any_order():
    """The same rows train and test wherever they stand in the table."""
    time = np.random.default_rng(1).permutation(23)
    place = np.argsort(time)
    expected = splits(Forward(4, gap=1), 23)
    for (train, test), (early, late) in zip(
        splits(Forward(4, 1), time=time), expected, strict=True
    ):
        assert train == sorted(place[early])
        assert test == sorted(place[late])


@given(st.lists(st.integers(0, 12), min_size=30, max_size=60), st.integers(0, 3))
def test_no_model_sees_the_time_of_what_it_tests(times, gap):
    """With ties and uneven steps: rows of one time are on one side, the gap apart."""
    time = np.array([0, 100, *times])
    try:
        found = splits(Forward(3, gap), time=time)
    except BadData:
        return  # too few distinct times
    assert len({row for _, test in found for row in test}) == sum(len(test) for _, test in found)
    for train, test in found:
        assert time[train].max() < time[test].min() - gap


def test_uneven_times_have_gaps_windows_and_horizons_of_time():
    """Not of rows: a week is a week, however many rows it has."""
    days = np.array([0, 1, 2, 3, 10, 11, 20, 21, 22, 30])
    dates = np.datetime64("2024-01-01") + days * DAY
    found = splits(Forward(2, gap=5 * DAY, window=14 * DAY, horizon=10 * DAY), time=dates)
    assert found == [([0, 1, 2, 3], [5, 6]), ([2, 3, 4, 5], [7, 8, 9])]


def test_training_sets_lack_the_groups_that_they_are_tested_on():
    """A patient who comes again is not predicted from earlier visits."""
    groups = np.array([0, 1, 2, 3, 0, 4, 1, 5])
    assert splits(Forward(3), 8, groups=groups) == [([0, 1], [2, 3]), ([1, 2, 3], [4, 5]),
                                                    ([0, 2, 3, 4, 5], [6, 7])]  # fmt: skip


def test_inner_splits_go_forward_in_their_part_of_time():
    """Times are cut with the rows: no inner model sees what comes after its test rows."""
    n = 60
    time = np.random.default_rng(2).permutation(n).astype(float)
    data = Data.check(np.zeros((n, 1)), np.arange(n) / 2, task="regression", time=time)
    plan = Nested("forward-3", "forward-2").plan(data, Streams(0))
    assert {"outer", "inner"} == set(plan.parts)
    for q in range(plan.n_questions):
        train = plan.train_rows(int(plan.fit[q]))[0]
        assert time[train].max() < time[plan.test_rows(q)[0]].min()


@pytest.mark.parametrize(
    ("method", "more", "message"),
    [
        (Forward(5), {"n": 5}, "5 forward splits need at least 6 rows, and these are 5"),
        (Forward(3, gap=50), {"n": 20}, "split 0 has no training rows: the 5 rows before .* gap"),
        (Forward(3, gap=5 * DAY), {"time": [0, 1, 2, 3, 4]}, "in the unit of time="),
        (Forward(3, gap=1.5), {"n": 20}, "whole number of rows"),
        (Forward(3, window=5), {"time": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-05"]},
         "time= holds dates"),
        (Forward(3, horizon=9), {"n": 20}, "3 stretches of horizon=9 do not fit between 0 and 19"),
        (Forward(3), {"time": [0] * 5 + [1] * 5}, "2 different times, .* 3 splits"),
        (Forward(1), {"time": [0] + [1] * 5}, None),
        (Forward(1), {"time": [0] * 5 + [1, 1, 1, 1, 1, 1, 1]}, None),
        (Forward(1), {"time": [1] * 9 + [2]}, "no training rows: all rows before"),
        (Forward(3, horizon=1.0), {"time": [0, 1, 2, 3, 9.0]}, "no row lies in stretch 0"),
        (Forward(2), {"n": 9, "groups": [0, 1, 2, 0, 1, 2, 0, 1, 2]}, "leave groups out"),
    ],
)  # fmt: skip
def test_what_cannot_be_split_is_named(method, more, message):
    """A gap longer than the series, too few times, lengths in another unit."""
    if message is None:
        assert len(splits(method, **more)) == method.k
        return
    with pytest.raises(BadData, match=message):
        splits(method, **more)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k=0"),
        ({"gap": -1}, "gap=-1: a number or a length of time is wanted, .* not negative"),
        ({"gap": "7 days"}, r"gap='7 days': .*, such as np.timedelta64\(7, 'D'\)"),
        ({"gap": None}, "gap=None"),
        ({"window": 0}, "window=0: .* more than 0"),
        ({"horizon": timedelta(0)}, "horizon=.* more than 0"),
        ({"horizon": np.timedelta64("NaT", "D")}, "horizon=.* more than 0"),
        ({"window": True}, "window=True"),
        ({"average": "median"}, "median"),
    ],
)
def test_bad_options_are_refused(options, message):
    """Before any data are seen."""
    with pytest.raises((BadArgument, ValueError), match=message):
        Forward(**options)


def test_the_word_says_the_lengths():
    """Those that are not the usual ones; the plain word makes the method."""
    assert as_method("forward-7") == Forward(7)
    assert Forward(3, gap=2, window=9).word == "forward-3 (gap 2, window 9)"
    with pytest.raises(UnknownName, match="put a number for K: cv='forward-5'"):
        as_method("forward-K")


def test_the_result_says_how_far_ahead_of_which_windows():
    """The target of a forecaster is not that of a model of all rows."""
    X, y = np.random.default_rng(0).normal(size=(48, 2)), np.arange(48.0)
    hours = np.datetime64("2024-01-01T00") + np.arange(48) * np.timedelta64(6, "h")
    found = tr.estimate_risk(Ridge(), X, y, time=hours)
    assert found.method == "forward-5"
    assert found.target == "Err"
    assert any(
        "forecasts 0.25 to 2 days ahead of windows of 8 to 40 rows" in n for n in found.notes
    )
    rolling = tr.estimate_risk(Ridge(), X, y, cv=Forward(5, window=8))
    assert any("forecasts 1 to 8 rows ahead of windows of 8 rows" in n for n in rolling.notes)


def test_times_make_forward_splits_the_usual_ones():
    """In every verb; what mixes past and future is warned of, and pairs are refused."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    time, grid = np.arange(60.0), {"alpha": [0.1, 10.0]}
    assert tr.risk_curve(Ridge(), grid, X, y, time=time).common.method == "forward-5"
    search = tr.HonestSearchCV(Ridge(), grid).fit(X, y, time=time)
    assert search.risk_.method == "nested (forward-5, inner forward-5)"
    assert search.selected_risk_.method == "forward-5"
    found = tr.assess({"ridge": (Ridge(), grid)}, X, y, time=time)
    assert (found.tuned_by, found.tested_by) == ("forward-5", "forward-5")
    with pytest.warns(TimeLeakWarning, match="'5-fold' ignores it: [0-9]+ rows .first: row 0."):
        tr.estimate_risk(Ridge(), X, y, cv="5-fold", time=time)
    with pytest.raises(Refusal, match="rows before those that it learned from"):
        tr.HonestSearchCV(Ridge(), grid, outer=tr.methods.Pairs("forward-5")).fit(X, y, time=time)


@pytest.mark.parametrize("select_by", ["forward-3", "purged-3", TimeSeriesSplit(3)])
def test_a_search_that_keeps_to_time_is_tested_in_time(select_by):
    """Also where the order of the rows is all the time there is: no shuffled folds around it."""
    X, y = tr.datasets.make_daily_load(200, random_state=1)
    search = tr.HonestSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=select_by)
    risk = search.fit(X, y).risk_
    word = as_method(select_by).word
    assert risk.method == f"nested ({word}, inner {word})"
    assert risk.interval is None or risk.interval.method == "hac"
    assert risk.ordered
    timed = clone(search).fit(X, y, time=np.arange(200)).risk_
    assert (timed.value, timed.interval) == (risk.value, risk.interval)


def test_a_time_series_split_says_what_its_forecasts_are():
    """As the method by word does: how far ahead, of windows of how many rows."""
    X, y = tr.datasets.make_daily_load(200, random_state=1)
    found = [tr.estimate_risk(Ridge(), X, y, cv=m) for m in (TimeSeriesSplit(5), "forward-5")]
    assert found[0].notes == found[1].notes
    assert "forecasts 1 to 33 rows ahead of windows of 35 to 167 rows" in found[0].notes[0]


def test_windows_that_lack_a_class_are_counted():
    """Their models never say it; one that cannot be fitted so says which class there was."""
    X = np.random.default_rng(0).normal(size=(120, 2))
    y = np.where(np.arange(120) % 7 == 0, "yes", "no")
    y[:50] = "no"
    tree = DecisionTreeClassifier(random_state=0)
    notes = tr.estimate_risk(tree, X, y, time=np.arange(120)).notes
    assert notes[-1].startswith(
        "2 of 5 windows lack a class of y, which their models never predict"
    )
    for model in (LogisticRegression(), LinearDiscriminantAnalysis(solver="eigen")):
        with pytest.raises(FitFailed, match="its training rows hold class 'no' only"):
            tr.estimate_risk(model, X, y, time=np.arange(120))


@pytest.mark.parametrize("options", [{}, {"cv": "forward-7", "outer": "forward-3"}])
def test_words_of_learners_suit_the_first_windows(options):
    """No setting asks for more rows than the first forecast inside the first one has."""
    X, y = tr.datasets.make_difficult(200, random_state=3)
    found = tr.assess(["knn", "lda", "tree"], X, y, time=np.arange(200), **options)
    assert found.learners["knn"].risk.value > 0


def test_a_conclusion_says_why_there_is_no_interval():
    """And not how far ahead was tested, which is a note as well."""
    X, y = tr.datasets.make_difficult(80, random_state=3)
    found = tr.assess({"tree": DecisionTreeClassifier(random_state=0)}, X, y, time=np.arange(80))
    said = " ".join(found.conclusion.split())
    assert "no interval, for rows of 65 different times were tested" in said
