"""What is stated of a fitted model is stated of its class: a look-alike is refused, or exact."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.test_lookalikes import (
    CLASSIFIERS,
    LEARNERS,
    LOOK_ALIKE,
    NUMBERS,
    REGRESSORS,
    X,
    Y,
    contrary,
    taught_otherwise,
)

import truerisk as tr
from truerisk.extend import Refusal
from truerisk.models.stated.degrees_of_freedom import degrees_of_freedom
from truerisk.models.stated.linear_rule import linear_rule
from truerisk.models.stated.question import count_supporting_rows
from truerisk.models.stated.without_a_row import predict_leave_one_out

CLASSES, WORDS = np.array([0, 1]), {True: ("aic", "gcv", "cp", "alo"), False: ("aic", "bic", "alo")}


class Contrary(Pipeline):
    """A pipeline that answers the contrary of its last step."""

    def predict(self, X, **params):
        return 1 - super().predict(X, **params)


class Searched(GridSearchCV):
    """A search that answers the contrary of its best."""

    def predict(self, X):
        return 1 - super().predict(X)


def stated(model, y):
    """What each function says of a fitted model, or that it refuses."""
    found = []
    for say in (
        lambda: degrees_of_freedom(model, X),
        lambda: linear_rule(model, X, CLASSES if len(np.unique(y)) == 2 else None),
        lambda: predict_leave_one_out(model, X, y, None),
    ):
        try:
            found.append(say())
        except Refusal:
            found.append(None)
    return found


@pytest.mark.parametrize("change", [contrary, taught_otherwise])
@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "interval"])
def test_stated_of_a_look_alike_is_nothing(name, change):
    """Degrees of freedom, coefficients and scores without a row are refused of a subclass."""
    y = NUMBERS if name in REGRESSORS else Y
    model = change(LEARNERS[name]).fit(X, y)
    assert stated(model, y) == [None, None, None]
    assert (
        stated(make_pipeline(StandardScaler(), change(LEARNERS[name])).fit(X, y), y) == [None] * 3
    )
    assert stated(Contrary([("last", LEARNERS[name])]).fit(X, y), y) == [None, None, None]
    if name in CLASSIFIERS:
        assert (count_supporting_rows(model, X[:3], len(X)) == len(X)).all()
        assert stated(Searched(LEARNERS[name], {}, cv=2).fit(X, y), y) == [None, None, None]


@pytest.mark.parametrize("change", [contrary, taught_otherwise])
@pytest.mark.parametrize("name", ["least-squares", "logistic-path", "logistic-path, ours"])
@pytest.mark.parametrize("word", ["bolstered", "bee"])
def test_methods_refuse_a_look_alike_or_ask_it(name, change, word):
    """The word of a method refuses a subclass, or asks the model itself around its rows."""
    try:
        found = tr.estimate_risk(change(LEARNERS[name]), X, Y, cv=word)
    except Refusal:
        assert word == "bee"
    else:
        assert found.method.startswith("bolstered")
        assert (found.value > 0.5) == (change is contrary)


@pytest.mark.parametrize("name", ["least-squares, numbers", "kernel-ridge", "knn", "logistic-path"])
def test_criteria_refuse_a_look_alike(name):
    for word in WORDS[name in REGRESSORS]:
        with pytest.raises(Refusal, match="no formula is known"):
            tr.estimate_risk(
                contrary(LEARNERS[name]), X, NUMBERS if name in REGRESSORS else Y, cv=word
            )


class Told(TransformerMixin, BaseEstimator):
    """It looks at y, and none of its tags says so."""

    def fit(self, X, y=None):
        self.along_ = np.ones(np.shape(X)[1]) if y is None else (y - np.mean(y)) @ X
        return self

    def transform(self, X):
        return np.asarray(X) * self.along_


class Chosen(VarianceThreshold):
    """It chooses by y."""

    def fit(self, X, y):
        return super().fit(np.asarray(X) * (np.abs(np.corrcoef(X.T, y)[-1, :-1]) > 0.3))


class Shifted(TransformedTargetRegressor):
    """It answers otherwise."""

    def predict(self, X, **params):
        return super().predict(X, **params) + 1


@pytest.mark.parametrize("look_alike", LOOK_ALIKE)
def test_degrees_of_freedom_sees_a_step_that_looks_at_y(look_alike):
    """One that does without y is served; one that uses it is refused, whatever its tags say."""
    blind = make_pipeline(look_alike(StandardScaler()), LinearRegression()).fit(X, NUMBERS)
    assert degrees_of_freedom(blind, X) == 3
    for step in (Told(), Chosen()):
        with pytest.raises(Refusal, match=f"{type(step).__name__} looks at y before"):
            degrees_of_freedom(make_pipeline(step, LinearRegression()).fit(X, NUMBERS), X)
    assert degrees_of_freedom(TransformedTargetRegressor().fit(X, NUMBERS), X) == 3
    with pytest.raises(Refusal, match="no formula is known"):
        degrees_of_freedom(Shifted().fit(X, NUMBERS), X)
