"""libsvm's steps and SVC's arithmetic: bits of SVC itself, and bounds that are checked."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from truerisk.kernels.svm_steps import (
    gaussian,
    inner_products,
    polynomial,
    stepped_answers,
    steps_of_each,
)


def solved(X, first, C, gamma, **options):
    """β of the rows, those of the first class first, the intercept, and the matrix to answer by."""
    n = len(X)
    inner, apart = inner_products(X, n), inner_products(X, n, of_differences=True)
    room = np.empty((n, n), dtype=np.float32), np.empty(n), np.empty((n, n))
    gaussian(inner, apart, gamma, room)
    order = np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)])
    sign, ones = np.where(first[order], 1.0, -1.0), np.ones(n)
    beta, intercept = steps_of_each(
        room[0], room[1], order, np.array([0, n]), sign, (ones, ones), np.array([C]), **options
    )
    return order, beta, intercept[0], room[2]


@pytest.mark.parametrize("shrinking", [True, False])
@pytest.mark.parametrize("tolerance", [0.01, 1e-3, 1e-6])
@pytest.mark.parametrize("columns", [1, 7, 40])
def test_every_number_is_that_of_svc(shrinking, tolerance, columns):
    """Weights, intercept and decision values, with ties among the rows, many steps and few."""
    rng = np.random.default_rng(columns)
    X = np.round(rng.normal(size=(90, columns)), 1)
    first = X[:, 0] + rng.normal(size=90) > 0
    options = {"tolerance": tolerance, "shrinking": shrinking}
    order, beta, intercept, cells = solved(X, first, 50.0, 0.2, **options)
    model = SVC(C=50.0, gamma=0.2, tol=tolerance, shrinking=shrinking).fit(X, ~first)
    theirs = np.zeros(90)
    theirs[model.support_] = -model.dual_coef_[0]
    np.testing.assert_array_equal(beta, theirs[order])
    assert intercept[0] == -model.intercept_[0]
    values = stepped_answers(cells, order, np.arange(90), beta[None], intercept)
    np.testing.assert_array_equal(-values[0], model.decision_function(X))


def test_products_are_the_sums_of_the_definition():
    """Inner products with rows after the others, squared distances, powers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 4))
    inner = inner_products(X, 6)
    np.testing.assert_allclose(inner, X[:6] @ X.T, rtol=1e-12)
    apart = inner_products(X, 6, of_differences=True)
    np.testing.assert_allclose(apart, ((X[:6, None] - X) ** 2).sum(axis=2), rtol=1e-12)
    np.testing.assert_allclose(polynomial(inner, 0.5, -1.0, 3), (0.5 * inner - 1) ** 3, rtol=1e-12)


def test_what_would_be_read_out_of_bounds_is_refused():
    """Rows beyond the matrix, signs of one kind, weights of 0, rows of no problem."""
    gram, diagonal, ones = np.eye(4, dtype=np.float32), np.ones(4), np.ones(4)
    good = {
        "rows": np.arange(4),
        "starts": np.array([0, 4]),
        "sign": np.array([1.0, 1.0, -1.0, -1.0]),
        "weights": (ones, ones),
        "Cs": np.array([1.0]),
    }
    for wrong, reason in (
        ({"rows": np.array([0, 1, 2, 4])}, "outside"),
        ({"sign": ones}, "both occur"),
        ({"weights": (ones, 0 * ones)}, "finite and positive"),
        ({"starts": np.array([0, 3])}, "do not cover"),
        ({"Cs": np.array([0.0])}, "must be positive"),
        ({"weights": (ones, ones[:3])}, "of their numbers"),
    ):
        with pytest.raises(ValueError, match=reason):
            steps_of_each(gram, diagonal, **{**good, **wrong}, tolerance=1e-3, shrinking=True)
    with pytest.raises(ValueError, match="square"):
        steps_of_each(gram[:3], diagonal, **good, tolerance=1e-3, shrinking=True)
    with pytest.raises(ValueError, match="outside"):
        stepped_answers(np.eye(4), np.arange(4), np.array([4]), np.ones((1, 4)), np.ones(1))
    with pytest.raises(ValueError, match="rows of"):
        inner_products(np.eye(3), 4)
    with pytest.raises(ValueError, match="room"):
        gaussian(np.eye(3), np.eye(3), 1.0, (np.eye(3), np.ones(3), np.ones((3, 4))))
