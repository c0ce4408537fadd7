"""What the least-squares engine does not serve it refuses, with a reason."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.engines.closed_forms import family_of
from tests.engines.linear.test_least_squares import ENGINE

import truerisk as tr
from truerisk.contracts import Request, Streams
from truerisk.core.errors import FitFailed, Refusal
from truerisk.data.data import Data
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (LinearRegression(positive=True), "no closed form"),
        (Ridge(positive=True), "no closed form"),
        (Ridge(solver="lsqr"), "stops near the solution"),
        (Ridge(solver="saga"), "stops near the solution"),
        (Ridge(alpha=[1.0, 2.0]), "one penalty per target"),
        (Ridge(alpha=-1.0), "is no penalty"),
        (Ridge(alpha=np.nan), "is no penalty"),
        (Ridge(fit_intercept="yes"), "nothing that scikit-learn allows"),
        (Ridge(max_iter=0), "nothing that scikit-learn allows"),
        (RidgeCV(), "not LinearRegression or Ridge"),
    ],
)
def test_what_it_does_not_serve_it_refuses(model, why):
    """Each refusal is a sentence with its reason."""
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    data = Data.check(X, y, task="regression")
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    assert why in ENGINE.refuse(family_of(model), data, plan, Request("value"))


def test_no_columns_are_left_to_the_learner():
    """A table, or a step's output, without columns: scikit-learn says what is missing."""
    X, y = np.arange(16.0).reshape(8, 2), np.arange(8.0)
    nothing = make_pipeline(FunctionTransformer(lambda X: X[:, :0]), Ridge())
    for model, table in ((Ridge(), X[:, :0]), (nothing, X)):
        with pytest.raises(FitFailed, match=r"0 feature\(s\)"):
            tr.estimate_risk(model, table, y, cv="4-fold")


@pytest.mark.parametrize(
    ("grid", "why"),
    [
        ({"alpha": [1.0, -1.0]}, "alpha=-1.0 is no penalty"),
        ({"alpha": [1.0, 2.0], "solver": ["svd", "lsqr"]}, "solver='lsqr' stops near"),
    ],
)
def test_every_setting_is_looked_at(grid, why):
    """One setting that is not served is enough, wherever it differs from the first."""
    data = Data.check(np.arange(12.0).reshape(6, 2), np.arange(6.0), task="regression")
    plan = tr.methods.KFold(2).plan(data, Streams(0))
    assert why in ENGINE.refuse(family_of(Ridge(), grid), data, plan, Request("value"))


def test_weights_below_zero_and_probabilities_are_refused():
    """scikit-learn knows neither; the generic engine says so in its words."""
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    plan = PlanBuilder(6)
    plan.ask((ALL, ()), (ALL, ()))
    weights = {"sample_weight": np.array([1.0, -1, 1, 1, 1, 1])}
    data = Data.check(X, y.astype(float), task="regression", fit_params=weights)
    found = ENGINE.refuse(family_of(Ridge()), data, plan.build(), Request("value"))
    assert "negative" in found
    data = Data.check(X, y, task="classification")
    found = ENGINE.refuse(family_of(RidgeClassifier()), data, plan.build(), Request("probability"))
    assert "no probabilities" in found
    with pytest.raises(Refusal):
        tr.estimate_risk(RidgeClassifier(), X, y, cv="loo", scoring="log", engine="least-squares")
