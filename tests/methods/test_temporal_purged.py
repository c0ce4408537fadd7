"""Purged cross-validation: stretches of time, and the rows whose labels overlap them left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.data.data import Data
from truerisk.estimation.run import PairedAnswers
from truerisk.methods.temporal import Purged
from truerisk.methods.words import as_method
from truerisk.plan.leaks import IN_TIME
from truerisk.testing import method_checks
from truerisk.testing.cases import two_classes

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


def in_time(case):
    """The usual case, whose rows have times in another order."""
    times = np.random.default_rng(0).permutation(case.data.n_rows) / 2
    rows = {"X": case.data.X, "y": case.data.y, "task": case.data.task}
    return type(case)(case.family, Data.check(**rows, time=times), case.loss)


@pytest.mark.parametrize("check", method_checks(Purged(3), in_time(two_classes())))
def test_conforms(check):
    """The published checks of any method."""
    check()


def splits(method, n, **more):
    """(train, test) row numbers of every split."""
    data = Data.check(np.zeros((n, 1)), np.arange(n) / 2, task="regression", **more)
    plan = method.plan(data, Streams(0))
    return [
        (plan.train_rows(int(plan.fit[q]))[0].tolist(), plan.test_rows(q)[0].tolist())
        for q in range(plan.n_questions)
    ]


@given(st.integers(2, 7), st.integers(8, 40))
def test_without_a_purge_it_is_k_fold_in_the_order_of_time(k, n):
    """The folds of KFold(shuffle=False), and all other rows train."""
    expected = [(a.tolist(), b.tolist()) for a, b in KFold(k).split(np.zeros(n))]
    assert splits(Purged(k), n) == expected
    assert splits(Purged(k), n, time=np.arange(n) * 2.5) == expected


@pytest.mark.parametrize(("given", "trained"), LABELS, ids=str)
@pytest.mark.parametrize("dates", [False, True], ids=["numbers", "dates"])
def test_equals_purgedcv(given, trained, dates):
    """On whole days, where h days of theirs take away what h - 1 of ours do."""
    k, label, embargo = given
    day = np.timedelta64(1, "D") if dates else 1
    time = np.datetime64("2024-01-01") + DAYS * day if dates else DAYS
    method = Purged(k, purge=(label - 1) * day, embargo=(embargo + 1) * day if embargo else 0)
    assert [train for train, _ in splits(method, len(DAYS), time=time)] == [
        list(t) for t in trained
    ]


@given(st.lists(st.integers(0, 30), min_size=30, max_size=50), st.integers(0, 3), st.integers(0, 3))
def test_training_rows_are_far_enough_away(times, purge, embargo):
    """Before by more than the purge, after by more than purge and embargo; ties stay together."""
    time = np.array([0, 40, *times])
    try:
        found = splits(Purged(3, purge, embargo), len(time), time=time)
    except BadData:
        return
    assert sorted(row for _, test in found for row in test) == list(range(len(time)))
    for train, test in found:
        first, last = time[test].min(), time[test].max()
        gone = (time >= first - purge) & (time <= last + purge + embargo)
        assert train == np.flatnonzero(~gone).tolist()


def test_training_sets_lack_the_groups_that_they_are_tested_on():
    """Beside the rows that are too near."""
    groups = np.array([0, 1, 2, 0, 3, 1])
    assert [train for train, _ in splits(Purged(3), 6, groups=groups)] == [
        [2, 4],
        [1, 4, 5],
        [0, 2, 3],
    ]


@pytest.mark.parametrize(
    ("method", "more", "message"),
    [
        (Purged(9), {"n": 8}, "9 folds need at least 9 rows, and these are 8"),
        (Purged(3, purge=8), {"n": 9}, "fold 0 has no training rows: purge=8 and embargo=0"),
        (Purged(3), {"n": 6, "time": [0, 0, 0, 0, 1, 1]}, "2 different times, .* 3 splits"),
        (Purged(3, embargo=0.5), {"n": 6}, "embargo=0.5: give a whole number of rows"),
        (Purged(2), {"n": 4, "groups": [0, 1, 0, 1]}, "its own rows and groups leave"),
    ],
)
def test_what_cannot_be_split_is_named(method, more, message):
    """What is wrong, and what to do."""
    with pytest.raises(BadData, match=message):
        splits(method, **more)


@pytest.mark.parametrize("options", [{"k": 1}, {"purge": -1}, {"embargo": "2"}, {"purge": None}])
def test_bad_options_are_refused(options):
    """Before any data are seen."""
    with pytest.raises(BadArgument, match=f"{next(iter(options))}="):
        Purged(**options)


def test_later_rows_are_meant_and_rows_depend_on_each_other():
    """No warning of later rows; intervals and comparisons are not those of independent rows."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(240, 2)), rng.normal(size=240)
    found = tr.estimate_risk(Ridge(), X, y, cv="purged-4", time=np.arange(240.0))
    assert found.interval.method == "hac"
    assert found.ordered
    assert tr.estimate_risk(Ridge(), X, y, cv=Purged(4, purge=3)).interval.method == "hac"
    assert as_method("purged-6") == Purged(6)
    assert Purged(3, purge=2, embargo=1).word == "purged-3 (purge 2, embargo 1)"
    curve = tr.risk_curve(Ridge(), {"alpha": [0.1, 10]}, X, y, cv="purged-4")
    assert isinstance(curve.comparable, PairedAnswers)
    with pytest.raises(Refusal, match=IN_TIME[:40]):
        curve.comparable.losses()
