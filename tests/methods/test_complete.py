"""All training sets of one size, and all bootstrap samples."""

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import NINE, checked, normal_rows

import truerisk as tr
from truerisk.methods import Complete, KFold
from truerisk.plan.extras.laws import distribution_of_fit
from truerisk.testing.toy_learners import NearestMean

X, Y = NINE
KNN = KNeighborsClassifier(3)
TREE = DecisionTreeClassifier(max_depth=1, random_state=0)
GOLDEN = {  # METHODS §2: k -> risks of the least m and those after it, up to 8
    1: [0.5654761905, 0.5793650794, 0.5912698413, 0.5952380952, 0.5833333333, 0.5555555556],
    3: [0.5952380952, 0.5746031746, 0.5714285714, 0.5396825397, 0.4722222222, 0.4444444444],
    5: [0.6428571429, 0.6230158730, 0.6527777778, 0.7777777778],
}


@pytest.mark.parametrize("engine", ["auto", "generic"])
@pytest.mark.parametrize("k", GOLDEN)
def test_complete_has_the_golden_risks(k, engine):
    for m, risk in zip(range(9 - len(GOLDEN[k]), 9), GOLDEN[k], strict=True):
        found = tr.estimate_risk(KNeighborsClassifier(k), X, Y, cv=Complete(m), engine=engine)
        assert found.value == pytest.approx(risk, abs=5e-11)
        assert found.engine == ("knn" if engine == "auto" else "generic")


def every_split(model, rows, labels, m):
    """The mean of the test risks of all splits with m training rows."""
    n, risks = len(labels), []
    for train in combinations(range(n), m):
        test = np.setdiff1d(np.arange(n), train)
        fitted = clone(model).fit(rows[list(train)], labels[list(train)])
        away = fitted.predict(rows[test]) - labels[test]
        risks.append(np.mean(away**2))  # of classes 0 and 1 the errors
    return np.mean(risks)


@pytest.mark.parametrize(
    ("model", "n", "m"), [(KNN, 11, 3), (KNN, 11, 9), (TREE, 9, 6), (LinearRegression(), 9, 6)]
)
def test_complete_is_the_mean_over_all_splits(model, n, m):
    """The closed form of neighbours, and fits of other learners on every training set."""
    rows, labels = normal_rows(n, seed=m)[0], np.arange(n) % 2
    y = labels * 1.5 if model.__class__ is LinearRegression else labels
    found = tr.estimate_risk(model, rows, y, cv=Complete(m))
    assert found.value == pytest.approx(every_split(model, rows, y, m), rel=1e-12)
    if model is not KNN:
        assert (found.n_fits, found.engine) == (84, "generic")


def test_complete_with_all_rows_but_one_is_leave_one_out():
    found, loo = (tr.estimate_risk(KNN, X, Y, cv=cv) for cv in (Complete(8), "loo"))
    assert found.losses == pytest.approx(loo.losses, abs=1e-12)


def test_complete_takes_nine_tenths_of_the_rows_by_default():
    assert tr.methods.as_method("complete") == Complete(0.9)
    for n, size in ((9, 8), (40, 36), (2, 1)):
        plan = Complete().plan(checked(np.eye(n), np.arange(n) % 2), None)
        assert distribution_of_fit(plan, 0).size == size


def test_complete_is_what_repeated_folds_converge_to():
    rows, y = tr.datasets.make_simple(30, random_state=0)
    folds = KFold(5, repeats=2000, stratify=False)
    many, exact = (
        tr.estimate_risk(KNeighborsClassifier(1), rows, y, cv=cv) for cv in (folds, Complete(0.8))
    )
    assert many.value == pytest.approx(exact.value, abs=0.003)


def test_exact_out_of_bag_weighs_neighbours_by_their_chance_to_be_nearest():
    """METHODS §2: the j-th neighbour has weight ((n−j)/(n−1))ⁿ − ((n−j−1)/(n−1))ⁿ."""
    n, j = len(Y), np.arange(1, len(Y))
    weight = ((n - j) / (n - 1)) ** n - ((n - j - 1) / (n - 1)) ** n
    order = np.abs(X - X.T).argsort(axis=1, kind="stable")[:, 1:]
    expected = ((Y[order] != Y[:, None]) * weight).sum(axis=1)
    found = tr.estimate_risk(KNeighborsClassifier(1), X, Y, cv="exact-oob")
    assert found.losses == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("model", [KNeighborsClassifier(1), KNN, NearestMean()], ids=str)
def test_exact_out_of_bag_is_the_mean_over_all_samples(model):
    """All 5⁵ ordered samples by hand: per row those that miss it, then the mean over rows."""
    x, y = X[2:7], Y[2:7]
    lost, missed, known = np.zeros(5), np.zeros(5), {}
    for sample in product(range(5), repeat=5):
        key = tuple(sorted(sample))
        if key not in known:
            known[key] = model.fit(x[list(key)], y[list(key)]).predict(x) != y
        out = ~np.isin(np.arange(5), sample)
        lost[out] += known[key][out]
        missed[out] += 1
    for engine in ("auto", "generic"):
        found = tr.estimate_risk(model, x, y, cv="exact-oob", engine=engine)
        assert found.losses == pytest.approx(lost / missed, abs=1e-12)
