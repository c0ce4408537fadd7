"""Fits and scorers are given y in its own type; learners of other people a column, too."""

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
X = np.random.default_rng(0).normal(size=(N, 3)).astype(np.float32)
NUMBERS = (X[:, 0] + np.random.default_rng(1).normal(size=N)).astype(np.float32)
COLUMN = NUMBERS[:, None]


class Network(RegressorMixin, BaseEstimator):
    """As a network of skorch: y in single precision and a column, answers a column."""

    def __init__(self, rate=0.1, kind="float32", shape=(1,)):
        self.rate, self.kind, self.shape = rate, kind, shape

    def fit(self, X, y):
        if y.dtype != self.kind or y.shape[1:] != self.shape:
            raise ValueError(f"expected {self.kind}, {self.shape}, found {y.dtype}, {y.shape}")
        self.weights_ = np.zeros((3, *self.shape))
        for _ in range(20):
            self.weights_ -= self.rate * X.T @ (X @ self.weights_ - y) / len(X)
        return self

    def predict(self, X):
        return X @ self.weights_


RATES = {"rate": [0.1, 0.2]}


@pytest.mark.parametrize(
    "model",
    [Network(), make_pipeline(StandardScaler(), Network()), GridSearchCV(Network(), RATES, cv=3)],
    ids=["alone", "pipeline", "search"],
)
def test_column_of_targets_reaches_a_network(model):
    """In every fit, without a word about it; the refit of a search, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(tr.estimate_risk(model, X, COLUMN, cv="3-fold").value)
        search = tr.HonestSearchCV(model, {}, cv=3).fit(X, COLUMN)
    assert np.isfinite(search.risk_.value)
    assert search.predict(X).shape == (N, 1)


@pytest.mark.parametrize("model", [Ridge(), KNeighborsRegressor(3)])
def test_column_of_targets_is_a_row_of_numbers_for_learners_of_scikit_learn(model):
    """Of the column is warned as they do."""
    with pytest.warns(DataConversionWarning, match="its one column is used"):
        found = tr.estimate_risk(model, X, COLUMN, cv="3-fold")
    exact = tr.estimate_risk(model, X, NUMBERS, cv="3-fold", engine="generic")
    assert found.value == pytest.approx(exact.value, rel=1e-12)


@pytest.mark.parametrize(
    ("y", "kind", "shape"),
    [
        (NUMBERS, "float32", ()),
        (NUMBERS.astype(float), "float64", ()),
        (np.arange(N), "int64", ()),
        (np.c_[NUMBERS, NUMBERS], "float32", (2,)),
        ([float(v) for v in NUMBERS], "float64", ()),
    ],
    ids=["single", "double", "whole", "two", "list"],
)
def test_targets_have_the_type_that_was_given(y, kind, shape):
    """Whatever a scorer or a loss computes with."""
    model = Network(kind=kind, shape=shape)
    assert np.isfinite(tr.estimate_risk(model, X, y, cv="3-fold").value)


FAR = 1000 + np.random.default_rng(2).normal(size=N)
TYPES = {
    "single": FAR.astype(np.float32),
    "half": FAR.astype(np.float16),
    "whole": np.rint(FAR).astype(np.int16),
    "two": np.c_[FAR, -FAR].astype(np.float32),
    "series": pd.Series(FAR.astype(np.float32)),
    "nullable": pd.Series(FAR.astype(np.float32), dtype="Float32"),
    "polars": pl.Series(FAR.astype(np.float32)),
}
NEIGHBOURS, SIZES = KNeighborsRegressor(3), {"n_estimators": [2, 5]}
CHOSEN = make_pipeline(SelectKBest(f_regression, k=2), Ridge())
MODELS = {
    "neighbours": (KNeighborsRegressor(), {"n_neighbors": [1, 3]}),
    "radius": (RadiusNeighborsRegressor(), {"radius": [4.0, 6.0]}),
    "ridge": (Ridge(), {"alpha": [0.1, 1.0]}),
    "vectors": (SVR(), {"C": [1.0, 10.0]}),
    "kernel": (KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0]}),
    "tree": (DecisionTreeRegressor(random_state=0), {"ccp_alpha": [0.0, 0.1]}),
    "boosting": (GradientBoostingRegressor(random_state=0), SIZES),
    "bagging": (BaggingRegressor(Ridge(), random_state=0), SIZES),
    "bags of neighbours": (BaggingRegressor(NEIGHBOURS, random_state=0), SIZES),
    "chosen columns": (CHOSEN, {"ridge__alpha": [0.1, 1.0]}),
}
ONE_TARGET = {"vectors", "boosting", "bagging", "bags of neighbours", "chosen columns"}


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # of scikit-learn
@pytest.mark.filterwarnings("ignore:Calling linalg.solve with arguments of dtype=float16")  # too
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("learner", MODELS)
def test_targets_are_seen_as_they_are_by_every_engine(learner, kind):
    """Plain loops of clones; y near 1,000, where single precision is coarse."""
    y, (model, grid) = TYPES[kind], MODELS[learner]
    if kind == "two" and learner in ONE_TARGET:
        return
    splits = KFold(3)
    for table in (X, X.astype(float)):
        curve = tr.risk_curve(model, grid, table, y, cv=tr.methods.Splitter(splits))
        answers = curve.evaluation.answers
        for place, setting in enumerate(curve.candidates):
            one = clone(model).set_params(**setting)
            theirs = cross_val_predict(one, table, y, cv=splits).astype(float)
            for question, said in enumerate(answers):
                rows, _ = answers.plan.test_rows(question)
                np.testing.assert_allclose(said[place], theirs[rows], rtol=1e-12)


def test_targets_as_given_have_the_scores_of_grid_search():
    """To the last digits, whatever a scorer computes in; it is given them, too."""
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
    given = {"cv": 3, "scoring": "r2"}
    ours = tr.HonestSearchCV(Network(), RATES, outer=None, **given).fit(X, COLUMN)
    theirs = GridSearchCV(Network(), RATES, **given).fit(X, COLUMN)
    name = "mean_test_score"
    assert ours.cv_results_[name] == pytest.approx(theirs.cv_results_[name], abs=1e-6)


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
