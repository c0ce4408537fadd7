"""Discriminant analyses with the divisors of R."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from tests.support.estimator_checks import estimator_checks

from truerisk.models import LinearDiscriminant, QuadraticDiscriminant
from truerisk.models.discriminant_analysis import divides_by_n, pools_by_n

RNG = np.random.default_rng(5)
SIZES = np.array([9, 14, 8])
Y = np.repeat([0, 1, 2], SIZES)
X = RNG.normal(size=(31, 3)) @ np.diag([1, 2, 0.5]) + np.array([[0, 0, 0], [1, 0, 1], [0, 3, 0]])[Y]
MEANS = np.array([X[k == Y].mean(axis=0) for k in range(3)])
CHECKED = LinearDiscriminant(), QuadraticDiscriminant(reg_param=0.1)
SCATTERS = [(X[k == Y] - MEANS[k]).T @ (X[k == Y] - MEANS[k]) for k in range(3)]


# up to scikit-learn 1.7 its quadratic analysis warns of classes with few rows, which a check draws
@pytest.mark.filterwarnings("ignore:The covariance matrix of class:scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize(("estimator", "check"), list(estimator_checks(*CHECKED)))
def test_they_keep_the_contract_of_scikit_learn(estimator, check) -> None:
    """All of scikit-learn's estimator checks pass, as for the classes they extend."""
    check(estimator)


def posteriors(covariances, priors):
    """Bayes' rule with Gaussian densities."""
    densities = [multivariate_normal(m, c).pdf(X) for m, c in zip(MEANS, covariances, strict=True)]
    joint = np.array(densities).T * priors
    return joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("priors", [None, [0.2, 0.5, 0.3]])
@pytest.mark.parametrize(("divisor", "number"), [("n-K", 28), ("n", 31)])
def test_linear_is_bayes_rule_with_this_divisor(priors, divisor, number) -> None:
    """Posteriors are those of Gaussians with the pooled scatter over n − K, or n."""
    found = LinearDiscriminant(priors=priors, divisor=divisor).fit(X, Y).predict_proba(X)
    pooled = sum(SCATTERS) / number
    expected = posteriors([pooled] * 3, SIZES / 31 if priors is None else priors)
    assert np.allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(("divisor", "less"), [("n-1", 1), ("n", 0)])
@pytest.mark.parametrize("reg_param", [0.0, 0.3, 1.0])
def test_quadratic_is_bayes_rule_with_this_divisor(divisor, less, reg_param) -> None:
    """Posteriors are those of Gaussians with each class's scatter over n_c − 1, or n_c."""
    found = QuadraticDiscriminant(divisor=divisor, reg_param=reg_param).fit(X, Y)
    covariances = [
        (1 - reg_param) * scatter / (size - less) + reg_param * np.eye(3)
        for scatter, size in zip(SCATTERS, SIZES, strict=True)
    ]
    assert np.allclose(found.predict_proba(X), posteriors(covariances, SIZES / 31), rtol=1e-10)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_one_of_the_divisors_is_that_of_scikit_learn(solver) -> None:
    """Which one, differs between releases and solvers."""
    divisor = "n" if pools_by_n(solver) else "n-K"
    ours = LinearDiscriminant(solver, divisor=divisor).fit(X, Y).predict_proba(X)
    theirs = LinearDiscriminantAnalysis(solver=solver).fit(X, Y).predict_proba(X)
    assert np.allclose(ours, theirs, rtol=1e-12)
    same = QuadraticDiscriminant(divisor="n" if divides_by_n() else "n-1").fit(X, Y)
    theirs = QuadraticDiscriminantAnalysis().fit(X, Y).predict_proba(X)
    assert np.allclose(same.predict_proba(X), theirs, rtol=1e-12)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize(("divisor", "number"), [("n-K", 28), ("n", 31)])
def test_the_solver_does_not_matter(solver, divisor, number) -> None:
    """By every solver, in any release, the pooled scatter is divided by what is asked."""
    found = LinearDiscriminant(solver, divisor=divisor).fit(X, Y).predict_proba(X)
    assert np.allclose(found, posteriors([sum(SCATTERS) / number] * 3, SIZES / 31), rtol=1e-9)


def test_two_classes_have_one_decision_value() -> None:
    """Of two classes too the prior's logarithm is not multiplied."""
    two = Y < 2
    model = LinearDiscriminant(priors=[0.9, 0.1]).fit(X[two], Y[two])
    pooled = (SCATTERS[0] + SCATTERS[1]) / 21
    slope = np.linalg.solve(pooled, MEANS[1] - MEANS[0])
    cut = slope @ (MEANS[0] + MEANS[1]) / 2 - np.log(0.1 / 0.9)
    assert np.allclose(model.decision_function(X), X @ slope - cut, rtol=1e-10)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearDiscriminant(divisor="n-1"), "divisor='n-1' is unknown: it is 'n-K' or 'n'"),
        (QuadraticDiscriminant(divisor="n-K"), "divisor='n-K' is unknown: it is 'n-1' or 'n'"),
    ],
)
def test_an_unknown_divisor_is_named(model, message) -> None:
    """The linear one pools, the quadratic one does not."""
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("priors", [None, "equal"])
@pytest.mark.parametrize("solver", ["lsqr", "auto"])
@pytest.mark.parametrize("shrinkage", [0.01, 0.3, 1.0])
def test_wide_shrunk_discriminant_is_that_of_scikit_learn(n_classes, priors, solver, shrinkage):
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


def test_solver_auto_is_svd_if_nothing_is_shrunk():
    """Also for what it projects on, and the parameters stay as they were given."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 80)), np.arange(30) % 3
    theirs = LinearDiscriminantAnalysis().fit(X, y)
    ours = LinearDiscriminant(solver="auto", divisor="n" if pools_by_n("svd") else "n-K").fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_)
    assert_allclose(ours.transform(X), theirs.transform(X))
    assert (ours.solver, ours.shrinkage) == ("auto", None)


def test_wide_discriminant_makes_no_matrix_of_columns():
    """50,000 columns by 50,000 columns would take 20 GB."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 50_000)), np.arange(8) % 2
    for shrinkage in (None, 0.1):
        model = LinearDiscriminant(solver="auto", shrinkage=shrinkage, divisor="n").fit(X, y)
        assert model.coef_.shape == (1, 50_000)
