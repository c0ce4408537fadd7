"""Normal equations without blocks are solved as NumPy solves them, one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.engines.linear.normal_equations import predict_rows, solve_without_blocks


def case(seed, order, n_fits, most):
    """Products of blocks of rows, their sum, and which of them each fit lacks."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(7, order + 3, order + 1))
    both = np.einsum("bni,bnj->bij", rows, rows)[:, :order]
    lacking = [rng.choice(7, int(rng.integers(0, most + 1)), replace=False) for _ in range(n_fits)]
    offsets = np.cumsum([0] + [len(some) for some in lacking])
    minus = np.concatenate([np.empty(0, np.int64), *lacking])
    return both.sum(axis=0), both, minus, offsets, rng.random((n_fits, order)), lacking


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    order=st.integers(1, 12),
    n_fits=st.integers(0, 20),  # also none, fewer than go side by side, and an incomplete rest
    most=st.integers(0, 4),
)
def test_equations_without_blocks_are_solved_as_numpy_solves_them(seed, order, n_fits, most):
    """Coefficients and condition numbers of every fit, whatever stands beside it."""
    whole, both, minus, offsets, ridge, lacking = case(seed, order, n_fits, most)
    beta, condition = solve_without_blocks(whole, both, minus, offsets, ridge)
    assert beta.shape == (n_fits, order)
    for fit, some in enumerate(lacking):
        left = whole - both[some].sum(axis=0)
        A = left[:, :order] + np.diag(ridge[fit])
        size = np.linalg.norm(A) * np.linalg.norm(np.linalg.inv(A))
        assert condition[fit] == pytest.approx(size, rel=1e-12 * size)
        np.testing.assert_allclose(
            beta[fit], np.linalg.solve(A, left[:, order]), rtol=0, atol=1e-13 * size
        )


def test_equations_that_are_singular_do_not_disturb_their_neighbours():
    """All rows lacking is no system; the fit beside it is solved as ever."""
    whole, both, *_ = case(0, 3, 0, 0)
    minus, offsets = np.append(np.arange(7), 0), np.array([0, 7, 8])
    beta, condition = solve_without_blocks(whole, both, minus, offsets, np.zeros((2, 3)))
    assert not condition[0] <= 1e10
    left = whole - both[0]
    np.testing.assert_allclose(beta[1], np.linalg.solve(left[:, :3], left[:, 3]), rtol=1e-11)


def test_answers_are_products_of_rows():
    """Row by row and fit by fit, in any order and as often as asked."""
    rng = np.random.default_rng(0)
    table, beta = rng.normal(size=(5, 4)), rng.normal(size=(3, 4))
    rows, which = rng.integers(0, 5, 40), rng.integers(0, 3, 40)
    found = predict_rows(table, rows, beta, which)
    np.testing.assert_allclose(found, (table[rows] * beta[which]).sum(axis=1), rtol=1e-12)
    assert predict_rows(table, rows[:0], beta, which[:0]).shape == (0,)
