"""A learner of other people is fitted on y as it was given: single precision, or a column."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr

N = 30
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
        assert np.isfinite(tr.estimate_risk(model, X, COLUMN, method="3-fold").value)
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
    assert np.isfinite(tr.estimate_risk(model, X, y, method="3-fold").value)


class Both(Network):
    """Of two targets."""

    def predict(self, X):
        return np.repeat(X @ self.weights_, 2, axis=1)

    def fit(self, X, y):
        assert y.dtype == self.kind
        return Network().fit(X, y[:, :1]) and super().fit(X, y[:, :1])


@pytest.mark.parametrize("model", [Ridge(), KNeighborsRegressor(3)])
def test_scikit_learns_own_take_numbers(model):
    """They are given what every engine computes with, and of a column is warned as they do."""
    with pytest.warns(DataConversionWarning, match="its one column is used"):
        found = tr.estimate_risk(model, X, COLUMN, method="3-fold")
    exact = tr.estimate_risk(model, X, NUMBERS.astype(float), method="3-fold", engine="generic")
    assert found.value == pytest.approx(exact.value, rel=1e-12)
