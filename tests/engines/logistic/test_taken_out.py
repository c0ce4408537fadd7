"""Rows taken out of a path equal rows taken out of each fitted model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import both, data_of, drawn, family_of

import truerisk as tr
from truerisk.contracts import Request, Streams
from truerisk.engines.logistic.paths import LogisticPaths
from truerisk.models import LogisticPath

ENGINE = LogisticPaths(minimiser=True)
X, Y = drawn(40, 6, 2)
ATS = {"at": [0, 3, 9, 19]}
FAMILIES = {
    "lasso": (LogisticPath(n_lambdas=20), ATS),
    "elastic net": (LogisticPath(0.5, n_lambdas=20), ATS),
    "ridge": (LogisticPath(0.0, n_lambdas=20), ATS),
    "not standardised": (LogisticPath(0.5, n_lambdas=20, standardize=False), ATS),
    "regression": (
        LogisticRegression(solver="newton-cholesky", tol=1e-10),
        {"C": [0.1, 1.0, 10.0]},
    ),
}
METHODS = {"all rows": "alo", "inside folds": tr.methods.Nested("3-fold", "alo")}


@pytest.mark.parametrize("what", FAMILIES)
@pytest.mark.parametrize("response", ["label", "probability", "score"])
@pytest.mark.parametrize("given", ["dense", "sparse", "weighted"])
def test_equals_the_generic_engine(what, response, given):
    """Every penalty of one path, dense and sparse rows, with weights."""
    model, grid = FAMILIES[what]
    params = {"sample_weight": np.linspace(0.5, 2, 40)} if given == "weighted" else {}
    data = data_of(csr_matrix(X) if given == "sparse" else X, Y, **params)
    plan = tr.methods.as_method("alo").plan(data, Streams(0))
    fast, slow = both(ENGINE, family_of(model, grid), data, plan, Request(response))
    if response == "label":
        assert np.array_equal(fast, slow)
    else:
        np.testing.assert_allclose(fast, slow, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_one_call_tells_all_penalties(method):
    """By the engine 'logistic-path', on all rows and inside outer folds."""
    model, grid = FAMILIES["lasso"]
    fast = tr.risk_curve(model, grid, X, Y, cv=METHODS[method])
    slow = tr.risk_curve(model, grid, X, Y, cv=METHODS[method], engine="generic")
    assert fast.common.engine == "logistic-path"
    assert fast.values.tolist() == slow.values.tolist()


NAMED = {} if LogisticRegression().l1_ratio == 0 else {"penalty": "elasticnet"}  # until 1.7
REFUSED = {
    "three classes": (LogisticPath(), 3, "two classes only"),
    "selected by a solver": (
        LogisticRegression(solver="saga", l1_ratio=1.0, tol=1e-8, max_iter=5000, **NAMED),
        2,
        "up to the solver",
    ),
    "prepared": (make_pipeline(StandardScaler(), LogisticPath()), 2, "after other steps"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refuses(what):
    """What the fits themselves must be asked."""
    model, n_classes, words = REFUSED[what]
    data = data_of(*drawn(30, 3, n_classes))
    plan = tr.methods.as_method("alo").plan(data, Streams(0))
    assert words in ENGINE.refuse(family_of(model), data, plan, Request("label"))
