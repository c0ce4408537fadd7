"""FisherClassifier: least squares on the codes −1 and +1 of the classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from truerisk.models import FisherClassifier

RNG = np.random.default_rng(2)
Y = np.repeat([0, 1, 2], [12, 20, 9])
X = RNG.normal(size=(41, 3)) + np.array([[0, 0, 0], [2, 0, 1], [0, 3, 0]])[Y]
TWO = Y < 2


def test_fisher_solves_the_normal_equations() -> None:
    """Residuals of every class's code are orthogonal to the columns; two classes are one line."""
    model = FisherClassifier().fit(X, Y)
    residuals = np.where(Y[:, None] == [0, 1, 2], 1, -1) - model.decision_function(X)
    assert np.abs(np.c_[np.ones(41), X].T @ residuals).max() < 1e-11
    model = FisherClassifier().fit(X[TWO], Y[TWO])
    coef = np.linalg.lstsq(np.c_[np.ones(32), X[TWO]], 2.0 * Y[TWO] - 1, rcond=None)[0]
    assert np.allclose(np.r_[model.intercept_, model.coef_[0]], coef, rtol=1e-12)
    assert model.decision_function(X).shape == (41,)


def test_fisher_balanced_is_lda_with_equal_priors() -> None:
    """Projected class means lie at opposite values; the least squares have the same direction."""
    model = FisherClassifier("balanced").fit(X[TWO], Y[TWO])
    means = [X[k == Y].mean(axis=0) for k in (0, 1)]
    assert model.decision_function(means).sum() == pytest.approx(0, abs=1e-12)
    lda = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X[TWO], Y[TWO])
    ratio = model.decision_function(X) / lda.decision_function(X)
    assert np.allclose(ratio, ratio[0], rtol=1e-9)
    other = FisherClassifier().fit(X[TWO], Y[TWO]).coef_[0] / lda.coef_[0]
    assert np.allclose(other, other[0], rtol=1e-9)
    assert other[0] > 0


def test_fisher_of_equal_classes_has_one_threshold() -> None:
    """With as many rows in each class least squares, balanced and LDA have one boundary."""
    even = np.r_[np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:12]]
    models = [FisherClassifier(), FisherClassifier("balanced"), LinearDiscriminantAnalysis()]
    values = [m.fit(X[even], Y[even]).decision_function(X) for m in models]
    assert np.allclose(values[0], values[1], atol=1e-12)
    assert np.allclose(values[0] / values[2], values[0][0] / values[2][0], rtol=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=41, max_size=41), st.booleans())
def test_fisher_weights_are_copies(weights, balanced) -> None:
    """A row of weight w counts as w copies, a row of weight 0 as none."""
    times = np.array(weights)
    if len(np.unique(Y[times > 0])) < 3:
        return
    threshold = "balanced" if balanced else "least-squares"
    weighted = FisherClassifier(threshold).fit(X, Y, sample_weight=times)
    copied = FisherClassifier(threshold).fit(np.repeat(X, times, axis=0), np.repeat(Y, times))
    assert np.allclose(weighted.coef_, copied.coef_, rtol=1e-8, atol=1e-10)
    assert np.allclose(weighted.intercept_, copied.intercept_, rtol=1e-8, atol=1e-10)


def test_fisher_collinear_columns_share() -> None:
    """Of many solutions the one of least norm: a column given twice gets half twice."""
    once, twice = FisherClassifier().fit(X, Y), FisherClassifier().fit(np.c_[X, X[:, :1]], Y)
    assert np.allclose(twice.coef_[:, 0], once.coef_[:, 0] / 2)
    assert np.allclose(twice.coef_[:, 3], once.coef_[:, 0] / 2)
