"""Approximate leave-one-out: exact where it says so, near where it does not, never unnamed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.core.errors import DuplicateRowsWarning, Refusal
from truerisk.models import LogisticPath

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 5))
NUMBERS = X[:, 0] - X[:, 1] + RNG.normal(size=60)
LABELS = np.where(X[:, 0] + RNG.normal(size=60) > 0, "yes", "no")


@pytest.mark.parametrize(
    ("model", "y", "loss"),
    [
        (Ridge(2.0), NUMBERS, "squared"),
        (LinearRegression(), NUMBERS, "absolute"),
        (RidgeClassifier(2.0), LABELS, "zero-one"),
        (RidgeClassifier(2.0), LABELS, "auc"),
    ],
)
def test_squared_loss_is_leave_one_out(model, y, loss):
    """The same number from one fit."""
    found = tr.estimate_risk(model, X, y, method="alo", loss=loss)
    exact = tr.estimate_risk(model, X, y, method="loo", loss=loss)
    assert found.value == pytest.approx(exact.value, rel=1e-10)
    assert (found.n_fits, exact.n_fits) == (1, 60)


@pytest.mark.parametrize(
    ("model", "y", "loss", "within"),
    [
        (LogisticRegression(C=1.0), LABELS, "log", 0.004),
        (LogisticPath(lambdas=[0.1, 0.03]), LABELS, "log", 0.01),
        (LogisticPath(lambdas=[0.1, 0.03]), LABELS, "brier", 0.01),
        (Lasso(0.05), NUMBERS, "squared", 0.04),
    ],
)
def test_other_losses_come_near(model, y, loss, within):
    """As near as exact leave-one-out on these rows, and much nearer than the apparent risk."""
    found, exact, apparent = (
        tr.estimate_risk(model, X, y, method=m, loss=loss).value for m in ("alo", "loo", "apparent")
    )
    assert 0 < abs(found - exact) < within
    assert abs(found - exact) < abs(apparent - exact) / 4


def test_it_says_what_it_is():
    """Its own word, the warning among the notes, no standard error and no interval."""
    est = tr.estimate_risk(LogisticPath(lambdas=[0.1]), X, LABELS, method="alo")
    assert (est.method, est.target, est.n_fits) == ("alo", "Err", 1)
    assert "approximate" in est.notes[0]
    assert "18 points off" in est.notes[0]
    assert est.std_error is None
    assert est.interval is None
    assert len(est.losses) == 60


def test_it_chooses_inside_outer_folds():
    """One fit per setting and fold, then one of the winner."""
    method = tr.methods.Nested("5-fold", "alo")
    curve = tr.risk_curve(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, X, NUMBERS, method=method)
    by_loo = tr.methods.Nested("5-fold", "loo")
    exact = tr.risk_curve(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, X, NUMBERS, method=by_loo)
    assert curve.procedure.value == pytest.approx(exact.procedure.value)
    np.testing.assert_allclose(curve.values, exact.values)


def test_weights_count_in_fit_and_risk():
    """Ridge with weights: weighted leave-one-out."""
    weights = RNG.uniform(0.5, 2.0, 60)
    found, exact = (
        tr.estimate_risk(Ridge(), X, NUMBERS, method=m, sample_weight=weights).value
        for m in ("alo", "loo")
    )
    assert found == pytest.approx(exact, rel=1e-10)


def test_copies_of_a_row_are_warned_of():
    """A row taken out leaves its copy in the fit."""
    twice = np.vstack([X, X[:1]])
    with pytest.warns(DuplicateRowsWarning, match="2 rows of X"):
        tr.estimate_risk(Ridge(), twice, np.append(NUMBERS, NUMBERS[0]), method="alo")


def test_steps_before_the_learner_stay():
    """The scaler of all rows: near exact leave-one-out, which fits it anew."""
    model = make_pipeline(StandardScaler(), Ridge())
    found = tr.estimate_risk(model, X, NUMBERS, method="alo").value
    exact = tr.estimate_risk(model, X, NUMBERS, method="loo").value
    assert found == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"model": KNeighborsClassifier()}, "no formula.*KNeighborsClassifier"),
        ({"groups": np.arange(60) // 2}, "would ignore the groups"),
        ({"loss": "f1_micro"}, "asks the whole model"),
    ],
)
def test_refuses_by_name(asked, words):
    """A learner without a formula, groups, a scorer of scikit-learn."""
    given = {"model": LogisticRegression(), "X": X, "y": LABELS, "method": "alo"} | asked
    with pytest.raises(Refusal, match=words):
        tr.estimate_risk(given.pop("model"), given.pop("X"), given.pop("y"), **given)
