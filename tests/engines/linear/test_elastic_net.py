"""The elastic-net engine equals scikit-learn wherever it does not refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet, Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import both, counted, family_of, kit, warnings_of

import truerisk as tr
from truerisk.contracts import Request, Streams
from truerisk.data.data import Data
from truerisk.engines.choice import choose_engine
from truerisk.engines.generic import Generic
from truerisk.engines.linear import elastic_net
from truerisk.engines.linear.elastic_net import ElasticNets

ENGINE = ElasticNets()
VALUE = Request("value")
LEARNERS = {
    "lasso": (Lasso(), {"alpha": [0.01, 0.3]}),
    "mixed": (ElasticNet(fit_intercept=False), {"alpha": [0.05, 1.0], "l1_ratio": [0.2, 0.9]}),
    "scaled": (make_pipeline(StandardScaler(), Lasso()), {"lasso__alpha": [0.01, 0.1]}),
}


@pytest.mark.parametrize("check", kit(ENGINE, LEARNERS))
def test_conforms(check) -> None:
    """The published checks of any engine, for both learners and behind a scaler."""
    check()


def table(rng, n, p, *, far=0.0):
    """Columns that correlate, some equal, one constant, of very different units."""
    X = rng.normal(size=(n, p)) + 2 * rng.normal(size=(n, 1)) + far
    X[:, 0] = 0.1
    X[:, p // 2] = X[:, -1]
    return X * 10.0 ** rng.integers(-3, 4, p)


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    method=st.sampled_from(["loo", "4-fold", "monte-carlo", "nested"]),
    far=st.sampled_from([0.0, 1e3, 1e9]),
    tol=st.sampled_from([1e-12, 1e-7, 1e-4, 0.1]),
    most=st.sampled_from([1, 3, 1000]),
    weighted=st.sampled_from(["no", "yes", "zeros"]),
    scaled=st.booleans(),
)
def test_numbers_equal_scikit_learn(seed, method, far, tol, most, weighted, scaled):
    """Wide and tall tables, any tolerance and limit, penalties from next to nothing to all."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 24))
    X = table(rng, n, int(rng.integers(1, 40)), far=far)
    y = X @ (rng.normal(size=X.shape[1]) / np.abs(X).max(axis=0)) + rng.normal(size=n) + far
    params = {} if weighted == "no" else {"sample_weight": rng.random(n) + 0.1}
    if weighted == "zeros":
        params["sample_weight"][rng.permutation(n)[:2]] = 0.0
    model = ElasticNet(tol=tol, max_iter=most)
    grid = {"alpha": [1e-9, 1e-3, 0.1, 1e6], "l1_ratio": [0.01, 0.5, 1.0]}
    if scaled:
        model, grid = make_pipeline(StandardScaler(), model), prefixed(grid, "elasticnet__")
        params = prefixed(params, "elasticnet__")
    data = Data.check(X, y, task="regression", fit_params=params)
    methods = tr.methods.Nested("3-fold", "3-fold") if method == "nested" else method
    plan = tr.methods.as_method(methods).plan(data, Streams(0))
    found, expected = both(ENGINE, family_of(model, grid), data, plan, VALUE)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


def prefixed(params, prefix):
    return {prefix + name: value for name, value in params.items()}


@pytest.mark.parametrize("shape", [(442, 10), (60, 90), (2000, 20), (30, 700)])
def test_where_rounding_decides_nothing_no_model_is_fitted(monkeypatch, shape):
    """Ten penalties of five folds: one pass per fold, and no fit of the learner."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    y = X[:, :3].sum(axis=1) + rng.normal(size=len(X))
    grid = {"alpha": np.logspace(-1, 0, 10).tolist()}
    with counted(monkeypatch) as seen:
        curve = tr.risk_curve(Lasso(), grid, X, y, cv="5-fold")
    assert curve.common.engine == "elastic-net"
    assert seen == {"asked": 0, "passes": 5}


def test_where_it_does_not_converge_scikit_learn_warns_once_for_all(monkeypatch):
    """Answers and sentences are those of the model as it was given, of which one is fitted."""
    rng = np.random.default_rng(1)
    data = Data.check(table(rng, 40, 9), rng.normal(size=40), task="regression")
    plan = tr.methods.as_method("4-fold").plan(data, Streams(0))
    family = family_of(Lasso(max_iter=2, tol=1e-9), {"alpha": [1e-4, 1e5]})
    with counted(monkeypatch) as seen:
        found, ours = warnings_of(ENGINE, family, data, plan, VALUE)
    expected, theirs = warnings_of(Generic(), family, data, plan, VALUE)
    assert seen["asked"] == 1
    assert any("[4 times in 8 fits]" in sentence for sentence in theirs)
    assert ours == theirs
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-8)


def test_few_penalties_of_a_large_wide_table_are_left_to_the_learner():
    """Nothing is read for several of them there; four pay."""
    rng = np.random.default_rng(0)
    data = Data.check(rng.normal(size=(120, 4000)), rng.normal(size=120), task="regression")
    plan = tr.methods.as_method("3-fold").plan(data, Streams(0))
    for alphas, word in (([0.1, 0.2, 0.3], "generic"), ([0.1, 0.2, 0.3, 0.4], "elastic-net")):
        family = family_of(Lasso(), {"alpha": alphas})
        assert choose_engine("auto", family, data, plan, VALUE)[0].word == word


def test_a_release_of_other_steps_is_left_to_itself(monkeypatch):
    """Both ways are compared with the installed release; of neither, it refuses."""
    assert elastic_net.way_of_the_installed() is not None
    monkeypatch.setattr(elastic_net, "_agrees", lambda screens, problem: problem[0] < 1)
    elastic_net.way_of_the_installed.cache_clear()
    try:
        assert "other steps" in refusal(Lasso())
    finally:
        elastic_net.way_of_the_installed.cache_clear()


def refusal(model, shape=(6, 2), y=None):
    X = np.arange(float(np.prod(shape))).reshape(shape)
    data = Data.check(X, np.arange(len(X)) * 1.0 if y is None else y, task="regression")
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    return ENGINE.refuse(family_of(model), data, plan, VALUE)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (Lasso(positive=True), "positive=True takes other steps"),
        (Lasso(selection="random", random_state=0), "selection='random' takes other steps"),
        (Lasso(warm_start=True), "warm_start=True takes other steps"),
        (Lasso(precompute=True), "precompute=True takes other steps"),
        (Lasso(precompute=np.eye(2)), "takes other steps"),
        (Lasso(alpha=0.0), "without a lasso penalty"),
        (ElasticNet(l1_ratio=0.0), "without a lasso penalty"),
        (Lasso(alpha=-1.0), "is no penalty"),
        (Lasso(tol=0.0), "no place to stop at"),
        (Lasso(max_iter=None), "max_iter=None is nothing that it knows"),
        (Lasso(fit_intercept="yes"), "nothing that it knows"),
        (Ridge(), "not Lasso or ElasticNet"),
    ],
)
def test_what_it_does_not_serve_it_refuses(model, why):
    """Each refusal is a sentence with its reason."""
    assert why in refusal(model)


def test_several_targets_are_refused():
    """Lasso fits each by itself, and stops each elsewhere."""
    assert "one number per row" in refusal(Lasso(), y=np.ones((6, 2)))
