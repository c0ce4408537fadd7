"""Models and losses that answer no numbers, strange labels, or not at all are named."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.faces.test_refusals import N, X, Y, estimate

import truerisk as tr
from truerisk.exceptions import FitFailed, FitFailedWarning
from truerisk.extend import Refusal, TrueRiskError, TrueRiskWarning


class Answering(ClassifierMixin, BaseEstimator):
    """A classifier whose answers are given."""

    def __init__(self, answer=0.0):
        self.answer = answer

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.answer)

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), self.answer)

    def decision_function(self, X):
        return np.full(len(X), self.answer)


class Numbers(RegressorMixin, BaseEstimator):
    """A regressor whose answers are given."""

    def __init__(self, answer=0.0):
        self.answer = answer

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), self.answer)


@pytest.mark.parametrize("method", ["3-fold", "loo", "holdout", tr.methods.Nested("3-fold")])
@pytest.mark.parametrize("loss", ["log", "brier", "auc", "squared", "absolute"])
def test_answers_that_are_no_finite_numbers_are_refused(loss, method):
    """They are never averaged."""
    model = Numbers() if loss in ("squared", "absolute") else Answering()
    for answer in (np.nan, np.inf):
        with pytest.raises(TrueRiskError, match="non-finite|not finite"):
            estimate(model.set_params(answer=answer), cv=method, scoring=loss)


class ComplexProbabilities(GaussianNB):
    def predict_proba(self, X):
        return super().predict_proba(X) + 0.1j


class ComplexScores(LogisticRegression):
    def decision_function(self, X):
        return super().decision_function(X) + 0.1j


class ComplexNumbers(Ridge):
    def predict(self, X):
        return super().predict(X) + 0.1j


def late(a, b):
    """Complex losses of wrong answers alone."""
    return (a != b) * (1 + 1j) if (a != b).any() else (a != b) * 1.0


NO_SPREAD = get_scorer("d2_absolute_error_score")
NO_ORDER = "gave complex numbers, which have no order"
REAL_PARTS = "complex numbers, of which only the real parts"
TOO_SMALL = "loss .* is nan.*test set this small.*fewer folds"


@pytest.mark.parametrize(
    ("model", "y", "cv", "loss", "error", "message"),
    [
        (ComplexProbabilities(), Y, "5-fold", "log", FitFailed, REAL_PARTS),
        (ComplexScores(), Y, "5-fold", "auc", FitFailed, REAL_PARTS),
        (ComplexNumbers(), Y.astype(float), "5-fold", "squared", FitFailed, REAL_PARTS),
        (GaussianNB(), Y, "5-fold", lambda a, b: (a != b) * (1 + 1j), Refusal, NO_ORDER),
        (GaussianNB(), Y, "5-fold", lambda a, b: (a != b).mean() * (1 + 1j), Refusal, NO_ORDER),
        (GaussianNB(), Y, "5-fold", lambda a, b: (a != b) + 0j, Refusal, NO_ORDER),
        (GaussianNB(), Y, "5-fold", late, FitFailed, "loss late failed .* complex numbers"),
        # a scorer that is not defined on small test sets
        pytest.param(
            *(Ridge(), X[:, 0], "loo", NO_SPREAD, Refusal, TOO_SMALL),
            marks=pytest.mark.filterwarnings("ignore"),
        ),
    ],
    ids=[
        *("probabilities", "scores", "numbers", "losses of rows", "one loss"),
        *("without imaginary parts", "losses of wrong answers", "nan"),
    ],
)
def test_answers_and_losses_that_are_complex_or_nan_are_named(model, y, cv, loss, error, message):
    with pytest.raises(error, match=message):
        estimate(model, y=y, cv=cv, scoring=loss)


class Moody(ClassifierMixin, BaseEstimator):
    """Raises in the fit that does not see row 0."""

    def __init__(self, moody=True):
        self.moody = moody

    def fit(self, X, y):
        if self.moody and X[0, 0] != globals()["X"][0, 0]:
            raise ZeroDivisionError("no row 0")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_model_that_raises_in_one_fold_is_named_and_the_rest_kept():
    """Where and why; with error='warn' the others have their risk, if there are any."""
    method = tr.methods.KFold(folds=np.arange(N) % 5)
    grid = {"moody": [True, False]}
    sentence = r"Moody \(moody=True\) failed in the test split \(repeat 0, fold 0\).*: no row 0"
    with pytest.raises(FitFailed, match=sentence):
        tr.risk_curve(Moody(), grid, X, Y, cv=method)
    engine = tr.engines.Generic(error="warn")
    with pytest.warns(FitFailedWarning, match="1 of 10 fits failed"):
        curve = tr.risk_curve(Moody(), grid, X, Y, cv=method, engine=engine)
    assert (curve[0].value, curve[1].value) == (None, 0.5)
    grid = {"n_neighbors": [50, 60]}
    with pytest.warns(FitFailedWarning), pytest.raises(Refusal, match="nothing to choose from"):
        tr.risk_curve(KNeighborsClassifier(), grid, X, Y, cv="3-fold", engine=engine)


def test_label_that_y_does_not_hold_is_wrong_and_has_no_cost():
    stranger = Answering("stranger")
    said = "predicted labels that y does not hold \\('a', 'b'\\), the first 'stranger'.*as wrong"
    with pytest.warns(TrueRiskWarning, match=said):
        assert estimate(stranger, y=np.array(["a", "b"])[Y]).value == 1
    for loss in (tr.losses.Cost([[0, 1], [1, 0]]), lambda y, f: (y != f) * 1.0):
        with (
            pytest.warns(TrueRiskWarning, match=said),
            pytest.raises(Refusal, match="predicted a label that y does not hold"),
        ):
            estimate(stranger, y=np.array(["a", "b"])[Y], scoring=loss)
