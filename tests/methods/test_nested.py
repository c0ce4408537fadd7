"""Nested cross-validation is a search inside every outer training set, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, PredefinedSplit
from sklearn.model_selection import KFold as SklearnKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadData, FitFailedWarning, Refusal
from truerisk.data.data import Data
from truerisk.methods import GivenSplits, KFold, Nested

GOLDEN_X = np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])[:, None]
GOLDEN_Y = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])
RNG = np.random.default_rng(12)
N = 45
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
GROUPS = RNG.integers(15, size=N)


def test_golden_numbers() -> None:
    """METHODS §2: inner errors, chosen k, external errors, M_int = .5 and M_ext = 8/9."""
    curve = tr.risk_curve(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 3, 5]},
        GOLDEN_X,
        GOLDEN_Y,
        cv=Nested(KFold(folds=np.arange(9) % 3), "loo"),
    )
    units = curve.evaluation.units
    assert [u.candidate for u in units] == [1, 0, 2]
    assert [u.inner_risk for u in units] == pytest.approx([1 / 6, 6 / 6, 2 / 6])
    assert [u.risk for u in units] == pytest.approx([1, 2 / 3, 1])
    assert np.mean([u.inner_risk for u in units]) == pytest.approx(0.5)
    assert curve.procedure.value == pytest.approx(8 / 9)
    inner = np.array([[2, 1, 1], [6, 6, 6], [4, 3, 2]]) / 6
    assert curve.values == pytest.approx(inner.mean(axis=0))
    assert [(u.n_train, u.n_test, u.fold) for u in units] == [(6, 3, 0), (6, 3, 1), (6, 3, 2)]


def by_hand(model, grid, y, plan, weights=None, rounds=12):
    """The outer losses of GridSearchCV on the inner folds that the plan drew."""
    outer = plan.questions("outer")
    losses, chosen = np.full(N, np.nan), []
    for unit, q in enumerate(outer):
        train, test = plan.train_rows(int(plan.fit[q]))[0], plan.test_rows(int(q))[0]
        place = {int(row): i for i, row in enumerate(train)}
        folds = np.full(len(train), -1)
        for inner in np.flatnonzero(plan.unit == unit):
            rows = plan.test_rows(int(inner))[0]
            folds[[place[int(r)] for r in rows]] = plan.fold[inner]
            seen = plan.train_rows(int(plan.fit[inner]))[0]
            assert set(seen) | set(rows) == set(train)
            assert not set(seen) & set(rows)
        search = GridSearchCV(model, grid, cv=PredefinedSplit(folds))
        params = {} if weights is None else {"sample_weight": weights[train]}
        search.fit(X[train], y[train], **params)
        chosen.append(search.best_index_)
        predicted = search.predict(X[test])
        wrong = (predicted != y[test]) * 1.0
        losses[test] = wrong if y.dtype.kind in "iu" else (predicted - y[test]) ** 2
    return losses, chosen


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_it_is_grid_search_inside_a_loop(weighted, groups) -> None:
    """The same outer losses and the same winners as GridSearchCV on the same drawn folds."""
    model = DecisionTreeClassifier(random_state=0)
    grid = {"max_depth": [1, 2, 3, 5]}
    weights = RNG.random(N) if weighted else None
    # GridSearchCV weights fits only, and compares fold means: the same as a fold mean of ours
    inner = KFold(4, average="fold")
    method = Nested("5-fold", inner)
    data = Data.check(X, Y, task="classification", groups=groups)
    plan = method.plan(data, Streams(3))
    curve = tr.risk_curve(
        model, grid, X, Y, cv=method, groups=groups, sample_weight=weights, random_state=3
    )
    losses, chosen = by_hand(model, grid, Y, plan, weights)
    if weights is None:
        assert [u.candidate for u in curve.evaluation.units] == chosen
        assert np.array_equal(curve.procedure.losses, losses)
        assert curve.procedure.value == pytest.approx(losses.mean())
    else:
        same = [u.candidate == c for u, c in zip(curve.evaluation.units, chosen, strict=True)]
        tested = np.concatenate(
            [plan.test_rows(int(q))[0] for q, ok in zip(plan.questions("outer"), same) if ok]
        )
        assert sum(same) >= 2
        assert np.array_equal(curve.procedure.losses[tested], losses[tested])


def test_numbers_too() -> None:
    """Regression: the same as GridSearchCV inside a loop, scored by squared error."""
    y, grid = X[:, 0] + RNG.normal(size=N), {"alpha": [0.01, 1.0, 100.0]}
    method = Nested("5-fold", KFold(3, average="fold"))
    plan = method.plan(Data.check(X, y, task="regression"), Streams(0))
    curve = tr.risk_curve(Ridge(), grid, X, y, cv=method, scoring="squared")
    search = GridSearchCV(Ridge(), grid, scoring="neg_mean_squared_error")
    expected = np.full(N, np.nan)
    for unit, q in enumerate(plan.questions("outer")):
        train, test = plan.train_rows(int(plan.fit[q]))[0], plan.test_rows(int(q))[0]
        pairs = [
            tuple(
                np.searchsorted(train, rows)
                for rows in (plan.train_rows(int(plan.fit[i]))[0], plan.test_rows(int(i))[0])
            )
            for i in np.flatnonzero(plan.unit == unit)
        ]
        search.set_params(cv=pairs).fit(X[train], y[train])
        expected[test] = (search.predict(X[test]) - y[test]) ** 2
    assert curve.procedure.losses == pytest.approx(expected, abs=1e-12)


def test_the_weights_count_inside_and_outside() -> None:
    """A row of weight 0 changes neither the choice nor the risk."""
    weights = np.where(np.arange(N) % 5 == 0, 0.0, 1.0)
    spoiled = np.where(weights == 0, 1 - Y, Y)
    folds = np.arange(N) % 4
    method = Nested(KFold(folds=folds), KFold(folds=(np.arange(N) // 4) % 3))
    model = DecisionTreeClassifier(random_state=0)
    one, two = (
        tr.risk_curve(model, {"max_depth": [1, 2, 4]}, X, y, cv=method, sample_weight=weights)
        for y in (Y, spoiled)
    )
    assert one.procedure.value == two.procedure.value
    assert one.values.tolist() == two.values.tolist()


@pytest.mark.parametrize("outer", ["4-fold", GroupKFold(4), "monte-carlo"], ids=str)
@pytest.mark.parametrize("inner", ["3-fold", GroupKFold(3), "holdout"], ids=str)
def test_no_group_straddles_any_split(outer, inner) -> None:
    """Groups stay on one side of every outer and of every inner split."""
    data = Data.check(X, Y, task="classification", groups=GROUPS)
    plan = Nested(outer, inner).plan(data, Streams(0))
    for q in range(plan.n_questions):
        seen = set(GROUPS[plan.train_rows(int(plan.fit[q]))[0]])
        assert not seen & set(GROUPS[plan.test_rows(q)[0]])


@pytest.mark.parametrize("outer", ["4-fold", "loo", "holdout", "3x4-fold", "reversed 3-fold"])
@pytest.mark.parametrize("inner", ["3-fold", "loo", "monte-carlo", SklearnKFold(3)], ids=str)
def test_inner_rows_stay_inside_the_outer_training_set(outer, inner) -> None:
    """No inner fit and no inner question ever touches an outer test row."""
    n = 16
    data = Data.check(X[:n], Y[:n] * 0 + np.arange(n) % 2, task="classification")
    plan = Nested(outer, inner).plan(data, Streams(0))
    units = plan.questions("outer")
    assert set(plan.unit[plan.questions("inner")]) == set(range(len(units)))
    for q in plan.questions("inner"):
        outside = int(units[plan.unit[q]])
        inside = set(plan.train_rows(int(plan.fit[outside]))[0])
        seen, asked = set(plan.train_rows(int(plan.fit[q]))[0]), set(plan.test_rows(int(q))[0])
        assert seen | asked <= inside
        assert not seen & asked


def test_splits_with_equal_training_rows_choose_alike() -> None:
    """Outer splits that train on the same rows are one fit, so they have one winner."""
    train = np.arange(30)
    pairs = [(train, np.arange(30, 37)), (train, np.arange(37, N)), (np.arange(15, N), train[:15])]
    inner = SklearnKFold(3, shuffle=True)  # without a seed: every call splits anew
    curve = tr.risk_curve(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 2, 3, 4, 5, 6], "max_features": [1, 2, 3]},
        X,
        Y,
        cv=Nested(pairs, inner),
    )
    one, two, _ = curve.evaluation.units
    assert (one.candidate, one.inner_risk) == (two.candidate, two.inner_risk)
    params = curve.candidates[one.candidate]
    model = DecisionTreeClassifier(random_state=0, **params).fit(X[train], Y[train])
    for unit, (_, test) in zip((one, two), pairs, strict=False):
        assert unit.risk == pytest.approx((model.predict(X[test]) != Y[test]).mean())


def test_inner_given_splits_are_cut_to_the_outer_rows() -> None:
    """Given pairs inside are restricted to the outer training rows."""
    rows = np.arange(N)
    pairs = tuple((rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3))
    plan = Nested(KFold(folds=rows % 5), GivenSplits(pairs)).plan(
        Data.check(X, Y, task="classification"), Streams(0)
    )
    for q in plan.questions("inner"):
        k, unit = int(plan.fold[q]), int(plan.unit[q])
        assert (
            plan.test_rows(int(q))[0].tolist()
            == rows[(rows % 3 == k) & (rows % 5 != unit)].tolist()
        )
        train = plan.train_rows(int(plan.fit[q]))[0]
        assert train.tolist() == rows[(rows % 3 != k) & (rows % 5 != unit)].tolist()


@pytest.mark.parametrize("loss", ["auc", "f1", "log"])
@pytest.mark.parametrize("outer", ["4-fold", "loo"])
def test_any_loss_can_choose(loss, outer) -> None:
    """AUC and scorers choose inside too; where a fold has no AUC the pooled one is the risk."""
    if (outer, loss) == ("loo", "f1"):
        outer = "holdout"  # a scorer rates no single row
    curve = tr.risk_curve(
        LogisticRegression(), {"C": [0.01, 1]}, X, Y, cv=Nested(outer, "3-fold"), scoring=loss
    )
    assert np.isfinite(curve.procedure.value)
    assert np.isfinite(curve.values).all()


def test_one_candidate_needs_no_inner_fits() -> None:
    """Nothing is chosen, so nothing is fitted inside, unless it is asked for."""
    model = KNeighborsClassifier()
    plain = tr.estimate_risk(model, X, Y, cv=Nested("4-fold", "3-fold"))
    asked = tr.estimate_risk(model, X, Y, cv=Nested("4-fold", "3-fold", compare=True))
    assert (plain.n_fits, asked.n_fits) == (4, 16)
    assert plain.value == asked.value


def test_a_candidate_that_fails_inside_is_not_chosen() -> None:
    """The rest goes on, the failed candidate has no value, and the procedure keeps its risk."""
    grid = {"n_neighbors": [25, 3]}  # 25 neighbours do not fit the inner training sets
    with pytest.warns(FitFailedWarning, match="inner split"):
        curve = tr.risk_curve(
            KNeighborsClassifier(),
            grid,
            X,
            Y,
            cv=Nested("4-fold", "3-fold"),
            engine=tr.engines.Generic(error="warn"),
        )
    assert {u.candidate for u in curve.evaluation.units} == {1}
    assert curve[0].value is None
    assert np.isfinite(curve.procedure.value)


@pytest.mark.parametrize("part", ["apparent", "nested", "three-way"])
def test_what_cannot_stand_inside_is_refused(part) -> None:
    """Methods that tune themselves, or hold nothing out, are no parts of nested validation."""
    for method in (Nested("4-fold", part), Nested(part, "4-fold")):
        with pytest.raises(Refusal, match="cannot be the .* method of nested validation"):
            tr.estimate_risk(KNeighborsClassifier(), X, Y, cv=method)


def test_inner_and_outer_folds_are_independent() -> None:
    """Another inner method leaves the outer folds as they are, and each unit draws anew."""
    data = Data.check(X, Y, task="classification")
    plans = [Nested("4-fold", inner).plan(data, Streams(0)) for inner in ("3-fold", "loo")]
    outer = [[p.test_rows(int(q))[0].tolist() for q in p.questions("outer")] for p in plans]
    assert outer[0] == outer[1]
    alone = KFold(4).plan(data, Streams(0))
    assert outer[0] != [alone.test_rows(q)[0].tolist() for q in range(4)]


def test_what_cannot_be_drawn_inside_says_that_it_is_inside():
    """Ten groups are enough for ten outer folds, and nine for no ten inner ones."""
    data = Data.check(X[:40], Y[:40], task="classification", groups=np.arange(40) // 4)
    message = r"^inside outer training set 0, with 36 of 40 rows: 10 folds need at least 10 groups"
    with pytest.raises(BadData, match=message):
        Nested("10-fold", "10-fold").plan(data, Streams(0))
