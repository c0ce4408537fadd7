"""The least-squares engine equals scikit-learn wherever it does not refuse."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from tests.engines.closed_forms import both, counted, family_of, kit
from tests.support.fitted_once import fitted_once

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.data.data import Data
from truerisk.engines.linear.least_squares import LeastSquares
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder

ENGINE = LeastSquares()
ALPHAS = [1e-6, 1e-2, 1.0, 1e3]
LEARNERS = {
    "least squares": (LinearRegression(), {"fit_intercept": [True, False]}),
    "ridge": (Ridge(), {"alpha": [0.1, 10.0], "fit_intercept": [True, False]}),
    "svd": (Ridge(solver="svd"), {"alpha": [0.1, 10.0]}),
    "classes": (RidgeClassifier(), {"alpha": [0.1, 1.0, 10.0]}),
    "balanced": (RidgeClassifier(class_weight="balanced"), {"alpha": [0.1, 1.0]}),
    "scaled": (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 10.0]}),
}
METHODS = ["loo", "4-fold", "2x3-fold", "monte-carlo", "reversed 3-fold", "apparent"]


@pytest.mark.parametrize("check", kit(ENGINE, LEARNERS))
def test_conforms(check) -> None:
    """The published checks of any engine, for every learner and solver."""
    check()


# ---------------------------------------------------------------- what it is asked about

KINDS = ["plain", "wide", "scaled", "collinear", "constant", "far", "dummy", "copies", "condition"]


def table(kind, rng, n):
    """Columns of one difficulty each."""
    p = int(rng.integers(n, 2 * n)) if kind == "wide" else int(rng.integers(2, 8))
    X = rng.normal(size=(n, p))
    if kind == "scaled":
        X *= np.logspace(0, rng.integers(1, 8), p)
    elif kind == "collinear":
        X[:, -1] = X[:, 0]
    elif kind == "constant":
        X[:, -1] = 0.1
    elif kind == "far":
        X += 10.0 ** rng.integers(2, 7)
    elif kind == "dummy":
        X[:, -1] = np.arange(n) == 3
    elif kind == "copies":
        X[: n // 2] = X[n // 2 : 2 * (n // 2)]
    elif kind == "condition":
        U, s, Vt = np.linalg.svd(X, full_matrices=False)
        X = (U * np.logspace(0, -rng.uniform(0, 12), len(s))) @ Vt
    return X


def copies_and_flips(data, rng):
    """Bootstrap samples, and labels flipped one by one."""
    n = data.n_rows
    builder = PlanBuilder(n)
    for _ in range(3):
        sample = builder.block(rng.integers(0, n, n))
        builder.ask((sample, ()), (ALL, (sample,)))
        builder.ask((sample, ()), (ALL, ()), part="all")
    for row in range(0, n if data.codes is not None else 0, 2):
        flip = [(row, (int(data.codes[row]) + 1) % data.n_classes)]
        builder.ask((ALL, ()), (builder.block(np.array([row])), ()), part="flip", flips=flip)
    return builder.build()


def plan_of(method, data, rng):
    if method == "bootstrap":
        return copies_and_flips(data, rng)
    if method == "nested":
        method = tr.methods.Nested("3-fold", "loo")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rare classes
        return tr.methods.as_method(method).plan(data, Streams(0))


def require_equal(family, data, plan, response, only=None):
    """To 1e-8 of the answers; labels to the letter."""
    found, expected = both(ENGINE, family, data, plan, Request(response), only)
    assert found.dtype == expected.dtype
    if response == "label":
        np.testing.assert_array_equal(found, expected)
    else:
        size = np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * size)


@settings(max_examples=14, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**31),
    method=st.sampled_from([*METHODS, "nested", "bootstrap"]),
    model=st.sampled_from([LinearRegression(), Ridge(), Ridge(solver="svd")]),
    n_targets=st.sampled_from([1, 1, 3]),
    weighted=st.sampled_from(["no", "yes", "zeros"]),
    some=st.booleans(),
)
def test_numbers_equal_scikit_learn(kind, seed, method, model, n_targets, weighted, some):
    """Any plan, weights and targets, columns of every difficulty, all candidates or one a fit."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 24))
    X = table(kind, rng, n)
    y = 5 * rng.normal() + X @ rng.normal(size=(X.shape[1], n_targets)) / np.abs(X).max()
    y = np.squeeze(y + rng.normal(size=y.shape))
    grid = {"fit_intercept": [True, False]}
    if isinstance(model, Ridge):
        grid["alpha"] = [0.0, 1e-9, *ALPHAS]
    family, params = family_of(model, grid), {}
    if weighted != "no":
        params["sample_weight"] = rng.random(n) + 0.1
    if weighted == "zeros":
        params["sample_weight"][rng.permutation(n)[:3]] = 0.0
    data = Data.check(X, y, task="regression", fit_params=params)
    plan = plan_of(method, data, rng)
    only = rng.integers(0, len(family), plan.n_fits) if some else None
    require_equal(family, data, plan, "value", only)


@settings(max_examples=9, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**31),
    method=st.sampled_from([*METHODS, "nested", "bootstrap"]),
    n_classes=st.integers(2, 4),
    class_weight=st.sampled_from([None, "balanced", {"a": 3.0, "b": 0.5, "c": 1.0, "d": 1.0}]),
    weighted=st.booleans(),
)
def test_classes_equal_scikit_learn(kind, seed, method, n_classes, class_weight, weighted):
    """Labels and scores, with rare classes that some fits do not see."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 24))
    X = table(kind, rng, n)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, 2, n - n_classes)])
    y = np.array(["a", "b", "c", "d"])[rng.permutation(y)]
    if isinstance(class_weight, dict):
        class_weight = {name: class_weight[name] for name in np.unique(y)}
    params = {"sample_weight": rng.random(n) + 0.1} if weighted else {}
    family = family_of(RidgeClassifier(class_weight=class_weight), {"alpha": ALPHAS})
    data = Data.check(X, y, task="classification", fit_params=params)
    plan = plan_of(method, data, rng)
    with fitted_once(RidgeClassifier):
        for response in ("label", "score")[: 2 if n_classes == 2 else 1]:
            require_equal(family, data, plan, response)


def test_a_fit_that_fails_in_scikit_learn_fails_here():
    """Weights that are all zero in a train set: the error is the learner's own."""
    weights = np.r_[np.zeros(6), 1.0, np.zeros(3)]
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10.0)
    data = Data.check(X, y, task="regression", fit_params={"sample_weight": weights})
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    for engine in (ENGINE, tr.engines.Generic()):
        with pytest.raises(FitFailed, match="(?i)weights"):
            engine.run(family_of(Ridge()), data, plan, Request("value"), RunOptions())


# ---------------------------------------------------------------- golden numbers


@pytest.mark.parametrize("shape", [(40, 7), (15, 60)])
@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_left_out_equals_the_errors_that_ridgecv_stores(shape, intercept):
    """Leave-one-out of all rows and penalties is RidgeCV's table of squared errors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) + 2
    y = X[:, :3].sum(axis=1) + rng.normal(size=shape[0])
    grid = {"alpha": ALPHAS[1:]}
    curve = tr.risk_curve(Ridge(fit_intercept=intercept), grid, X, y, cv="loo")
    assert curve.common.engine == "least-squares"
    stored = RidgeCV(ALPHAS[1:], fit_intercept=intercept, store_cv_results=True).fit(X, y)
    found = np.array([estimate.losses for estimate in curve])
    np.testing.assert_allclose(found, stored.cv_results_.T, rtol=1e-7)


def test_press_of_least_squares():
    """The mean of (residual / (1 - hat value)) squared, as R computes it."""
    # R: x <- c(1,2,4,8,13,21,31); y <- c(2,1,5,7,12,24,28); f <- lm(y~x)
    #    mean((residuals(f)/(1-hatvalues(f)))^2)
    x, y = np.array([1.0, 2, 4, 8, 13, 21, 31]), np.array([2.0, 1, 5, 7, 12, 24, 28])
    found = tr.estimate_risk(LinearRegression(), x[:, None], y, cv="loo")
    assert found.engine == "least-squares"
    assert found.value == pytest.approx(8.91751978959189, rel=1e-10)


# ---------------------------------------------------------------- what costs one decomposition


@pytest.mark.parametrize("shape", [(30, 5), (12, 40)])
@pytest.mark.parametrize("method", ["loo", "5-fold"])
def test_nothing_is_fitted_where_all_is_plain(monkeypatch, shape, method):
    """Well-behaved rows are answered from shared products: no fit of the learner, no pass."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    with counted(monkeypatch) as seen:
        tr.risk_curve(Ridge(), {"alpha": ALPHAS[1:]}, X, y, cv=method)
    assert seen == {"asked": 0, "passes": 0}


@pytest.mark.parametrize(
    "scaler", [StandardScaler(), MinMaxScaler(), StandardScaler(with_std=False)]
)
def test_least_squares_does_not_mind_how_columns_are_scaled(monkeypatch, scaler):
    """Left-out rows behind a scaler follow from one decomposition, penalties do not."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(25, 4)) * [1, 10, 100, 0.1] + 3
    data = Data.check(X, X.sum(axis=1) + rng.normal(size=25), task="regression")
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    for model, passes in ((LinearRegression(), 0), (Ridge(), 25)):
        family = family_of(make_pipeline(scaler, model))
        require_equal(family, data, plan, "value")
        with counted(monkeypatch) as seen:
            ENGINE.run(family, data, plan, Request("value"), RunOptions())
        assert seen["passes"] == passes


def test_a_scaler_that_clips_is_fitted_on_every_train_set(monkeypatch):
    """Cells beyond the training rows are cut, which is not linear."""
    rng = np.random.default_rng(3)
    data = Data.check(rng.normal(size=(15, 2)), rng.normal(size=15), task="regression")
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    family = family_of(make_pipeline(MinMaxScaler(clip=True), LinearRegression()))
    require_equal(family, data, plan, "value")


def test_polynomials_learn_nothing_from_the_rows(monkeypatch):
    """Degrees of a polynomial are answered left out without a fit, where they are well scaled."""
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, size=(40, 1))
    y = np.sin(3 * x[:, 0]) + 0.1 * rng.normal(size=40)
    model = make_pipeline(PolynomialFeatures(include_bias=False), LinearRegression())
    grid = {"polynomialfeatures__degree": [1, 2, 3, 5]}
    with counted(monkeypatch) as seen:
        fast = tr.risk_curve(model, grid, x, y, cv="loo")
    assert seen == {"asked": 0, "passes": 0}
    slow = tr.risk_curve(model, grid, x, y, cv="loo", engine="generic")
    np.testing.assert_allclose(fast.values, slow.values, rtol=1e-8)


# ---------------------------------------------------------------- steps before the learner


@pytest.mark.parametrize(
    ("step", "asked"),
    [
        (Normalizer(), False),
        (Normalizer(copy=False), False),
        (PolynomialFeatures(2), False),
        (FunctionTransformer(np.float32), True),
        (OneHotEncoder(handle_unknown="ignore"), True),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), False),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["loo", "3-fold"])
def test_steps_before_the_learner(monkeypatch, step, asked, method):
    """Rowwise steps are shared; single precision and sparse columns are left to the learner."""
    rng = np.random.default_rng(8)
    X = np.round(rng.normal(size=(15, 3)), 1)
    kept = X.copy()
    data = Data.check(X, rng.normal(size=15), task="regression")
    plan = tr.methods.as_method(method).plan(data, Streams(0))
    family = family_of(make_pipeline(step, Ridge()), {"ridge__alpha": [0.1, 1.0]})
    require_equal(family, data, plan, "value")
    with counted(monkeypatch) as seen:
        ENGINE.run(family, data, plan, Request("value"), RunOptions())
    assert seen["asked"] == (2 * plan.n_fits if asked else 0)
    np.testing.assert_array_equal(X, kept)


@pytest.mark.parametrize("engine", ["least-squares", "generic"])
def test_what_a_step_spoils_is_said_by_the_learner(engine):
    """A step that gives infinite cells makes the learner's own complaint, not a NaN."""
    X = np.arange(20.0).reshape(10, 2)
    model = make_pipeline(FunctionTransformer(np.log), Ridge())
    with np.errstate(divide="ignore"), pytest.raises(FitFailed, match="infinity"):
        tr.estimate_risk(model, X, np.arange(10.0), cv="3-fold", engine=engine)
