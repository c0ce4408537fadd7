"""The solver followed step by step stops where scikit-learn's fit stops."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from truerisk.engines.logistic.stops import logistic_lbfgs
from truerisk.engines.templates.turned import rotate_rows


def problem(n_classes, seed=0, n=60, p=5):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    return rng.normal(size=(n, p)) + rng.normal(size=(n_classes, p))[codes], codes


def followed(X, codes, cost=1.0, tol=1e-4, most=200, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    return logistic_lbfgs(
        X,
        np.arange(len(X)),
        codes,
        weights,
        n_classes=codes.max() + 1,
        penalties=1 / (np.atleast_1d(cost) * weights.sum()),
        tolerance=tol,
        max_iterations=most,
    )


def followed_turned(X, codes, cost=1.0, tol=1e-4):
    """The same on turned rows; where the coefficients then stand among the columns as they were."""
    table = rotate_rows(X)
    found = logistic_lbfgs(
        np.column_stack([table.train_rows, np.zeros(len(X))]),
        np.arange(len(X)),
        codes,
        np.ones(len(X)),
        n_classes=codes.max() + 1,
        penalties=1 / (np.atleast_1d(cost) * len(X)),
        tolerance=tol,
        max_iterations=200,
        directions=table.directions,
        size_of_columns=float(np.linalg.norm(np.abs(X).max(axis=0))),
    )
    return found, found.coefficients[..., :-1] @ table.directions.T


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
def test_lbfgs_stops_where_scikit_learn_stops(n_classes, tol):
    """Coefficients to eleven digits and the number of steps, far from the minimum as well."""
    for seed in range(5):
        X, codes = problem(n_classes, seed)
        weights = np.random.default_rng(seed).uniform(0.3, 2, len(X))
        costs = np.array([0.01, 1.0, 10.0])
        found = followed(X, codes, costs, tol, weights=weights)
        for place, cost in enumerate(costs):
            model = LogisticRegression(C=cost, tol=tol).fit(X, codes, sample_weight=weights)
            if found.has_converged[place]:
                assert found.n_iterations[place] == model.n_iter_[0]
                assert np.abs(found.coefficients[place, 0] - model.coef_).max() < 1e-9
                assert np.abs(found.intercepts[place, 0] - model.intercept_).max() < 1e-9
        assert found.has_converged.sum() >= (2 if tol >= 1e-4 else 1)


def test_lbfgs_of_columns_of_zeros_and_many_rows_stops_where_scikit_learn_stops():
    """Of a column that is mostly zeros what is not 0 is kept, some thousand rows at a time."""
    rng = np.random.default_rng(0)
    n = 5003
    level, codes = rng.integers(0, 7, n), rng.integers(0, 2, n)
    X = np.zeros((n, 10))
    X[np.arange(n), level] = np.where(level == 6, -2.5, 1.0)  # equal where they are not 0
    X[:, 7] = rng.normal(size=n) * (rng.random(n) < 0.1)  # few and unequal
    X[:, 8] = rng.normal(size=n) + codes
    X[4000:, 9] = rng.normal(size=n - 4000)  # of some thousand rows none, of others all
    found = followed(X, codes, [0.01, 1.0])
    full = followed(np.where(X == 0, 1e-290, X), codes, [0.01, 1.0])  # no cell is 0
    for place, cost in enumerate((0.01, 1.0)):
        model = LogisticRegression(C=cost).fit(X, codes)
        assert found.has_converged[place]
        assert found.n_iterations[place] == full.n_iterations[place] == model.n_iter_[0]
        assert np.abs(found.coefficients[place, 0] - model.coef_).max() < 1e-10
        assert np.abs(found.coefficients[place] - full.coefficients[place]).max() < 1e-10


def test_lbfgs_of_a_loose_bound_stops_far_from_the_minimum():
    """That is what is followed: the minimum is elsewhere, in the third digit."""
    X, codes = problem(2)
    loose, tight = followed(X, codes, 10.0, 1e-2), followed(X, codes, 10.0, 1e-6)
    assert loose.n_iterations[0] < tight.n_iterations[0]
    assert np.abs(loose.coefficients - tight.coefficients).max() > 1e-3


def test_lbfgs_is_settled_where_rounding_does_not_decide():
    """Its two ways end together on columns of one size; far from 0 not, or it is not sure."""
    X, codes = problem(2)
    near, far = followed(X, codes), followed(X + 1e5, codes, 10.0)
    apart = [np.abs(one.coefficients[0, 0] - one.coefficients[0, 1]).max() for one in (near, far)]
    assert near.has_converged[0]
    assert apart[0] < 1e-11
    assert not far.has_converged[0] or apart[1] > 1e-11


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lbfgs_is_cut_off_where_scikit_learn_is_cut_off(n_classes):
    """The limit comes before all other tests, also at the step that would have ended the fit."""
    X, codes = problem(n_classes)
    needed = followed(X, codes).n_iterations[0]
    for most in (1, 3, int(needed), int(needed) + 1):
        found = followed(X, codes, most=most)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model = LogisticRegression(max_iter=most).fit(X, codes)
        assert found.reached_max_iter[0] == bool(heard) == (most <= needed)
        assert found.has_converged[0] != found.reached_max_iter[0]
        assert found.n_iterations[0] == model.n_iter_[0]
        assert np.abs(found.coefficients[0, 0] - model.coef_).max() < 1e-9


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_lbfgs_of_turned_rows_goes_the_same_steps(n_classes, tol):
    """The largest component of the gradient is that of the columns as they were."""
    cost = np.array([0.01, 0.3, 10.0])
    for seed in range(5):
        X, codes = problem(n_classes, seed, n=30, p=100)
        X *= np.random.default_rng(seed).uniform(0.1, 3, 100)
        plain = followed(X, codes, cost, tol)
        found, coefficients = followed_turned(X, codes, cost, tol)
        assert (found.n_iterations == plain.n_iterations).all()
        assert (found.has_converged == plain.has_converged).all()
        assert np.allclose(coefficients[:, 0], plain.coefficients[:, 0], rtol=1e-9, atol=1e-11)
        assert np.allclose(found.intercepts[:, 0], plain.intercepts[:, 0], rtol=1e-9, atol=1e-11)
        assert (found.coefficients[:, 0, :, -1] == 0).all()  # nothing lies across, but for rounding


def test_lbfgs_rounds_as_much_in_turned_rows():
    """The ends of the two ways are about as far apart as without turning, also across the rows."""
    ratios, across = [], []
    for seed in range(20):
        X, codes = problem(2, seed, n=30, p=100)
        plain, (found, coefficients) = followed(X, codes), followed_turned(X, codes)
        way, turned_way = plain.coefficients[0, :, 0], coefficients[0, :, 0]
        apart, turned_apart = (np.abs(X @ (w[0] - w[1])).max() for w in (way, turned_way))
        ratios.append(turned_apart / apart)
        across.append(abs(found.coefficients[0, 1, 0, -1]))
    assert 0.5 < np.median(ratios) < 20
    assert np.median(across) > 1e-17
