"""The solver followed step by step stops where scikit-learn's fit stops."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from truerisk.engines.logistic.stops import logistic_lbfgs
from truerisk.engines.templates.turned import turned


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
        most=most,
    )


def followed_turned(X, codes, cost=1.0, tol=1e-4):
    """The same on turned rows; where the coefficients then stand among the columns as they were."""
    table = turned(X)
    found = logistic_lbfgs(
        np.column_stack([table.shown, np.zeros(len(X))]),
        np.arange(len(X)),
        codes,
        np.ones(len(X)),
        n_classes=codes.max() + 1,
        penalties=1 / (np.atleast_1d(cost) * len(X)),
        tolerance=tol,
        most=200,
        directions=table.directions,
        size_of_columns=float(np.linalg.norm(np.abs(X).max(axis=0))),
    )
    return found, found.coefficients[..., :-1] @ table.directions.T


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
def test_it_stops_where_scikit_learn_stops(n_classes, tol):
    """Coefficients to eleven digits and the number of steps, far from the minimum as well."""
    for seed in range(5):
        X, codes = problem(n_classes, seed)
        weights = np.random.default_rng(seed).uniform(0.3, 2, len(X))
        costs = np.array([0.01, 1.0, 10.0])
        found = followed(X, codes, costs, tol, weights=weights)
        for place, cost in enumerate(costs):
            model = LogisticRegression(C=cost, tol=tol).fit(X, codes, sample_weight=weights)
            if found.settled[place]:
                assert found.iterations[place] == model.n_iter_[0]
                assert np.abs(found.coefficients[place, 0] - model.coef_).max() < 1e-9
                assert np.abs(found.intercepts[place, 0] - model.intercept_).max() < 1e-9
        assert found.settled.sum() >= (2 if tol >= 1e-4 else 1)


def test_columns_of_zeros_and_many_rows_stop_where_scikit_learn_stops():
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
        assert found.settled[place]
        assert found.iterations[place] == full.iterations[place] == model.n_iter_[0]
        assert np.abs(found.coefficients[place, 0] - model.coef_).max() < 1e-10
        assert np.abs(found.coefficients[place] - full.coefficients[place]).max() < 1e-10


def test_a_loose_bound_stops_far_from_the_minimum():
    """That is what is followed: the minimum is elsewhere, in the third digit."""
    X, codes = problem(2)
    loose, tight = followed(X, codes, 10.0, 1e-2), followed(X, codes, 10.0, 1e-6)
    assert loose.iterations[0] < tight.iterations[0]
    assert np.abs(loose.coefficients - tight.coefficients).max() > 1e-3


def test_the_two_ways_part_where_rounding_decides():
    """On columns of one size they end together; far from 0 they do not, or it is not sure."""
    X, codes = problem(2)
    near = followed(X, codes)
    assert near.settled[0]
    assert np.abs(near.coefficients[0, 0] - near.coefficients[0, 1]).max() < 1e-11
    far = followed(X + 1e5, codes, 10.0)
    assert (
        not far.settled[0] or np.abs(far.coefficients[0, 0] - far.coefficients[0, 1]).max() > 1e-11
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lbfgs_is_cut_off_where_scikit_learn_is_cut_off(n_classes):
    """The limit comes before all other tests, also at the step that would have ended the fit."""
    X, codes = problem(n_classes)
    needed = followed(X, codes).iterations[0]
    for most in (1, 3, int(needed), int(needed) + 1):
        found = followed(X, codes, most=most)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model = LogisticRegression(max_iter=most).fit(X, codes)
        assert found.cut[0] == bool(heard) == (most <= needed)
        assert found.settled[0] != found.cut[0]
        assert found.iterations[0] == model.n_iter_[0]
        assert np.abs(found.coefficients[0, 0] - model.coef_).max() < 1e-9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": np.array([60])}, "below 60"),
        ({"rows": np.arange(0)}, "at least one"),
        ({"codes": np.full(60, 2)}, "a class below 2"),
        ({"codes": np.zeros(60, dtype=int)}, "a class has no weight"),
        ({"weights": np.full(60, np.nan)}, "finite and not negative"),
        ({"weights": np.ones(59)}, "60 rows have"),
    ],
)
def test_what_the_kernel_would_read_out_of_bounds_is_refused(change, words):
    """Rows, classes and weights are looked at first."""
    X, codes = problem(2)
    given = {"rows": np.arange(60), "codes": codes, "weights": np.ones(60)} | change
    more = {"n_classes": 2, "penalties": np.ones(1), "tolerance": 1e-4, "most": 10}
    with pytest.raises(ValueError, match=words):
        logistic_lbfgs(X, **given, **more)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_turned_rows_go_the_same_steps(n_classes, tol):
    """The largest component of the gradient is that of the columns as they were."""
    cost = np.array([0.01, 0.3, 10.0])
    for seed in range(5):
        X, codes = problem(n_classes, seed, n=30, p=100)
        X *= np.random.default_rng(seed).uniform(0.1, 3, 100)
        plain = followed(X, codes, cost, tol)
        found, coefficients = followed_turned(X, codes, cost, tol)
        assert (found.iterations == plain.iterations).all()
        assert (found.settled == plain.settled).all()
        assert np.allclose(coefficients[:, 0], plain.coefficients[:, 0], rtol=1e-9, atol=1e-11)
        assert np.allclose(found.intercepts[:, 0], plain.intercepts[:, 0], rtol=1e-9, atol=1e-11)
        assert (found.coefficients[:, 0, :, -1] == 0).all()  # nothing lies across, but for rounding


def test_rounding_is_as_large_in_turned_rows():
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


def test_directions_of_another_shape_are_refused():
    """The kernel would read out of bounds."""
    X, codes = problem(2)
    given = np.arange(60), codes, np.ones(60)
    how = {"n_classes": 2, "penalties": np.ones(1), "tolerance": 1e-4, "most": 10}
    for directions in (np.zeros((9, 5)), np.zeros(4)):
        with pytest.raises(ValueError, match="do not turn 5 columns"):
            logistic_lbfgs(X, *given, **how, directions=directions)
