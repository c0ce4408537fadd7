"""Fits and scorers are given y in its own type; learners of other people a column, too."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import BaggingRegressor, GradientBoostingRegressor
from sklearn.exceptions import DataConversionWarning
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor, RadiusNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import truerisk as tr

N = 30
RNG = np.random.default_rng(2)
X = np.random.default_rng(0).normal(size=(N, 3)).astype(np.float32)
NUMBERS = (X[:, 0] + np.random.default_rng(1).normal(size=N)).astype(np.float32)
COLUMN = NUMBERS[:, None]


class Network(RegressorMixin, BaseEstimator):
    """As a network of skorch: y in single precision and a column, answers a column."""

    def __init__(self, rate=0.1, kind="float32", n_dim=2):
        self.rate, self.kind, self.n_dim = rate, kind, n_dim

    def fit(self, X, y):
        if y.dtype != self.kind or y.ndim != self.n_dim:
            raise ValueError(f"expected {self.kind}, {self.n_dim}, found {y.dtype}, {y.ndim}")
        self.weights_ = np.zeros((3, 1))
        for _ in range(20):
            self.weights_ -= self.rate * X.T @ (X @ self.weights_ - y.reshape(-1, 1)) / len(X)
        return self

    def predict(self, X):
        return X @ self.weights_


@pytest.mark.parametrize(
    "model",
    [
        Network(),
        make_pipeline(StandardScaler(), Network()),
        GridSearchCV(Network(), {"rate": [0.1, 0.2]}, cv=3),
    ],
    ids=["alone", "pipeline", "search"],
)
def test_a_network_has_its_column(model):
    """In every fit, without a word about it; the refit of a search, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(tr.estimate_risk(model, X, COLUMN, cv="3-fold").value)
        search = tr.HonestSearchCV(model, {}, cv=3).fit(X, COLUMN)
    assert np.isfinite(search.risk_.value)
    assert search.predict(X).shape == (N, 1)


def test_it_is_what_grid_search_finds():
    """The same fits, rated alike."""
    grid = {"rate": [0.1, 0.2]}
    ours = tr.HonestSearchCV(Network(), grid, cv=3, scoring="r2", outer=None).fit(X, COLUMN)
    theirs = GridSearchCV(Network(), grid, cv=3, scoring="r2").fit(X, COLUMN)
    name = "mean_test_score"
    assert ours.cv_results_[name] == pytest.approx(theirs.cv_results_[name], abs=1e-6)


@pytest.mark.parametrize(
    ("y", "kind", "n_dim"),
    [
        (NUMBERS, "float32", 1),
        (NUMBERS.astype(float), "float64", 1),
        (np.arange(N), "int64", 1),
        (np.c_[NUMBERS, NUMBERS], "float32", 2),
        ([float(v) for v in NUMBERS], "float64", 1),
    ],
    ids=["single", "double", "whole", "two", "list"],
)
def test_the_type_is_that_which_was_given(y, kind, n_dim):
    """Whatever a scorer or a loss computes with."""
    model = Network(kind=kind, n_dim=n_dim) if np.ndim(y) == 1 else Both(kind=kind)
    assert np.isfinite(tr.estimate_risk(model, X, y, cv="3-fold").value)


class Both(Network):
    """Of two targets."""

    def predict(self, X):
        return np.repeat(X @ self.weights_, 2, axis=1)

    def fit(self, X, y):
        assert y.dtype == self.kind
        return Network().fit(X, y[:, :1]) and super().fit(X, y[:, :1])


@pytest.mark.parametrize("model", [Ridge(), KNeighborsRegressor(3)])
def test_scikit_learns_own_take_no_column(model):
    """They are given a row of numbers, and of the column is warned as they do."""
    with pytest.warns(DataConversionWarning, match="its one column is used"):
        found = tr.estimate_risk(model, X, COLUMN, cv="3-fold")
    exact = tr.estimate_risk(model, X, NUMBERS, cv="3-fold", engine="generic")
    assert found.value == pytest.approx(exact.value, rel=1e-12)


FAR = 1000 + RNG.normal(size=N)
TYPES = {
    "single": FAR.astype(np.float32),
    "half": FAR.astype(np.float16),
    "whole": np.rint(FAR).astype(np.int16),
    "two": np.c_[FAR, -FAR].astype(np.float32),
    "series": pd.Series(FAR.astype(np.float32)),
    "nullable": pd.Series(FAR.astype(np.float32), dtype="Float32"),
    "polars": pl.Series(FAR.astype(np.float32)),
}
MODELS = {
    "neighbours": (KNeighborsRegressor(), {"n_neighbors": [1, 3]}),
    "radius": (RadiusNeighborsRegressor(), {"radius": [4.0, 6.0]}),
    "ridge": (Ridge(), {"alpha": [0.1, 1.0]}),
    "vectors": (SVR(), {"C": [1.0, 10.0]}),
    "kernel": (KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0]}),
    "tree": (DecisionTreeRegressor(random_state=0), {"ccp_alpha": [0.0, 0.1]}),
    "boosting": (GradientBoostingRegressor(random_state=0), {"n_estimators": [2, 5]}),
    "bagging": (BaggingRegressor(Ridge(), random_state=0), {"n_estimators": [2, 5]}),
    "bags of neighbours": (
        BaggingRegressor(KNeighborsRegressor(3), random_state=0),
        {"n_estimators": [2, 5]},
    ),
    "chosen columns": (
        make_pipeline(SelectKBest(f_regression, k=2), Ridge()),
        {"ridge__alpha": [0.1, 1.0]},
    ),
}
ONE_TARGET = {"vectors", "boosting", "bagging", "bags of neighbours", "chosen columns"}


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # of scikit-learn
@pytest.mark.filterwarnings("ignore:Calling linalg.solve with arguments of dtype=float16")  # too
@pytest.mark.parametrize("double", [True, False], ids=["X double", "X single"])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("learner", MODELS)
def test_every_engine_answers_as_clones_that_see_y_as_it_is(learner, kind, double):
    """Plain loops of clones; y near 1,000, where single precision is coarse."""
    y, (model, grid) = TYPES[kind], MODELS[learner]
    if kind == "two" and learner in ONE_TARGET:
        return
    table, splits = X.astype(float) if double else X, KFold(3)
    curve = tr.risk_curve(model, grid, table, y, cv=tr.methods.Splitter(splits))
    answers = curve.evaluation.answers
    for place, setting in enumerate(curve.candidates):
        one = clone(model).set_params(**setting)
        theirs = cross_val_predict(one, table, y, cv=splits).astype(float)
        for question, said in enumerate(answers):
            rows, _ = answers.plan.test_rows(question)
            np.testing.assert_allclose(said[place], theirs[rows], rtol=1e-12)


def test_scorers_are_given_it_too():
    """And a score of theirs is GridSearchCV's to the last digits, whatever it computes in."""
    given = []

    def scorer(model, X, y):
        given.append(y.dtype)
        return model.score(X, y)

    options = {"cv": KFold(3), "scoring": scorer}
    model, grid = MODELS["neighbours"]
    y = TYPES["single"]
    ours = tr.HonestSearchCV(model, grid, outer=None, **options).fit(X, y)
    assert set(given) == {np.dtype("float32")}
    theirs = GridSearchCV(model, grid, **options).fit(X, y)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("engine", ["auto", "generic"])
@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int8])
@pytest.mark.parametrize(
    "model",
    [Ridge(), DecisionTreeRegressor(random_state=0), GradientBoostingRegressor(random_state=0)],
)
def test_weights_in_their_own_type_are_those_of_a_loop(model, kind, engine):
    """In the fits as they were given, and in means of double precision."""
    weights = (1 + 4 * np.random.default_rng(3).random(N)).astype(kind)
    splits = list(KFold(3).split(X))
    found = tr.estimate_risk(model, X, NUMBERS, cv=splits, sample_weight=weights, engine=engine)
    told = np.zeros(N)
    for train, test in splits:
        fitted = clone(model).fit(X[train], NUMBERS[train], sample_weight=weights[train])
        told[test] = fitted.predict(X[test])
    expected = np.average((told - NUMBERS) ** 2, weights=weights.astype(np.float64))
    assert found.value == pytest.approx(expected, rel=1e-12)
