"""libsvm's steps and SVC's arithmetic: bits of SVC itself, and bounds that are checked."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from truerisk.engines.support_vectors.svm_steps import (
    gaussian_answered,
    gaussian_solved,
    polynomial,
    products,
    products_between,
    products_in_order,
    stepped_answers,
    steps_of_each,
)


def solved(X, first, C, gamma, **options):
    """β of the rows, those of the first class first, the intercept, and the matrix to answer by."""
    n = len(X)
    matrix = gaussian_solved(products(X), gamma)
    order = np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)])
    sign, ones = np.where(first[order], 1.0, -1.0), np.ones(n)
    beta, intercept = steps_of_each(
        *matrix, order, np.array([0, n]), sign, (ones, ones), np.array([C]), **options
    )
    return order, beta, intercept[0], gaussian_answered(products(X, of_differences=True), gamma)


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
    values = stepped_answers(cells, order, beta[None], intercept)
    np.testing.assert_array_equal(-values[0], model.decision_function(X))


def test_products_are_the_sums_of_the_definition():
    """Inner products with other rows, squared distances, powers."""
    rng = np.random.default_rng(0)
    X, others = rng.normal(size=(6, 4)), rng.normal(size=(3, 4))
    inner = products_between(X, others)
    np.testing.assert_allclose(inner, X @ others.T, rtol=1e-12)
    apart = products_between(X, others, of_differences=True)
    np.testing.assert_allclose(apart, ((X[:, None] - others) ** 2).sum(axis=2), rtol=1e-12)
    np.testing.assert_allclose(polynomial(inner, 0.5, -1.0, 3), (0.5 * inner - 1) ** 3, rtol=1e-12)


@pytest.mark.parametrize("columns", [1, 3, 8, 30, 33, 70, 500])
@pytest.mark.parametrize("of_differences", [True, False])
def test_a_product_is_the_same_to_the_last_bit_either_way_round(columns, of_differences):
    """So half of the square is computed: x'y and y'x are the same products in the same order."""
    X = np.random.default_rng(columns).normal(size=(100, columns))  # more than one block of them
    square = products(X, of_differences=of_differences)
    np.testing.assert_array_equal(square, square.T)
    both_ways = products_between(X, X, of_differences=of_differences)
    np.testing.assert_array_equal(square, both_ways)


def test_cells_that_lie_in_another_order_are_the_same():
    """A part of a table of products may be stored by columns."""
    cells = np.random.default_rng(0).uniform(size=(4, 3))
    stored = np.asfortranarray(cells)
    np.testing.assert_array_equal(gaussian_answered(stored, 0.7), gaussian_answered(cells, 0.7))
    np.testing.assert_array_equal(polynomial(stored, 0.7, 1.0, 2), polynomial(cells, 0.7, 1.0, 2))


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
        stepped_answers(np.eye(4), np.array([4]), np.ones((1, 1)), np.ones(1))
    with pytest.raises(ValueError, match="weights for"):
        stepped_answers(np.eye(4), np.arange(4), np.ones((1, 3)), np.ones(1))
    for between in (products_between, products_in_order):
        with pytest.raises(ValueError, match="columns and"):
            between(np.eye(3), np.eye(4))
    with pytest.raises(ValueError, match="with each other"):
        gaussian_solved(np.ones((3, 4)), 1.0)
