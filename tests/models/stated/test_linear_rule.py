"""The linear rule of a fitted model answers as the model does."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

import truerisk as tr
from truerisk.extend import Refusal
from truerisk.models.stated.linear_rule import linear_rule
from truerisk.testing.toy_learners import NearestMean

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
TWO = (X @ [1, 2, 0] + RNG.normal(size=60) > 0.3).astype(int)
THREE = np.where(X[:, 2] > 0.7, 2, TWO)
MODELS = [
    LogisticRegression(),
    LogisticRegression(fit_intercept=False),
    RidgeClassifier(),
    RidgeClassifier(fit_intercept=False),
    SGDClassifier(random_state=0),
    Perceptron(random_state=0),
    LinearSVC(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3),
    tr.models.FisherClassifier(),
    tr.models.LinearDiscriminant(),
    NearestMean(rest=0.5),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(PolynomialFeatures(), RidgeClassifier()),
    make_pipeline(LogisticRegression()),
    make_pipeline(StandardScaler(), make_pipeline(PolynomialFeatures(), RidgeClassifier())),
    GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 1.0]}),
]


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_linear_rule_predicts_as_the_model(model, y):
    """One score for two classes, positive for the second; else the largest of one per class."""
    fitted = model.fit(X, y)
    rule = linear_rule(fitted, X, np.unique(y))
    rows = X if rule.rows is None else rule.rows
    scores = rows @ rule.coefficients[0].T + rule.intercepts[0]
    codes = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
    np.testing.assert_array_equal(fitted.predict(X), codes.astype(int))
    assert not rule.pairs or len(rule.codes) == 2


@pytest.mark.parametrize("kind", [SVC, NuSVC])
@pytest.mark.parametrize("sparse", [False, True])
def test_linear_rule_of_machines_votes_by_pairs(kind, sparse):
    """One score per pair of classes, positive for the second; their votes are the predictions."""
    rows = csr_matrix(X) if sparse else X
    for y in (TWO, THREE):
        fitted = kind(kernel="linear").fit(rows, y)
        rule = linear_rule(fitted, rows, np.unique(y))
        assert rule.pairs
        votes = np.zeros((60, len(rule.codes)))
        for k, m in rule.class_pairs():
            slopes, starts = rule.between(k, m)
            second = X @ slopes[0] + starts[0] > 0
            votes[:, m] += second
            votes[:, k] += ~second
        untied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
        np.testing.assert_array_equal(fitted.predict(rows)[untied], votes.argmax(axis=1)[untied])


def test_linear_rule_of_other_fits():
    some = THREE != 1
    fitted = RidgeClassifier().fit(X[some], THREE[some])
    rule = linear_rule(fitted, X[some], np.unique(THREE))
    assert rule.codes == (0, 2)
    assert rule.between(0, 2)[0].shape == (1, 3)
    path = tr.models.LogisticPath(n_lambdas=10, at=4).fit(X, TWO)
    rule = linear_rule(path, X, np.unique(TWO))
    np.testing.assert_array_equal(rule.coefficients[0, 0], path.coef_path_[4])
    rule = linear_rule(LinearRegression().fit(X, X[:, 0]), X, None)
    assert rule.coefficients[0, 0] == pytest.approx([1, 0, 0], abs=1e-12)
    assert rule.codes == ()


class Bent(LogisticRegression):
    """May answer otherwise than its coefficients."""


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (SVC(), "kernel='rbf' is no linear rule"),
        (Bent(), "Bent is not known to be a linear rule"),
        (tr.models.ParzenClassifier(), "ParzenClassifier is not known"),
    ],
    ids=str,
)
def test_linear_rule_refuses_others(model, why):
    """Kernels, subclasses and models without coefficients; the sentence names a way out."""
    with pytest.raises(Refusal, match=why) as caught:
        linear_rule(model.fit(X, TWO), X, np.unique(TWO))
    assert "10-fold" in str(caught.value)
