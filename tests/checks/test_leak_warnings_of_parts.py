"""A part that clone does not empty has learned before all folds, which is said."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.core.errors import FittedPartWarning

N = 60
Y = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, 3)) + Y[:, None]
FROZEN = FrozenEstimator(GaussianNB().fit(X, Y))


class Remembers(ClassifierMixin, BaseEstimator):
    """Its clone is itself, so that it knows every row of every fold before."""

    def __init__(self):
        self.known = {}

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.known |= {row.tobytes(): label for row, label in zip(X, y, strict=True)}
        return self

    def predict(self, X):
        return np.array([self.known.get(row.tobytes(), 0) for row in X])


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (FROZEN, "FrozenEstimator"),
        (CalibratedClassifierCV(FROZEN), r"estimator \(FrozenEstimator\)"),
        (FixedThresholdClassifier(FROZEN), r"estimator \(FrozenEstimator\)"),
        (VotingClassifier([("a", FROZEN), ("b", GaussianNB())]), r"a \(FrozenEstimator\)"),
        (make_pipeline(StandardScaler(), FROZEN), r"frozenestimator \(FrozenEstimator\)"),
        (Remembers(), "Remembers"),
    ],
)
def test_what_no_fold_fits_anew_is_named(model, said):
    """Wherever it stands in the model."""
    with pytest.warns(FittedPartWarning, match=f"clone keeps what .*{said} learned"):
        tr.estimate_risk(model, X, Y, cv="3-fold")


def test_what_the_grid_puts_in_is_named():
    """By the parameter that it is put in."""
    piped = make_pipeline(StandardScaler(), GaussianNB())
    with pytest.warns(FittedPartWarning, match=r"gaussiannb \(FrozenEstimator\)"):
        tr.risk_curve(piped, {"gaussiannb": [GaussianNB(), FROZEN]}, X, Y, cv="3-fold")


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB().fit(X, Y),
        CalibratedClassifierCV(GaussianNB(), cv=2),
        GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2).fit(X, Y),
        StackingClassifier([("a", GaussianNB().fit(X, Y))], cv=2),
    ],
)
def test_what_clone_empties_is_not(model):
    """A model that was fitted before is fitted anew like any other."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tr.estimate_risk(model, X, Y, cv="3-fold")


def test_the_apparent_risk_promises_nothing():
    """Its model sees all rows in any case."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tr.estimate_risk(FROZEN, X, Y, cv="apparent")


def test_an_audit_says_it_as_a_finding():
    """And not as a warning besides."""
    search = GridSearchCV(CalibratedClassifierCV(FROZEN), {"method": ["sigmoid", "isotonic"]}, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        audit = tr.audit(search.fit(X, Y), X, Y)
    assert "state-survives-clone" in [finding.code for finding in audit.findings]
