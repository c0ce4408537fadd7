"""Risks of permuted labels are those of a plain loop of searches, and do not depend on workers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.api.permutations import Orders
from truerisk.core.table.data import Data

X, Y = tr.datasets.make_difficult(60, random_state=0)
GROUPS = np.arange(60) // 3
KNN = KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}
LDA = LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.0, 0.2, 0.8]}
PIPE = (
    make_pipeline(StandardScaler(), KNeighborsClassifier()),
    {"kneighborsclassifier__n_neighbors": [1, 4]},
)
TREE = DecisionTreeClassifier(max_features=1), {"max_depth": [1, 3]}
CASES = {
    "knn": (tr.HonestSearchCV(*KNN), Y, None),
    "knn in groups": (tr.HonestSearchCV(*KNN, select_by="5-fold"), Y, GROUPS),
    "knn, labels of groups": (
        tr.HonestSearchCV(*KNN, loss="auc", select_by="3-fold"),
        Y[GROUPS],
        GROUPS,
    ),
    "lda": (tr.HonestSearchCV(*LDA, select_by="5-fold"), Y, None),
    "one setting": (tr.HonestSearchCV(LDA[0]), Y, None),
    "cv and scoring": (tr.HonestSearchCV(*KNN, cv=4, scoring="balanced_accuracy"), Y, None),
    "steps": (tr.HonestSearchCV(*PIPE, select_by="4-fold", outer="3-fold"), Y, None),
    "random trees": (tr.HonestSearchCV(*TREE, select_by="3-fold", random_state=7), Y, None),
    "1-se": (tr.HonestSearchCV(*KNN, rule="1-se", select_by="4-fold"), Y, None),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_a_plain_loop(case):
    """To the last bit, with folds, choices and models drawn anew on every permutation."""
    search, y, groups = CASES[case]
    found = tr.permutation_test(search, X, y, n_permutations=4, groups=groups, random_state=5)
    orders = Orders.of(Data.check(X, y, task="classification", groups=groups), 5)
    loop = [search.fit(X, y[orders.of_number(j)], groups=groups).risk_.value for j in range(4)]
    assert found.null.tolist() == loop
    assert found.observed == search.fit(X, y, groups=groups).risk_.value
    assert found.engine == search.risk_.engine


def test_weights_stay_with_their_rows():
    """A row keeps its weight and is given another label."""
    weight = np.arange(60) % 3 + 0.5
    search = tr.HonestSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, select_by="3-fold")
    found = tr.permutation_test(search, X, Y, n_permutations=2, sample_weight=weight)
    orders = Orders.of(Data.check(X, Y, task="classification"), 0)
    loop = [
        search.fit(X, Y[orders.of_number(j)], sample_weight=weight).risk_.value for j in range(2)
    ]
    assert found.null.tolist() == loop


def test_a_model_is_tested_by_its_ten_folds():
    """Also a regression: its risk is that of estimate_risk."""
    y = X[:, 0] + np.random.default_rng(0).normal(size=60)
    found = tr.permutation_test(Ridge(), X, y, n_permutations=3)
    orders = Orders.of(Data.check(X, y, task="regression"), 0)
    assert found.observed == tr.estimate_risk(Ridge(), X, y).value
    loop = [tr.estimate_risk(Ridge(), X, y[orders.of_number(j)]).value for j in range(3)]
    assert found.null.tolist() == loop


def test_workers_change_nothing():
    """Permutations are drawn by their number, wherever they are computed."""
    search = tr.HonestSearchCV(*KNN, select_by="3-fold", engine="generic")
    here = tr.permutation_test(search, X, Y, n_permutations=4)
    there = tr.permutation_test(search, X, Y, n_permutations=4, executor=2)
    assert here.null.tolist() == there.null.tolist()
    more = tr.permutation_test(search, X, Y, n_permutations=6)
    assert more.null[:4].tolist() == here.null.tolist()


def test_permutations_say_nothing_of_their_fits():
    """What fits warn of is said once, of the labels as they are."""
    y = np.r_[np.zeros(57, int), np.ones(3, int)]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        tr.permutation_test(tr.HonestSearchCV(*KNN), X, y, n_permutations=5)
    assert len([one for one in said if "has 3 rows for 5 folds" in str(one.message)]) == 1


def test_progress_counts_permutations():
    """Who listens hears of permutations, not of their fits."""
    from truerisk.core.progress import listen

    heard = []
    with listen(heard.append):
        tr.permutation_test(tr.HonestSearchCV(*KNN), X, Y, n_permutations=7)
    permuted = [one for one in heard if one.stage == "permuted"]
    assert {one.unit for one in permuted} == {"permutations"}
    assert (permuted[0].done, permuted[-1].done, permuted[-1].total) == (0, 7, 7)


@pytest.mark.parametrize("shared", ["_row_sums", "row_keys", "non_finite", "same_rows"])
def test_other_targets_share_what_is_found_of_the_rows(shared):
    """Rows are summed, and their neighbours found, once for all permutations."""
    data = Data.check(X, Y, task="classification")
    other = data.with_targets_of(np.arange(60)[::-1])
    assert getattr(other, shared) is getattr(data, shared)
    assert other.y.tolist() == Y[::-1].tolist()
    assert other.codes.tolist() == data.codes[::-1].tolist()
    assert other.fingerprint == Data.check(X, Y[::-1], task="classification").fingerprint
