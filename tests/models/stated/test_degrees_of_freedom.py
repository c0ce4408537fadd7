"""Which model has degrees of freedom, and which is refused."""

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


def test_degrees_of_freedom_of_a_pipeline_are_those_of_its_last_step() -> None:
    scaled = make_pipeline(StandardScaler(), Ridge(3.0)).fit(X, Y)
    by_hand = degrees_of_freedom(scaled[-1], scaled[0].transform(X))
    assert degrees_of_freedom(scaled, X) == by_hand != degrees_of_freedom(Ridge(3.0).fit(X, Y), X)
    unseeing = make_pipeline(VarianceThreshold(), PCA(2), LinearRegression()).fit(X, Y)
    assert degrees_of_freedom(unseeing, X) == 3
    assert degrees_of_freedom(make_pipeline(LinearRegression()).fit(X, Y), X) == 5
    # A method degrees_of_freedom(X) comes before any formula, in a pipeline, too.
    labels = np.arange(20) % 2
    assert degrees_of_freedom(NearestMean().fit(X, labels), X) == 5
    assert degrees_of_freedom(make_pipeline(PCA(2), NearestMean()).fit(X, labels), X) == 3


UNION = make_union(PCA(2), SelectKBest(f_regression, k=1))
LOOKS = "looks at y before LinearRegression does"
LOGS = {"func": np.log, "inverse_func": np.exp}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (make_pipeline(SelectKBest(f_regression, k=2), LinearRegression()), LOOKS),
        (make_pipeline(UNION, LinearRegression()), LOOKS),
        (make_pipeline(TargetEncoder(target_type="continuous"), LinearRegression()), LOOKS),
        (SVR(), "no formula is known for the degrees of freedom of SVR.*10-fold"),
        (Mine(), "degrees of freedom of Mine.*10-fold"),
        (PoissonRegressor(), "degrees of freedom of PoissonRegressor.*10-fold"),
        (RidgeCV(), "RidgeCV chooses its setting within the fit.*10-fold"),
        (GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=3), "GridSearchCV chooses.*10-fold"),
        # the likelihood is not that of y, or the centring is not counted
        (TransformedTargetRegressor(Ridge(), **LOGS), "transformed y"),
        (TransformedTargetRegressor(Ridge(), transformer=FunctionTransformer()), "transformed y"),
        (
            TransformedTargetRegressor(Ridge(fit_intercept=False), transformer=StandardScaler()),
            "no intercept",
        ),
    ],
)
def test_degrees_of_freedom_refuses(model, message) -> None:
    with pytest.raises(Refusal, match=f"(?s){message}"):
        degrees_of_freedom(model.fit(X, np.abs(Y)), X)


def test_degrees_of_freedom_of_a_scaled_target() -> None:
    model, grid = lasso.build("regression", Size(20, 4, 0))
    model.set_params(regressor__alpha=grid["regressor__alpha"][3]).fit(X, Y)
    count = np.count_nonzero(model.regressor_.coef_) + 1
    assert degrees_of_freedom(model, X) == count
    plain = TransformedTargetRegressor(LinearRegression()).fit(X, Y)
    assert degrees_of_freedom(plain, X) == 5
