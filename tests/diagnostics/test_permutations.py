"""Which labels change places: all rows, labels of groups, or groups of equal size."""

from __future__ import annotations

import json
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
from truerisk.core.errors import BadData
from truerisk.data.data import Data
from truerisk.diagnostics.permutations import Orders, PermutationTest


def data(y, groups=None, task="classification"):
    return Data.check(np.arange(float(len(y)))[:, None], y, task=task, groups=groups)


def test_all_rows_change_places():
    """Each order is a permutation with a stream of its own, whichever others are asked for."""
    orders = Orders.of(data([0, 1] * 6), seed=3)
    assert (orders.what, orders.n_units) == ("rows", 12)
    every = [orders.of_number(j) for j in range(5)]
    assert all(sorted(one) == list(range(12)) for one in every)
    assert len({tuple(one) for one in every}) == 5
    assert Orders.of(data([0, 1] * 6), seed=3).of_number(4).tolist() == every[4].tolist()
    assert Orders.of(data([0, 1] * 6), seed=4).of_number(4).tolist() != every[4].tolist()


def test_labels_of_groups_change_places():
    """Groups of any size with one label each: a group has one label in every order, as often."""
    groups = np.array([5, 5, 2, 2, 2, 9, 7, 7, 1, 1])
    y = np.array([0, 0, 1, 1, 1, 0, 2, 2, 1, 1])
    orders = Orders.of(data(y, groups), seed=0)
    assert (orders.what, orders.n_units) == ("labels of groups", 5)
    seen = set()
    for number in range(40):
        found = y[orders.of_number(number)]
        of_group = [set(found[groups == g]) for g in (5, 2, 9, 7, 1)]
        assert all(len(labels) == 1 for labels in of_group)
        told = tuple(labels.pop() for labels in of_group)
        assert sorted(told) == [0, 0, 1, 1, 2]
        seen.add(told)
    assert len(seen) > 10


def test_groups_of_one_size_change_places_whole():
    """Rows that lie apart, labels that differ: in their order they go to a group of that size."""
    groups = np.array([0, 1, 2, 0, 1, 2, 3, 3, 3, 4, 4, 4, 5])
    y = np.array([0, 1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0])
    orders = Orders.of(data(y, groups), seed=0)
    assert (orders.what, orders.n_units) == ("groups of equal size", 5)
    blocks = {g: tuple(y[groups == g]) for g in range(6)}
    for number in range(40):
        order = orders.of_number(number)
        assert sorted(order) == list(range(13))
        moved = {g: tuple(y[order][groups == g]) for g in range(6)}
        assert sorted(moved.values()) == sorted(blocks.values())
        assert moved[5] == blocks[5]
        assert all(len(set(groups[order[groups == g]])) == 1 for g in range(6))


def test_groups_of_single_rows_are_rows():
    """Every row a group: all labels change places."""
    orders = Orders.of(data([0, 1, 1, 0, 1], [4, 2, 0, 1, 3]), seed=0)
    assert orders.n_units == 5
    assert len({tuple(orders.of_number(j)) for j in range(30)}) > 15


def test_what_cannot_change_places_is_refused():
    """Groups that all differ in size, and one value only, each with its sentence."""
    with pytest.raises(BadData, match="3 groups all differ in size and hold several labels each"):
        Orders.of(data([0, 1, 0, 1, 1, 0], [0, 1, 1, 2, 2, 2]), seed=0)
    with pytest.raises(BadData, match="y has one value only"):
        Orders.of(data([2.5] * 4, task="regression"), seed=0)
    with pytest.raises(BadData, match="no target to permute"):
        Orders.of(Data.check(np.eye(3), None, task="other"), seed=0)


# ---------------- A permutation test counts ties, prints itself, and becomes JSON


def found(null, observed=0.3, **more):
    told = {
        "permuted": "rows", "n_units": 50, "scoring": "zero-one", "method": "10-fold",
        "engine": "knn", "seed": 0, "search_seed": 1, "seconds": 2.0, "data_fingerprint": "ab",
    }  # fmt: skip
    return PermutationTest(observed=observed, null=np.array(null), **{**told, **more})


def test_the_p_value_counts_ties_and_the_observed_order():
    """(1 + as small)/(1 + permutations), where sums in another order are as small."""
    one = found([0.1 + 0.2, 0.3, 0.30001, 0.5])
    assert 0.1 + 0.2 > 0.3
    assert (one.n_as_good, one.n_permutations) == (2, 4)
    assert one.p_value == 3 / 5
    assert found([0.5] * 999).p_value == pytest.approx(0.001)
    assert found([0.3] * 9).p_value == 1


def test_it_prints_itself():
    """The p-value first, the risks below, then notes; the same in a notebook."""
    one = found([0.25, 0.5, 0.75], notes=("few <orders>",))
    assert str(one).splitlines() == [
        "p = 0.5: 1 of 3 permutations (rows) have a risk as small",
        "  observed: risk 0.3000 (zero-one, 10-fold)",
        "  permuted: risk 0.5000 on average, 0.2500 to 0.7500",
        "  note: few <orders>",
    ]
    assert "0.2500 to 0.7500" in one._repr_html_()
    assert "few &lt;orders&gt;" in one._repr_html_()


def test_scores_are_printed_and_drawn_as_scores():
    """The larger the better: a permutation counts that has a score as large, ties included."""
    one = found([0.25, 0.5, 0.75], observed=0.7, scoring="concordance", perfect=1.0)
    assert found([0.7, 0.1 + 0.6], observed=0.7, perfect=1.0).p_value == 1
    assert str(one).splitlines() == [
        "p = 0.5: 1 of 3 permutations (rows) have a score as large",
        "  observed: score 0.7000 (concordance, 10-fold)",
        "  permuted: score 0.5000 on average, 0.2500 to 0.7500",
    ]
    page = one._repr_html_()
    assert "Scores with permuted labels" in page
    assert "observed: 0.7000" in page
    assert PermutationTest.from_json(one.to_json()).observed == 0.7


def test_it_is_plain_values():
    """Under a schema name, with the null's distribution and both seeds."""
    content = json.loads(found([0.5, 0.25]).to_json())
    assert content["schema"] == "truerisk.permutation-test/2"
    assert content["p_value"] == 2 / 3
    assert content["null"] == [0.5, 0.25]
    assert (content["n_permutations"], content["seed"], content["search_seed"]) == (2, 0, 1)


# Risks of permuted labels are those of a plain loop of searches, and do not depend on workers


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
    "knn in groups": (tr.HonestSearchCV(*KNN, cv="5-fold"), Y, GROUPS),
    "knn, labels of groups": (
        tr.HonestSearchCV(*KNN, scoring="auc", cv="3-fold"),
        Y[GROUPS],
        GROUPS,
    ),
    "lda": (tr.HonestSearchCV(*LDA, cv="5-fold"), Y, None),
    "one setting": (tr.HonestSearchCV(LDA[0]), Y, None),
    "cv and scoring": (tr.HonestSearchCV(*KNN, cv=4, scoring="balanced_accuracy"), Y, None),
    "steps": (tr.HonestSearchCV(*PIPE, cv="4-fold", outer="3-fold"), Y, None),
    "random trees": (tr.HonestSearchCV(*TREE, cv="3-fold", random_state=7), Y, None),
    "1-se": (tr.HonestSearchCV(*KNN, rule="1-se", cv="4-fold"), Y, None),
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
    search = tr.HonestSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv="3-fold")
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
    search = tr.HonestSearchCV(*KNN, cv="3-fold", engine="generic")
    here = tr.permutation_test(search, X, Y, n_permutations=4)
    there = tr.permutation_test(search, X, Y, n_permutations=4, n_jobs=2)
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
