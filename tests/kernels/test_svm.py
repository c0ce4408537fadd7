"""Support vectors on rows of one Gram matrix: the conditions of the minimum."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from truerisk.kernels.svm import support_vectors, support_vectors_of_each

CS = np.array([0.001, 0.1, 1.0, 10.0, 1000.0])


def problem(n, p, seed=0, apart=1.0):
    """Two overlapping classes, their float32 Gram matrix and the same numbers as doubles."""
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(n) % 2 == 0, -1.0, 1.0)
    X = rng.normal(size=(n, p)) + apart * sign[:, None]
    single = (X @ X.T).astype(np.float32)
    return X, sign, single


def violation(K, sign, share, C, beta):
    """The worst pair's violation, from the definition."""
    F = sign - K @ beta
    ends = np.sort([np.zeros(len(sign)), C * share * sign], axis=0)
    assert (beta >= ends[0]).all()
    assert (beta <= ends[1]).all()
    return F[beta < ends[1]].max() - F[beta > ends[0]].min()


@settings(max_examples=40, deadline=None)
@given(st.integers(4, 40), st.integers(1, 60), st.integers(0, 10**6), st.floats(0.0, 3.0))
def test_every_solution_meets_the_conditions(n, p, seed, apart):
    """Boxes, sum zero, no violating pair beyond the tolerance, a duality gap that small."""
    _, sign, single = problem(n, p, seed, apart)
    share = np.random.default_rng(seed).integers(1, 4, n).astype(float)
    found = support_vectors(single, np.arange(n), sign, share, CS, tolerance=1e-6)
    K = single.astype(float)
    scale = np.abs(found.beta).sum(axis=1) * K.diagonal().max()  # of rounding
    for c, C in enumerate(CS):
        beta = found.beta[c]
        assert abs(beta.sum()) <= 1e-11 * (1 + np.abs(beta).sum())
        assert violation(K, sign, share, C, beta) <= 1.1e-6 + 1e-13 * scale[c]
        xi = np.maximum(0.0, 1 - sign * (K @ beta + found.intercept[c]))
        norm = beta @ K @ beta
        primal, dual = norm / 2 + C * share @ xi, np.abs(beta).sum() - norm / 2
        assert (primal - dual) / primal == pytest.approx(found.gap[c], abs=1e-6)


def test_equals_libsvm_at_a_tight_tolerance():
    """Decision values are libsvm's to 1e-5 at tol=1e-8, from the smallest C to the largest."""
    X, sign, single = problem(80, 5, apart=0.3)
    found = support_vectors(single, np.arange(80), sign, np.ones(80), CS, tolerance=1e-9)
    for c, C in enumerate(CS):
        model = SVC(kernel="linear", C=C, tol=1e-8).fit(X, sign)
        decided = X @ (found.beta[c] @ X) + found.intercept[c]
        assert np.allclose(decided, model.decision_function(X), rtol=1e-5, atol=1e-5)


def test_rows_are_read_in_place():
    """A fit on some rows is the fit on their own matrix, to the bit."""
    _, sign, single = problem(60, 8)
    rows = np.random.default_rng(0).permutation(60)[:37]
    own = np.ascontiguousarray(single[np.ix_(rows, rows)])
    share = np.ones(37)
    one = support_vectors(single, rows, sign[rows], share, CS)
    other = support_vectors(own, np.arange(37), sign[rows], share, CS)
    assert np.array_equal(one.beta, other.beta)
    assert np.array_equal(one.intercept, other.intercept)


def test_beyond_the_hard_margin_nothing_changes():
    """Once no row is at the end of its box, larger C's take no step and have the same solution."""
    _, sign, single = problem(30, 50, apart=1.0)
    Cs = np.array([1.0, 1e3, 1e4, 1e6])
    found = support_vectors(single, np.arange(30), sign, np.ones(30), Cs)
    assert (found.steps[1:] == 0).all()
    assert np.array_equal(found.beta[0], found.beta[-1])


def test_goes_on_from_a_start():
    """A solution at a loose tolerance is taken up and brought to a tight one."""
    _, sign, single = problem(60, 4, apart=0.4)
    given = single, np.arange(60), sign, np.ones(60), CS
    rough = support_vectors(*given, tolerance=0.1)
    fine = support_vectors(*given, tolerance=1e-9, start=rough.beta)
    direct = support_vectors(*given, tolerance=1e-9)
    K = single.astype(float)
    assert np.allclose(fine.beta @ K, direct.beta @ K, atol=1e-6)
    assert np.allclose(fine.intercept, direct.intercept, atol=1e-6)


def test_says_where_it_did_not_converge():
    """With too few steps it is not converged, says the violation, and tries no larger C."""
    _, sign, single = problem(60, 4, apart=0.2)
    given = single, np.arange(60), sign, np.ones(60), CS
    found = support_vectors(*given, tolerance=1e-9, hopeless=1e-3, max_steps=5)
    assert not found.converged[0]
    assert found.violation[0] > 1e-3
    assert np.isinf(found.violation[1:]).all()
    assert not found.converged.any()


def test_without_free_rows_the_intercept_has_a_range():
    """Two rows at the ends of their boxes: the middle of the range, and its width."""
    single = np.array([[1.0, -1.0], [-1.0, 1.0]], dtype=np.float32)
    found = support_vectors(single, [0, 1], [-1.0, 1.0], [1.0, 1.0], [0.1])
    assert found.beta.tolist() == [[-0.1, 0.1]]
    assert found.intercept[0] == 0.0
    assert found.loose[0] == pytest.approx(2 * (1 - 0.2))


def test_refuses_what_it_would_read_out_of_bounds():
    """Shapes, types and ranges are checked before the loop that trusts them."""
    _, sign, single = problem(6, 2)
    fine = [single, np.arange(6), sign, np.ones(6), CS]
    wrong = {
        0: [single.astype(float), single[:5], np.asfortranarray(single)],
        1: [np.arange(1, 7), np.arange(6)[None], np.arange(5)],
        2: [np.ones(6), np.arange(6.0)],
        3: [np.zeros(6), np.full(6, np.inf), np.ones(5)],
        4: [CS[::-1], [0.0, 1.0], [np.nan], [np.inf]],
    }
    for place, values in wrong.items():
        for value in values:
            with pytest.raises(ValueError, match=r"\w"):
                support_vectors(*fine[:place], value, *fine[place + 1 :])
    with pytest.raises(ValueError, match="end no search"):
        support_vectors(*fine, tolerance=0.0)
    with pytest.raises(ValueError, match="start has shape"):
        support_vectors(*fine, start=np.zeros((1, 6)))


def test_free_rows_of_a_kernel_of_low_rank_settle():
    """Three heavy-tailed columns, overlapping classes, large C: some hundred steps a C, no more.

    Where single precision bends a direction that has no curvature, moves of pairs alone are slow:
    with such directions taken for flat no C was solved in 20,000 steps.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(120, 3))
    X[:20] += 0.8
    sign = np.where(np.arange(120) < 20, 1.0, -1.0)
    Cs = np.array([0.01, 0.1, 1.0, 10.0, 100.0])
    single = (X @ X.T).astype(np.float32)
    found = support_vectors(
        single, np.arange(120), sign, np.ones(120), Cs, tolerance=1e-9, max_steps=20_000
    )
    assert found.converged.all()
    assert found.steps.sum() < 10_000


def test_many_problems_in_one_call_are_those_one_by_one():
    """Results of problems on rows of one matrix are those of a call each, to the bit."""
    _, sign, single = problem(40, 3, apart=0.5)
    parts = [np.arange(25), np.arange(10, 40), np.arange(0, 40, 3)]
    starts = np.cumsum([0, *map(len, parts)])
    rows, share = np.concatenate(parts), np.linspace(0.5, 2.0, starts[-1])
    every = support_vectors_of_each(single, rows, starts, sign[rows], share, CS, tolerance=1e-8)
    for p, (start, end) in enumerate(pairwise(starts)):
        mine = slice(start, end)
        alone = support_vectors(
            single, rows[mine], sign[rows[mine]], share[mine], CS, tolerance=1e-8
        )
        beta = every.beta[len(CS) * start : len(CS) * end].reshape(len(CS), -1)
        assert np.array_equal(beta, alone.beta)
        for name in ("intercept", "violation", "loose", "gap", "steps", "converged"):
            assert np.array_equal(getattr(every, name)[p], getattr(alone, name))


@pytest.mark.parametrize("starts", [[0], [0, 3], [1, 6], [0, 6, 6], [0, 4, 3, 6], [0, 1, 6]])
def test_refuses_problems_that_do_not_cover_the_rows(starts):
    """Starts out of order, gaps, and a problem of one sign are refused before the loop."""
    _, sign, single = problem(6, 2)
    with pytest.raises(ValueError, match=r"cover|both occur"):
        support_vectors_of_each(single, np.arange(6), np.array(starts), sign, np.ones(6), CS)
