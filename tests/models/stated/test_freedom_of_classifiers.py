"""Degrees of freedom of classifiers with a likelihood."""

import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from truerisk.models import LogisticPath
from truerisk.models.stated.degrees_of_freedom import degrees_of_freedom

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) * [1.0, 2.0, 0.5] + 1
TWO = (X[:, 0] + RNG.normal(size=40) > 1).astype(int)
THREE = np.digitize(X[:, 0] + RNG.normal(size=40), [0.3, 1.5])
SHARP = {"tol": 1e-12, "max_iter": 20_000}


@pytest.mark.parametrize("weights", [None, RNG.uniform(0.5, 2.0, 40)], ids=["plain", "weighted"])
def test_degrees_of_freedom_of_a_ridge_penalty_are_the_trace(weights) -> None:
    """Moving a label moves its own fitted probability; the moves add up to the formula."""
    w = np.ones(40) if weights is None else weights
    C = 0.3
    model = LogisticRegression(C=C, solver="newton-cholesky", **SHARP)
    total = 0.0
    both, twice = np.vstack([X, X]), np.repeat([0, 1], 40)
    y = 0.5 + 0.8 * (TWO - 0.5)
    step = 1e-4
    for i in range(40):
        ends = []
        for sign in (1, -1):
            moved = y.copy()
            moved[i] += sign * step
            model.fit(both, twice, sample_weight=np.concatenate([w * (1 - moved), w * moved]))
            ends.append(model.predict_proba(X)[i, 1])
        total += (ends[0] - ends[1]) / (2 * step)
    model.fit(both, twice, sample_weight=np.concatenate([w * (1 - y), w * y]))
    found = degrees_of_freedom(model, both, np.concatenate([w * (1 - y), w * y]))
    assert found == pytest.approx(total, abs=1e-6)
    assert 1 < found < 4


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_degrees_of_freedom_of_weak_and_strong_penalties(labels) -> None:
    """(K − 1)(p + 1) without a penalty and in its limit; K − 1 at the other end."""
    n_free = len(np.unique(labels)) - 1

    def found(C):
        return degrees_of_freedom(LogisticRegression(C=C, **SHARP).fit(X, labels), X)

    plain = LogisticRegression(C=np.inf, **SHARP).fit(X, labels)
    assert degrees_of_freedom(plain, X) == 4 * n_free
    assert found(1e8) == pytest.approx(4 * n_free, abs=1e-4)
    assert found(1e-8) == pytest.approx(n_free, abs=1e-4)
    assert n_free < found(0.1) < 4 * n_free
    # liblinear shrinks its intercept, too
    model = LogisticRegression(C=1e-8, solver="liblinear").fit(X, TWO)
    assert degrees_of_freedom(model, X) == pytest.approx(0, abs=1e-4)


def test_degrees_of_freedom_of_a_lasso_penalty_count_what_is_not_zero() -> None:
    options = {"solver": "saga", "tol": 1e-8, "max_iter": 50_000, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # penalty= is deprecated from scikit-learn 1.8 on
        try:
            lasso = LogisticRegression(C=0.15, l1_ratio=1.0, **options).fit(X, TWO)
            assert (lasso.coef_ == 0).any()
            net = LogisticRegression(C=0.15, l1_ratio=0.5, **options).fit(X, TWO)
        except (AssertionError, ValueError):  # before 1.8 the word decides
            lasso = LogisticRegression(penalty="l1", C=0.15, **options).fit(X, TWO)
            net = LogisticRegression(penalty="elasticnet", C=0.15, l1_ratio=0.5, **options)
            net.fit(X, TWO)
    count = np.count_nonzero(lasso.coef_) + 1
    assert degrees_of_freedom(lasso, X) == count < 4
    assert 1 < degrees_of_freedom(net, X) < np.count_nonzero(net.coef_) + 1


@pytest.mark.parametrize(
    ("model", "per_class"),
    [
        (LinearDiscriminantAnalysis(), 1 + 3),
        (QuadraticDiscriminantAnalysis(), 1 + 3 + 6),
        (GaussianNB(), 1 + 6),
    ],
    ids=str,
)
def test_degrees_of_freedom_of_discriminants(model, per_class) -> None:
    """Of K − 1 functions; a constant column and a copy add none to the linear one."""
    assert degrees_of_freedom(model.fit(X, THREE), X) == 2 * per_class
    if isinstance(model, LinearDiscriminantAnalysis):
        wide = np.column_stack([X, X[:, 0]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # collinear
            assert degrees_of_freedom(model.fit(wide, THREE), wide) == 8


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_degrees_of_freedom_of_a_path_are_those_of_its_place(labels):
    """LogisticPath with C = 1/(n λ) is LogisticRegression; the lasso counts what is not 0."""
    at = 0.05
    ridge = LogisticPath(l1_ratio=0.0, at=at, standardize=False).fit(X, labels)
    same = LogisticRegression(C=1 / (len(X) * at), tol=1e-10, max_iter=10_000).fit(X, labels)
    assert degrees_of_freedom(ridge, X) == pytest.approx(degrees_of_freedom(same, X), rel=1e-5)
    scaled = LogisticPath(l1_ratio=0.0, at=at).fit(X, labels)
    alike = LogisticPath(l1_ratio=0.0, at=at, standardize=False).fit(X / X.std(axis=0), labels)
    expected = degrees_of_freedom(alike, X / X.std(axis=0))
    assert degrees_of_freedom(scaled, X) == pytest.approx(expected, rel=1e-6)
    lasso = LogisticPath(at=at).fit(X, labels)
    count = np.count_nonzero(lasso.coef_) + len(lasso.classes_) - 1
    assert degrees_of_freedom(lasso, X) == count
    net = LogisticPath(l1_ratio=0.5, at=at).fit(X, labels)
    held = np.count_nonzero(net.coef_) + len(net.classes_) - 1
    assert 1 < degrees_of_freedom(net, X) < held
