"""Where rounding could move an answer of least squares, the learner is asked, and only there."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from tests.engines.closed_forms import (
    both,
    family_of,
    fits_made,
    plan_of,
    require_numbers,
)
from tests.support.data import checked

import truerisk as tr
from truerisk.engines import LeastSquares
from truerisk.extend import Request
from truerisk.methods import Bootstrap

ENGINE = LeastSquares()
VALUE, LABEL = Request("value"), Request("label")


def ill_conditioned(condition, rng, n=40, p=6):
    U, _, Vt = np.linalg.svd(rng.normal(size=(n, p)), full_matrices=False)
    return (U * np.logspace(0, -np.log10(condition), p)) @ Vt * n**0.5


@pytest.mark.parametrize("condition", [1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(alpha=1e-10), Ridge(alpha=1e-14, solver="svd")], ids=str
)
def test_least_squares_of_any_condition_number_is_the_learners(condition, model):
    rng = np.random.default_rng(5)
    X = ill_conditioned(condition, rng)
    data = checked(X, X.sum(axis=1) + rng.normal(size=40))
    for method in ("loo", "5-fold"):
        require_numbers(ENGINE, family_of(model), data, method)


COPIES = [[2.0, -3.0, 1.0, 0.5, 2.0, 7.0], [-1.0, 5.0, -1.0, 2.0, 0.2, 3.0]]


@pytest.mark.filterwarnings("ignore::truerisk.exceptions.DuplicateRowsWarning")
@pytest.mark.parametrize("n_features", [1, 2, 6])
@pytest.mark.parametrize("method", ["2-fold", "loo"])
@pytest.mark.parametrize("location", [0.0, 1000.0])
def test_ridge_of_rows_that_are_all_alike_is_the_learners(n_features, method, location):
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


def test_ridge_of_copies_that_hide_that_rows_are_fewer_than_columns_is_the_learners():
    """Groups drawn twice make enough rows, and too few different ones: no penalty is asked."""
    rng = np.random.default_rng(0)
    X, y = np.round(2 * rng.normal(size=(20, 24))), rng.normal(size=20)
    model, boot = Ridge(solver="svd", fit_intercept=False), Bootstrap("oob", 10)
    for seed in range(6):
        given = {"groups": np.random.default_rng(seed).integers(0, 8, 20), "cv": boot}
        fast, slow = (
            tr.risk_curve(model, {"alpha": [0.0, 0.1]}, X, y, engine=engine, **given)
            for engine in ("least-squares", "generic")
        )
        np.testing.assert_allclose(fast.values, slow.values, rtol=1e-9)


def test_least_squares_of_badly_scaled_columns_needs_the_rows_but_no_fit():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, 4)) * [1, 1e4, 10, 1e3]
    data = checked(X, X @ [1, 1e-4, 0.1, 1e-3] + rng.normal(size=40))
    for model in (Ridge(), LinearRegression()):
        require_numbers(ENGINE, family_of(model), data, "loo")
        made = fits_made(ENGINE, family_of(model), data, "loo", VALUE)
        assert made == {"asked": 0, "passes": 0}


def test_least_squares_names_a_row_of_leverage_one_and_fits_without_it():
    """Only row 7 has a 1 in the last column: without it the column's coefficient is open."""
    rng = np.random.default_rng(7)
    X = np.c_[rng.normal(size=(20, 2)), np.arange(20) == 7]
    y = rng.normal(size=20)
    fast = tr.estimate_risk(LinearRegression(), X, y, cv="loo", engine="least-squares")
    assert any("leverage 1 in 1 row(s) (7)" in note for note in fast.notes)
    slow = tr.estimate_risk(LinearRegression(), X, y, cv="loo", engine="generic")
    np.testing.assert_allclose(fast.losses, slow.losses, rtol=1e-8)
    ridge = tr.estimate_risk(Ridge(), X, y, cv="loo")
    assert not any("leverage" in note for note in ridge.notes)


@pytest.mark.parametrize("method", ["loo", "4-fold"])
def test_ridge_classifier_decides_near_ties_of_classes_itself(method):
    data = checked(np.ones((12, 2)), np.arange(12) % 3)
    family = family_of(RidgeClassifier(), {"alpha": [0.1, 1.0]})
    require_numbers(ENGINE, family, data, method, "label")
    n_fits = plan_of(method, data).n_fits
    assert fits_made(ENGINE, family, data, method, LABEL)["asked"] == 2 * n_fits


def test_ridge_classifier_never_answers_a_class_that_only_the_left_out_row_has():
    """Without an intercept its column of -1 would extrapolate to the highest score."""
    X = np.array([1.0, 1.1, 1.2, 1.3, -5.0])[:, None]
    data = checked(X, np.array(["a", "b", "a", "b", "c"]))
    family = family_of(RidgeClassifier(fit_intercept=False))
    require_numbers(ENGINE, family, data, "loo", "label")


@pytest.mark.parametrize(
    "model", [Ridge(alpha=0), Ridge(alpha=0, solver="svd"), LinearRegression()]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_least_squares_of_a_column_of_one_value_is_the_learners(model, weighted):
    """What a mean is off by is no direction: of a column that varies by rounding it is asked."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(5, 14)), int(rng.integers(1, 3))))
        X[:, 0 if seed % 3 else slice(None)] = rng.choice([0.1, 3.3, 1e8 / 3, 1e-5 / 3])
        weights = rng.integers(1, 3, size=len(X)).astype(float)
        given = {"sample_weight": weights} if weighted else {}
        data = checked(X, rng.normal(size=len(X)), fit_params=given)
        for method in ("3-fold", "5-fold", "loo"):
            found, expected = both(ENGINE, family_of(model), data, method, VALUE)
            assert np.allclose(found, expected, rtol=1e-9, atol=1e-10), (seed, method)


def test_ridge_of_wide_rows_is_not_decomposed_where_the_learner_decides(monkeypatch):
    """Beside cells of 10⁴ a penalty of .01 is rounding to a null direction of centred rows."""
    monkeypatch.setattr("truerisk.engines.linear.fit.decompose_rows", None)  # an SVD of the rows
    rng = np.random.default_rng(0)
    data = checked(1e4 * rng.lognormal(size=(30, 400)), rng.normal(size=30))
    family = family_of(Ridge(), {"alpha": [1e-4, 1e6]})
    require_numbers(ENGINE, family, data, "5-fold")
    assert fits_made(ENGINE, family, data, "5-fold", VALUE)["asked"] == 5
