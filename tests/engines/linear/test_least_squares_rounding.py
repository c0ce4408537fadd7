"""Where rounding could move an answer of least squares, the learner is asked, and only there."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from tests.engines.closed_forms import both, counted, family_of
from tests.engines.linear.test_least_squares import ENGINE, require_equal

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.data.data import Data
from truerisk.engines.linear.least_squares import LeastSquares


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


COPIES = [[2.0, -3.0, 1.0, 0.5, 2.0, 7.0], [-1.0, 5.0, -1.0, 2.0, 0.2, 3.0]]


@pytest.mark.filterwarnings("ignore::truerisk.core.errors.DuplicateRowsWarning")
@pytest.mark.parametrize("n_features", [1, 2, 6])
@pytest.mark.parametrize("method", ["2-fold", "loo"])
@pytest.mark.parametrize("location", [0.0, 1000.0])
def test_rows_that_are_all_alike_leave_a_tiny_penalty_to_the_learner(n_features, method, location):
    """Centred, such rows are rounding, which a penalty of 1e-12 makes as large as the targets."""
    rng, alpha = np.random.default_rng(0), {"alpha": [1e-12, 1e-9]}
    for _ in range(4):
        X = np.array(COPIES)[rng.integers(2, size=6), :n_features] + location
        y, weights = 1000.0 + rng.integers(-3, 4, 6), 0.1 * rng.integers(1, 10, 6)
        fast, slow = (
            tr.risk_curve(Ridge(), alpha, X, y, cv=method, sample_weight=weights, engine=engine)
            for engine in ("least-squares", "generic")
        )
        for ours, own in zip(fast, slow, strict=True):
            np.testing.assert_allclose(np.sqrt(ours.losses), np.sqrt(own.losses), atol=1e-8)


def test_copies_do_not_hide_that_rows_are_fewer_than_columns():
    """Groups drawn twice make enough rows, and too few different ones: no penalty is asked."""
    rng = np.random.default_rng(0)
    X, y = np.round(2 * rng.normal(size=(20, 24))), rng.normal(size=20)
    model, boot = Ridge(solver="svd", fit_intercept=False), tr.methods.Bootstrap("oob", 10)
    for seed in range(6):
        given = {"groups": np.random.default_rng(seed).integers(0, 8, 20), "cv": boot}
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
    fast = tr.estimate_risk(LinearRegression(), X, y, cv="loo")
    assert fast.engine == "least-squares"
    assert any("leverage 1 in 1 row(s) (7)" in note for note in fast.notes)
    slow = tr.estimate_risk(LinearRegression(), X, y, cv="loo", engine="generic")
    np.testing.assert_allclose(fast.losses, slow.losses, rtol=1e-8)
    ridge = tr.estimate_risk(Ridge(), X, y, cv="loo")
    assert not any("leverage" in note for note in ridge.notes)


@pytest.mark.parametrize("method", ["loo", "3-fold"])
def test_warnings_of_the_learner_are_repeated(method):
    """A singular system that scikit-learn warns of is warned of here as well."""
    X = np.c_[np.arange(12.0), np.arange(12.0), np.arange(12.0) ** 2]
    said = []
    for engine in ("generic", "least-squares"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tr.estimate_risk(Ridge(alpha=1e-12), X, X[:, 0], cv=method, engine=engine)
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


@pytest.mark.parametrize(
    "model", [Ridge(alpha=0), Ridge(alpha=0, solver="svd"), LinearRegression()]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_column_of_one_value_is_the_learners_own_affair(model, weighted):
    """What a mean is off by is no direction: of a column that varies by rounding it is asked."""
    for seed in range(6):
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


def test_wide_rows_are_not_decomposed_where_the_learner_decides_in_any_case(monkeypatch):
    """Beside cells of 10⁴ a penalty of .01 is rounding to a null direction of centred rows."""
    monkeypatch.setattr("truerisk.engines.linear.fit.from_rows", None)  # an SVD of the rows
    rng = np.random.default_rng(0)
    X, y = 1e4 * rng.lognormal(size=(30, 400)), rng.normal(size=30)
    data = Data.check(X, y, task="regression")
    plan = tr.methods.as_method("5-fold").plan(data, Streams(0))
    with counted(monkeypatch) as seen:
        require_equal(family_of(Ridge(), {"alpha": [1e-4, 1e6]}), data, plan, "value")
    assert seen["asked"] == 5
