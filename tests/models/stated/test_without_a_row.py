"""A training row taken out of a fitted model: one Newton step, exact for squared loss."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import expit
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from truerisk.extend import Refusal
from truerisk.models import LogisticPath
from truerisk.models.stated.without_a_row import (
    leave_one_out_log_odds,
    leave_one_out_predictions,
    predict_leave_one_out,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4)) + 2
NUMBERS = X @ [1.0, -1.0, 0.5, 0.0] + RNG.normal(size=30)
LABELS = np.where(X[:, 0] - X[:, 1] + RNG.normal(size=30) > 0, "yes", "no")
WEIGHTS = RNG.uniform(0.5, 2.0, 30)


@pytest.mark.parametrize(
    "model",
    [LinearRegression(), Ridge(2.0), Ridge(0.5, fit_intercept=False), RidgeClassifier(3.0)],
)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_taken_out_of_squared_loss_is_exact(model, weights):
    y = LABELS if isinstance(model, RidgeClassifier) else NUMBERS
    found = predict_leave_one_out(model.fit(X, y, sample_weight=weights), X, y, weights)
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        model.fit(X[rest], y[rest], sample_weight=None if weights is None else weights[rest])
        answer = model.decision_function if isinstance(model, RidgeClassifier) else model.predict
        assert found[i] == pytest.approx(answer(X[i : i + 1])[0], rel=1e-9)


def newton_without(model, columns, weights, curvature, i):
    """One Newton step of the objective without row i, from the fit on all rows."""
    Z = np.column_stack([np.ones(len(X)), X[:, columns]])
    scores = model.decision_function(X)
    p, second = expit(scores), model.classes_[1] == LABELS
    kept = np.arange(len(X)) != i
    bend = (weights * p * (1 - p))[kept]
    hessian = (Z[kept].T * bend) @ Z[kept] + np.diag(np.r_[0.0, curvature])
    gradient = Z[i] * weights[i] * (p[i] - second[i])  # minus that of all other rows
    return scores[i] + Z[i] @ np.linalg.solve(hessian, gradient)


@pytest.mark.parametrize("weights", [np.ones(30), WEIGHTS])
def test_taken_out_of_logistic_regression_is_one_newton_step(weights):
    model = LogisticRegression(C=0.5, tol=1e-10).fit(X, LABELS, sample_weight=weights)
    found = predict_leave_one_out(model, X, LABELS, weights)
    expected = [newton_without(model, range(4), weights, np.full(4, 2.0), i) for i in range(30)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)  # the gradient of the fit is not 0


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.0])
def test_taken_out_of_a_path_takes_the_selected_columns(l1_ratio):
    """Columns without a coefficient stay out; the ridge part is per variance of a column."""
    model = LogisticPath(l1_ratio, lambdas=[0.2, 0.05], tol=1e-16).fit(X, LABELS)
    found = predict_leave_one_out(model, X, LABELS, None)
    columns = np.flatnonzero(model.coef_[0])
    assert len(columns) < 4 or l1_ratio < 1
    curvature = 30 * 0.05 * (1 - l1_ratio) * X[:, columns].var(axis=0)
    expected = [newton_without(model, columns, np.ones(30), curvature, i) for i in range(30)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(
        predict_leave_one_out(model, csr_matrix(X), LABELS, None), found, rtol=1e-12
    )


@pytest.mark.parametrize("model", [Lasso(0.1), ElasticNet(0.1)])
def test_taken_out_of_a_lasso_is_exact_while_the_columns_stay(model):
    """Where the fit without a row selects the same columns and signs, up to the penalty's size."""
    model = model.set_params(tol=1e-12).fit(X, NUMBERS)
    found = predict_leave_one_out(model, X, NUMBERS, None)
    signs, same = np.sign(model.coef_), 0
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        # these fits divide by the number of rows: the same total penalty is a larger alpha
        other = type(model)(0.1 * 30 / 29, tol=1e-12).fit(X[rest], NUMBERS[rest])
        if np.array_equal(np.sign(other.coef_), signs):
            same += 1
            assert found[i] == pytest.approx(other.predict(X[i : i + 1])[0], rel=1e-6)
    assert same > 20


def test_squared_without_a_row_of_many_columns_and_of_none():
    """The inverse in the size of the rows says what that in the size of the columns says.

    Without columns the mean of the other rows is left.
    """
    wide = RNG.normal(size=(12, 40))
    y, scores = RNG.normal(size=12), RNG.normal(size=12)
    curvature = RNG.uniform(0.5, 2.0, 40)
    found = leave_one_out_predictions(wide, y, np.ones(12), scores, curvature)
    centred = wide - wide.mean(axis=0)
    inverse = np.linalg.inv(centred.T @ centred + np.diag(curvature))
    h = 1 / 12 + np.einsum("ij,jk,ik->i", centred, inverse, centred)
    np.testing.assert_allclose(found, scores + h * (scores - y) / (1 - h), rtol=1e-10)
    nothing, mean = np.empty((12, 0)), np.full(12, y.mean())
    found = leave_one_out_predictions(nothing, y, np.ones(12), mean, np.empty(0))
    np.testing.assert_allclose(found, (y.sum() - y) / 11)


def test_taken_out_of_equal_columns():
    """Without a penalty a direction that is not there changes nothing.

    A leverage of 1 is refused: the sentence names the row and what to do.
    """
    model = LinearRegression().fit(X, NUMBERS)
    twice = np.column_stack([X, X[:, 0], np.ones(30)])
    double = LinearRegression().fit(twice, NUMBERS)
    np.testing.assert_allclose(
        predict_leave_one_out(double, twice, NUMBERS, None),
        predict_leave_one_out(model, X, NUMBERS, None),
        rtol=1e-8,
    )
    rows = np.zeros((6, 2))
    rows[:, 0], rows[4, 1] = range(6), 1.0
    with pytest.raises(ValueError, match="row 4 alone decides a coefficient.*'loo'"):
        predict_leave_one_out(LinearRegression().fit(rows, range(6)), rows, np.arange(6.0), None)


def test_logistic_without_keeps_a_probability_of_one():
    """Scores so large that nothing bends leave every row where it was."""
    scores = np.full(30, 1e3)
    ones = np.ones(30)
    found = leave_one_out_log_odds(X, ones, ones, scores, np.full(4, 0.1))
    np.testing.assert_array_equal(found, scores)


def test_taken_out_asks_the_last_step_of_a_pipeline():
    """Over the rows as the steps before made them from all rows; a model may say it itself."""
    scaler = StandardScaler().fit(X)
    model = make_pipeline(StandardScaler(), Ridge(2.0)).fit(X, NUMBERS)
    inner = Ridge(2.0).fit(scaler.transform(X), NUMBERS)
    np.testing.assert_array_equal(
        predict_leave_one_out(model, X, NUMBERS, None),
        predict_leave_one_out(inner, scaler.transform(X), NUMBERS, None),
    )
    assert not predict_leave_one_out(Own().fit(X, NUMBERS), X, NUMBERS, None).any()


class Own(Ridge):
    """A model that knows it better."""

    def taken_out(self, X, y):
        return np.zeros(len(y))


class Other(Ridge):
    """A subclass may fit in another way."""


THREE = np.arange(30) % 3
REFUSED = {
    "unknown": (KNeighborsClassifier(), LABELS, "no formula is known.*KNeighborsClassifier"),
    "subclass": (Other(), NUMBERS, "fitted Other"),
    "three classes": (LogisticRegression(), THREE, "stated for two classes.*fitted on 3"),
    "three in a path": (LogisticPath(), THREE, "stated for two classes"),
    "class weights": (LogisticRegression(class_weight="balanced"), LABELS, "class_weight"),
    "liblinear": (LogisticRegression(solver="liblinear"), LABELS, "liblinear"),
    "weighted classes": (RidgeClassifier(class_weight="balanced"), LABELS, "class_weight"),
    "positive": (Ridge(positive=True), NUMBERS, r"positive=True"),
    "targets": (Ridge(), np.column_stack([NUMBERS, NUMBERS]), "several targets"),
    "penalties": (
        Ridge(np.array([1.0, 2.0])),
        np.column_stack([NUMBERS, NUMBERS]),
        "several targets",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_taken_out_refuses(what):
    model, y, words = REFUSED[what]
    with pytest.raises(Refusal, match=words):
        predict_leave_one_out(model.fit(X, y), X, y, None)
