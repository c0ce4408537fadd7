"""Pairs: every fold and every two folds left out once, by hand with clones."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
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
from tests.support.data import checked, normal_rows
from tests.support.plans import drawn, sets_of, splits_of

import truerisk as tr
from truerisk.extend import BadData, Refusal
from truerisk.methods import KFold, Nested, Pairs, as_method

N = 47
X, Y, NUMBERS = normal_rows(N, 3, seed=7)
RNG = np.random.default_rng(7)
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


def folds_of(method, groups=None):
    """The fold number of every row."""
    folds = np.empty(N, dtype=int)
    for q, (_, test) in enumerate(splits_of(drawn(method, checked(X, Y, groups=groups)))):
        folds[test] = q
    return folds


def by_clones(model, grid, X, y, folds, weights=None, by_fold=False):
    """Losses of the winners on every row, the winners, the curve; losses without a further fold."""
    name, values = next(iter(grid.items()))
    k, n, C = folds.max() + 1, len(y), len(values)
    w = np.ones(n) if weights is None else weights

    def losses(value, without):
        train = ~np.isin(folds, without)
        params = {} if weights is None else {"sample_weight": weights[train]}
        fitted = clone(model).set_params(**{name: value}).fit(X[train], y[train], **params)
        return (fitted.predict(X) - y) ** 2  # of classes 0 and 1 the errors

    single = np.array([[losses(v, [i]) for i in range(k)] for v in values])
    double = np.full((C, k, k, n), np.nan)
    for i, j in combinations(range(k), 2):
        for c, v in enumerate(values):
            double[c, i, j] = double[c, j, i] = losses(v, [i, j])
    curve = [np.average(single[c, folds, np.arange(n)], weights=w) for c in range(C)]
    tested, chosen, moved = np.empty(n), [], np.empty((n, k - 1))
    for i in range(k):
        others = folds != i
        of_rows = double[:, i, folds[others], np.flatnonzero(others)]
        sets = [folds[others] == j for j in range(k) if j != i] if by_fold else [slice(None)]
        means = [np.average(of_rows[:, s], weights=w[others][s], axis=1) for s in sets]
        inner = np.mean(means, axis=0)
        best = int(np.argmax(inner <= min(inner) + 1e-12))
        chosen.append(best)
        tested[~others] = single[best, i, ~others]
        moved[~others] = np.delete(double[best, i][:, ~others], i, axis=0).T
    return tested, chosen, curve, moved


@pytest.mark.parametrize("engine", ["generic", "auto"])
@pytest.mark.parametrize("name", LEARNERS)
def test_pairs_are_a_loop_over_clones(name, engine):
    """The curve, the winners, their losses and the instability are those of single refits."""
    model, grid = LEARNERS[name]
    curve = tr.risk_curve(model, grid, X, Y, cv=Pairs("5-fold"), engine=engine)
    tested, chosen, values, moved = by_clones(model, grid, X, Y, folds_of(KFold(5)))
    assert curve.values == pytest.approx(np.array(values), abs=1e-12)
    assert [u.candidate for u in curve.evaluation.units] == chosen
    assert np.array_equal(curve.procedure.losses, tested)
    assert curve.procedure.value == pytest.approx(tested.mean())
    shaken = curve.evaluation.left_two_out
    assert shaken.plan.n_questions == 20
    assert shaken.values.shape == (1, 4 * N)
    rows = shaken.plan.positions[0]
    spread = [(shaken.values[0, rows == r] != Y[r]).var(ddof=1) for r in range(N)]
    assert spread == pytest.approx(moved.var(axis=1, ddof=1))


@pytest.mark.parametrize("engine", ["generic", "auto"])
def test_pairs_of_numbers_with_weights_on_given_folds_are_a_loop_over_clones(engine):
    grid, method = {"alpha": [0.01, 1.0, 100.0]}, Pairs(KFold(folds=FOUR))
    given = {"cv": method, "sample_weight": WEIGHTS, "engine": engine}
    curve = tr.risk_curve(Ridge(), grid, X, NUMBERS, **given)
    tested, chosen, values, _ = by_clones(Ridge(), grid, X, NUMBERS, FOUR, WEIGHTS)
    assert curve.values == pytest.approx(np.array(values))
    assert [u.candidate for u in curve.evaluation.units] == chosen
    assert curve.procedure.losses == pytest.approx(tested)
    assert curve.procedure.value == pytest.approx(np.average(tested, weights=WEIGHTS))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_pairs_interval_rests_on_their_instability(groups, weights):
    """Beta with the variance of independent groups times c = .6 + 6u, u = W/(Σφ² + W), K = 5."""
    model, grid = LEARNERS["tree"]
    search = tr.HonestSearchCV(model, grid, cv="5-fold")
    search.fit(X, Y, groups=groups, **({} if weights is None else {"sample_weight": weights}))
    folds = folds_of(KFold(5), groups)
    tested, _, _, moved = by_clones(model, grid, X, Y, folds, weights, by_fold=True)
    share = np.full(N, 1 / N) if weights is None else weights / weights.sum()
    value, found = share @ tested, search.risk_
    units = np.arange(N) if groups is None else np.unique(groups, return_inverse=True)[1]
    m = units.max() + 1
    phi = np.bincount(units, share * (tested - value))
    spread = [np.bincount(units, share * column) for column in moved.T]
    W, V = np.var(spread, axis=0, ddof=1).sum(), m / (m - 1) * (phi**2).sum()
    c = min(max(0.6 + 6 * W / ((phi**2).sum() + W), 1), 2.5)
    assert (found.value, found.std_error) == pytest.approx((value, V**0.5))
    size = value * (1 - value) / (c * V)
    ends = beta(size * value + 0.5, size * (1 - value) + 0.5).ppf([0.025, 0.975])
    assert [found.interval.low, found.interval.high] == pytest.approx(ends)
    assert found.interval.method == ("beta-cv" if groups is None else "beta-cv-grouped")


@pytest.mark.parametrize(("word", "k"), [("5-fold", 5), ("10-fold", 10)])
def test_pairs_make_no_fit_twice(word, k):
    """A search of C settings makes C K(K+1)/2 fits and one on all rows, each of them once."""
    made = []

    class Counted(DecisionTreeClassifier):
        def fit(self, X, y):
            made.append((self.max_depth, X.tobytes()))
            return super().fit(X, y)

    grid, n_fits = {"max_depth": [1, 2, 3]}, 3 * k * (k + 1) // 2
    risk = tr.HonestSearchCV(Counted(random_state=0), grid, cv=word).fit(X, Y).risk_
    assert len(made) == len(set(made)) == n_fits + 1
    assert risk.n_fits == n_fits
    assert f"this took {n_fits} fits; a search without honest risk takes {3 * k}." in risk.notes


def test_pairs_leave_the_curve_of_a_search_as_it_is():
    """`selected_risk_` and `cv_results_` are those of a search that asks for no honest risk."""
    pairs, alone = (
        tr.HonestSearchCV(*LEARNERS["knn"], outer=outer).fit(X, Y) for outer in ("pairs", None)
    )
    assert pairs.best_params_ == alone.best_params_
    assert pairs.selected_risk_.value == alone.selected_risk_.value
    for name in alone.cv_results_:
        if "time" not in name:
            assert np.array_equal(pairs.cv_results_[name], alone.cv_results_[name])


@pytest.mark.parametrize(
    "splitter",
    [StratifiedKFold(4), GroupKFold(4), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)],
    ids=lambda s: type(s).__name__,
)
def test_pairs_take_splitters_that_partition_the_rows(splitter):
    """The outer splits are the splitter's, and a row of a test fold took no part in its choice."""
    groups = GROUPS if isinstance(splitter, GroupKFold) else None
    search = tr.HonestSearchCV(*LEARNERS["tree"], cv=splitter).fit(X, Y, groups=groups)
    plan = drawn(Pairs(as_method(splitter)), checked(X, Y, groups=groups))
    outer = [test for _, test in sets_of(plan, "outer")]
    assert outer == [np.sort(test).tolist() for _, test in splitter.split(X, Y, groups)]
    assert len(search.outer_) == len(outer)
    units = plan.unit[plan.questions("inner")]
    for unit, (train, test) in zip(units, splits_of(plan, "inner"), strict=True):
        assert not set(train) & {*outer[unit], *test}


def test_pairs_of_repeated_folds_are_pairs_of_each():
    """Two drawings of three folds: twice the fits, and a row's loss is the mean of two tests."""
    risk = tr.HonestSearchCV(*LEARNERS["tree"], cv="2x3-fold").fit(X, Y).risk_
    assert risk.n_fits == 2 * 3 * 6
    assert set(np.unique(risk.losses)) <= {0.0, 0.5, 1.0}


@pytest.mark.parametrize(
    ("cv", "said"),
    [
        (ShuffleSplit(4, random_state=0), "is in two folds|in no fold"),
        (list(TimeSeriesSplit(3).split(X)), "does not train on all the rows"),
        ("2-fold", "there are 2 folds"),
        ([(np.flatnonzero(i != FOUR), np.flatnonzero(i == FOUR)) for i in range(3)], "in no fold"),
    ],
    ids=["overlap", "time", "two", "holes"],
)
def test_pairs_refuse_folds_that_are_no_partition(cv, said):
    """The sentence says what is wrong with the folds, and to name the outer splits."""
    with pytest.raises(BadData, match=said) as caught:
        tr.HonestSearchCV(*LEARNERS["tree"], cv=cv).fit(X, Y)
    assert ("outer='10-fold'" in str(caught.value)) != (said == "does not train on all the rows")


@pytest.mark.parametrize(
    ("cv", "inner"), [(LeaveOneOut(), "LeaveOneOut()"), *[(w, w) for w in ("monte-carlo", "loo")]]
)
def test_pairs_give_way_to_five_outer_folds_where_a_method_has_no_folds(cv, inner):
    search = tr.HonestSearchCV(*LEARNERS["lda"], cv=cv).fit(X, Y)
    assert search.risk_.method == f"nested (5-fold, inner {inner})"
    with pytest.raises(Refusal, match="has no folds to leave out in pairs"):
        tr.estimate_risk(LEARNERS["lda"][0], X, Y, cv=Pairs(cv))


def test_pairs_give_way_to_a_named_outer_method():
    """`outer="10-fold"` is nested validation, which draws inner folds anew."""
    model, grid = LEARNERS["knn"]
    search = tr.HonestSearchCV(model, grid, cv="5-fold", outer="10-fold").fit(X, Y)
    method = Nested("10-fold", KFold(5, average="fold"))
    nested = tr.risk_curve(model, grid, X, Y, cv=method, interval="beta-cv").procedure
    assert np.array_equal(search.risk_.losses, nested.losses)
    assert search.risk_.interval == nested.interval


def test_pairs_tune_and_test_an_assessment_on_one_set_of_folds():
    """Fits: those of the pairs, one on all rows, and one for each fold's scores of a classifier."""
    found = tr.assess({n: LEARNERS[n] for n in ("knn", "tree")}, X, Y, cv=["5-fold"])
    assert found.tested_by == "pairs"
    search = tr.HonestSearchCV(*LEARNERS["knn"], cv=KFold(5)).fit(X, Y)
    assert np.array_equal(found.risks["knn"].losses, search.risk_.losses)
    assert found.learners["knn"].n_fits == 3 * 15 + 1 + 5
    assert found.choice.interval is not None
    assert any("the instability of the losses is 0." in note for note in found.choice.notes)


def test_pairs_of_one_setting_are_for_its_interval():
    """Nothing is chosen: the curve is the procedure, and no price of a search is named."""
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    search = tr.HonestSearchCV(model, {"max_depth": [2]}, cv="5-fold").fit(X, Y)
    plain, pairs = (tr.estimate_risk(model, X, Y, cv=cv) for cv in ("5-fold", Pairs("5-fold")))
    assert search.risk_.value == pytest.approx(plain.value)
    assert search.risk_.n_fits == 15
    assert ["the instability of the losses is 0." in note for note in search.risk_.notes] == [True]
    assert pairs.interval == search.risk_.interval
