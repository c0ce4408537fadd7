"""The compiled path: bounds, rows picked out of X, λ's aside, and what it does to its arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from truerisk.kernels.logistic import column_major, logistic_path

RNG = np.random.default_rng(2)
X = RNG.normal(size=(37, 11))
Y = (X[:, 0] + RNG.normal(size=37) > 0).astype(int)
W = RNG.uniform(0.5, 2.0, 37)


def path(X=X, codes=Y, weights=W, n_classes=2, lambdas=None, **options):
    return logistic_path(X, codes, weights, n_classes=n_classes, lambdas=lambdas, **options)


def same_bits(a, b):
    for name in ("lambdas", "coefficients", "intercepts", "passes", "converged"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_minimises_what_it_says(n_classes):
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
def test_rows_picked_out_are_rows_cut_out_to_the_bit(n_classes):
    """Some rows of X, copies among them, give what a smaller X gives, bit by bit."""
    codes = np.arange(37) % n_classes
    rows = np.sort(RNG.integers(0, 37, 30))
    picked = path(codes=codes[rows], weights=W[rows], n_classes=n_classes, rows=rows)
    cut = path(X=X[rows], codes=codes[rows], weights=W[rows], n_classes=n_classes)
    same_bits(picked, cut)


def test_rows_without_weight_are_not_there():
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
def test_what_is_asked_aside_changes_nothing(n_classes):
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
        for name in ("coefficients", "intercepts", "passes"):
            np.testing.assert_array_equal(getattr(both, name)[:12], getattr(alone, name))
        assert not both.coefficients[13].any()


def test_the_order_of_penalties_does_not_matter():
    """They are solved from the largest down and answered where they were asked."""
    lambdas = np.geomspace(0.1, 0.005, 6)
    order = RNG.permutation(6)
    there, back = path(lambdas=lambdas), path(lambdas=lambdas[order])
    np.testing.assert_array_equal(back.coefficients, there.coefficients[order])


def test_a_far_jump_is_taken_in_parts():
    """One tiny penalty alone has the solution that the path leads to."""
    alone = path(lambdas=[1e-3], tolerance=1e-16)
    led = path(lambdas=np.geomspace(0.2, 1e-3, 60), tolerance=1e-16)
    np.testing.assert_allclose(alone.coefficients[0], led.coefficients[-1], rtol=1e-5, atol=1e-7)


def test_arrays_stay_as_they_were_and_are_read_in_place():
    """Column-major doubles are not copied; nothing given is written to, read-only arrays pass."""
    block = np.asfortranarray(X)
    assert column_major(block) is block
    thin = sparse.csc_matrix(X)
    assert column_major(thin) is thin
    for array in (block, Y, W):
        array.setflags(write=False)
    before = block.copy()
    path(X=block)
    np.testing.assert_array_equal(block, before)


def test_long_indices_of_a_sparse_x_are_read():
    """A CSC matrix with 64-bit indices is the same as one with 32-bit indices."""
    thin = sparse.csc_matrix(X)
    other = thin.copy()
    other.indices, other.indptr = other.indices.astype(np.int64), other.indptr.astype(np.int64)
    same_bits(path(X=thin), path(X=other))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"codes": Y[:-1]}, "37 rows, with"),
        ({"weights": -W}, "not negative"),
        ({"weights": W * np.nan}, "finite"),
        ({"codes": Y + 1}, "a class below 2"),
        ({"codes": 0 * Y}, "a class has no weight"),
        ({"lambdas": [np.inf]}, "penalties must be finite"),
        ({"l1_ratio": 1.5}, "no number from 0 to 1"),
        ({"rows": np.arange(1, 38)}, "outside 0 ... 36"),
        ({"X": sparse.csc_matrix(X), "rows": np.arange(37)}, "out of a dense X"),
    ],
)
def test_what_would_be_read_out_of_bounds_is_refused(given, message):
    """Shapes, codes, weights and rows are checked before the loop trusts them."""
    with pytest.raises(ValueError, match=message):
        path(**given)
