"""Risks read off one fit: of its training rows, out of bag, without a row to first order."""

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
from tests.support.data import NINE, checked, normal_rows

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.engines import Ensembles, Generic
from truerisk.engines.running.members import out_of_bag_refusal
from truerisk.exceptions import DuplicateRowsWarning, FitFailed, FitFailedWarning
from truerisk.extend import Family, PlanBuilder, Request
from truerisk.methods import Bootstrap, Nested
from truerisk.models import LogisticPath
from truerisk.plan.extras.own_rows import OutOfBagRows

WINE = load_wine(return_X_y=True)
FEW = WINE[0][::3], WINE[1][::3]
X, Y, NUMBERS = normal_rows(60, 5, seed=1)
LABELS = np.where(Y, "yes", "no")
KNN, FOREST = KNeighborsClassifier(), RandomForestClassifier(60, random_state=0)


def test_apparent_warns_of_no_copies_and_groups_and_weighs_fit_and_mean():
    """Testing on the training rows is the point."""
    rows, y = NINE
    given = {"cv": "apparent", "sample_weight": np.arange(9.0)}
    found = tr.estimate_risk(LogisticRegression(), rows, y, **given)
    wrong = LogisticRegression().fit(rows, y, sample_weight=np.arange(9.0)).predict(rows) != y
    assert found.value == pytest.approx(np.average(wrong, weights=np.arange(9.0)))
    same = tr.estimate_risk(LogisticRegression(), np.ones((9, 1)), y, cv="apparent", groups=y)
    assert same.value == pytest.approx(4 / 9)


# ---------------- out of bag

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
    "numbers": (RandomForestRegressor(30, random_state=1), (X, NUMBERS)),
    "two targets": (
        ExtraTreesRegressor(30, bootstrap=True, random_state=1),
        (X, np.column_stack([NUMBERS, X[:, 2]])),
    ),
    "bagged lines": (BaggingRegressor(Ridge(), 30, random_state=1), (X, NUMBERS)),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FORESTS)
def test_out_of_bag_answers_are_those_of_scikit_learn(name, weighted):
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


@pytest.fixture
def fits(monkeypatch):
    """Numbers of rows and members of the forests that are fitted."""
    made, fit = [], RandomForestClassifier.fit

    def counted(self, rows, *more):
        made.append((len(rows), self.n_estimators))
        return fit(self, rows, *more)

    monkeypatch.setattr(RandomForestClassifier, "fit", counted)
    return made


def test_out_of_bag_makes_one_fit_for_all_sizes_of_a_setting(fits):
    grid = {"n_estimators": [30, 50, 40], "max_depth": [1, 3]}
    curve = tr.risk_curve(RandomForestClassifier(), grid, *WINE, cv="oob")
    assert [size for _, size in fits] == [50, 50]
    assert (curve[0].engine, curve[0].n_fits) == ("ensemble", 6)


def test_out_of_bag_inside_four_outer_folds_makes_sixteen_fits(fits):
    """3 settings and the winner are 4 fits each."""
    grid, method = {"max_features": [1, 3, 13]}, Nested("4-fold", "oob")
    found = tr.risk_curve(RandomForestClassifier(40), grid, *WINE, cv=method).procedure
    assert len(fits) == found.n_fits == 16
    assert max(n_rows for n_rows, _ in fits) < len(WINE[1])
    assert found.interval is not None
    assert found.method == "nested (4-fold, inner oob)"


def test_out_of_bag_members_that_drew_one_copy_of_a_row_have_seen_it():
    rows, y = WINE
    drawn = np.sort(np.random.default_rng(2).integers(0, len(y), len(y)))
    builder = PlanBuilder(len(y))
    block = builder.block(drawn)
    builder.ask((block, ()), (block, ()))
    plan = builder.build(OutOfBagRows(np.zeros(1, np.int32)))
    model = RandomForestClassifier(200, max_depth=1, random_state=3)
    fitted, distinct = model.fit(rows[drawn], y[drawn]), np.unique(drawn)
    total, times = np.zeros((len(distinct), 3)), np.zeros((len(distinct), 1))
    for tree, bag in zip(fitted.estimators_, fitted.estimators_samples_, strict=True):
        out = ~np.isin(distinct, drawn[bag])
        total[out] += tree.predict_proba(rows[distinct[out]])
        times[out] += 1
    for engine in (Generic(), Ensembles()):
        asked = (
            Family.from_grid(model),
            checked(rows, y),
            plan,
            Request("probability"),
            RunOptions(),
        )
        assert np.array_equal(engine.run(*asked).values[0], total / times)


def test_out_of_bag_row_in_every_bag_is_a_failed_fit():
    """Three members leave rows without an answer; the sentence says how many members would do."""
    for engine in ("generic", "ensemble"):
        message = r"of 178 rows were drawn by each of the 3 members.*n_estimators of 22 or more"
        with pytest.raises(FitFailed, match=message):
            tr.estimate_risk(RandomForestClassifier(3), *WINE, cv="oob", engine=engine)
    given = {"cv": "oob", "engine": Generic(error="warn")}
    with pytest.warns(FitFailedWarning, match="1 of 2 fits failed"):
        curve = tr.risk_curve(RandomForestClassifier(), {"n_estimators": [3, 60]}, *WINE, **given)
    assert curve.best == 1
    assert np.isnan(curve.values[0])


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (KNN, "KNeighborsClassifier is not trained on bootstrap samples"),
        (ExtraTreesClassifier(2), "bootstrap=False: every member"),
        (BaggingClassifier(GaussianNB(), 2, bootstrap=False), "bootstrap=False"),
        (make_pipeline(StandardScaler(), RandomForestClassifier(2)), "steps of a pipeline"),
        (
            make_pipeline(StandardScaler(), GaussianNB()),
            "GaussianNB is not trained on bootstrap samples",
        ),
    ],
)
def test_out_of_bag_of_a_model_without_bags_is_that_of_the_bootstrap(model, reason):
    """The word serves any model: the result is that of Bootstrap("oob"), and says so and why."""
    assert reason in out_of_bag_refusal(Family.from_grid(model))
    found, own = (tr.estimate_risk(model, *FEW, cv=cv) for cv in ("oob", Bootstrap("oob")))
    assert (found.value, found.method) == (own.value, "oob (bootstrap)")
    assert (found.n_fits, found.std_error) == (200, own.std_error)
    assert found.notes[0].startswith("'oob (bootstrap)' was used in place of the requested method:")
    assert reason in found.notes[0]


def test_out_of_bag_inside_nested_validation_gives_way_to_the_bootstrap():
    curve = tr.risk_curve(KNN, {"n_neighbors": [1, 5]}, *FEW, cv=Nested("3-fold", "oob"))
    assert curve.procedure.method == "nested (3-fold, inner oob (bootstrap))"
    assert "KNeighborsClassifier is not trained on bootstrap samples" in curve.procedure.notes[0]
    assert "KNeighborsClassifier is not trained on bootstrap samples" in curve[0].notes[0]


def test_bootstrap_of_a_forest_asks_no_member():
    forest = RandomForestClassifier(2, random_state=0)
    found = tr.estimate_risk(forest, *FEW, cv=Bootstrap("oob", replicates=30))
    assert (found.method, found.n_fits) == ("oob (bootstrap, B=30)", 30)


def test_out_of_bag_auc_is_that_of_all_answers_together():
    rows, y = WINE[0][:130], WINE[1][:130]
    forest = RandomForestClassifier(60, random_state=0, max_depth=1, max_features=1)
    found = tr.estimate_risk(forest, rows, y, cv="oob", scoring="auc")
    forest.set_params(oob_score=True).fit(rows, y)
    assert found.value == pytest.approx(roc_auc_score(y, forest.oob_decision_function_[:, 1]))


# ---------------- without a row to first order


@pytest.mark.parametrize(
    ("model", "y", "loss", "weights", "within"),
    [
        pytest.param(Ridge(2.0), NUMBERS, "squared", None, 1e-10, id="ridge"),
        pytest.param(LinearRegression(), NUMBERS, "absolute", None, 1e-10, id="absolute"),
        pytest.param(RidgeClassifier(2.0), LABELS, "zero-one", None, 1e-10, id="classes"),
        pytest.param(RidgeClassifier(2.0), LABELS, "auc", None, 1e-10, id="auc"),
        pytest.param(
            *(Ridge(), NUMBERS, "squared"),
            *(np.random.default_rng(1).uniform(0.5, 2.0, 60), 1e-10),
            id="weights",
        ),
        pytest.param(
            make_pipeline(StandardScaler(), Ridge()), NUMBERS, "squared", None, 0.01, id="pipeline"
        ),
    ],
)
def test_approximate_leave_one_out_of_squared_loss_is_exact(model, y, loss, weights, within):
    """A pipeline is the exception: its scaler is fitted once on all rows, not in every fold."""
    given = {"scoring": loss, "sample_weight": weights}
    found, exact = (tr.estimate_risk(model, X, y, cv=m, **given) for m in ("alo", "loo"))
    assert found.value == pytest.approx(exact.value, rel=within)
    assert (found.n_fits, exact.n_fits) == (1, 60)


@pytest.mark.parametrize(
    ("model", "y", "loss", "within"),
    [
        (LogisticRegression(C=1.0), LABELS, "log", 0.004),
        (LogisticPath(lambdas=[0.1, 0.03]), LABELS, "log", 0.01),
        (LogisticPath(lambdas=[0.1, 0.03]), LABELS, "brier", 0.01),
        (Lasso(0.05), NUMBERS, "squared", 0.04),
    ],
)
def test_approximate_leave_one_out_of_other_losses_comes_near(model, y, loss, within):
    """As near as exact leave-one-out on these rows, and much nearer than the apparent risk."""
    found, exact, apparent = (
        tr.estimate_risk(model, X, y, cv=m, scoring=loss).value for m in ("alo", "loo", "apparent")
    )
    assert 0 < abs(found - exact) < within
    assert abs(found - exact) < abs(apparent - exact) / 4


@pytest.mark.parametrize(("model", "cv"), [(FOREST, "oob"), (Ridge(), "alo")])
def test_single_fit_warns_of_copies_of_rows(model, cv):
    """A copy in the fit answers for its twin."""
    y = LABELS if cv == "oob" else NUMBERS
    with pytest.warns(DuplicateRowsWarning, match=r"^2 of \d+ rows are exact copies"):
        tr.estimate_risk(model, np.vstack([X, X[:1]]), np.append(y, y[0]), cv=cv)
