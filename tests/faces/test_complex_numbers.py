"""Complex numbers are refused wherever they come in: their imaginary parts would be lost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from truerisk.core.errors import BadData, FitFailed, Refusal
from truerisk.results.calibration import Calibration

X, Y = tr.datasets.make_simple(40, random_state=0)
C = X + 1j
ONES = np.full(40, 1 + 1j)


@pytest.mark.parametrize(
    "table",
    [
        C,
        C.tolist(),
        C.astype(np.complex64),
        sparse.csr_array(C),
        pd.DataFrame({"a": X[:, 0], "b": C[:, 0]}),
    ],
    ids=["array", "list", "complex64", "sparse", "frame"],
)
@pytest.mark.parametrize("verb", ["estimate", "search", "validate"])
def test_complex_x_is_refused_before_any_fit(table, verb):
    """In scikit-learn's words, by which its checks know the refusal."""
    verbs = {
        "estimate": lambda: tr.estimate_risk(GaussianNB(), table, Y),
        "search": lambda: tr.HonestSearchCV(GaussianNB(), {}).fit(table, Y),
        "validate": lambda: tr.validate(LogisticRegression().fit(X, Y), table, Y, prefit=True),
    }
    with pytest.raises(BadData, match="Complex data not supported: X holds complex numbers"):
        verbs[verb]()


class ComplexProbabilities(GaussianNB):
    def predict_proba(self, X):
        return super().predict_proba(X) + 0.1j


class ComplexScores(LogisticRegression):
    def decision_function(self, X):
        return super().decision_function(X) + 0.1j


class ComplexNumbers(Ridge):
    def predict(self, X):
        return super().predict(X) + 0.1j


@pytest.mark.parametrize(
    ("model", "y", "loss"),
    [
        (ComplexProbabilities(), Y, "log"),
        (ComplexScores(), Y, "auc"),
        (ComplexNumbers(), Y.astype(float), "squared"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_complex_answers_are_a_failed_fit(model, y, loss):
    """The model is named with its split, as for any other failure."""
    with pytest.raises(FitFailed, match="complex numbers, of which only the real parts"):
        tr.estimate_risk(model, X, y, scoring=loss)


def is_wrong(a, b):
    return a != b


@pytest.mark.parametrize(
    "loss",
    [
        lambda a, b: is_wrong(a, b) * (1 + 1j),
        lambda a, b: is_wrong(a, b).mean() * (1 + 1j),
        lambda a, b: is_wrong(a, b) + 0j,
    ],
    ids=["rows", "one number", "without imaginary parts"],
)
def test_complex_values_of_a_loss_are_refused_at_once(loss):
    """They have no order, so none is the least."""
    with pytest.raises(Refusal, match="gave complex numbers, which have no order"):
        tr.estimate_risk(GaussianNB(), X, Y, scoring=loss)


def test_complex_values_of_a_loss_on_wrong_answers_are_a_failure():
    """Of right answers the losses may be real."""

    def late(a, b):
        wrong = is_wrong(a, b)
        return wrong * (1 + 1j) if wrong.any() else wrong * 1.0

    with pytest.raises(FitFailed, match="loss late failed .* complex numbers"):
        tr.estimate_risk(GaussianNB(), X, Y, scoring=late)


def test_complex_numbers_beside_x_are_refused():
    """Weights, places, scores, probabilities, losses, tables of scores."""
    calls = (
        lambda: tr.estimate_risk(GaussianNB(), X, Y, sample_weight=ONES),
        lambda: tr.HonestSearchCV(GaussianNB(), {}).fit(X, Y, sample_weight=ONES),
        lambda: tr.estimate_risk(GaussianNB(), X, Y, block=C),
        lambda: tr.RocCurve.of(Y, C[:, 0]),
        lambda: tr.RocCurve.of(Y, X[:, 0], weights=ONES),
        lambda: Calibration.of(Y, ONES / 2),
        lambda: Calibration.of(Y, np.full(40, 0.5), weights=ONES),
        lambda: tr.compare(ONES, ONES, folds=np.arange(40) % 5),
        lambda: tr.compare_many(np.random.default_rng(0).normal(size=(6, 3, 5)) + 1j),
    )
    for call in calls:
        with pytest.raises(BadData):
            call()
