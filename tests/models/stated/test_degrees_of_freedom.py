"""Which model has degrees of freedom, and which is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler, TargetEncoder
from sklearn.svm import SVR

from truerisk.core.errors import Refusal
from truerisk.models.builders import Size, lasso
from truerisk.models.stated.degrees_of_freedom import degrees_of_freedom
from truerisk.testing.toy_learners import NearestMean

X = np.random.default_rng(0).normal(size=(20, 4)) * [1, 2, 3, 4.0] + 5
Y = X[:, 0] + np.arange(20) / 5


class Mine(LinearRegression):
    """A subclass may fit otherwise."""


def test_a_model_may_say_it_itself() -> None:
    """A method degrees_of_freedom(X) comes before any formula, in a pipeline, too."""
    labels = np.arange(20) % 2
    assert degrees_of_freedom(NearestMean().fit(X, labels), X) == 5
    assert degrees_of_freedom(make_pipeline(PCA(2), NearestMean()).fit(X, labels), X) == 3


def test_a_pipeline_has_those_of_its_last_step() -> None:
    """On the rows as the steps before it leave them."""
    scaled = make_pipeline(StandardScaler(), Ridge(3.0)).fit(X, Y)
    by_hand = degrees_of_freedom(scaled[-1], scaled[0].transform(X))
    assert degrees_of_freedom(scaled, X) == by_hand != degrees_of_freedom(Ridge(3.0).fit(X, Y), X)
    unseeing = make_pipeline(VarianceThreshold(), PCA(2), LinearRegression()).fit(X, Y)
    assert degrees_of_freedom(unseeing, X) == 3
    assert degrees_of_freedom(make_pipeline(LinearRegression()).fit(X, Y), X) == 5


@pytest.mark.parametrize(
    "step",
    [
        SelectKBest(f_regression, k=2),
        make_union(PCA(2), SelectKBest(f_regression, k=1)),
        TargetEncoder(target_type="continuous"),
    ],
    ids=["selector", "inside a union", "encoder"],
)
def test_steps_that_look_at_y_are_refused(step) -> None:
    """What they take from the labels is not counted by the last step."""
    model = make_pipeline(step, LinearRegression()).fit(X, Y)
    with pytest.raises(Refusal, match="looks at y before LinearRegression does"):
        degrees_of_freedom(model, X)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVR(), "no formula is known for the degrees of freedom of SVR"),
        (Mine(), "degrees of freedom of Mine"),
        (PoissonRegressor(), "degrees of freedom of PoissonRegressor"),
        (RidgeCV(), "RidgeCV chooses its setting within the fit"),
        (GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=3), "GridSearchCV chooses"),
    ],
    ids=str,
)
def test_what_is_not_known_is_refused(model, message) -> None:
    """With a sentence that says what to do instead."""
    with pytest.raises(Refusal, match=message) as refused:
        degrees_of_freedom(model.fit(X, np.abs(Y)), X)
    assert "10-fold" in str(refused.value)


def test_a_target_moved_and_scaled_changes_nothing() -> None:
    """A lasso on a standardised y has its coefficients, and one intercept."""
    model, grid = lasso.build("regression", Size(20, 4, 0))
    model.set_params(regressor__alpha=grid["regressor__alpha"][3]).fit(X, Y)
    count = np.count_nonzero(model.regressor_.coef_) + 1
    assert degrees_of_freedom(model, X) == count
    plain = TransformedTargetRegressor(LinearRegression()).fit(X, Y)
    assert degrees_of_freedom(plain, X) == 5


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp), "transformed y"),
        (TransformedTargetRegressor(Ridge(), transformer=FunctionTransformer()), "transformed y"),
        (
            TransformedTargetRegressor(Ridge(fit_intercept=False), transformer=StandardScaler()),
            "no intercept",
        ),
    ],
    ids=["function", "transformer", "no intercept"],
)
def test_other_transformations_of_y_are_refused(model, message) -> None:
    """Their likelihood is not that of y, or their centring is not counted."""
    with pytest.raises(Refusal, match=message):
        degrees_of_freedom(model.fit(X, np.abs(Y)), X)
