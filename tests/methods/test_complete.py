"""All training sets of one size, and all bootstrap samples."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.errors import BadData, Refusal
from truerisk.data.data import Data
from truerisk.methods import Complete
from truerisk.plan.extras.laws import law_of
from truerisk.testing.toy_learners import NearestMean

X = np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])[:, None]
Y = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])
GOLDEN = {  # METHODS §2: k -> m -> risk
    1: dict(
        zip(
            range(3, 9),
            [0.5654761905, 0.5793650794, 0.5912698413, 0.5952380952, 0.5833333333, 0.5555555556],
        )
    ),
    3: dict(
        zip(
            range(3, 9),
            [0.5952380952, 0.5746031746, 0.5714285714, 0.5396825397, 0.4722222222, 0.4444444444],
        )
    ),
    5: dict(zip(range(5, 9), [0.6428571429, 0.6230158730, 0.6527777778, 0.7777777778])),
}


def every_split(model, rows, labels, m, cost=lambda predicted, truth: predicted != truth):
    """The mean of the test risks of all splits with m training rows."""
    n, risks = len(labels), []
    for train in combinations(range(n), m):
        test = np.setdiff1d(np.arange(n), train)
        predicted = clone(model).fit(rows[list(train)], labels[list(train)]).predict(rows[test])
        risks.append(np.mean(cost(predicted, labels[test])))
    return np.mean(risks)


@pytest.mark.parametrize("engine", ["auto", "generic"])
@pytest.mark.parametrize("k", GOLDEN)
def test_golden(k, engine) -> None:
    """METHODS §2: all sizes of training set, 1, 3 and 5 neighbours."""
    for m, risk in GOLDEN[k].items():
        found = tr.estimate_risk(KNeighborsClassifier(k), X, Y, cv=Complete(m), engine=engine)
        assert found.value == pytest.approx(risk, abs=5e-11)
        assert found.engine == ("knn" if engine == "auto" else "generic")


@pytest.mark.parametrize("m", [3, 6, 9])
def test_it_is_the_mean_over_all_splits_of_eleven_rows(m) -> None:
    """The closed form equals plain fits over every split, n = 11, to 1e-12."""
    rng = np.random.default_rng(m)
    rows, labels = rng.normal(size=(11, 2)), np.arange(11) % 2
    found = tr.estimate_risk(KNeighborsClassifier(3), rows, labels, cv=Complete(m))
    expected = every_split(KNeighborsClassifier(3), rows, labels, m)
    assert found.value == pytest.approx(expected, abs=1e-12)


def test_any_learner_is_fitted_on_every_training_set() -> None:
    """A tree, and a regression with squared loss: 84 fits of 9 choose 6."""
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    found = tr.estimate_risk(tree, X, Y, cv=Complete(6))
    assert found.value == pytest.approx(every_split(tree, X, Y, 6), abs=1e-12)
    assert (found.n_fits, found.engine) == (84, "generic")
    line = tr.estimate_risk(LinearRegression(), X, Y * 1.5, cv=Complete(6))
    expected = every_split(LinearRegression(), X, Y * 1.5, 6, lambda p, y: (p - y) ** 2)
    assert line.value == pytest.approx(expected, rel=1e-12)


def test_all_but_one_is_leave_one_out() -> None:
    """M = n − 1 has the per-row losses of leave-one-out."""
    loo = tr.estimate_risk(KNeighborsClassifier(3), X, Y, cv="loo")
    found = tr.estimate_risk(KNeighborsClassifier(3), X, Y, cv=Complete(8))
    assert found.losses == pytest.approx(loo.losses, abs=1e-12)


def test_the_word_takes_nine_tenths() -> None:
    """0.9 of the rows, rounded; never all of them."""
    assert tr.methods.as_method("complete") == Complete(0.9)
    for n, size in ((9, 8), (40, 36), (2, 1)):
        data = Data.check(np.eye(n), np.arange(n) % 2, task="classification")
        assert law_of(Complete().plan(data, None), 0).size == size


def test_it_is_what_repeated_folds_converge_to() -> None:
    """The mean of unstratified 5-fold over many foldings is complete with 4/5 of the rows."""
    X2, y2 = tr.datasets.make_simple(30, random_state=0)
    folds = tr.methods.KFold(5, repeats=4000, stratify=False)
    many = tr.estimate_risk(KNeighborsClassifier(1), X2, y2, cv=folds)
    exact = tr.estimate_risk(KNeighborsClassifier(1), X2, y2, cv=Complete(0.8))
    assert many.value == pytest.approx(exact.value, abs=0.002)


def test_it_selects_inside_outer_splits() -> None:
    """Inside an outer training set it draws from these rows alone, on either engine."""
    method = tr.methods.Nested("3-fold", Complete(4))
    grid = {"n_neighbors": [1, 3]}
    found = [
        tr.risk_curve(KNeighborsClassifier(), grid, X, Y, cv=method, engine=engine)
        for engine in ("auto", "generic")
    ]
    inner = [[unit.inner_risk for unit in curve.evaluation.units] for curve in found]
    assert inner[0] == pytest.approx(inner[1], abs=1e-12)
    assert found[0].procedure.value == found[1].procedure.value


def test_what_a_result_says() -> None:
    """The mean risk over training sets, row losses, and no standard error."""
    found = tr.estimate_risk(KNeighborsClassifier(3), X, Y, cv=Complete(6))
    assert (found.target, found.std_error, found.interval) == ("Err", None, None)
    assert found.method == "complete (m=6)"
    assert found.losses.mean() == pytest.approx(found.value, abs=1e-15)
    assert "overlap" in found.notes[0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"model": DecisionTreeClassifier(), "X": np.eye(40), "y": np.arange(40) % 2},
            Refusal,
            "generic: the subsets of 36 of 40 rows are 91,390 fits.*'monte-carlo'",
        ),
        ({"scoring": "auc"}, Refusal, "averages losses of single rows, and loss 'auc' has none"),
        ({"groups": Y}, Refusal, "would ignore the groups"),
        ({"cv": Complete(9)}, BadData, "m=9 of 9 rows leaves none"),
        ({"cv": tr.methods.Nested("complete")}, Refusal, "cannot be the outer method"),
    ],
)
def test_what_cannot_be_served_is_refused(options, error, message) -> None:
    """Too many fits, no row losses, groups, nothing left to test, an outer loop."""
    given = {"model": KNeighborsClassifier(3), "X": X, "y": Y, "cv": "complete"} | options
    with pytest.raises(error, match=message):
        tr.estimate_risk(**given)


@pytest.mark.parametrize("m", [0, -1, 1.5, True])
def test_what_is_no_size_is_refused(m) -> None:
    """A size is a whole number of rows, or a share between 0 and 1."""
    with pytest.raises(BadData, match="neither a number of training rows nor a share"):
        Complete(m)


X_BAG = np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])[:, None]
Y_BAG = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])


def test_golden_of_exact_out_of_bag() -> None:
    """METHODS §2: 1, 3 and 5 neighbours."""
    curve = tr.risk_curve(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}, X_BAG, Y_BAG, cv="exact-oob"
    )
    assert curve.values == pytest.approx([0.5900018745, 0.5660249525, 0.5684218936], abs=5e-11)
    assert curve[0].engine == "knn"


def test_weights_of_one_nearest_neighbour() -> None:
    """METHODS §2: the j-th neighbour has weight ((n−j)/(n−1))ⁿ − ((n−j−1)/(n−1))ⁿ."""
    n, j = len(Y_BAG), np.arange(1, len(Y_BAG))
    weight = ((n - j) / (n - 1)) ** n - ((n - j - 1) / (n - 1)) ** n
    order = np.abs(X_BAG - X_BAG.T).argsort(axis=1, kind="stable")[:, 1:]
    expected = ((Y_BAG[order] != Y_BAG[:, None]) * weight).sum(axis=1)
    found = tr.estimate_risk(KNeighborsClassifier(1), X_BAG, Y_BAG, cv="exact-oob")
    assert found.losses == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("model", [KNeighborsClassifier(1), KNeighborsClassifier(3), NearestMean()])
def test_it_is_the_mean_over_all_samples(model) -> None:
    """All 5⁵ ordered samples by hand: per row those that miss it, then the mean over rows."""
    x, y = X_BAG[2:7], Y_BAG[2:7]
    lost, missed = np.zeros(5), np.zeros(5)
    known = {}
    for sample in product(range(5), repeat=5):
        key = tuple(sorted(sample))
        if key not in known:
            rows = list(key)
            known[key] = model.fit(x[rows], y[rows]).predict(x) != y
        out = ~np.isin(np.arange(5), sample)
        lost[out] += known[key][out]
        missed[out] += 1
    for engine in ("auto", "generic"):
        found = tr.estimate_risk(model, x, y, cv="exact-oob", engine=engine)
        assert found.losses == pytest.approx(lost / missed, abs=1e-12)


def test_it_is_what_many_samples_converge_to() -> None:
    """Drawn samples of 40 rows come near the closed form."""
    X2, y2 = tr.datasets.make_simple(40, random_state=0)
    rng = np.random.default_rng(0)
    lost, missed = np.zeros(40), np.zeros(40)
    near = ((X2[:, None] - X2[None]) ** 2).sum(axis=2).argsort(axis=1)
    for _ in range(4000):
        times = np.bincount(rng.integers(40, size=40), minlength=40)
        for i in np.flatnonzero(times == 0):
            votes = np.repeat(y2[near[i]], times[near[i]])[:3]
            lost[i] += (votes.sum() > 1) != y2[i]
            missed[i] += 1
    exact = tr.estimate_risk(KNeighborsClassifier(3), X2, y2, cv="exact-oob")
    assert (lost / missed).mean() == pytest.approx(exact.value, abs=0.003)


def test_what_a_result_says_of_exact_out_of_bag() -> None:
    """It is pessimistic, and has no standard error."""
    found = tr.estimate_risk(KNeighborsClassifier(3), X_BAG, Y_BAG, cv="exact-oob")
    assert (found.target, found.std_error, found.interval) == ("Err", None, None)
    assert "63 %" in found.bias


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": NearestMean()}, "bootstraps of 9 of 9 rows are 24,310 fits.*closed form"),
        ({"scoring": "auc"}, "averages losses of single rows"),
        ({"groups": Y_BAG}, "would ignore the groups"),
    ],
)
def test_what_cannot_be_served_is_refused_of_exact_out_of_bag(options, message) -> None:
    """Too many samples, no row losses, groups."""
    given = {
        "model": KNeighborsClassifier(3),
        "X": X_BAG,
        "y": Y_BAG,
        "cv": "exact-oob",
    } | options
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(**given)
