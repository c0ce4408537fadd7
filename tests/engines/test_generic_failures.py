"""A fit that fails is named, and the rest is kept where that is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from tests.engines.test_generic import FOLDS, N, X, Y

import truerisk as tr
from truerisk.core.errors import FitFailed, FitFailedWarning, UnknownName
from truerisk.engines.generic import Generic
from truerisk.methods import KFold, Nested


def failing(where: float = X[0, 0]):
    """A model that fails if it does not see row 0, and only with flag=True (picklable by value)."""

    class Picky(ClassifierMixin, BaseEstimator):
        def __init__(self, flag=True):
            self.flag = flag

        def fit(self, X, y):
            if self.flag and where not in X[:, 0]:
                raise ArithmeticError("I want row 0\nand more lines")
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    return Picky()


@pytest.mark.parametrize("executor", [None, 2])
def test_a_failing_fit_is_named(executor) -> None:
    """error='raise' names the model, the parameters, the split and the reason in one line."""
    with pytest.raises(FitFailed) as caught:
        tr.risk_curve(
            failing(),
            {"flag": [False, True]},
            X,
            Y,
            cv=KFold(folds=FOLDS),
            n_jobs=executor,
        )
    assert str(caught.value) == (
        "Picky (flag=True) failed in the test split (repeat 0, fold 0), fit 0 of 4 "
        "on 27 rows (n_features=3): ArithmeticError: I want row 0"
    )
    assert "Traceback" in caught.value.__notes__[0]


def test_a_failing_inner_fit_names_both_splits() -> None:
    """In nested validation the outer split is named too."""
    method = Nested(KFold(folds=FOLDS), KFold(folds=(np.arange(N) // 4) % 3))
    with pytest.raises(
        FitFailed, match=r"inner split \(repeat 0, fold 0, outer split 0\).*ArithmeticError"
    ):
        tr.risk_curve(failing(), {"flag": [False, True]}, X, Y, cv=method)


@pytest.mark.parametrize("executor", [None, 2])
def test_with_warn_the_rest_is_kept(executor) -> None:
    """error='warn': one warning, no value and a note for the failed, the others unharmed."""
    with pytest.warns(FitFailedWarning, match="1 of 8 fits failed.*flag=True") as caught:
        curve = tr.risk_curve(
            failing(),
            {"flag": [False, True]},
            X,
            Y,
            cv=KFold(folds=FOLDS),
            engine=Generic(error="warn"),
            n_jobs=executor,
        )
    assert len(caught) == 1
    assert np.isnan(curve.values).tolist() == [False, True]
    assert curve.best == 0
    assert (curve[1].value, curve[1].interval) == (None, None)
    assert "fold 0" in curve[1].notes[0]
    assert curve[0].value == np.mean(Y != "no")


def test_a_single_model_that_fails_keeps_its_note() -> None:
    """With one candidate there is no choice to refuse: value None, a warning, a note."""
    with pytest.warns(FitFailedWarning):
        found = tr.estimate_risk(
            failing(), X, Y, cv=KFold(folds=FOLDS), engine=Generic(error="warn")
        )
    assert found.value is None
    assert "I want row 0" in found.notes[0]
    assert np.isnan(found.split_risks).tolist() == [True, False, False, False]


def test_failures_of_the_kind_callers_expect() -> None:
    """A ValueError of the model can be caught as one, and as FitFailed."""
    for kind in (ValueError, FitFailed):
        with pytest.raises(kind, match="n_neighbors"):
            tr.estimate_risk(KNeighborsClassifier(30), X, Y, cv="2-fold")


def test_too_few_answers_are_a_failure() -> None:
    """One label for many rows is not spread over all of them silently."""

    class Short(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return self.classes_[:1]

    with pytest.raises(FitFailed, match="the model gave 1 answers for 12 rows"):
        tr.estimate_risk(Short(), X, Y, cv="3-fold")


def test_error_is_a_word() -> None:
    """Another word is refused."""
    with pytest.raises(UnknownName, match="error='ignore' is unknown"):
        Generic(error="ignore")
