"""Copies and groups on both sides of a split are counted and named, by brute force."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneGroupOut, TimeSeriesSplit
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.checks.inner_splits import warn_of_inner_splits
from truerisk.checks.leak_warnings import warn_of_leaks
from truerisk.contracts import Streams
from truerisk.core.errors import DuplicateRowsWarning, GroupLeakWarning, TimeLeakWarning
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.methods import Nested, as_method

RNG = np.random.default_rng(0)
N = 30
X = RNG.integers(3, size=(N, 2)).astype(float)  # nine different rows at most
DISTINCT = RNG.normal(size=(N, 2))
Y = np.arange(N) % 2
GROUPS = np.arange(N) // 3
NESTED = Nested("5-fold", "4-fold")

X_OF_TIME, Y_OF_TIME = tr.datasets.make_difficult(30, random_state=0)


def leaking(plan, same) -> list[int]:
    """Rows tested by a fit that saw another row which is the `same`."""
    found = set()
    for q in range(plan.n_questions):
        train = plan.train_rows(int(plan.fit[q]))[0]
        found |= {int(t) for t in plan.test_rows(q)[0] for s in train if s != t and same(s, t)}
    return sorted(found)


def drawn(method, X, groups=None):
    chosen, data = as_method(method), Data.check(X, Y, task="classification", groups=groups)
    return data, chosen, chosen.plan(data, Streams(0))


@pytest.mark.parametrize("method", ["5-fold", "loo", "holdout", "nested", "reversed 3-fold"])
@pytest.mark.parametrize("table", [np.array, pd.DataFrame, sp.csr_matrix], ids=str)
def test_copies_across_a_split_are_counted(method, table) -> None:
    """The warning says how many rows have a copy in a training set that tests them, and which."""
    data, chosen, plan = drawn(method, table(X))
    expected = leaking(plan, lambda s, t: (X[s] == X[t]).all())
    sentence = f"{len(expected)} rows of X (first: row {expected[0]})"
    with pytest.warns(DuplicateRowsWarning, match=re.escape(sentence)):
        warn_of_leaks(data, chosen, plan)


@pytest.mark.parametrize("splitter", [KFold(4), KFold(5, shuffle=True, random_state=0)], ids=str)
def test_ignored_groups_are_counted(splitter) -> None:
    """The warning names the method that ignores the groups, how many rows leak, and the remedy."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored")  # scikit-learn's own
        data, chosen, plan = drawn(splitter, DISTINCT, GROUPS)
    expected = leaking(plan, lambda s, t: GROUPS[s] == GROUPS[t])
    assert expected
    with pytest.warns(GroupLeakWarning, match="groups are given but method 'KFold") as caught:
        warn_of_leaks(data, chosen, plan)
    assert f"{len(expected)} rows (first: row {expected[0]})" in str(caught[0].message)
    assert "'10-fold' or a Group splitter" in str(caught[0].message)


@pytest.mark.parametrize("method", ["5-fold", NESTED, LeaveOneGroupOut(), "three-way"], ids=str)
def test_groups_that_are_kept_are_silent(method) -> None:
    """No warning where no group straddles."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_leaks(*drawn(method, DISTINCT, GROUPS))


def test_copies_inside_a_group_are_silent() -> None:
    """Copies that the groups keep on one side do not leak."""
    copies = DISTINCT[GROUPS]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_leaks(*drawn("5-fold", copies, GROUPS))


def test_the_warning_points_at_the_caller() -> None:
    """The user's own line is the one that is shown."""
    with pytest.warns(DuplicateRowsWarning) as caught:
        tr.estimate_risk(KNeighborsClassifier(1), X, Y, cv="3-fold")
    assert caught[0].filename == __file__


def test_the_apparent_part_of_a_bootstrap_does_not_leak() -> None:
    """.632+ of groups tests its apparent rows on purpose, and its samples draw groups whole."""
    y = np.arange(N) % 2
    groups = np.arange(N) // 3
    method = tr.methods.Bootstrap(".632+", replicates=5)
    tr.estimate_risk(
        KNeighborsClassifier(1), DISTINCT, y, cv=method, groups=groups
    )  # warnings are errors
    twins = np.vstack([DISTINCT, DISTINCT[:1]])
    with pytest.warns(DuplicateRowsWarning, match="2 rows of X"):
        tr.estimate_risk(KNeighborsClassifier(1), twins, np.append(y, y[0]), cv=".632+")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}), "GridSearchCV .* cv=None"),
        (
            make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=2, cv=KFold(3))),
            "LogisticRegressionCV .* logisticregressioncv__cv=KFold",
        ),
    ],
)
def test_splits_inside_a_model_that_ignore_time_are_named(model, said) -> None:
    """Those that go forward are silent, and so are all where rows have no times."""
    X, y = tr.datasets.make_difficult(90, random_state=0)
    time = np.arange(90)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        with pytest.warns(TimeLeakWarning, match=said):
            tr.estimate_risk(model, X, y, time=time)
        last = model[-1] if isinstance(model, Pipeline) else model
        last.set_params(cv=TimeSeriesSplit(2))
        warnings.simplefilter("error", TimeLeakWarning)
        tr.estimate_risk(model, X, y, time=time)
        last.set_params(cv=3)
        tr.estimate_risk(model, X, y)


def test_a_search_of_ours_inside_keeps_to_the_times_it_is_told() -> None:
    """Nothing is warned of."""
    X, y = tr.datasets.make_difficult(90, random_state=0)
    search = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, outer=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tr.estimate_risk(search, X, y, time=np.arange(90))


@pytest.mark.parametrize(
    "model",
    [
        ClassifierChain(KNeighborsClassifier()),
        StackingClassifier([("knn", KNeighborsClassifier())], cv=3),
        CalibratedClassifierCV(KNeighborsClassifier(), cv=3),
    ],
)
def test_models_that_choose_nothing_by_their_splits_are_not_named(model) -> None:
    """What they do with rows inside is their own; TimeSeriesSplit would not even work there."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_inner_splits(Family.of(model))


def test_splits_that_the_grid_sets_or_a_user_wrote_are_not_named() -> None:
    """The ones are not used as they stand, and the others may go forward."""
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]})

    class Own:
        def split(self, X, y=None, groups=None):
            return TimeSeriesSplit(2).split(X)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_inner_splits(Family.of(search, {"cv": [TimeSeriesSplit(2)]}))
        warn_of_inner_splits(Family.of(clone(search).set_params(cv=Own())))
