"""libsvm's steps and SVC's arithmetic: bits of SVC itself, and bounds that are checked."""

import numpy as np
import pytest
from sklearn.svm import SVC

from truerisk.engines.support_vectors.svm_steps import (
    inner_products_between,
    pairwise_inner_products,
    polynomial_kernel,
    prediction_gaussian_kernel,
    solve_binary_problems,
    solver_gaussian_kernel,
    stepped_answers,
)


def solved(X, first, C, gamma, **options):
    """β of the rows, those of the first class first, the intercept, and the matrix to answer by."""
    n = len(X)
    matrix = solver_gaussian_kernel(pairwise_inner_products(X), gamma)
    order = np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)])
    sign, ones = np.where(first[order], 1.0, -1.0), np.ones(n)
    beta, intercept = solve_binary_problems(
        *matrix, order, np.array([0, n]), sign, (ones, ones), np.array([C]), **options
    )
    return (
        order,
        beta,
        intercept[0],
        prediction_gaussian_kernel(pairwise_inner_products(X, of_differences=True), gamma),
    )


@pytest.mark.parametrize("shrinking", [True, False])
@pytest.mark.parametrize("tolerance", [0.01, 1e-3, 1e-6])
@pytest.mark.parametrize("columns", [1, 7, 40])
def test_steps_end_with_every_number_of_svc(shrinking, tolerance, columns):
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
    inner = inner_products_between(X, others)
    np.testing.assert_allclose(inner, X @ others.T, rtol=1e-12)
    apart = inner_products_between(X, others, of_differences=True)
    np.testing.assert_allclose(apart, ((X[:, None] - others) ** 2).sum(axis=2), rtol=1e-12)
    np.testing.assert_allclose(
        polynomial_kernel(inner, 0.5, -1.0, 3), (0.5 * inner - 1) ** 3, rtol=1e-12
    )


@pytest.mark.parametrize("columns", [1, 3, 8, 30, 33, 70, 500])
@pytest.mark.parametrize("of_differences", [True, False])
def test_products_are_the_same_to_the_last_bit_either_way_round(columns, of_differences):
    """So half of the square is computed: x'y and y'x are the same products in the same order."""
    X = np.random.default_rng(columns).normal(size=(100, columns))  # more than one block of them
    square = pairwise_inner_products(X, of_differences=of_differences)
    np.testing.assert_array_equal(square, square.T)
    both_ways = inner_products_between(X, X, of_differences=of_differences)
    np.testing.assert_array_equal(square, both_ways)


def test_products_stored_by_columns_are_the_same():
    """A part of a table of products may be stored by columns."""
    cells = np.random.default_rng(0).uniform(size=(4, 3))
    stored = np.asfortranarray(cells)
    np.testing.assert_array_equal(
        prediction_gaussian_kernel(stored, 0.7), prediction_gaussian_kernel(cells, 0.7)
    )
    np.testing.assert_array_equal(
        polynomial_kernel(stored, 0.7, 1.0, 2), polynomial_kernel(cells, 0.7, 1.0, 2)
    )
