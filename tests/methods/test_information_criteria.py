"""The extended BIC: its formula, what it chooses, what refuses it."""

from math import comb, log

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.data import normal_rows

import truerisk as tr
from truerisk.methods import EBIC
from truerisk.models import LogisticPath

X, Y, NUMBERS = normal_rows(60, 8, seed=0)
MODEL = make_pipeline(StandardScaler(), LogisticRegression())


@pytest.mark.parametrize(
    ("model", "y"),
    [
        pytest.param(LogisticPath(at=0.2), Y, id="path 0.2"),
        pytest.param(LogisticPath(at=0.05), Y, id="path 0.05"),
        pytest.param(Lasso(0.05), NUMBERS, id="lasso 0.05"),
        pytest.param(Lasso(0.2), NUMBERS, id="lasso 0.2"),
        pytest.param(make_pipeline(StandardScaler(), LinearRegression()), NUMBERS, id="pipeline"),
        pytest.param(MODEL, np.where(X[:, 2] > 0.5, 2, Y), id="three classes"),
    ],
)
def test_ebic_is_bic_and_the_price_of_the_choice(model, y):
    """EBIC is BIC + 2 γ log C(P, D), where D of the P features have a nonzero coefficient.

    The features are those that the last step of a pipeline sees. A feature counts once, however
    many classes have a coefficient for it.
    """
    bic = tr.estimate_risk(model, X, y, cv="bic").value
    fitted = model.fit(X, y)
    coefs = fitted[-1].coef_ if isinstance(model, Pipeline) else fitted.coef_
    selected = np.count_nonzero(np.atleast_2d(coefs).any(axis=0))
    assert selected == 8 if isinstance(model, Pipeline) else 0 < selected <= 8
    for gamma in (0.0, 0.5, 1.0):
        found = tr.estimate_risk(model, X, y, cv=EBIC(gamma=gamma))
        assert found.value == pytest.approx(bic + 2 * gamma * log(comb(8, selected)))
        assert f"{selected} of 8 features" in found.notes[0]


def test_ebic_per_row_divides_the_price_too():
    """(−2 log L + k log n + 2 γ log C) / 2n, which stands beside the log loss."""
    whole = tr.estimate_risk(MODEL, X, Y, cv="ebic")
    share = tr.estimate_risk(MODEL, X, Y, cv=EBIC(per_row=True))
    assert (whole.scoring, share.scoring) == ("-2 log L", "log")
    assert share.value == pytest.approx(whole.value / 120)
    assert share.method == "ebic (per row)"
