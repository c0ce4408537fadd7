"""Models that answer no numbers, strange labels, or not at all are named, never averaged."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.neighbors import KNeighborsClassifier
from tests.faces.test_bad_input import METHODS, NESTED, N, X, Y, estimate

import truerisk as tr
from truerisk.core.errors import (
    BadData,
    FitFailed,
    FitFailedWarning,
    Refusal,
    TrueRiskError,
    TrueRiskWarning,
)


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


@pytest.mark.parametrize("method", [*METHODS[:3], NESTED], ids=str)
@pytest.mark.parametrize(
    ("model", "loss"),
    [
        (Answering(), "log"),
        (Answering(), "brier"),
        (Answering(), "auc"),
        (Numbers(), "squared"),
        (Numbers(), "absolute"),
    ],
    ids=["log", "brier", "auc", "squared", "absolute"],
)
@pytest.mark.parametrize("answer", [np.nan, np.inf])
def test_scores_that_are_no_numbers(model, loss, answer, method) -> None:
    """A model that answers NaN or infinity is refused, never averaged; a good one is not blamed."""
    model.set_params(answer=answer)
    with pytest.raises(TrueRiskError, match="non-finite|not finite"):
        tr.estimate_risk(model, X, Y, cv=method, scoring=loss)


def test_a_scorer_that_gives_nan() -> None:
    """A scorer that is not defined on small test sets is named."""
    no_spread = get_scorer("d2_absolute_error_score")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Refusal, match="loss .* is nan.*test set this small.*fewer folds"):
            tr.estimate_risk(Ridge(), X, X[:, 0], cv="loo", scoring=no_spread)


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


def test_a_model_that_raises_in_one_fold() -> None:
    """Where and why; with error='warn' the rest is kept."""
    method = tr.methods.KFold(folds=np.arange(N) % 3)
    sentence = r"Moody \(moody=True\) failed in the test split \(repeat 0, fold 0\).*: no row 0"
    with pytest.raises(FitFailed, match=sentence):
        tr.risk_curve(Moody(), {"moody": [True, False]}, X, Y, cv=method)
    engine = tr.engines.Generic(error="warn")
    with pytest.warns(FitFailedWarning, match="1 of 6 fits failed"):
        curve = tr.risk_curve(Moody(), {"moody": [True, False]}, X, Y, cv=method, engine=engine)
    assert (curve[0].value, curve[1].value) == (None, 0.5)


def test_when_every_candidate_fails() -> None:
    """Nothing to choose from is said, not hidden."""
    with pytest.warns(FitFailedWarning), pytest.raises(Refusal, match="nothing to choose from"):
        tr.risk_curve(
            KNeighborsClassifier(),
            {"n_neighbors": [50, 60]},
            X,
            Y,
            cv="3-fold",
            engine=tr.engines.Generic(error="warn"),
        )


def test_a_label_that_y_does_not_hold() -> None:
    """A prediction outside y is an error under zero-one loss, which is said, and has no cost."""
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


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pd.DataFrame({"a": X[:, 0], "t": [f"t{c}" for c in Y]}), "text in column 't', such as 't"),
        (pd.DataFrame({"a": pd.array([pd.NA, *X[1:, 0]], dtype="Float64")}), "NaN.*column 'a'"),
    ],
)
def test_what_a_model_cannot_read_is_named(table, sentence) -> None:
    """Where a model chokes on text or NA, the column is named, and what to do."""
    with pytest.raises(BadData, match=sentence) as refused:
        estimate(X=table, cv="2-fold")
    assert "failed in the test split" in str(refused.value)
