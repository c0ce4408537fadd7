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
from truerisk.core.contracts import Request, RunOptions, Streams
from truerisk.core.errors import FitFailed, Refusal
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import ALL
from truerisk.core.table.data import Data
from truerisk.engines.linear.least_squares import LeastSquares

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


@settings(max_examples=40, deadline=None)
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


@settings(max_examples=25, deadline=None)
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
    curve = tr.risk_curve(Ridge(fit_intercept=intercept), grid, X, y, method="loo")
    assert curve.common.engine == "least-squares"
    stored = RidgeCV(ALPHAS[1:], fit_intercept=intercept, store_cv_results=True).fit(X, y)
    found = np.array([estimate.losses for estimate in curve])
    np.testing.assert_allclose(found, stored.cv_results_.T, rtol=1e-7)


def test_press_of_least_squares():
    """The mean of (residual / (1 - hat value)) squared, as R computes it."""
    # R: x <- c(1,2,4,8,13,21,31); y <- c(2,1,5,7,12,24,28); f <- lm(y~x)
    #    mean((residuals(f)/(1-hatvalues(f)))^2)
    x, y = np.array([1.0, 2, 4, 8, 13, 21, 31]), np.array([2.0, 1, 5, 7, 12, 24, 28])
    found = tr.estimate_risk(LinearRegression(), x[:, None], y, method="loo")
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
        tr.risk_curve(Ridge(), {"alpha": ALPHAS[1:]}, X, y, method=method)
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
        fast = tr.risk_curve(model, grid, x, y, method="loo")
    assert seen == {"asked": 0, "passes": 0}
    slow = tr.risk_curve(model, grid, x, y, method="loo", engine="generic")
    np.testing.assert_allclose(fast.values, slow.values, rtol=1e-8)


# ---------------------------------------------------------------- honest about rounding


def ill_conditioned(condition, rng, n=40, p=6):
    U, _, Vt = np.linalg.svd(rng.normal(size=(n, p)), full_matrices=False)
    return (U * np.logspace(0, -np.log10(condition), p)) @ Vt * n**0.5


@pytest.mark.parametrize("condition", [1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("method", ["loo", "5-fold"])
@pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(alpha=1e-10), Ridge(alpha=1e-14, solver="svd")], ids=str
)
def test_condition_numbers_up_to_1e12(condition, method, model):
    """Where rounding could move an answer, scikit-learn is asked, and the answer is its own."""
    rng = np.random.default_rng(5)
    X = ill_conditioned(condition, rng)
    data = Data.check(X, X.sum(axis=1) + rng.normal(size=40), task="regression")
    plan = tr.methods.as_method(method).plan(data, Streams(0))
    require_equal(family_of(model), data, plan, "value")


def test_copies_do_not_hide_that_rows_are_fewer_than_columns():
    """Groups drawn twice make enough rows, and too few different ones: no penalty is asked."""
    rng = np.random.default_rng(0)
    X, y = np.round(2 * rng.normal(size=(20, 24))), rng.normal(size=20)
    model, boot = Ridge(solver="svd", fit_intercept=False), tr.methods.Bootstrap("oob", 10)
    for seed in range(6):
        given = {"groups": np.random.default_rng(seed).integers(0, 8, 20), "method": boot}
        fast, slow = (
            tr.risk_curve(model, {"alpha": [0.0, 0.1]}, X, y, engine=engine, **given)
            for engine in ("least-squares", "generic")
        )
        np.testing.assert_allclose(fast.values, slow.values, rtol=1e-9)


def test_badly_scaled_columns_are_answered_from_the_rows(monkeypatch):
    """Columns in units 10^4 apart need the rows themselves, not their product, and no fit."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, 4)) * [1, 1e4, 10, 1e3]
    y = X @ [1, 1e-4, 0.1, 1e-3] + rng.normal(size=40)
    data = Data.check(X, y, task="regression")
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    for model in (Ridge(), LinearRegression()):
        require_equal(family_of(model), data, plan, "value")
        with counted(monkeypatch) as seen:
            ENGINE.run(family_of(model), data, plan, Request("value"), RunOptions())
        assert seen == {"asked": 0, "passes": 0}


def test_a_row_of_leverage_one_is_fitted_without_and_named():
    """Only row 7 has a 1 in the last column: without it the column's coefficient is open."""
    rng = np.random.default_rng(7)
    X = np.c_[rng.normal(size=(20, 2)), np.arange(20) == 7]
    y = rng.normal(size=20)
    fast = tr.estimate_risk(LinearRegression(), X, y, method="loo")
    assert fast.engine == "least-squares"
    assert any("leverage 1 in 1 row(s) (7)" in note for note in fast.notes)
    slow = tr.estimate_risk(LinearRegression(), X, y, method="loo", engine="generic")
    np.testing.assert_allclose(fast.losses, slow.losses, rtol=1e-8)
    ridge = tr.estimate_risk(Ridge(), X, y, method="loo")
    assert not any("leverage" in note for note in ridge.notes)


@pytest.mark.parametrize("method", ["loo", "3-fold"])
def test_warnings_of_the_learner_are_repeated(method):
    """A singular system that scikit-learn warns of is warned of here as well."""
    X = np.c_[np.arange(12.0), np.arange(12.0), np.arange(12.0) ** 2]
    said = []
    for engine in ("generic", "least-squares"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tr.estimate_risk(Ridge(alpha=1e-12), X, X[:, 0], method=method, engine=engine)
        said.append([str(w.message) for w in caught])
    assert any("ill-conditioned" in text.lower() for text in said[0])
    assert said[0] == said[1]


@pytest.mark.parametrize("method", ["loo", "4-fold"])
def test_near_ties_of_classes_are_decided_by_scikit_learn(monkeypatch, method):
    """Constant columns give classes equal scores; whose label wins is scikit-learn's to say."""
    X, y = np.ones((12, 2)), np.arange(12) % 3
    data = Data.check(X, y, task="classification")
    plan = tr.methods.as_method(method).plan(data, Streams(0))
    family = family_of(RidgeClassifier(), {"alpha": [0.1, 1.0]})
    require_equal(family, data, plan, "label")
    with counted(monkeypatch) as seen:
        ENGINE.run(family, data, plan, Request("label"), RunOptions())
    assert seen["asked"] == 2 * plan.n_fits


def test_a_class_that_only_the_left_out_row_has_is_no_answer():
    """Without an intercept its column of -1 would extrapolate to the highest score."""
    X = np.array([1.0, 1.1, 1.2, 1.3, -5.0])[:, None]
    data = Data.check(X, ["a", "b", "a", "b", "c"], task="classification")
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    require_equal(family_of(RidgeClassifier(fit_intercept=False)), data, plan, "label")


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
        tr.estimate_risk(model, X, np.arange(10.0), method="3-fold", engine=engine)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (LinearRegression(positive=True), "no closed form"),
        (Ridge(positive=True), "no closed form"),
        (Ridge(solver="lsqr"), "stops near the solution"),
        (Ridge(solver="saga"), "stops near the solution"),
        (Ridge(alpha=[1.0, 2.0]), "one penalty per target"),
        (Ridge(alpha=-1.0), "is no penalty"),
        (Ridge(alpha=np.nan), "is no penalty"),
        (Ridge(fit_intercept="yes"), "nothing that scikit-learn allows"),
        (Ridge(max_iter=0), "nothing that scikit-learn allows"),
        (RidgeCV(), "not LinearRegression or Ridge"),
    ],
)
def test_what_it_does_not_serve_it_refuses(model, why):
    """Each refusal is a sentence with its reason."""
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    data = Data.check(X, y, task="regression")
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    assert why in ENGINE.refuse(family_of(model), data, plan, Request("value"))


def test_no_columns_are_left_to_the_learner():
    """A table, or a step's output, without columns: scikit-learn says what is missing."""
    X, y = np.arange(16.0).reshape(8, 2), np.arange(8.0)
    nothing = make_pipeline(FunctionTransformer(lambda X: X[:, :0]), Ridge())
    for model, table in ((Ridge(), X[:, :0]), (nothing, X)):
        with pytest.raises(FitFailed, match=r"0 feature\(s\)"):
            tr.estimate_risk(model, table, y, method="4-fold")


@pytest.mark.parametrize(
    ("grid", "why"),
    [
        ({"alpha": [1.0, -1.0]}, "alpha=-1.0 is no penalty"),
        ({"alpha": [1.0, 2.0], "solver": ["svd", "lsqr"]}, "solver='lsqr' stops near"),
    ],
)
def test_every_setting_is_looked_at(grid, why):
    """One setting that is not served is enough, wherever it differs from the first."""
    data = Data.check(np.arange(12.0).reshape(6, 2), np.arange(6.0), task="regression")
    plan = tr.methods.KFold(2).plan(data, Streams(0))
    assert why in ENGINE.refuse(family_of(Ridge(), grid), data, plan, Request("value"))


def test_weights_below_zero_and_probabilities_are_refused():
    """scikit-learn knows neither; the generic engine says so in its words."""
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    plan = PlanBuilder(6)
    plan.ask((ALL, ()), (ALL, ()))
    weights = {"sample_weight": np.array([1.0, -1, 1, 1, 1, 1])}
    data = Data.check(X, y.astype(float), task="regression", fit_params=weights)
    found = ENGINE.refuse(family_of(Ridge()), data, plan.build(), Request("value"))
    assert "negative" in found
    data = Data.check(X, y, task="classification")
    found = ENGINE.refuse(family_of(RidgeClassifier()), data, plan.build(), Request("probability"))
    assert "no probabilities" in found
    with pytest.raises(Refusal):
        tr.estimate_risk(RidgeClassifier(), X, y, method="loo", loss="log", engine="least-squares")


@pytest.mark.parametrize(
    "model", [Ridge(alpha=0), Ridge(alpha=0, solver="svd"), LinearRegression()]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_column_of_one_value_is_the_learners_own_affair(model, weighted):
    """What a mean is off by is no direction: of a column that varies by rounding it is asked."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(5, 14)), int(rng.integers(1, 3))))
        X[:, 0 if seed % 3 else slice(None)] = rng.choice([0.1, 3.3, 1e8 / 3, 1e-5 / 3])
        weights = rng.integers(1, 3, size=len(X)).astype(float) if weighted else None
        given = {} if weights is None else {"sample_weight": weights}
        data = Data.check(X, rng.normal(size=len(X)), task="regression", fit_params=given)
        for method in map(tr.methods.as_method, ("3-fold", "5-fold", "loo")):
            plan = method.plan(data, Streams(0))
            found, expected = both(LeastSquares(), family_of(model), data, plan, Request("value"))
            assert np.allclose(found, expected, rtol=1e-9, atol=1e-10), (seed, method.word)
