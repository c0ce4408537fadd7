"""The kernel-ridge engine equals scikit-learn wherever it does not refuse."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import both, counted, family_of, kit

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.data.data import Data
from truerisk.engines.linear.kernel_ridge import KernelRidges
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder

ENGINE = KernelRidges()
VALUE = Request("value")
LEARNERS = {
    "linear": (KernelRidge(), {"alpha": [0.1, 10.0]}),
    "rbf": (KernelRidge(kernel="rbf"), {"alpha": [0.1, 10.0], "gamma": [None, 0.5]}),
    "scaled": (make_pipeline(StandardScaler(), KernelRidge()), {"kernelridge__alpha": [0.1, 1.0]}),
}
KERNELS = ["linear", "rbf", "poly", "laplacian", "cosine", "sigmoid", "chi2", "additive_chi2"]
METHODS = ["loo", "4-fold", "monte-carlo", "reversed 3-fold", "apparent", "nested", "bootstrap"]


@pytest.mark.parametrize("check", kit(ENGINE, LEARNERS))
def test_conforms(check) -> None:
    """The published checks of any engine, for kernels and behind a scaler."""
    check()


def plan_of(method, data, rng):
    if method == "nested":
        return tr.methods.Nested("3-fold", "loo").plan(data, Streams(0))
    if method != "bootstrap":
        return tr.methods.as_method(method).plan(data, Streams(0))
    builder = PlanBuilder(data.n_rows)
    for _ in range(3):
        sample = builder.block(rng.integers(0, data.n_rows, data.n_rows))
        builder.ask((sample, ()), (ALL, (sample,)))
        builder.ask((sample, ()), (ALL, ()), part="all")
    return builder.build()


def require_equal(family, data, plan, only=None):
    """To 1e-8 of the answers."""
    found, expected = both(ENGINE, family, data, plan, VALUE, only)
    size = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * size)


@settings(max_examples=7, deadline=None)
@given(
    kernel=st.sampled_from(KERNELS),
    seed=st.integers(0, 2**31),
    method=st.sampled_from(METHODS),
    far=st.booleans(),
    n_targets=st.sampled_from([1, 2]),
    weighted=st.sampled_from(["no", "yes", "zeros"]),
    some=st.booleans(),
)
def test_numbers_equal_scikit_learn(kernel, seed, method, far, n_targets, weighted, some):
    """Any kernel, plan, weights and targets, penalties from 0 to 100, rows far from zero."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 22))
    X = rng.uniform(size=(n, int(rng.integers(1, 6)))) + 100.0 * far
    X[: n // 3] = X[n // 3 : 2 * (n // 3)]
    y = np.squeeze(rng.normal(size=(n, n_targets)) + 5 * rng.normal())
    params = {} if weighted == "no" else {"sample_weight": rng.random(n) + 0.1}
    if weighted == "zeros":
        params["sample_weight"][rng.permutation(n)[:2]] = 0.0  # fewer than any training set has
    data = Data.check(X, y, task="regression", fit_params=params)
    grid = {"alpha": [0.0, 1e-9, 1e-4, 1.0, 100.0], "gamma": [0.3, 1.0]}
    family = family_of(KernelRidge(kernel=kernel), grid)
    plan = plan_of(method, data, rng)
    only = rng.integers(0, len(family), plan.n_fits) if some else None
    require_equal(family, data, plan, only)


@pytest.mark.parametrize("method", ["loo", "5-fold"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_one_kernel_serves_all_fits(monkeypatch, kernel, method):
    """Where rounding can move nothing there is no fit of the learner and no pass."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    grid = {"alpha": [0.01, 1.0, 100.0]}
    with counted(monkeypatch) as seen:
        curve = tr.risk_curve(KernelRidge(kernel=kernel), grid, X, y, cv=method)
    assert curve.common.engine == "kernel-ridge"
    assert seen == {"asked": 0, "passes": 0}


@pytest.mark.parametrize("method", ["loo", "4-fold"])
def test_weights_count(method):
    """Each fit weighs its rows by the weights that were given."""
    rng = np.random.default_rng(2)
    weights = {"sample_weight": rng.random(20) + 0.1}
    data = Data.check(
        rng.normal(size=(20, 3)), rng.normal(size=20), task="regression", fit_params=weights
    )
    plan = tr.methods.as_method(method).plan(data, Streams(0))
    require_equal(family_of(KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0]}), data, plan)


def test_a_linear_kernel_is_ridge_without_intercept():
    """Two engines that share nothing but a decomposition agree: x'x is the linear kernel."""
    rng = np.random.default_rng(1)
    X, y, grid = rng.normal(size=(25, 3)), rng.normal(size=25), {"alpha": [0.1, 1.0, 10.0]}
    kernel = tr.risk_curve(KernelRidge(), grid, X, y, cv="loo")
    plain = tr.risk_curve(Ridge(fit_intercept=False), grid, X, y, cv="loo")
    assert (kernel.common.engine, plain.common.engine) == ("kernel-ridge", "least-squares")
    np.testing.assert_allclose(kernel.values, plain.values, rtol=1e-10)


def test_a_kernel_without_a_cholesky_factor_is_left_to_scikit_learn():
    """Copies of rows and no penalty: scikit-learn warns and falls back, and so it does here."""
    X, y = np.repeat(np.arange(6.0), 2)[:, None], np.arange(12.0)
    said = []
    for engine in ("generic", "kernel-ridge"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = tr.estimate_risk(KernelRidge(alpha=0.0), X, y, cv="3-fold", engine=engine)
        said.append((sorted(str(w.message) for w in caught), found.value))
    assert said[0][0]
    assert said[0][0] == said[1][0]
    assert said[0][1] == pytest.approx(said[1][1], rel=1e-10)


@pytest.mark.parametrize("method", ["loo", "3-fold"])
def test_what_a_kernel_does_not_allow_is_said_by_scikit_learn(method):
    """chi2 is for cells that are not negative."""
    X, y = np.arange(-10.0, 10.0).reshape(10, 2), np.arange(10.0)
    data = Data.check(X, y, task="regression")
    plan = tr.methods.as_method(method).plan(data, Streams(0))
    family = family_of(KernelRidge(kernel="chi2", gamma=1.0))
    assert ENGINE.refuse(family, data, plan, VALUE) is None
    with pytest.raises(FitFailed, match="negative"):
        ENGINE.run(family, data, plan, VALUE, RunOptions())


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (KernelRidge(kernel="precomputed"), "rows against rows"),
        (KernelRidge(kernel=np.dot), "none of those"),
        (KernelRidge(kernel="thing"), "none of those"),
        (KernelRidge(alpha=[1.0, 2.0]), "one penalty per target"),
        (KernelRidge(alpha=-1.0), "is no penalty"),
        (KernelRidge(gamma=-1.0), "nothing that scikit-learn allows"),
        (KernelRidge(degree="2"), "nothing that scikit-learn allows"),
        (KernelRidge(kernel_params={"a": 1}), "functions"),
        (Ridge(), "not KernelRidge"),
    ],
)
def test_what_it_does_not_serve_it_refuses(model, why):
    """Each refusal is a sentence with its reason."""
    data = Data.check(np.arange(12.0).reshape(6, 2), np.arange(6.0), task="regression")
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    assert why in ENGINE.refuse(family_of(model), data, plan, VALUE)
