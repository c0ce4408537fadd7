"""What is fitted once says what a fit says, and nothing that differs is taken for the same."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier
from tests.support.fitted_once import fitted_once

X, Y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20.0) % 3


class Counting(BaseEstimator):
    """Counts its fits; warns where it is told to."""

    fits = 0

    def __init__(self, shift=0.0, loud=False):
        self.shift, self.loud = shift, loud

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        if self.loud:
            warnings.warn("loud", UserWarning, stacklevel=2)
        if np.isnan(self.shift):
            raise ValueError("no shift")
        self.mean_ = np.average(y, weights=sample_weight) + self.shift
        return self


@pytest.fixture(autouse=True)
def none_yet():
    """No fits are counted."""
    Counting.fits = 0


def test_fitted_once_makes_an_equal_fit_once_until_the_end():
    """Another object of the same settings and rows learns the same, in itself."""
    with fitted_once(Counting):
        one, two = Counting(1.0).fit(X, Y), Counting(1.0).fit(X.copy(), Y)
    assert one is not two
    assert (one.mean_, Counting.fits) == (two.mean_, 1)
    Counting(1.0).fit(X, Y)
    assert Counting.fits == 2


@pytest.mark.parametrize(
    ("shift", "given", "weights"),
    [
        (2.0, (X, Y), None),
        (1.0, (X, Y + 1), None),
        (1.0, (np.asfortranarray(X), Y), None),
        (1.0, (X.astype(np.float32), Y), None),
        (1.0, (X, Y), np.arange(20.0)),
        (1.0, (X[::-1], Y), None),
        (1.0, (X[:-1], Y[:-1]), None),
    ],
)
def test_fitted_once_fits_anew_what_differs(shift, given, weights):
    """Settings, labels, order in memory, kinds of numbers, weights, order and number of rows."""
    more = {} if weights is None else {"sample_weight": weights}
    with fitted_once(Counting):
        Counting(1.0).fit(X, Y)
        found = Counting(shift).fit(*given, **more)
    assert Counting.fits == 2
    assert found.mean_ == Counting(shift).fit(*given, **more).mean_


@pytest.mark.parametrize("given", [(X.tolist(), Y), (X.astype(object), Y), (X, Y.tolist())])
def test_fitted_once_fits_anew_what_has_no_bytes(given):
    with fitted_once(Counting):
        for _ in range(2):
            Counting().fit(*given)
    assert Counting.fits == 2


def test_fitted_once_keeps_no_fit_that_warns_or_fails():
    with fitted_once(Counting):
        for _ in range(2):
            with pytest.warns(UserWarning, match="loud"):
                Counting(loud=True).fit(X, Y)
            with pytest.raises(ValueError, match="no shift"):
                Counting(np.nan).fit(X, Y)
    assert Counting.fits == 4


def test_fitted_once_lets_subclasses_and_random_learners_fit_for_themselves():
    """What another class makes of its rows is not known, nor what is drawn anew."""

    class Other(Counting):
        pass

    with fitted_once(Counting, DecisionTreeClassifier) as known:
        Counting().fit(X, Y)
        Other().fit(X, Y)
        DecisionTreeClassifier().fit(X, Y)
        DecisionTreeClassifier(random_state=np.random.RandomState(0)).fit(X, Y)
        assert len(known) == 1
        DecisionTreeClassifier(random_state=0).fit(X, Y)
        assert len(known) == 2


def test_fitted_once_lets_models_answer_as_ever():
    """To the bit, and a clone of such a model is unfitted."""
    wanted = Ridge(0.5).fit(X, Y).predict(X)
    with fitted_once(Ridge):
        for _ in range(2):
            model = Ridge(0.5).fit(X, Y)
            assert np.array_equal(model.predict(X), wanted)
            assert not hasattr(clone(model), "coef_")
