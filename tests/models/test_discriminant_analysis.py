"""Discriminant analyses with the divisors of R."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

from truerisk.models import LinearDiscriminant, QuadraticDiscriminant
from truerisk.models.discriminant_analysis import sklearn_lda_divides_by_n, sklearn_qda_divides_by_n

RNG = np.random.default_rng(5)
SIZES = np.array([9, 14, 8])
Y = np.repeat([0, 1, 2], SIZES)
X = RNG.normal(size=(31, 3)) @ np.diag([1, 2, 0.5]) + np.array([[0, 0, 0], [1, 0, 1], [0, 3, 0]])[Y]
MEANS = np.array([X[k == Y].mean(axis=0) for k in range(3)])
SCATTERS = [(X[k == Y] - MEANS[k]).T @ (X[k == Y] - MEANS[k]) for k in range(3)]


def posteriors(covariances, priors):
    """Bayes' rule with Gaussian densities."""
    densities = [multivariate_normal(m, c).pdf(X) for m, c in zip(MEANS, covariances, strict=True)]
    joint = np.array(densities).T * priors
    return joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("solver", "priors"),
    [("svd", None), ("svd", [0.2, 0.5, 0.3]), ("lsqr", None), ("eigen", None)],
)
@pytest.mark.parametrize(("divisor", "number"), [("n-K", 28), ("n", 31)])
def test_linear_discriminant_is_bayes_rule(priors, divisor, number, solver) -> None:
    """Posteriors are those of Gaussians with the pooled scatter over n − K, or n, by any solver."""
    found = LinearDiscriminant(solver, priors=priors, divisor=divisor).fit(X, Y).predict_proba(X)
    pooled = sum(SCATTERS) / number
    expected = posteriors([pooled] * 3, SIZES / 31 if priors is None else priors)
    assert np.allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(("divisor", "less"), [("n-1", 1), ("n", 0)])
@pytest.mark.parametrize("reg_param", [0.0, 0.3, 1.0])
def test_quadratic_discriminant_is_bayes_rule(divisor, less, reg_param) -> None:
    """Posteriors are those of Gaussians with each class's scatter over n_c − 1, or n_c."""
    found = QuadraticDiscriminant(divisor=divisor, reg_param=reg_param).fit(X, Y)
    covariances = [
        (1 - reg_param) * scatter / (size - less) + reg_param * np.eye(3)
        for scatter, size in zip(SCATTERS, SIZES, strict=True)
    ]
    assert np.allclose(found.predict_proba(X), posteriors(covariances, SIZES / 31), rtol=1e-10)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_discriminants_have_the_divisor_of_scikit_learn(solver) -> None:
    divisor = "n" if sklearn_lda_divides_by_n(solver) else "n-K"
    ours = LinearDiscriminant(solver, divisor=divisor).fit(X, Y).predict_proba(X)
    theirs = LinearDiscriminantAnalysis(solver=solver).fit(X, Y).predict_proba(X)
    assert np.allclose(ours, theirs, rtol=1e-12)
    same = QuadraticDiscriminant(divisor="n" if sklearn_qda_divides_by_n() else "n-1").fit(X, Y)
    theirs = QuadraticDiscriminantAnalysis().fit(X, Y).predict_proba(X)
    assert np.allclose(same.predict_proba(X), theirs, rtol=1e-12)


def test_linear_discriminant_of_two_classes_has_one_decision_value() -> None:
    """Of two classes too the prior's logarithm is not multiplied."""
    two = Y < 2
    model = LinearDiscriminant(priors=[0.9, 0.1]).fit(X[two], Y[two])
    pooled = (SCATTERS[0] + SCATTERS[1]) / 21
    slope = np.linalg.solve(pooled, MEANS[1] - MEANS[0])
    cut = slope @ (MEANS[0] + MEANS[1]) / 2 - np.log(0.1 / 0.9)
    assert np.allclose(model.decision_function(X), X @ slope - cut, rtol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("priors", [None, "equal"])
@pytest.mark.parametrize("solver", ["lsqr", "auto"])
@pytest.mark.parametrize("shrinkage", [0.01, 0.3, 1.0])
def test_wide_linear_discriminant_is_that_of_scikit_learn(n_classes, priors, solver, shrinkage):
    """More columns than rows: the coefficients of lsqr, without its p × p matrix."""
    rng = np.random.default_rng(0)
    y = np.r_[np.arange(25) % n_classes, np.zeros(5, dtype=int)]
    X = rng.normal(size=(30, 80)) + y[:, None] / 2 + 3
    given = None if priors is None else np.full(n_classes, 1 / n_classes)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage, priors=given).fit(X, y)
    ours = LinearDiscriminant(solver=solver, shrinkage=shrinkage, priors=given, divisor="n")
    ours.fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-9 * abs(theirs.coef_).max())
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    assert not hasattr(ours, "covariance_")
    with pytest.raises(NotImplementedError, match="transform"):
        ours.transform(X)


def test_linear_discriminant_auto_is_svd_if_nothing_is_shrunk():
    """Also for what it projects on; 50,000 columns by 50,000 columns would take 20 GB."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 80)), np.arange(30) % 3
    theirs = LinearDiscriminantAnalysis().fit(X, y)
    ours = LinearDiscriminant(
        solver="auto", divisor="n" if sklearn_lda_divides_by_n("svd") else "n-K"
    ).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_)
    assert_allclose(ours.transform(X), theirs.transform(X))
    assert (ours.solver, ours.shrinkage) == ("auto", None)
    X, y = rng.normal(size=(8, 50_000)), np.arange(8) % 2
    for shrinkage in (None, 0.1):
        model = LinearDiscriminant(solver="auto", shrinkage=shrinkage, divisor="n").fit(X, y)
        assert model.coef_.shape == (1, 50_000)
    for model, known in ((LinearDiscriminant, "'n-K' or 'n'"), (QuadraticDiscriminant, "'n-1' or")):
        with pytest.raises(ValueError, match=f"divisor='K' is unknown: it is {known}"):
            model(divisor="K").fit(X, y)
