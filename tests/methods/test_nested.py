"""Nested cross-validation is a search inside every outer training set, by hand."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.model_selection import KFold as SklearnKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import NINE, checked, normal_rows
from tests.support.plans import drawn, sets_of, splits_of

import truerisk as tr
from truerisk.exceptions import FitFailedWarning
from truerisk.extend import BadData
from truerisk.methods import GivenSplits, KFold, Nested

N = 45
X, Y, NUMBERS = normal_rows(N, 3, seed=12)
GROUPS = np.random.default_rng(12).integers(15, size=N)
DATA = checked(X, Y)
TREE = DecisionTreeClassifier(random_state=0)
KNN = KNeighborsClassifier()


def test_nested_has_the_golden_numbers():
    """METHODS §2: inner errors, chosen k, external errors, M_int = .5 and M_ext = 8/9."""
    method = Nested(KFold(folds=np.arange(9) % 3), "loo")
    curve = tr.risk_curve(KNN, {"n_neighbors": [1, 3, 5]}, *NINE, cv=method)
    units = curve.evaluation.units
    assert [u.candidate for u in units] == [1, 0, 2]
    assert [u.inner_risk for u in units] == pytest.approx([1 / 6, 6 / 6, 2 / 6])
    assert [u.risk for u in units] == pytest.approx([1, 2 / 3, 1])
    assert curve.procedure.value == pytest.approx(8 / 9)
    inner = np.array([[2, 1, 1], [6, 6, 6], [4, 3, 2]]) / 6
    assert curve.values == pytest.approx(inner.mean(axis=0))
    assert [(u.n_train, u.n_test, u.fold) for u in units] == [(6, 3, 0), (6, 3, 1), (6, 3, 2)]


def searched(model, grid, y, plan, weights=None, **options):
    """The outer losses and the winners of GridSearchCV on the inner folds that the plan drew."""
    every, losses, chosen = splits_of(plan), np.full(N, np.nan), []
    for unit, q in enumerate(plan.questions("outer")):
        train, test = every[q]
        inner = [every[i] for i in np.flatnonzero(plan.unit == unit)]
        assert all(set(seen) | set(rows) == set(train) for seen, rows in inner)
        pairs = [tuple(np.searchsorted(train, rows) for rows in pair) for pair in inner]
        params = {} if weights is None else {"sample_weight": weights[train]}
        search = GridSearchCV(model, grid, cv=pairs, **options).fit(X[train], y[train], **params)
        chosen.append(search.best_index_)
        away = search.predict(X[test]) - y[test]
        losses[test] = away**2
    return losses, chosen


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize(
    ("model", "grid", "y", "scoring"),
    [
        (TREE, {"max_depth": [1, 2, 3, 5]}, Y, "accuracy"),
        (Ridge(), {"alpha": [0.01, 1.0, 100.0]}, NUMBERS, "neg_mean_squared_error"),
    ],
    ids=["classes", "numbers"],
)
def test_nested_is_grid_search_inside_a_loop(model, grid, y, scoring, groups):
    """The same losses and winners as GridSearchCV, which compares means of folds."""
    method = Nested("5-fold", KFold(4, average="fold"))
    plan = drawn(method, checked(X, y, groups=groups), seed=3)
    curve = tr.risk_curve(model, grid, X, y, cv=method, groups=groups, random_state=3)
    losses, chosen = searched(model, grid, y, plan, scoring=scoring)
    assert [u.candidate for u in curve.evaluation.units] == chosen
    assert curve.procedure.losses == pytest.approx(losses, abs=1e-12)
    assert curve.procedure.value == pytest.approx(losses.mean())


def test_nested_fits_with_weights_as_grid_search_does():
    """GridSearchCV weights fits only: where it chooses the same, the losses are the same."""
    method, weights = Nested("5-fold", KFold(4, average="fold")), np.random.default_rng(0).random(N)
    plan, grid = drawn(method, DATA), {"max_depth": [1, 2, 3, 5]}
    curve = tr.risk_curve(TREE, grid, X, Y, cv=method, sample_weight=weights)
    losses, chosen = searched(TREE, grid, Y, plan, weights)
    units = zip(curve.evaluation.units, chosen, splits_of(plan, "outer"), strict=True)
    same = [test for unit, winner, (_, test) in units if unit.candidate == winner]
    assert len(same) >= 2
    tested = np.concatenate(same)
    assert np.array_equal(curve.procedure.losses[tested], losses[tested])


def test_nested_weights_count_inside_and_outside():
    """A row of weight 0 changes neither the choice nor the risk."""
    weights = np.where(np.arange(N) % 5 == 0, 0.0, 1.0)
    spoiled = np.where(weights == 0, 1 - Y, Y)
    method = Nested(KFold(folds=np.arange(N) % 4), KFold(folds=(np.arange(N) // 4) % 3))
    one, two = (
        tr.risk_curve(TREE, {"max_depth": [1, 2, 4]}, X, y, cv=method, sample_weight=weights)
        for y in (Y, spoiled)
    )
    assert one.procedure.value == two.procedure.value
    assert one.values.tolist() == two.values.tolist()


@pytest.mark.parametrize("outer", ["4-fold", "loo", "holdout", "3x4-fold", "reversed 3-fold"])
@pytest.mark.parametrize("inner", ["3-fold", "loo", "monte-carlo", SklearnKFold(3)], ids=str)
def test_nested_inner_rows_stay_inside_the_outer_training_set(outer, inner):
    plan = drawn(Nested(outer, inner), checked(X[:16], np.arange(16) % 2))
    outside = [set(train) for train, _ in splits_of(plan, "outer")]
    units = plan.unit[plan.questions("inner")]
    assert set(units) == set(range(len(outside)))
    for unit, (seen, asked) in zip(units, splits_of(plan, "inner"), strict=True):
        assert {*seen, *asked} <= outside[unit]
        assert not set(seen) & set(asked)


def test_nested_splits_with_equal_training_rows_choose_alike():
    """Outer splits that train on the same rows are one fit, so they have one winner."""
    train = np.arange(30)
    pairs = [(train, np.arange(30, 37)), (train, np.arange(37, N)), (np.arange(15, N), train[:15])]
    inner = SklearnKFold(3, shuffle=True)  # without a seed: every call splits anew
    grid = {"max_depth": [1, 2, 3, 4, 5, 6], "max_features": [1, 2, 3]}
    curve = tr.risk_curve(TREE, grid, X, Y, cv=Nested(pairs, inner))
    one, two, _ = curve.evaluation.units
    assert (one.candidate, one.inner_risk) == (two.candidate, two.inner_risk)
    model = DecisionTreeClassifier(random_state=0, **curve.candidates[one.candidate])
    model.fit(X[train], Y[train])
    for unit, (_, test) in zip((one, two), pairs, strict=False):
        assert unit.risk == pytest.approx((model.predict(X[test]) != Y[test]).mean())


def test_nested_cuts_given_inner_splits_to_the_outer_rows():
    rows = np.arange(N)
    pairs = tuple((rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3))
    plan = drawn(Nested(KFold(folds=rows % 5), GivenSplits(pairs)), DATA)
    questions = plan.questions("inner")
    for q, found in zip(questions, sets_of(plan, "inner"), strict=True):
        own = rows % 5 != plan.unit[q]
        asked = rows % 3 == plan.fold[q]
        assert found == (rows[own & ~asked].tolist(), rows[own & asked].tolist())


@pytest.mark.parametrize("loss", ["auc", "f1", "log"])
@pytest.mark.parametrize("outer", ["4-fold", "loo"])
def test_nested_chooses_by_any_loss(loss, outer):
    """Where a single row has no AUC the pooled one is the risk."""
    if (outer, loss) == ("loo", "f1"):
        outer = "holdout"  # a scorer rates no single row
    given = {"cv": Nested(outer, "3-fold"), "scoring": loss}
    curve = tr.risk_curve(LogisticRegression(), {"C": [0.01, 1]}, X, Y, **given)
    assert np.isfinite([curve.procedure.value, *curve.values]).all()


def test_nested_of_one_candidate_makes_inner_fits_only_if_asked():
    plain, asked = (
        tr.estimate_risk(KNN, X, Y, cv=Nested("4-fold", "3-fold", compare=compare))
        for compare in (False, True)
    )
    assert (plain.n_fits, asked.n_fits) == (4, 16)
    assert plain.value == asked.value


def test_nested_does_not_choose_a_candidate_that_fails_inside():
    grid = {"n_neighbors": [25, 3]}  # 25 neighbours do not fit the inner training sets
    given = {"cv": Nested("4-fold", "3-fold"), "engine": tr.engines.Generic(error="warn")}
    with pytest.warns(FitFailedWarning, match="inner split"):
        curve = tr.risk_curve(KNN, grid, X, Y, **given)
    assert {u.candidate for u in curve.evaluation.units} == {1}
    assert curve[0].value is None
    assert np.isfinite(curve.procedure.value)


def test_nested_draws_inner_and_outer_folds_independently():
    """Another inner method leaves the outer folds as they are, and each unit draws anew."""
    one, two = (sets_of(drawn(Nested("4-fold", i), DATA), "outer") for i in ("3-fold", "loo"))
    assert one == two != sets_of(drawn(KFold(4), DATA))


def test_nested_says_where_inner_splits_cannot_be_drawn():
    """Ten groups are enough for ten outer folds, and nine for no ten inner ones."""
    data = checked(X[:40], Y[:40], groups=np.arange(40) // 4)
    message = r"^inside outer training set 0, with 36 of 40 rows: 10 folds need at least 10 groups"
    with pytest.raises(BadData, match=message):
        drawn(Nested("10-fold", "10-fold"), data)
