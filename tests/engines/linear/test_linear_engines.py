"""The linear engines equal scikit-learn wherever they do not refuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from tests.engines.closed_forms import (
    both,
    counted,
    family_of,
    fits_made,
    kit,
    plan_of,
    refusal_of,
    require_numbers,
    warnings_of,
)
from tests.support.data import checked, normal_rows

import truerisk as tr
from truerisk.engines import ElasticNets, Generic, KernelRidges, LeastSquares, choose_engine
from truerisk.engines.linear import elastic_net
from truerisk.exceptions import FitFailed
from truerisk.extend import Request
from truerisk.methods import Nested

VALUE = Request("value")
LEAST_SQUARES = {
    "least squares": (LinearRegression(), {"fit_intercept": [True, False]}),
    "ridge": (Ridge(), {"alpha": [0.1, 10.0], "fit_intercept": [True, False]}),
    "svd": (Ridge(solver="svd"), {"alpha": [0.1, 10.0]}),
    "classes": (RidgeClassifier(), {"alpha": [0.1, 1.0, 10.0]}),
    "balanced": (RidgeClassifier(class_weight="balanced"), {"alpha": [0.1, 1.0]}),
    "scaled": (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 10.0]}),
}
KERNEL_RIDGES = {
    "linear": (KernelRidge(), {"alpha": [0.1, 10.0]}),
    "rbf": (KernelRidge(kernel="rbf"), {"alpha": [0.1, 10.0], "gamma": [None, 0.5]}),
    "scaled": (make_pipeline(StandardScaler(), KernelRidge()), {"kernelridge__alpha": [0.1, 1.0]}),
}
ELASTIC_NETS = {
    "lasso": (Lasso(), {"alpha": [0.01, 0.3]}),
    "mixed": (ElasticNet(fit_intercept=False), {"alpha": [0.05, 1.0], "l1_ratio": [0.2, 0.9]}),
    "scaled": (make_pipeline(StandardScaler(), Lasso()), {"lasso__alpha": [0.01, 0.1]}),
}
CHECKS = [
    *kit(LeastSquares(), LEAST_SQUARES),
    *kit(KernelRidges(), KERNEL_RIDGES),
    *kit(ElasticNets(), ELASTIC_NETS),
]


@pytest.mark.parametrize("check", CHECKS)
def test_linear_engines_conform(check):
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
    method=st.sampled_from(["loo", "4-fold", "monte-carlo", Nested("3-fold", "3-fold")]),
    far=st.sampled_from([0.0, 1e3, 1e9]),
    tol=st.sampled_from([1e-12, 1e-7, 1e-4, 0.1]),
    most=st.sampled_from([1, 3, 1000]),
    weighted=st.sampled_from(["no", "yes", "zeros"]),
    scaled=st.booleans(),
)
def test_elastic_nets_are_scikit_learns(seed, method, far, tol, most, weighted, scaled):
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
        model = make_pipeline(StandardScaler(), model)
        grid, params = (
            {f"elasticnet__{name}": values for name, values in given.items()}
            for given in (grid, params)
        )
    data = checked(X, y, fit_params=params)
    found, expected = both(ElasticNets(), family_of(model, grid), data, method, VALUE)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


KERNELS = ["linear", "rbf", "poly", "laplacian", "cosine", "sigmoid", "chi2", "additive_chi2"]
METHODS = ["loo", "4-fold", "monte-carlo", "reversed 3-fold", "apparent", "bootstrap"]


@settings(max_examples=7, deadline=None)
@given(
    kernel=st.sampled_from(KERNELS),
    seed=st.integers(0, 2**31),
    method=st.sampled_from([*METHODS, Nested("3-fold", "loo")]),
    far=st.booleans(),
    n_targets=st.sampled_from([1, 2]),
    weighted=st.sampled_from(["no", "yes", "zeros"]),
    some=st.booleans(),
)
def test_kernel_ridges_are_scikit_learns(kernel, seed, method, far, n_targets, weighted, some):
    """Any kernel, plan, weights and targets, penalties from 0 to 100, rows far from zero."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 22))
    X = rng.uniform(size=(n, int(rng.integers(1, 6)))) + 100.0 * far
    X[: n // 3] = X[n // 3 : 2 * (n // 3)]
    y = np.squeeze(rng.normal(size=(n, n_targets)) + 5 * rng.normal())
    params = {} if weighted == "no" else {"sample_weight": rng.random(n) + 0.1}
    if weighted == "zeros":
        params["sample_weight"][rng.permutation(n)[:2]] = 0.0  # fewer than any training set has
    data = checked(X, y, fit_params=params)
    grid = {"alpha": [0.0, 1e-9, 1e-4, 1.0, 100.0], "gamma": [0.3, 1.0]}
    family, plan = family_of(KernelRidge(kernel=kernel), grid), plan_of(method, data, seed)
    only = rng.integers(0, len(family), plan.n_fits) if some else None
    require_numbers(KernelRidges(), family, data, plan, only=only)


LINE = {"alpha": np.logspace(-1, 0, 10).tolist()}
RBF = KernelRidge(kernel="rbf")


@pytest.mark.parametrize(
    ("engine", "model", "shape", "method", "passes"),
    [
        (LeastSquares, Ridge(), (30, 5), "loo", 0),
        (LeastSquares, Ridge(), (30, 5), "5-fold", 0),
        (LeastSquares, Ridge(), (12, 40), "loo", 0),
        (LeastSquares, Ridge(), (12, 40), "5-fold", 0),
        (KernelRidges, KernelRidge(), (30, 4), "loo", 0),
        (KernelRidges, KernelRidge(), (30, 4), "5-fold", 0),
        (KernelRidges, RBF, (30, 4), "loo", 0),
        (KernelRidges, RBF, (30, 4), "5-fold", 0),
        (ElasticNets, Lasso(), (442, 10), "5-fold", 5),
        (ElasticNets, Lasso(), (60, 90), "5-fold", 5),
        (ElasticNets, Lasso(), (2000, 20), "5-fold", 5),
        (ElasticNets, Lasso(), (30, 700), "5-fold", 5),
    ],
)
def test_linear_engines_make_no_fit_of_plain_rows(engine, model, shape, method, passes):
    """Rows are answered from shared products, or by one pass over each train set."""
    X, y = normal_rows(*shape)[::2]
    made = fits_made(engine(), family_of(model, LINE), checked(X, y), method, VALUE)
    assert made == {"asked": 0, "passes": passes}


@pytest.mark.parametrize("method", ["loo", "4-fold"])
def test_kernel_ridges_weigh_the_rows_of_each_fit(method):
    X, y = normal_rows(20, 3)[::2]
    data = checked(X, y, fit_params={"sample_weight": np.linspace(0.1, 1.1, 20)})
    require_numbers(KernelRidges(), family_of(RBF, {"alpha": [0.1, 1.0]}), data, method)


ROWS, TARGET = np.arange(20.0).reshape(10, 2), np.arange(10.0)
WEIGHTS = np.r_[np.zeros(6), 1.0, np.zeros(3)]
LOG = make_pipeline(FunctionTransformer(np.log), Ridge())
NO_COLUMNS = make_pipeline(FunctionTransformer(lambda X: X[:, :0]), Ridge())


@pytest.mark.parametrize(
    ("model", "X", "weights", "reason"),
    [
        (Ridge(), ROWS, WEIGHTS, "(?i)weights"),  # all of them zero in a train set
        (LOG, ROWS, None, "infinity"),
        (Ridge(), ROWS[:, :0], None, r"0 feature\(s\)"),
        (NO_COLUMNS, ROWS, None, r"0 feature\(s\)"),
        (KernelRidge(kernel="chi2", gamma=1.0), ROWS - 10, None, "negative"),
    ],
)
@pytest.mark.parametrize("engine", ["auto", "generic"])
def test_linear_engines_fail_where_the_learner_fails_and_in_its_words(
    model, X, weights, reason, engine
):
    given = {"sample_weight": weights, "engine": engine}
    for method in ("loo", "4-fold"):
        with np.errstate(divide="ignore"), pytest.raises(FitFailed, match=reason):
            tr.estimate_risk(model, X, TARGET, cv=method, **given)


TWICE = np.repeat(np.arange(6.0), 2)[:, None]
POWERS = np.c_[np.arange(12.0), np.arange(12.0), np.arange(12.0) ** 2]
CORRELATED = table(np.random.default_rng(1), 40, 9)
STOPPED = Lasso(max_iter=2, tol=1e-9)


@pytest.mark.parametrize(
    ("engine", "model", "grid", "X", "method", "warned"),
    [
        (LeastSquares, Ridge(alpha=1e-12), None, POWERS, "loo", "ill-conditioned"),
        (LeastSquares, Ridge(alpha=1e-12), None, POWERS, "3-fold", "ill-conditioned"),
        (KernelRidges, KernelRidge(alpha=0.0), None, TWICE, "3-fold", "singular"),
        (ElasticNets, STOPPED, {"alpha": [1e-4, 1e5]}, CORRELATED, "4-fold", "[4 times in 8 fits]"),
    ],
)
def test_linear_engines_warn_as_the_learner_warns(engine, model, grid, X, method, warned):
    data = checked(X, np.sin(np.arange(len(X))))
    given = family_of(model, grid), data, plan_of(method, data), VALUE
    with counted() as seen:
        found, ours = warnings_of(engine(), *given)
    expected, theirs = warnings_of(Generic(), *given)
    assert any(warned in sentence.lower() for sentence in theirs)
    assert ours == theirs
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-8)
    assert engine is not ElasticNets or seen["asked"] == 1  # one fit warns for all


X = np.arange(12.0).reshape(6, 2)
REFUSED = {
    LeastSquares: [
        (LinearRegression(positive=True), None, "no closed form"),
        (Ridge(positive=True), None, "no closed form"),
        (Ridge(solver="lsqr"), None, "stops near the solution"),
        (Ridge(solver="saga"), None, "stops near the solution"),
        (Ridge(), {"alpha": [1.0, 2.0], "solver": ["svd", "lsqr"]}, "solver='lsqr' stops near"),
        (Ridge(alpha=[1.0, 2.0]), None, "one penalty per target"),
        (Ridge(alpha=-1.0), None, "is no penalty"),
        (Ridge(), {"alpha": [1.0, -1.0]}, "alpha=-1.0 is no penalty"),
        (Ridge(alpha=np.nan), None, "is no penalty"),
        (Ridge(fit_intercept="yes"), None, "nothing that scikit-learn allows"),
        (Ridge(max_iter=0), None, "nothing that scikit-learn allows"),
        (Ridge(tol=-1.0), None, "nothing that scikit-learn allows"),
        (Ridge(tol="1e-4"), None, "nothing that scikit-learn allows"),
        (RidgeCV(), None, "not LinearRegression or Ridge"),
    ],
    KernelRidges: [
        (KernelRidge(kernel="precomputed"), None, "rows against rows"),
        (KernelRidge(kernel=np.dot), None, "none of those"),
        (KernelRidge(kernel="thing"), None, "none of those"),
        (KernelRidge(alpha=[1.0, 2.0]), None, "one penalty per target"),
        (KernelRidge(alpha=-1.0), None, "is no penalty"),
        (KernelRidge(gamma=-1.0), None, "nothing that scikit-learn allows"),
        (KernelRidge(degree="2"), None, "nothing that scikit-learn allows"),
        (KernelRidge(kernel_params={"a": 1}), None, "functions"),
        (Ridge(), None, "not KernelRidge"),
    ],
    ElasticNets: [
        (Lasso(positive=True), None, "positive=True takes other steps"),
        (Lasso(selection="random", random_state=0), None, "selection='random' takes other steps"),
        (Lasso(warm_start=True), None, "warm_start=True takes other steps"),
        (Lasso(precompute=True), None, "precompute=True takes other steps"),
        (Lasso(precompute=np.eye(2)), None, "takes other steps"),
        (Lasso(alpha=0.0), None, "without a lasso penalty"),
        (ElasticNet(l1_ratio=0.0), None, "without a lasso penalty"),
        (Lasso(alpha=-1.0), None, "is no penalty"),
        (Lasso(tol=0.0), None, "no place to stop at"),
        (Lasso(max_iter=None), None, "max_iter=None is nothing that it knows"),
        (Lasso(fit_intercept="yes"), None, "nothing that it knows"),
        (Ridge(), None, "not Lasso or ElasticNet"),
    ],
}


SCALED = make_pipeline(StandardScaler(), Ridge())
NEGATIVE = checked(X, X[:, 0], fit_params={"sample_weight": np.array([1.0, -1, 1, 1, 1, 1])})
PLAIN, HALVES = checked(X, X[:, 0]), checked(X, np.arange(6) % 2)


@pytest.mark.parametrize(
    ("engine", "model", "grid", "data", "method", "request_", "reason"),
    [
        *(
            (engine, model, grid, PLAIN, "loo", VALUE, reason)
            for engine, rows in REFUSED.items()
            for model, grid, reason in rows
        ),
        (LeastSquares, Ridge(), None, NEGATIVE, "loo", VALUE, "negative"),
        (
            LeastSquares,
            RidgeClassifier(),
            None,
            HALVES,
            "loo",
            Request("probability"),
            "no probabilities",
        ),
        # each target stops elsewhere
        (ElasticNets, Lasso(), None, checked(X, X), "loo", VALUE, "one number per row"),
        # A step may look at y, which a hat matrix does not tell.
        (LeastSquares, SCALED, None, PLAIN, "gcv", VALUE, "other steps"),
    ],
)
def test_linear_engines_refuse_what_they_do_not_serve(
    engine, model, grid, data, method, request_, reason
):
    assert reason in refusal_of(engine(), model, data, method, request_, grid)


def test_elastic_nets_leave_a_release_of_other_steps_to_itself(monkeypatch):
    assert elastic_net.sklearn_screens_columns() is not None
    monkeypatch.setattr(elastic_net, "_matches_sklearn", lambda screens, problem: problem[0] < 1)
    elastic_net.sklearn_screens_columns.cache_clear()
    try:
        data = checked(X, X[:, 0])
        assert "other steps" in refusal_of(ElasticNets(), Lasso(), data, request=Request("value"))
    finally:
        elastic_net.sklearn_screens_columns.cache_clear()


def test_auto_leaves_few_penalties_of_a_large_wide_table_to_lasso_itself():
    X, y = normal_rows(120, 4000)[::2]
    data = checked(X, y)
    for alphas, word in (([0.1, 0.2, 0.3], "generic"), ([0.1, 0.2, 0.3, 0.4], "elastic-net")):
        given = family_of(Lasso(), {"alpha": alphas}), data, plan_of("3-fold", data), VALUE
        assert choose_engine("auto", *given)[0].name == word
