"""Risks read off one fit: of its training rows, out of bag, without a row to first order."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import truerisk as tr
from truerisk.contracts import Request, RunOptions
from truerisk.core.errors import DuplicateRowsWarning, FitFailed, FitFailedWarning, Refusal
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.running.members import why_no_bags
from truerisk.engines.trees.ensemble import Ensembles
from truerisk.methods import Bootstrap, Nested
from truerisk.models import LogisticPath
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.own_rows import OutOfBagRows

X = np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])[:, None]
Y = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])


def test_golden() -> None:
    """METHODS §2: apparent risks of 1, 3, 5 and 7 neighbours."""
    curve = tr.risk_curve(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7]}, X, Y, cv="apparent"
    )
    assert curve.values == pytest.approx([0, 3 / 9, 2 / 9, 4 / 9])
    assert curve[0].n_fits == 4
    assert curve[0].target == "training"
    assert "optimistic" in curve[0].bias


def test_copies_and_groups_are_no_leak_here() -> None:
    """Testing on the training rows is the point: no warning about copies or groups."""
    found = tr.estimate_risk(LogisticRegression(), np.ones((9, 1)), Y, cv="apparent", groups=Y)
    assert found.value == pytest.approx(4 / 9)


def test_weights_count_in_fit_and_mean() -> None:
    """The weighted mean of the losses of the weighted fit."""
    weights = np.arange(9.0)
    found = tr.estimate_risk(LogisticRegression(), X, Y, cv="apparent", sample_weight=weights)
    fitted = LogisticRegression().fit(X, Y, sample_weight=weights)
    assert found.value == pytest.approx(np.average(fitted.predict(X) != Y, weights=weights))


WINE = load_wine(return_X_y=True)
FEW = WINE[0][::3], WINE[1][::3]
RNG = np.random.default_rng(0)
X_BAG = RNG.normal(size=(60, 4))
NUMBERS = X_BAG[:, 0] * X_BAG[:, 1] + RNG.normal(size=60)
FORESTS = {
    "forest": (RandomForestClassifier(30, random_state=1), FEW),
    "balanced forest": (
        RandomForestClassifier(30, max_samples=0.7, class_weight="balanced", random_state=1),
        FEW,
    ),
    "extra trees": (ExtraTreesClassifier(30, bootstrap=True, random_state=1), FEW),
    "bagging": (BaggingClassifier(n_estimators=30, random_state=1), FEW),
    "bagged bayes": (BaggingClassifier(GaussianNB(), 30, max_features=5, random_state=1), FEW),
    "bagged votes": (BaggingClassifier(SVC(), 30, random_state=1), FEW),
    "numbers": (RandomForestRegressor(30, random_state=1), (X_BAG, NUMBERS)),
    "two targets": (
        ExtraTreesRegressor(30, bootstrap=True, random_state=1),
        (X_BAG, np.column_stack([NUMBERS, X_BAG[:, 2]])),
    ),
    "bagged lines": (BaggingRegressor(Ridge(), 30, random_state=1), (X_BAG, NUMBERS)),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FORESTS)
def test_equals_scikit_learn_to_the_letter(name, weighted) -> None:
    """The answers are oob_decision_function_ or oob_prediction_ of the fit, for every size."""
    model, (rows, y) = FORESTS[name]
    weights = np.random.default_rng(1).uniform(0.5, 1.5, len(y)) if weighted else None
    sizes, engines = (24, 32), ("generic", "ensemble")
    given = {"cv": "oob", "sample_weight": weights}
    given["scoring"] = "brier" if hasattr(model, "predict_proba") else "squared"
    curves = [
        tr.risk_curve(model, {"n_estimators": sizes}, rows, y, engine=engine, **given)
        for engine in engines
    ]
    for i, size in enumerate(sizes):
        params = model.get_params(deep=False) | {"n_estimators": size}
        fitted = type(model)(**params | {"oob_score": True})
        fitted.fit(rows, y, sample_weight=weights)
        of_classes = hasattr(fitted, "oob_decision_function_")
        theirs = fitted.oob_decision_function_ if of_classes else fitted.oob_prediction_
        for engine, curve in zip(engines, curves, strict=True):
            assert np.array_equal(curve.evaluation.answers.values[i], theirs)
            if of_classes and not weighted and not i:
                one = type(model)(**params)
                found = tr.estimate_risk(one, rows, y, cv="oob", engine=engine)
                assert 1 - found.value == pytest.approx(fitted.oob_score_, abs=1e-12)


def test_one_fit_for_each_setting(monkeypatch) -> None:
    """Settings cost a fit each, sizes of a forest nothing more."""
    fits, fit = [], RandomForestClassifier.fit

    def counted(self, *arguments):
        fits.append(self.n_estimators)
        return fit(self, *arguments)

    monkeypatch.setattr(RandomForestClassifier, "fit", counted)
    grid = {"n_estimators": [30, 50, 40], "max_depth": [1, 3]}
    curve = tr.risk_curve(RandomForestClassifier(), grid, *WINE, cv="oob")
    assert (fits, curve[0].engine, curve[0].n_fits) == ([50, 50], "ensemble", 6)


def test_chosen_inside_nested_validation(monkeypatch) -> None:
    """Out of bag inside 4 outer folds: 3 settings and the winner are 4 fits each, 16 in all."""
    fits, fit = [], RandomForestClassifier.fit

    def counted(self, rows, y):
        fits.append(len(rows))
        return fit(self, rows, y)

    monkeypatch.setattr(RandomForestClassifier, "fit", counted)
    method = Nested("4-fold", "oob")
    grid = {"max_features": [1, 3, 13]}
    curve = tr.risk_curve(RandomForestClassifier(40), grid, *WINE, cv=method)
    assert len(fits) == curve.procedure.n_fits == 16
    assert max(fits) < len(WINE[1])
    assert curve.procedure.interval is not None
    assert curve.procedure.method == "nested (4-fold, inner oob)"


def test_inner_risks_are_those_of_the_training_rows() -> None:
    """What is compared inside a fold is the out-of-bag risk of a forest on its training rows."""
    rows, y = WINE
    folds = [
        (np.arange(0, 178, 2), np.arange(1, 178, 2)),
        (np.arange(1, 178, 2), np.arange(0, 6, 2)),
    ]
    model = RandomForestClassifier(40, random_state=0)
    nested = Nested(folds, "oob", compare=True)
    found = tr.risk_curve(model, None, rows, y, cv=nested)
    inner = [unit.inner_risk for unit in found.evaluation.units]
    for (train, _), risk in zip(folds, inner, strict=True):
        own = tr.estimate_risk(model, rows[train], y[train], cv="oob")
        assert risk == own.value


def test_copies_are_out_of_the_bag_together() -> None:
    """In a bootstrap sample a member that drew one copy of a row has seen it."""
    rows, y = WINE
    drawn = np.sort(np.random.default_rng(2).integers(0, len(y), len(y)))
    builder = PlanBuilder(len(y))
    block = builder.block(drawn)
    builder.ask((block, ()), (block, ()))
    plan = builder.build(OutOfBagRows(np.zeros(1, np.int32)))
    model = RandomForestClassifier(200, max_depth=1, random_state=3)
    data = Data.check(rows, y, task="classification")
    fitted = model.fit(rows[drawn], y[drawn])
    distinct = np.unique(drawn)
    total, times = np.zeros((len(distinct), 3)), np.zeros((len(distinct), 1))
    for tree, bag in zip(fitted.estimators_, fitted.estimators_samples_, strict=True):
        out = ~np.isin(distinct, drawn[bag])
        total[out] += tree.predict_proba(rows[distinct[out]])
        times[out] += 1
    for engine in (Generic(), Ensembles()):
        found = engine.run(Family.of(model), data, plan, Request("probability"), RunOptions())
        assert np.array_equal(found.values[0], total / times)


def test_a_row_in_every_bag_is_a_failed_fit() -> None:
    """Three members leave rows without an answer; the sentence says how many members would do."""
    for engine in ("generic", "ensemble"):
        message = r"of 178 rows were drawn by each of the 3 members.*n_estimators of 22 or more"
        with pytest.raises(FitFailed, match=message):
            tr.estimate_risk(RandomForestClassifier(3), *WINE, cv="oob", engine=engine)
    engine = tr.engines.Generic(error="warn")
    with pytest.warns(FitFailedWarning, match="1 of 2 fits failed"):
        curve = tr.risk_curve(
            RandomForestClassifier(), {"n_estimators": [3, 60]}, *WINE, cv="oob", engine=engine
        )
    assert curve.best == 1
    assert np.isnan(curve.values[0])


def test_copies_of_rows_are_warned_of() -> None:
    """A copy in the bag answers for its twin out of it."""
    rows, y = np.vstack([WINE[0], WINE[0][:5]]), np.append(WINE[1], WINE[1][:5])
    with pytest.warns(DuplicateRowsWarning, match="10 rows of X"):
        tr.estimate_risk(RandomForestClassifier(40), rows, y, cv="oob")


def test_what_a_result_says() -> None:
    """One fit, slightly pessimistic, and no standard error, for none is known."""
    found = tr.estimate_risk(RandomForestClassifier(60, random_state=0), *WINE, cv="oob")
    assert (found.target, found.n_fits, found.std_error, found.interval) == ("Err", 1, None, None)
    assert "37 %" in found.bias
    assert "share members" in found.notes[0]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (KNeighborsClassifier(), "KNeighborsClassifier draws no bags"),
        (ExtraTreesClassifier(2), "bootstrap=False: every member"),
        (BaggingClassifier(GaussianNB(), 2, bootstrap=False), "bootstrap=False"),
        (make_pipeline(StandardScaler(), RandomForestClassifier(2)), "steps of a pipeline"),
        (make_pipeline(StandardScaler(), GaussianNB()), "GaussianNB draws no bags"),
    ],
)
def test_why_a_model_draws_no_bags(model, reason) -> None:
    """Of rows, with repetition, or before the steps of a pipeline."""
    assert reason in why_no_bags(Family.of(model))


@pytest.mark.parametrize(
    "model", [KNeighborsClassifier(), make_pipeline(StandardScaler(), GaussianNB())]
)
def test_without_bags_the_bootstrap_draws_them(model) -> None:
    """The word serves any model: the result is that of Bootstrap("oob"), and says so and why."""
    rows, y = WINE[0][::6], WINE[1][::6]
    found = tr.estimate_risk(model, rows, y, cv="oob")
    own = tr.estimate_risk(model, rows, y, cv=Bootstrap("oob"))
    assert (found.value, found.method) == (own.value, "oob (bootstrap)")
    assert (found.n_fits, found.std_error) == (200, own.std_error)
    assert found.notes[0].startswith("'oob (bootstrap)' took the place of the method asked for:")
    assert why_no_bags(Family.of(model)) in found.notes[0]


def test_inside_nested_validation_the_bootstrap_takes_its_place() -> None:
    """Nested(outer, "oob") of a learner without bags chooses by the leave-one-out bootstrap."""
    curve = tr.risk_curve(
        KNeighborsClassifier(), {"n_neighbors": [1, 5]}, *WINE, cv=Nested("3-fold", "oob")
    )
    assert curve.procedure.method == "nested (3-fold, inner oob (bootstrap))"
    assert "KNeighborsClassifier draws no bags" in curve.procedure.notes[0]
    assert "KNeighborsClassifier draws no bags" in curve[0].notes[0]


def test_bootstrap_is_always_the_bootstrap() -> None:
    """Bootstrap("oob") of a forest fits 30 forests and asks no member."""
    forest = RandomForestClassifier(2, random_state=0)
    found = tr.estimate_risk(forest, *WINE, cv=Bootstrap("oob", replicates=30))
    assert (found.method, found.n_fits) == ("oob (bootstrap, B=30)", 30)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": WINE[1]}, "would ignore the groups"),
        ({"scoring": "jaccard_macro"}, "cannot use the scorer"),
        ({"cv": Nested("oob", "5-fold")}, "'oob' cannot be the outer method"),
        ({"engine": "tree"}, "engine 'tree' cannot answer: the learner is RandomForest"),
    ],
)
def test_what_bags_cannot_serve_is_refused(options, message) -> None:
    """Groups, scorers, an outer method, an engine for other learners."""
    given = {"model": RandomForestClassifier(), "X": WINE[0], "y": WINE[1], "cv": "oob"}
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(**(given | options))


def test_losses_of_whole_sets() -> None:
    """The AUC is that of all out-of-bag answers together."""
    rows, y = WINE[0][:130], WINE[1][:130]
    forest = RandomForestClassifier(60, random_state=0, max_depth=1, max_features=1)
    found = tr.estimate_risk(forest, rows, y, cv="oob", scoring="auc")
    forest.set_params(oob_score=True).fit(rows, y)
    assert found.value == pytest.approx(roc_auc_score(y, forest.oob_decision_function_[:, 1]))


RNG_OUT = np.random.default_rng(1)
X_OUT = RNG_OUT.normal(size=(60, 5))
NUMBERS_OUT = X_OUT[:, 0] - X_OUT[:, 1] + RNG_OUT.normal(size=60)
LABELS = np.where(X_OUT[:, 0] + RNG_OUT.normal(size=60) > 0, "yes", "no")


@pytest.mark.parametrize(
    ("model", "y", "loss"),
    [
        (Ridge(2.0), NUMBERS_OUT, "squared"),
        (LinearRegression(), NUMBERS_OUT, "absolute"),
        (RidgeClassifier(2.0), LABELS, "zero-one"),
        (RidgeClassifier(2.0), LABELS, "auc"),
    ],
)
def test_squared_loss_is_leave_one_out(model, y, loss):
    """The same number from one fit."""
    found = tr.estimate_risk(model, X_OUT, y, cv="alo", scoring=loss)
    exact = tr.estimate_risk(model, X_OUT, y, cv="loo", scoring=loss)
    assert found.value == pytest.approx(exact.value, rel=1e-10)
    assert (found.n_fits, exact.n_fits) == (1, 60)


@pytest.mark.parametrize(
    ("model", "y", "loss", "within"),
    [
        (LogisticRegression(C=1.0), LABELS, "log", 0.004),
        (LogisticPath(lambdas=[0.1, 0.03]), LABELS, "log", 0.01),
        (LogisticPath(lambdas=[0.1, 0.03]), LABELS, "brier", 0.01),
        (Lasso(0.05), NUMBERS_OUT, "squared", 0.04),
    ],
)
def test_other_losses_come_near(model, y, loss, within):
    """As near as exact leave-one-out on these rows, and much nearer than the apparent risk."""
    found, exact, apparent = (
        tr.estimate_risk(model, X_OUT, y, cv=m, scoring=loss).value
        for m in ("alo", "loo", "apparent")
    )
    assert 0 < abs(found - exact) < within
    assert abs(found - exact) < abs(apparent - exact) / 4


def test_it_says_what_it_is():
    """Its own word, the warning among the notes, no standard error and no interval."""
    est = tr.estimate_risk(LogisticPath(lambdas=[0.1]), X_OUT, LABELS, cv="alo")
    assert (est.method, est.target, est.n_fits) == ("alo", "Err", 1)
    assert "approximate" in est.notes[0]
    assert "18 points off" in est.notes[0]
    assert est.std_error is None
    assert est.interval is None
    assert len(est.losses) == 60


def test_it_chooses_inside_outer_folds():
    """One fit per setting and fold, then one of the winner."""
    method = tr.methods.Nested("5-fold", "alo")
    curve = tr.risk_curve(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, X_OUT, NUMBERS_OUT, cv=method)
    by_loo = tr.methods.Nested("5-fold", "loo")
    exact = tr.risk_curve(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, X_OUT, NUMBERS_OUT, cv=by_loo)
    assert curve.procedure.value == pytest.approx(exact.procedure.value)
    np.testing.assert_allclose(curve.values, exact.values)


def test_weights_count_in_fit_and_risk():
    """Ridge with weights: weighted leave-one-out."""
    weights = RNG_OUT.uniform(0.5, 2.0, 60)
    found, exact = (
        tr.estimate_risk(Ridge(), X_OUT, NUMBERS_OUT, cv=m, sample_weight=weights).value
        for m in ("alo", "loo")
    )
    assert found == pytest.approx(exact, rel=1e-10)


def test_copies_of_a_row_are_warned_of():
    """A row taken out leaves its copy in the fit."""
    twice = np.vstack([X_OUT, X_OUT[:1]])
    with pytest.warns(DuplicateRowsWarning, match="2 rows of X"):
        tr.estimate_risk(Ridge(), twice, np.append(NUMBERS_OUT, NUMBERS_OUT[0]), cv="alo")


def test_steps_before_the_learner_stay():
    """The scaler of all rows: near exact leave-one-out, which fits it anew."""
    model = make_pipeline(StandardScaler(), Ridge())
    found = tr.estimate_risk(model, X_OUT, NUMBERS_OUT, cv="alo").value
    exact = tr.estimate_risk(model, X_OUT, NUMBERS_OUT, cv="loo").value
    assert found == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"model": KNeighborsClassifier()}, "no formula.*KNeighborsClassifier"),
        ({"groups": np.arange(60) // 2}, "would ignore the groups"),
        ({"scoring": "f1_micro"}, "asks the whole model"),
    ],
)
def test_refuses_by_name(asked, words):
    """A learner without a formula, groups, a scorer of scikit-learn."""
    given = {"model": LogisticRegression(), "X": X_OUT, "y": LABELS, "cv": "alo"} | asked
    with pytest.raises(Refusal, match=words):
        tr.estimate_risk(given.pop("model"), given.pop("X"), given.pop("y"), **given)
