"""The extended BIC: its formula, what it chooses, what refuses it."""

from __future__ import annotations

from math import comb, log

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadData, Refusal
from truerisk.methods.information_criteria import EBIC
from truerisk.testing.cases import evaluate, two_classes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 8))
Y = (X[:, 0] + X[:, 1] + RNG.normal(size=60) > 0).astype(int)
MODEL = make_pipeline(StandardScaler(), LogisticRegression())


def test_is_bic_and_the_price_of_the_choice():
    """BIC + 2 γ log C(P, D): D = the features whose coefficient is not 0, of P."""
    for at in (0.2, 0.05):
        model = tr.models.LogisticPath(at=at)
        bic = tr.estimate_risk(model, X, Y, cv="bic").value
        selected = np.count_nonzero(tr.models.LogisticPath(at=at).fit(X, Y).coef_)
        assert 0 < selected < 8
        for gamma in (0.5, 1.0):
            found = tr.estimate_risk(model, X, Y, cv=EBIC(gamma=gamma))
            assert found.value == pytest.approx(bic + 2 * gamma * log(comb(8, selected)))
            assert f"{selected} of 8 features" in found.notes[0]
        assert tr.estimate_risk(model, X, Y, cv=EBIC(gamma=0.0)).value == pytest.approx(bic)


def test_numbers_and_steps_before_the_model():
    """The lasso selects; of two features made one by a step, P counts what the model sees."""
    target = X[:, 0] + 0.1 * RNG.normal(size=60)
    for alpha in (0.05, 0.2):
        model = Lasso(alpha)
        selected = np.count_nonzero(Lasso(alpha).fit(X, target).coef_)
        bic = tr.estimate_risk(model, X, target, cv="bic").value
        found = tr.estimate_risk(model, X, target, cv="ebic").value
        assert found == pytest.approx(bic + log(comb(8, selected)))
    full = make_pipeline(StandardScaler(), LinearRegression())
    found = [tr.estimate_risk(full, X, target, cv=word).value for word in ("bic", "ebic")]
    assert found[0] == pytest.approx(found[1])


def test_several_classes_select_a_feature_together():
    """A feature counts once, whatever the number of classes that use it."""
    y = np.where(X[:, 2] > 0.5, 2, Y)
    found = [tr.estimate_risk(MODEL, X, y, cv=word).value for word in ("bic", "ebic")]
    assert found[0] == pytest.approx(found[1])  # ridge uses all 8: one way to choose


def test_per_row_divides_the_price_too():
    """(−2 log L + k log n + 2 γ log C) / 2n, which stands beside the log loss."""
    plain = tr.estimate_risk(Lasso(0.2), X, X[:, 0], cv="ebic")
    assert plain.scoring == "-2 log L"
    whole = tr.estimate_risk(MODEL, X, Y, cv="ebic").value
    share = tr.estimate_risk(MODEL, X, Y, cv=EBIC(per_row=True))
    assert share.value == pytest.approx(whole / 120)
    assert share.method == "ebic (per row)"


def test_refusals():
    """A model without coefficients, a price out of range, a plan of another method."""
    with pytest.raises(Refusal, match="not known to be a linear rule"):
        tr.estimate_risk(KNeighborsClassifier(), X, Y, cv="ebic")
    with pytest.raises(BadData, match="between 0 and 1"):
        EBIC(gamma=2.0)
    case = two_classes()
    plan = tr.methods.as_method("bic").plan(case.data, Streams(0))
    with pytest.raises(BadData, match="asks for no linear rules"):
        evaluate(EBIC(), case, plan=plan)
