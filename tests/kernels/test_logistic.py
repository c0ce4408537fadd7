"""The compiled path: bounds, rows picked out of X, λ's aside, and what it does to its arrays."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from truerisk.kernels.logistic import logistic_path, to_column_major

RNG = np.random.default_rng(2)
X = RNG.normal(size=(37, 11))
Y = (X[:, 0] + RNG.normal(size=37) > 0).astype(int)
W = RNG.uniform(0.5, 2.0, 37)


def path(X=X, codes=Y, weights=W, n_classes=2, lambdas=None, **options):
    return logistic_path(X, codes, weights, n_classes=n_classes, lambdas=lambdas, **options)


def same_bits(a, b):
    for name in ("lambdas", "coefficients", "intercepts", "n_passes", "has_converged"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_path_minimises_what_it_says(n_classes):
    """Without an L1 part it finds the minimum that a general optimiser finds."""
    codes = np.where(np.arange(37) % 5 == 0, n_classes - 1, Y)
    fitted = 1 if n_classes == 2 else n_classes
    w, lam = W / W.sum(), 0.05
    scale = np.sqrt(w @ (X - w @ X) ** 2)

    def objective(flat):
        b, b0 = flat[:-fitted].reshape(fitted, -1), flat[-fitted:]
        scores = X @ b.T + b0
        scores = np.column_stack([np.zeros(37), scores]) if fitted == 1 else scores
        log_sum = np.log(np.exp(scores).sum(axis=1))
        return w @ (log_sum - scores[np.arange(37), codes]) + lam / 2 * ((b * scale) ** 2).sum()

    start = np.zeros(fitted * 12)
    best = minimize(objective, start, method="BFGS", options={"gtol": 1e-8, "maxiter": 5000})
    found = path(codes=codes, n_classes=n_classes, lambdas=[lam], l1_ratio=0.0, tolerance=1e-18)
    ours = np.concatenate([found.coefficients[0].ravel(), found.intercepts[0]])
    assert objective(ours) <= best.fun + 1e-12
    b = best.x[:-fitted].reshape(fitted, -1)
    np.testing.assert_allclose(found.coefficients[0], b, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_path_of_rows_picked_out_is_that_of_rows_cut_out_to_the_bit(n_classes):
    """Some rows of X, copies among them, give what a smaller X gives, bit by bit."""
    codes = np.arange(37) % n_classes
    rows = np.sort(RNG.integers(0, 37, 30))
    picked = path(codes=codes[rows], weights=W[rows], n_classes=n_classes, rows=rows)
    cut = path(X=X[rows], codes=codes[rows], weights=W[rows], n_classes=n_classes)
    same_bits(picked, cut)


def test_path_has_no_rows_without_weight():
    """A weight of zero is the row cut out, bit by bit, dense; sparse to rounding."""
    weights = np.where(np.arange(37) % 4 == 0, 0.0, W)
    seen = weights > 0
    same_bits(path(weights=weights), path(X=X[seen], codes=Y[seen], weights=W[seen]))
    lambdas = np.geomspace(0.2, 0.01, 5)
    given = {"lambdas": lambdas, "tolerance": 1e-18}
    thin = path(X=sparse.csc_matrix(X), weights=weights, **given)
    full = path(weights=weights, **given)
    np.testing.assert_allclose(thin.coefficients, full.coefficients, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_path_is_not_changed_by_penalties_aside(n_classes):
    """The path is the same to the bit with λ beside it, above, between and below."""
    codes = np.arange(37) % n_classes
    lambdas = np.geomspace(0.1, 0.005, 12)
    for table in (X, sparse.csc_matrix(X)):
        alone = path(X=table, codes=codes, n_classes=n_classes, lambdas=lambdas)
        both = path(
            X=table,
            codes=codes,
            n_classes=n_classes,
            lambdas=lambdas,
            aside=np.array([0.03, 7.0, 0.001, 0.09]),
        )
        for name in ("coefficients", "intercepts", "n_passes"):
            np.testing.assert_array_equal(getattr(both, name)[:12], getattr(alone, name))
        assert not both.coefficients[13].any()


def test_path_does_not_depend_on_the_order_of_penalties():
    """They are solved from the largest down and answered where they were asked."""
    lambdas = np.geomspace(0.1, 0.005, 6)
    order = RNG.permutation(6)
    there, back = path(lambdas=lambdas), path(lambdas=lambdas[order])
    np.testing.assert_array_equal(back.coefficients, there.coefficients[order])


def test_path_takes_a_far_jump_in_parts():
    """One tiny penalty alone has the solution that the path leads to."""
    alone = path(lambdas=[1e-3], tolerance=1e-16)
    led = path(lambdas=np.geomspace(0.2, 1e-3, 60), tolerance=1e-16)
    np.testing.assert_allclose(alone.coefficients[0], led.coefficients[-1], rtol=1e-5, atol=1e-7)


def test_path_reads_arrays_in_place_and_leaves_them_as_they_were():
    """Column-major doubles are not copied, read-only arrays pass; indices may have 64 bits."""
    block = np.asfortranarray(X)
    assert to_column_major(block) is block
    thin = sparse.csc_matrix(X)
    assert to_column_major(thin) is thin
    for array in (block, Y, W):
        array.setflags(write=False)
    before = block.copy()
    path(X=block)
    np.testing.assert_array_equal(block, before)
    other = thin.copy()
    other.indices, other.indptr = (a.astype(np.int64) for a in (thin.indices, thin.indptr))
    same_bits(path(X=thin), path(X=other))
