"""Coordinate descent on X'X, or on X, stops where scikit-learn's stops."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet

from truerisk.engines.linear import normal_equations
from truerisk.engines.linear.elastic_net import sklearn_screens_columns
from truerisk.engines.linear.normal_equations import descend


def descended(X, y, alphas, ratio=1.0, *, tol=1e-4, most=1000):
    penalties = len(X) * np.asarray(alphas)
    return descend(
        X,
        y,
        np.stack([penalties * ratio, penalties * (1 - ratio)], axis=1),
        tolerance=tol,
        max_passes=most,
        screens=sklearn_screens_columns(),
    )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    ratio=st.sampled_from([0.01, 0.5, 1.0]),
    tol=st.sampled_from([1e-9, 1e-4, 0.1]),
    most=st.sampled_from([1, 5, 1000]),
    by_rows=st.booleans(),
)
def test_descent_stops_where_scikit_learn_stops(seed, ratio, tol, most, by_rows):
    """Coefficients and passes, of tall and wide tables with a column of zeros, both ways."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(5, 40)), int(rng.integers(2, 30))))
    X += rng.normal(size=(len(X), 1))
    X[:, X.shape[1] // 2] = 0.0
    y = X[:, 0] + rng.normal(size=len(X))
    top = np.abs(X.T @ y).max() / (len(X) * ratio)
    alphas = top * np.array([1.5, 0.7, 0.1, 1e-3])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normal_equations, "MAX_COLUMNS_PER_PENALTY", 0 if by_rows else 100)
        found, passes, sure = descended(X, y, alphas, ratio, tol=tol, most=most)
    for c in np.flatnonzero(sure):
        model = ElasticNet(alpha=alphas[c], l1_ratio=ratio, fit_intercept=False, tol=tol)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.set_params(max_iter=most).fit(X, y)
        size = np.abs(model.coef_).max()
        np.testing.assert_allclose(found[c], model.coef_, rtol=1e-9, atol=1e-10 * size)
        assert min(passes[c], most) == model.n_iter_


def test_descent_is_not_sure_of_a_value_on_a_bound():
    """At 0 the gap is an eighth of y'y: at that tolerance rounding decides whether to begin."""
    for tol, sure in ((0.125 - 1e-9, True), (0.125, False), (0.125 + 1e-9, True)):
        at = {"tolerance": tol, "max_passes": 9, "screens": True}
        half = np.array([[0.5, 0.0]])
        assert descend(np.eye(1), np.ones(1), half, **at)[2].tolist() == [sure]


def test_descent_counts_one_more_than_the_most_passes():
    """And the coefficients are those after them."""
    X, y = np.array([[1.0, 0.9], [0.0, 0.5]]), np.array([1.0, 3.0])
    found, passes, sure = descended(X, y, [1e-3], tol=1e-9, most=2)
    assert passes.tolist() == [3]
    assert sure.all()
    assert found.any()


def test_descent_makes_no_product_larger_than_the_table():
    """Of wide tables it would take gigabytes, however many penalties make up for its time."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1000))
    alphas = np.full(60, 1.0)
    tracemalloc.start()
    try:
        descended(X, X[:, 0], alphas)
        assert tracemalloc.get_traced_memory()[1] < 2 * X.nbytes
    finally:
        tracemalloc.stop()


def test_descent_of_many_penalties_is_that_of_each_alone():
    """Each of 19 ends as it does alone, to the last bit."""
    rng = np.random.default_rng(0)
    for shape in ((30, 70), (200, 9)):
        X = rng.normal(size=shape)
        y, alphas = X[:, 0] + rng.normal(size=len(X)), np.logspace(-3, 0, 19)
        together = descended(X, y, alphas)
        alone = [descended(X, y, alphas[[c]]) for c in range(len(alphas))]
        for c, each in enumerate(alone):
            for ours, theirs in zip(together, each, strict=True):
                np.testing.assert_array_equal(ours[c], theirs[0])
