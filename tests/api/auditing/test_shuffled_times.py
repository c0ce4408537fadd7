"""A search that mixes past and future is found where the risk collapses in stretches of time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit
from sklearn.tree import DecisionTreeRegressor

import truerisk as tr
from truerisk.api.auditing.shuffled_times import times_of_table
from truerisk.datasets import DailyLoadProblem

N = 730
LOAD = tr.datasets.make_daily_load
X, Y = LOAD(N, random_state=1)
DATES = LOAD.dates(N)
NAMES = ["day", "weekday", "temperature"]
FRAME = pd.DataFrame(X, columns=NAMES, index=pd.DatetimeIndex(DATES))
SHUFFLED = KFold(5, shuffle=True, random_state=0)


def audited(X, y=Y, cv=SHUFFLED, scoring="neg_mean_squared_error", **more):
    grid = {"min_samples_leaf": [2, 20]}
    search = GridSearchCV(DecisionTreeRegressor(random_state=0), grid, cv=cv, scoring=scoring)
    return tr.audit(search.fit(X, y), X, y, replicates=20, **more)


def codes(audit):
    return {f.code for f in audit.findings}


def said(audit):
    return [f.sentence for f in audit.findings if f.code == "time-shuffled"]


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", None], ids=["error", "R2"])
def test_the_index_of_a_frame_tells_it(scoring):
    """By how much the claim shrinks, on the scale of the search."""
    found = audited(FRAME, scoring=scoring)
    (sentence,) = said(found)
    assert "The rows have times (the index)" in sentence
    loses = float(sentence.rpartition(" ")[2].rstrip("."))
    blocked = float(sentence.partition("left out whole, it is ")[2].partition(":")[0])
    assert loses == pytest.approx(blocked - found.claimed.value, abs=2e-4)
    assert loses > 0.2 * blocked


def test_given_times_tell_it():
    """In any order of the rows; without them an array tells nothing, and nothing is said."""
    order = np.random.default_rng(0).permutation(N)
    found = audited(X[order], Y[order], time=DATES[order])
    assert "(time=)" in said(found)[0]
    assert "time-shuffled" in codes(found)
    assert found.honest.interval is None
    assert "time-shuffled" not in codes(audited(X))


@pytest.mark.parametrize("cv", [5, TimeSeriesSplit(5)], ids=["blocks", "forward"])
def test_splits_in_stretches_of_time_are_no_fault(cv):
    """They claim what they are worth."""
    assert not said(audited(FRAME, cv=cv))


def test_rows_that_do_not_depend_on_each_other_may_be_shuffled():
    """Dates alone are no fault: the risk must collapse."""
    X, y = DailyLoadProblem(memory=0.0)(N, random_state=2)
    assert not said(audited(pd.DataFrame(X, columns=NAMES, index=FRAME.index), y))


def test_times_are_the_sorted_dates_of_a_frame():
    """The index first, then columns; numbers, unsorted or missing dates are none."""
    column = pd.DataFrame({"x": X[:, 0], "when": DATES})
    assert times_of_table(column)[1] == "column 'when'"
    assert times_of_table(pl.DataFrame({"x": X[:, 0], "when": DATES}))[1] == "column 'when'"
    assert times_of_table(FRAME)[1] == "the index"
    for none in (X, FRAME[::-1], FRAME.reset_index(drop=True), column[::-1]):
        assert times_of_table(none)[0] is None
    column.loc[3, "when"] = pd.NaT
    assert times_of_table(column)[0] is None
