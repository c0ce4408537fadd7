"""The least-squares engine equals scikit-learn wherever it does not refuse."""

import numpy as np
import pytest
from hypothesis import example, given, settings
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
from tests.engines.closed_forms import family_of, fits_made, plan_of, require_numbers
from tests.support.data import checked, normal_rows
from tests.support.fitted_once import fitted_once

import truerisk as tr
from truerisk.engines import LeastSquares
from truerisk.extend import Request
from truerisk.methods import Nested

ENGINE = LeastSquares()
VALUE = Request("value")
ALPHAS = [1e-6, 1e-2, 1.0, 1e3]


# ---------------------------------------------------------------- what it is asked about

KINDS = ["plain", "wide", "scaled", "collinear", "constant", "far", "dummy", "copies", "condition"]
METHODS = ["loo", "4-fold", "2x3-fold", "monte-carlo", "reversed 3-fold", "apparent", "bootstrap"]
METHODS = st.sampled_from([*METHODS, Nested("3-fold", "loo")])


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


@settings(max_examples=14, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**31),
    method=METHODS,
    model=st.sampled_from([LinearRegression(), Ridge(), Ridge(solver="svd")]),
    n_targets=st.sampled_from([1, 1, 3]),
    weighted=st.sampled_from(["no", "yes", "zeros"]),
    some=st.booleans(),
)
def test_least_squares_numbers_are_scikit_learns(
    kind, seed, method, model, n_targets, weighted, some
):
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
    data = checked(X, y, fit_params=params)
    plan = plan_of(method, data, seed)
    only = rng.integers(0, len(family), plan.n_fits) if some else None
    require_numbers(ENGINE, family, data, plan, only=only)


@settings(max_examples=9, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**31),
    method=METHODS,
    n_classes=st.integers(2, 4),
    class_weight=st.sampled_from([None, "balanced", {"a": 3.0, "b": 0.5, "c": 1.0, "d": 1.0}]),
    weighted=st.booleans(),
)
@example("plain", 0, "bootstrap", 3, None, False)  # fits with a label flipped
def test_least_squares_classes_are_scikit_learns(
    kind, seed, method, n_classes, class_weight, weighted
):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 24))
    X = table(kind, rng, n)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, 2, n - n_classes)])
    y = np.array(["a", "b", "c", "d"])[rng.permutation(y)]
    if isinstance(class_weight, dict):
        class_weight = {name: class_weight[name] for name in np.unique(y)}
    params = {"sample_weight": rng.random(n) + 0.1} if weighted else {}
    family = family_of(RidgeClassifier(class_weight=class_weight), {"alpha": ALPHAS})
    data = checked(X, y, fit_params=params)
    with fitted_once(RidgeClassifier):
        for response in ("label", "score")[: 2 if n_classes == 2 else 1]:
            require_numbers(ENGINE, family, data, plan_of(method, data, seed), response)


# ---------------------------------------------------------------- golden numbers


@pytest.mark.parametrize("shape", [(40, 7), (15, 60)])
@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_left_out_has_the_errors_that_ridgecv_stores(shape, intercept):
    X, _, y = normal_rows(*shape)
    X = X + 2
    curve = tr.risk_curve(Ridge(fit_intercept=intercept), {"alpha": ALPHAS[1:]}, X, y, cv="loo")
    assert curve.common.engine == "least-squares"
    stored = RidgeCV(ALPHAS[1:], fit_intercept=intercept, store_cv_results=True).fit(X, y)
    found = np.array([estimate.losses for estimate in curve])
    np.testing.assert_allclose(found, stored.cv_results_.T, rtol=1e-7)


def test_least_squares_left_out_is_press_as_r_computes_it():
    # R: x <- c(1,2,4,8,13,21,31); y <- c(2,1,5,7,12,24,28); f <- lm(y~x)
    #    mean((residuals(f)/(1-hatvalues(f)))^2)
    x, y = np.array([1.0, 2, 4, 8, 13, 21, 31]), np.array([2.0, 1, 5, 7, 12, 24, 28])
    found = tr.estimate_risk(LinearRegression(), x[:, None], y, cv="loo")
    assert found.engine == "least-squares"
    assert found.value == pytest.approx(8.91751978959189, rel=1e-10)


@pytest.mark.parametrize("word", ["cp", "gcv", "aic", "aicc", "bic"])
@pytest.mark.parametrize("weighted", [False, True])
def test_criteria_of_least_squares_are_those_of_the_fitted_models(word, weighted):
    """One pass gives the degrees of freedom of all penalties, collinear columns and all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 7))
    X[:, 3], X[:, 4] = X[:, 2], 1.0
    y = X[:, 0] + rng.normal(size=40)
    weights = rng.uniform(0.2, 2, 40) if weighted else None
    families = (
        (Ridge(), {"alpha": [0.0, 1e-3, 1.0, 100.0], "fit_intercept": [True, False]}),
        (LinearRegression(), {"fit_intercept": [True, False]}),
    )
    for model, grid in families:
        ours, generic = (
            tr.risk_curve(model, grid, X, y, cv=word, sample_weight=weights, engine=engine)
            for engine in ("least-squares", "generic")
        )
        assert np.allclose(ours.values, generic.values, rtol=1e-8, atol=0, equal_nan=True)


# ---------------------------------------------------------------- steps, and what is fitted


X, _, Y = normal_rows(25, 4, seed=2)
X = X * [1, 10, 100, 0.1] + 3
BETWEEN = np.linspace(-1, 1, 25)[:, None]  # where powers are well scaled
ENCODED = OneHotEncoder(handle_unknown="ignore")
DENSE = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
POWERS = PolynomialFeatures(3, include_bias=False)


@pytest.mark.parametrize(
    ("step", "model", "X", "asked", "passes"),
    [
        (StandardScaler(), LinearRegression(), X, 0, 0),
        (MinMaxScaler(), LinearRegression(), X, 0, 0),
        (StandardScaler(with_std=False), LinearRegression(), X, 0, 0),
        (StandardScaler(), Ridge(), X, 0, 25),  # a penalty minds how columns are scaled
        (MinMaxScaler(), Ridge(), X, 0, 25),
        (StandardScaler(with_std=False), Ridge(), X, 0, 25),
        (MinMaxScaler(clip=True), LinearRegression(), X, 0, 25),  # which is not linear
        (POWERS, LinearRegression(), BETWEEN, 0, 0),
        (Normalizer(), Ridge(), X, 0, 0),
        (Normalizer(copy=False), Ridge(), X, 0, 0),
        (PolynomialFeatures(2), Ridge(), BETWEEN, 0, 0),
        (FunctionTransformer(np.float32), Ridge(), X, 25, None),
        (ENCODED, Ridge(), np.round(X), 25, None),  # sparse
        (DENSE, Ridge(), np.round(X), 0, 25),
    ],
    ids=str,
)
def test_least_squares_behind_a_step_looks_at_train_sets_where_it_must(
    step, model, X, asked, passes
):
    """Rowwise steps are shared; single precision and sparse columns are left to the learner."""
    y = Y + X.sum(axis=1) if isinstance(model, LinearRegression) else Y
    kept, data, family = X.copy(), checked(X, y), family_of(make_pipeline(step, model))
    for method in ("loo", "3-fold"):
        require_numbers(ENGINE, family, data, method)
    np.testing.assert_array_equal(X, kept)
    made = fits_made(ENGINE, family, data, "loo", VALUE)
    assert made["asked"] == asked
    assert asked or made["passes"] == passes
    folds = fits_made(ENGINE, family, data, "3-fold", VALUE)
    assert folds["asked"] == (3 if asked else 0)
