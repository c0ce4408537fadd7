"""The ensemble engine: every number of members from the largest, as scikit-learn answers."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.support.fitted_once import fitted_once

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.trees.ensemble import Ensembles
from truerisk.methods.words import as_method
from truerisk.testing import engine_checks

SIZES = [7, 1, 12, 4, 7]
RNG = np.random.default_rng(0)
N = 80
X = np.round(RNG.normal(size=(N, 4)), 1)
CLASSES = (X[:, 0] * X[:, 1] + RNG.normal(size=N) > 0).astype(int) + (X[:, 2] > 1)
NUMBERS = X[:, 0] * X[:, 1] + RNG.normal(size=N)
WEIGHTS = RNG.integers(0, 3, N) + RNG.random(N)

KIT = {
    "forest": (RandomForestClassifier(max_depth=2), {"n_estimators": [3, 1]}),
    "bagging": (BaggingRegressor(), {"n_estimators": [3, 1]}),
    "boosting": (
        GradientBoostingClassifier(subsample=0.7, max_depth=1),
        {"n_estimators": [3, 1]},
    ),
    "histograms": (
        HistGradientBoostingRegressor(min_samples_leaf=2, max_leaf_nodes=3),
        {"max_iter": [2, 1]},
    ),
    "reweighting": (AdaBoostClassifier(), {"n_estimators": [3, 1]}),
    "reweighted numbers": (AdaBoostRegressor(), {"n_estimators": [3, 1]}),
}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{word}-{check}")
        for word, (model, grid) in KIT.items()
        for check in engine_checks(
            Ensembles(), Family.of(model, grid), examples=3 if word == "forest" else 1
        )
    ],
)
def test_conforms(check) -> None:
    """The published checks of any engine."""
    check()


CLASSIFIERS = {
    "forest": RandomForestClassifier(),
    "balanced forest": RandomForestClassifier(class_weight="balanced_subsample", max_samples=0.5),
    "extra trees": ExtraTreesClassifier(max_features=None, min_samples_leaf=3),
    "bagged trees": BaggingClassifier(),
    "bagged columns": BaggingClassifier(
        DecisionTreeClassifier(max_depth=2), bootstrap_features=True, max_features=0.5
    ),
    "bagged votes": BaggingClassifier(LinearSVC(), max_samples=0.5),
    "pasting": BaggingClassifier(DecisionTreeClassifier(), bootstrap=False, max_samples=0.4),
    "AdaBoost": AdaBoostClassifier(),
    "AdaBoost that ends early": AdaBoostClassifier(DecisionTreeClassifier(max_depth=9)),
    "gradient boosting": GradientBoostingClassifier(subsample=0.5, max_features=2),
    "from zero": GradientBoostingClassifier(init="zero"),
    "histograms": HistGradientBoostingClassifier(max_features=0.5, min_samples_leaf=3),
    "never early": HistGradientBoostingClassifier(early_stopping=False, class_weight="balanced"),
}
REGRESSORS = {
    "forest": RandomForestRegressor(max_features=2, oob_score=True),
    "extra trees": ExtraTreesRegressor(),
    "bagged lines": BaggingRegressor(Ridge(), max_features=2),
    "AdaBoost": AdaBoostRegressor(),
    "AdaBoost of lines": AdaBoostRegressor(Ridge(), loss="square"),
    "gradient boosting": GradientBoostingRegressor(subsample=0.7),
    "quantiles": GradientBoostingRegressor(loss="quantile", alpha=0.3),
    "histograms": HistGradientBoostingRegressor(min_samples_leaf=3),
}


def same(model, data, response, method="3-fold"):
    """The engine and the generic one answer a method's plan alike, bit by bit."""
    path = "max_iter" if "Hist" in type(model).__name__ else "n_estimators"
    family = Family.of(model, {path: SIZES})
    plan, request = as_method(method).plan(data, Streams(1)), Request(response)
    assert Ensembles().refuse(family, data, plan, request) is None
    some = RunOptions(seed=4, only=np.arange(plan.n_fits) % len(SIZES))
    for run in (RunOptions(seed=4), some)[: 2 if response in ("label", "value") else 1]:
        ours = Ensembles().run(family, data, plan, request, run)
        theirs = Generic().run(family, data, plan, request, run)
        assert ours.values.dtype == theirs.values.dtype
        assert np.array_equal(ours.values, theirs.values)


@pytest.mark.filterwarnings("ignore:When fitting BaggingClassifier with sample_weight")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_equal_fits_bit_by_bit(name, weighted) -> None:
    """Labels, probabilities and scores; three classes with weights, two without."""
    y = CLASSES if weighted else np.array(["no", "yes"])[(CLASSES > 0).astype(int)]
    params = {"sample_weight": WEIGHTS} if weighted else {}
    data = Data.check(X, y, task="classification", fit_params=params)
    decides = name == "bagged votes" or data.n_classes > 2
    with fitted_once(type(CLASSIFIERS[name])):
        for response in ("label", "probability", "score")[: 2 if decides else 3]:
            same(CLASSIFIERS[name], data, response)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", REGRESSORS)
def test_values_equal_fits_bit_by_bit(name, weighted) -> None:
    """One target, and two where the learner takes two, with and without weights."""
    model = REGRESSORS[name]
    params = {"sample_weight": WEIGHTS} if weighted else {}
    with fitted_once(type(model)):
        same(model, Data.check(X, NUMBERS, task="regression", fit_params=params), "value")
    if name in ("forest", "extra trees", "bagged lines"):
        both = np.column_stack([NUMBERS, X[:, 2]])
        same(model, Data.check(X, both, task="regression", fit_params=params), "value")


def test_tables_and_steps() -> None:
    """Frames, missing cells and steps that learn from the training rows are served."""
    holes = X.copy()
    holes[::7, 1] = np.nan
    frame = pd.DataFrame(holes, columns=list("abcd"))
    data = Data.check(frame, CLASSES, task="classification")
    same(RandomForestClassifier(random_state=2), data, "label", "5-fold")
    same(HistGradientBoostingClassifier(), data, "probability")
    grid = {"selectkbest__k": [1, 3], "randomforestclassifier__n_estimators": SIZES}
    family = Family.of(make_pipeline(SelectKBest(), RandomForestClassifier()), grid)
    data = Data.check(X, CLASSES, task="classification")
    plan = as_method("4-fold").plan(data, Streams(0))
    ours, theirs = (
        engine.run(family, data, plan, Request("probability"), RunOptions(seed=1))
        for engine in (Ensembles(), Generic())
    )
    assert np.array_equal(ours.values, theirs.values)


def test_jobs_of_the_ensemble_round_otherwise() -> None:
    """With n_jobs scikit-learn adds members in another order: equal up to rounding."""
    data = Data.check(X, CLASSES, task="classification")
    plan = as_method("3-fold").plan(data, Streams(0))
    for model in (
        RandomForestClassifier(n_jobs=2),
        BaggingClassifier(DecisionTreeClassifier(min_samples_leaf=7), n_jobs=2),
    ):
        family = Family.of(model, {"n_estimators": SIZES})
        with parallel_config("threading"):
            ours, theirs = (
                engine.run(family, data, plan, Request("probability"), RunOptions())
                for engine in (Ensembles(), Generic())
            )
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-12, atol=1e-15)


def test_one_fit_per_train_set(monkeypatch) -> None:
    """Five sizes on four folds are four fits, of the largest; a nested winner is fitted alone."""
    fits, fit = [], RandomForestClassifier.fit

    def counted(self, *arguments):
        fits.append(self.n_estimators)
        return fit(self, *arguments)

    monkeypatch.setattr(RandomForestClassifier, "fit", counted)
    grid = {"n_estimators": SIZES}
    curve = tr.risk_curve(RandomForestClassifier(), grid, X, CLASSES, cv="4-fold")
    assert (fits, curve[0].engine, curve[0].n_fits) == ([12] * 4, "ensemble", 20)
    fits.clear()
    nested = tr.methods.Nested("4-fold", "3-fold")
    curve = tr.risk_curve(RandomForestClassifier(), grid, X, CLASSES, cv=nested)
    winners = [SIZES[unit.candidate] for unit in curve.evaluation.units]
    assert fits == [12] * 12 + winners


def test_workers_fit_the_forests() -> None:
    """An executor gets the fits, and changes nothing."""
    grid = {"n_estimators": SIZES}
    here, there = (
        tr.risk_curve(ExtraTreesClassifier(), grid, X, CLASSES, cv="4-fold", n_jobs=executor)
        for executor in (None, 2)
    )
    assert here[0].engine == "ensemble"
    assert np.array_equal(here.evaluation.answers.values, there.evaluation.answers.values)


STOPS = "ends the fit where a part of the rows says so"


@pytest.mark.parametrize(
    ("model", "grid", "response", "message"),
    [
        (RandomForestClassifier(), {"n_estimators": [0]}, "label", "0 is no number of members"),
        (RandomForestClassifier(), {"n_estimators": [2.5]}, "label", "2.5 is no number of members"),
        (HistGradientBoostingClassifier(), {"max_iter": ["5"]}, "label", "'5' is no number"),
        (GradientBoostingClassifier(n_iter_no_change=3), None, "label", STOPS),
        (HistGradientBoostingClassifier(early_stopping=True), None, "label", STOPS),
        (BaggingClassifier(LinearSVC()), None, "score", "it averages probabilities"),
        (RandomForestClassifier(), None, "scored", "scorer needs the fitted model"),
        (DecisionTreeClassifier(), None, "label", "DecisionTreeClassifier, not one that it reads"),
        (
            make_pipeline(RandomForestClassifier()),
            {"randomforestclassifier": [ExtraTreesClassifier()]},
            "label",
            "replaces the learner",
        ),
    ],
)
def test_what_it_does_not_read_is_refused(model, grid, response, message) -> None:
    """Early stopping, sizes that are none, scorers, other learners: by a sentence."""
    data = Data.check(X, CLASSES > 0, task="classification")
    plan = as_method("3-fold").plan(data, Streams(0))
    request = Request(response, get_scorer("accuracy") if response == "scored" else None)
    reason = Ensembles().refuse(Family.of(model, grid), data, plan, request)
    assert reason is not None
    assert re.search(message, reason)
    assert reason.endswith(".")


def test_auto_stopping_needs_many_rows() -> None:
    """early_stopping="auto" stops with more than 10,000 rows in a fit, and is served below."""
    model = HistGradientBoostingRegressor(max_iter=2)
    for n, refused in ((10_000, False), (10_001, True)):
        data = Data.check(np.arange(n)[:, None] / n, np.arange(n) % 3 + 0.0, task="regression")
        plan = as_method("apparent").plan(data, Streams(0))
        reason = Ensembles().refuse(Family.of(model), data, plan, Request("value"))
        assert (reason is not None) == refused


def test_a_monitor_is_refused() -> None:
    """A monitor of gradient boosting may end the fit after any stage."""
    data = Data.check(X, NUMBERS, task="regression", fit_params={"monitor": print})
    plan = as_method("3-fold").plan(data, Streams(0))
    family = Family.of(GradientBoostingRegressor())
    assert "monitor" in str(Ensembles().refuse(family, data, plan, Request("value")))
