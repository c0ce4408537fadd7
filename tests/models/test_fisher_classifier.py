"""FisherClassifier: least squares on the codes −1 and +1 of the classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.support.estimator_checks import estimator_checks

from truerisk.models import FisherClassifier

RNG = np.random.default_rng(2)
Y = np.repeat([0, 1, 2], [12, 20, 9])
X = RNG.normal(size=(41, 3)) + np.array([[0, 0, 0], [2, 0, 1], [0, 3, 0]])[Y]
TWO = Y < 2
CHECKED = FisherClassifier("balanced")


@pytest.mark.parametrize(("estimator", "check"), list(estimator_checks(CHECKED)))
def test_it_keeps_the_contract_of_scikit_learn(estimator, check) -> None:
    """All of scikit-learn's estimator checks pass."""
    check(estimator)


def test_it_solves_the_normal_equations() -> None:
    """Residuals of every class's code are orthogonal to the columns and to the constant."""
    model = FisherClassifier().fit(X, Y)
    residuals = np.where(Y[:, None] == [0, 1, 2], 1, -1) - model.decision_function(X)
    assert np.abs(np.c_[np.ones(41), X].T @ residuals).max() < 1e-11


def test_two_classes_are_one_regression() -> None:
    """The value is that of the second class's code, and the first class's is its negative."""
    model = FisherClassifier().fit(X[TWO], Y[TWO])
    coef = np.linalg.lstsq(np.c_[np.ones(32), X[TWO]], 2.0 * Y[TWO] - 1, rcond=None)[0]
    assert np.allclose(np.r_[model.intercept_, model.coef_[0]], coef, rtol=1e-12)
    assert model.decision_function(X).shape == (41,)


@pytest.mark.parametrize("threshold", ["least-squares", "balanced"])
def test_its_direction_is_that_of_lda(threshold) -> None:
    """Of two classes: coefficients are LDA's up to a positive factor."""
    ours = FisherClassifier(threshold).fit(X[TWO], Y[TWO]).coef_[0]
    lda = LinearDiscriminantAnalysis().fit(X[TWO], Y[TWO]).coef_[0]
    assert np.allclose(ours / np.linalg.norm(ours), lda / np.linalg.norm(lda), atol=1e-12)


def test_the_balanced_boundary_is_midway() -> None:
    """Projected class means lie at opposite values, as in LDA with equal priors."""
    model = FisherClassifier("balanced").fit(X[TWO], Y[TWO])
    means = [X[k == Y].mean(axis=0) for k in (0, 1)]
    assert model.decision_function(means).sum() == pytest.approx(0, abs=1e-12)
    lda = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X[TWO], Y[TWO])
    ratio = model.decision_function(X) / lda.decision_function(X)
    assert np.allclose(ratio, ratio[0], rtol=1e-9)


def test_equal_classes_make_all_thresholds_agree() -> None:
    """With as many rows in each class least squares, balanced and LDA have one boundary."""
    even = np.r_[np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:12]]
    models = [FisherClassifier(), FisherClassifier("balanced"), LinearDiscriminantAnalysis()]
    values = [m.fit(X[even], Y[even]).decision_function(X) for m in models]
    assert np.allclose(values[0], values[1], atol=1e-12)
    assert np.allclose(values[0] / values[2], values[0][0] / values[2][0], rtol=1e-9)


def test_the_larger_class_gets_more_room() -> None:
    """The least-squares boundary lies nearer to the mean of the smaller class."""
    x, y = np.r_[np.arange(9.0), 20.0][:, None], np.r_[np.zeros(9), 1]
    cuts = [
        float(-m.intercept_[0] / m.coef_[0, 0])
        for m in (FisherClassifier(t).fit(x, y) for t in ("least-squares", "balanced"))
    ]
    assert cuts[1] == pytest.approx(12.0)
    assert cuts[0] > cuts[1]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=41, max_size=41), st.booleans())
def test_weights_are_copies(weights, balanced) -> None:
    """A row of weight w counts as w copies, a row of weight 0 as none."""
    times = np.array(weights)
    if len(np.unique(Y[times > 0])) < 3:
        return
    threshold = "balanced" if balanced else "least-squares"
    weighted = FisherClassifier(threshold).fit(X, Y, sample_weight=times)
    copied = FisherClassifier(threshold).fit(np.repeat(X, times, axis=0), np.repeat(Y, times))
    assert np.allclose(weighted.coef_, copied.coef_, rtol=1e-8, atol=1e-10)
    assert np.allclose(weighted.intercept_, copied.intercept_, rtol=1e-8, atol=1e-10)


def test_collinear_columns_share() -> None:
    """Of many solutions the one of least norm: a column given twice gets half twice."""
    once, twice = FisherClassifier().fit(X, Y), FisherClassifier().fit(np.c_[X, X[:, :1]], Y)
    assert np.allclose(twice.coef_[:, 0], once.coef_[:, 0] / 2)
    assert np.allclose(twice.coef_[:, 3], once.coef_[:, 0] / 2)


@pytest.mark.parametrize(
    ("model", "y", "weights", "message"),
    [
        (FisherClassifier("middle"), [0, 1, 1], None, "threshold='middle' is unknown"),
        (FisherClassifier(), [1, 1, 1], None, "y holds one class only"),
        (FisherClassifier(), [0, 1, 1], [1, 1], "sample_weight.shape"),
        (FisherClassifier(), [0, 1, 1], [1, -1, 1], "must not be negative"),
        (FisherClassifier(), [0, 1, 1], [0, 0, 0], "not zero everywhere"),
    ],
)
def test_bad_input_is_named(model, y, weights, message) -> None:
    """Unknown thresholds, a single class, weights of another length or below zero."""
    with pytest.raises(ValueError, match=message):
        model.fit(np.arange(3.0)[:, None], y, sample_weight=weights)
