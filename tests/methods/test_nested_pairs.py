"""Pairs: every fold and every two folds left out once, by hand with clones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadData, Refusal
from truerisk.data.data import Data
from truerisk.methods import KFold, Nested, Pairs

RNG = np.random.default_rng(7)
N = 47
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
GROUPS = RNG.integers(14, size=N)
WEIGHTS = RNG.random(N) + 0.1
FOUR = np.arange(N) % 4

LEARNERS = {
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 7]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 4]}),
    "lda": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.0, 0.3, 0.9]}),
    "svm": (SVC(), {"C": [0.1, 1.0, 10.0]}),
    "logistic": (LogisticRegression(), {"C": [0.01, 1.0]}),
}


def folds_of(method, X, y, groups=None, seed=0) -> np.ndarray:
    """The fold number of every row."""
    data = Data.check(X, y, task="classification" if y.dtype.kind in "iu" else "regression")
    if groups is not None:
        data = Data.check(X, y, task=data.task, groups=groups)
    plan = method.plan(data, Streams(seed))
    folds = np.empty(len(y), dtype=int)
    for q in range(plan.n_questions):
        folds[plan.test_rows(q)[0]] = q
    return folds


def cost(predicted, y) -> np.ndarray:
    return (predicted != y) * 1.0 if y.dtype.kind in "iu" else (predicted - y) ** 2


def by_hand(model, grid, X, y, folds, weights=None):
    """Losses of the winners on every row, the winners, the curve; losses without a further fold."""
    name, values = next(iter(grid.items()))
    k, n, C = folds.max() + 1, len(y), len(values)
    w = np.ones(n) if weights is None else weights

    def losses(value, without):
        train = ~np.isin(folds, without)
        params = {} if weights is None else {"sample_weight": weights[train]}
        fitted = clone(model).set_params(**{name: value}).fit(X[train], y[train], **params)
        return cost(fitted.predict(X), y)

    single = np.array([[losses(v, [i]) for i in range(k)] for v in values])
    double = np.full((C, k, k, n), np.nan)
    for i, j in combinations(range(k), 2):
        for c, v in enumerate(values):
            double[c, i, j] = double[c, j, i] = losses(v, [i, j])
    curve = [np.average(single[c, folds, np.arange(n)], weights=w) for c in range(C)]
    tested, chosen, moved = np.empty(n), [], np.empty((n, k - 1))
    for i in range(k):
        others = folds != i
        inner = [
            np.average(double[c, i, folds[others], np.flatnonzero(others)], weights=w[others])
            for c in range(C)
        ]
        best = int(np.argmax(np.array(inner) <= min(inner) + 1e-12))
        chosen.append(best)
        mine = folds == i
        tested[mine] = single[best, i, mine]
        moved[mine] = np.delete(double[best, i][:, mine], i, axis=0).T
    return tested, chosen, curve, moved


@pytest.mark.parametrize("engine", ["generic", "auto"])
@pytest.mark.parametrize("name", LEARNERS)
def test_it_is_a_loop_over_clones(name, engine) -> None:
    """The curve, the winners, their losses and the instability are those of single refits."""
    model, grid = LEARNERS[name]
    curve = tr.risk_curve(model, grid, X, Y, cv=Pairs("5-fold"), engine=engine)
    tested, chosen, values, moved = by_hand(model, grid, X, Y, folds_of(KFold(5), X, Y))
    assert curve.values == pytest.approx(np.array(values), abs=1e-12)
    assert [u.candidate for u in curve.evaluation.units] == chosen
    assert np.array_equal(curve.procedure.losses, tested)
    assert curve.procedure.value == pytest.approx(tested.mean())
    shaken = curve.evaluation.shaken
    assert shaken.plan.n_questions == 20
    assert shaken.values.shape == (1, 4 * N)
    spread = np.zeros(N)
    rows = shaken.plan.positions[0]
    for row in range(N):
        spread[row] = (shaken.values[0, rows == row] != Y[row]).var(ddof=1)
    assert spread == pytest.approx(moved.var(axis=1, ddof=1))


def test_numbers_and_weights_too() -> None:
    """Regression with sample weights, on given folds."""
    y, folds = X[:, 0] + RNG.normal(size=N), FOUR
    grid = {"alpha": [0.01, 1.0, 100.0]}
    for engine in ("generic", "auto"):
        curve = tr.risk_curve(
            Ridge(),
            grid,
            X,
            y,
            cv=Pairs(KFold(folds=folds)),
            sample_weight=WEIGHTS,
            engine=engine,
        )
        tested, chosen, values, _ = by_hand(Ridge(), grid, X, y, folds, WEIGHTS)
        assert curve.values == pytest.approx(np.array(values))
        assert [u.candidate for u in curve.evaluation.units] == chosen
        assert curve.procedure.losses == pytest.approx(tested)
        assert curve.procedure.value == pytest.approx(np.average(tested, weights=WEIGHTS))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_the_interval_rests_on_the_instability_of_the_pairs(groups, weights) -> None:
    """Beta with the variance of independent groups times c = .6 + 6u, u = W/(Σφ² + W), K = 5."""
    model, grid = LEARNERS["tree"]
    search = tr.HonestSearchCV(model, grid, cv="5-fold")
    search.fit(X, Y, groups=groups, **({} if weights is None else {"sample_weight": weights}))
    folds = folds_of(KFold(5), X, Y, groups)
    tested, _, _, moved = by_hand(model, grid, X, Y, folds, weights)
    share = np.full(N, 1 / N) if weights is None else weights / weights.sum()
    value, found = share @ tested, search.risk_
    units = np.arange(N) if groups is None else np.unique(groups, return_inverse=True)[1]
    m = units.max() + 1
    phi = np.bincount(units, share * (tested - value))
    spread = [np.bincount(units, share * column) for column in moved.T]
    W, V = np.var(spread, axis=0, ddof=1).sum(), m / (m - 1) * (phi**2).sum()
    c = min(max(0.6 + 6 * W / ((phi**2).sum() + W), 1), 2.5)
    assert found.value == pytest.approx(value)
    assert found.std_error == pytest.approx(V**0.5)
    size = value * (1 - value) / (c * V)
    ends = beta(size * value + 0.5, size * (1 - value) + 0.5).ppf([0.025, 0.975])
    assert [found.interval.low, found.interval.high] == pytest.approx(ends)
    assert found.interval.method == ("beta-cv" if groups is None else "beta-cv-grouped")


def test_no_fit_is_made_twice() -> None:
    """A search of C settings makes C K(K+1)/2 fits and one on all rows, each of them once."""
    made = []

    class Counted(DecisionTreeClassifier):
        def fit(self, X, y):
            made.append((self.max_depth, X.tobytes()))
            return super().fit(X, y)

    grid = {"max_depth": [1, 2, 3]}
    for word, k in (("5-fold", 5), ("10-fold", 10)):
        made.clear()
        search = tr.HonestSearchCV(Counted(random_state=0), grid, cv=word).fit(X, Y)
        assert len(made) == len(set(made)) == 3 * k * (k + 1) // 2 + 1
        assert search.risk_.n_fits == 3 * k * (k + 1) // 2
        assert f"{search.risk_.n_fits} fits; a plain search makes {3 * k}." in search.risk_.notes


def test_the_curve_is_that_of_a_grid_search_on_these_folds() -> None:
    """`selected_risk_` and `cv_results_` are those of a search that asks for no honest risk."""
    model, grid = LEARNERS["knn"]
    pairs = tr.HonestSearchCV(model, grid).fit(X, Y)
    alone = tr.HonestSearchCV(model, grid, outer=None).fit(X, Y)
    assert pairs.best_params_ == alone.best_params_
    assert pairs.selected_risk_.value == alone.selected_risk_.value
    for name in alone.cv_results_:
        if "time" not in name:
            assert np.array_equal(pairs.cv_results_[name], alone.cv_results_[name])


@pytest.mark.parametrize("executor", [None, 2])
@pytest.mark.parametrize("engine", ["generic", "auto"])
def test_the_same_on_any_executor_and_engine(engine, executor) -> None:
    """A random learner gets the same seeds whoever makes its fits."""
    model, grid = RandomForestClassifier(5), {"max_depth": [1, 3]}
    one = tr.HonestSearchCV(model, grid, cv="3-fold", engine=engine, n_jobs=executor)
    two = tr.HonestSearchCV(model, grid, cv="3-fold", engine="generic")
    one.fit(X, Y), two.fit(X, Y)
    assert np.array_equal(one.risk_.losses, two.risk_.losses)
    assert one.risk_.interval == two.risk_.interval


@pytest.mark.parametrize(
    "splitter",
    [StratifiedKFold(4), GroupKFold(4), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)],
    ids=lambda s: type(s).__name__,
)
def test_splitters_that_partition_the_rows_serve(splitter) -> None:
    """The outer splits are the splitter's, and a row of a test fold took no part in its choice."""
    groups = GROUPS if isinstance(splitter, GroupKFold) else None
    search = tr.HonestSearchCV(*LEARNERS["tree"], cv=splitter).fit(X, Y, groups=groups)
    data = Data.check(X, Y, task="classification", groups=groups)
    plan = Pairs(tr.methods.Splitter(splitter)).plan(data, Streams(0))
    outer = plan.questions("outer")
    expected = [test for _, test in splitter.split(X, Y, groups)]
    assert len(search.outer_) == len(outer) == len(expected)
    for q, rows in zip(outer, expected, strict=True):
        assert np.array_equal(plan.test_rows(int(q))[0], np.sort(rows))
    for q in plan.questions("inner"):
        unit, train = int(plan.unit[q]), plan.train_rows(int(plan.fit[q]))[0]
        assert not set(train) & set(plan.test_rows(unit)[0])
        assert not set(train) & set(plan.test_rows(int(q))[0])


def test_repetitions_are_pairs_each() -> None:
    """Two drawings of three folds: twice the fits, and a row's loss is the mean of two tests."""
    search = tr.HonestSearchCV(*LEARNERS["tree"], cv="2x3-fold").fit(X, Y)
    assert search.risk_.n_fits == 2 * 3 * 6
    assert set(np.unique(search.risk_.losses)) <= {0.0, 0.5, 1.0}


@pytest.mark.parametrize(
    ("select_by", "said"),
    [
        (ShuffleSplit(4, random_state=0), "is in two folds|in no fold"),
        (list(TimeSeriesSplit(3).split(X)), "does not train on all the rows"),
        ("2-fold", "there are 2 folds"),
        ([(np.flatnonzero(i != FOUR), np.flatnonzero(i == FOUR)) for i in range(3)], "in no fold"),
    ],
    ids=["overlap", "time", "two", "holes"],
)
def test_folds_that_are_no_partition_are_refused(select_by, said) -> None:
    """The sentence says what is wrong with the folds, and to name the outer splits."""
    with pytest.raises(BadData, match=said) as caught:
        tr.HonestSearchCV(*LEARNERS["tree"], cv=select_by).fit(X, Y)
    assert ("outer='10-fold'" in str(caught.value)) != (said == "does not train on all the rows")


def test_methods_without_folds_keep_outer_splits_by_name() -> None:
    """Random splits and leave-one-out are tested by five folds, and the result says so."""
    model, grid = LEARNERS["lda"]
    rows = tr.HonestSearchCV(model, grid, cv=LeaveOneOut()).fit(X, Y)
    assert rows.risk_.method == "nested (5-fold, inner LeaveOneOut())"
    for word in ("monte-carlo", "loo"):
        search = tr.HonestSearchCV(model, grid, cv=word).fit(X, Y)
        assert search.risk_.method == f"nested (5-fold, inner {word})"
    with pytest.raises(Refusal, match="has no folds to leave out in pairs"):
        tr.estimate_risk(model, X, Y, cv=Pairs("loo"))


def test_a_named_outer_method_draws_inner_folds_anew() -> None:
    """`outer="10-fold"` is nested validation as before."""
    model, grid = LEARNERS["knn"]
    search = tr.HonestSearchCV(model, grid, cv="5-fold", outer="10-fold").fit(X, Y)
    nested = tr.risk_curve(
        model, grid, X, Y, cv=Nested("10-fold", KFold(5, average="fold")), interval="beta-cv"
    )
    assert np.array_equal(search.risk_.losses, nested.procedure.losses)
    assert search.risk_.interval == nested.procedure.interval


def test_an_assessment_tunes_and_tests_on_one_set_of_folds() -> None:
    """Fits: those of the pairs, one on all rows, and one for each fold's scores of a classifier."""
    found = tr.assess({n: LEARNERS[n] for n in ("knn", "tree")}, X, Y, cv=["5-fold"])
    assert found.tested_by == "pairs"
    search = tr.HonestSearchCV(*LEARNERS["knn"], cv=KFold(5)).fit(X, Y)
    assert np.array_equal(found.risks["knn"].losses, search.risk_.losses)
    assert found.learners["knn"].n_fits == 3 * 15 + 1 + 5
    assert found.choice.interval is not None
    assert any("(instability 0." in note for note in found.choice.notes)


def test_one_setting_is_tested_in_pairs_for_its_interval() -> None:
    """Nothing is chosen: the curve is the procedure, and no price of a search is named."""
    model, grid = LEARNERS["tree"][0], {"max_depth": [2]}
    search = tr.HonestSearchCV(model, grid, cv="5-fold").fit(X, Y)
    plain = tr.estimate_risk(model.set_params(max_depth=2), X, Y, cv="5-fold")
    assert search.risk_.value == pytest.approx(plain.value)
    assert search.risk_.n_fits == 15
    assert ["(instability 0." in note for note in search.risk_.notes] == [True]
    assert tr.estimate_risk(model, X, Y, cv=Pairs("5-fold")).interval == search.risk_.interval
