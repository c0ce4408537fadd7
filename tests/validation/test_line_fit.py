"""Least squares with influences: NumPy's coefficients, and the sandwich written out."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.validation.calibration_fits import LeastSquaresFit

RNG = np.random.default_rng(3)
X = np.column_stack([np.ones(40), RNG.normal(size=40), 1e6 * RNG.normal(size=40)])
Y, W = RNG.normal(size=40), RNG.uniform(0.5, 2, 40)


def test_coefficients_are_those_of_lstsq():
    """Weighted, with an offset, of columns of very different size."""
    root, offset = np.sqrt(W), np.linspace(0, 1, 40)
    found = LeastSquaresFit.of(X, Y, W, offset)
    expected = np.linalg.lstsq(X * root[:, None], (Y - offset) * root, rcond=None)[0]
    assert found.coef == pytest.approx(expected)


def test_the_covariance_is_the_sandwich():
    """(XᵀWX)⁻¹ Σ_g s_g s_gᵀ (XᵀWX)⁻¹ G/(G − 1), s_g the sum of a member's w x r."""
    members = np.arange(40) // 4
    found = LeastSquaresFit.of(X, Y, W)
    scores = X * (W * (Y - X @ found.coef))[:, None]
    summed = np.array([scores[members == g].sum(axis=0) for g in range(10)])
    bread = np.linalg.inv(X.T @ (X * W[:, None]))
    expected = bread @ summed.T @ summed @ bread * 10 / 9
    np.testing.assert_allclose(found.covariance(members), expected, rtol=1e-6)


def test_what_is_not_in_one_place_is_none():
    """Equal columns, and a column of zeros."""
    assert LeastSquaresFit.of(X[:, [0, 1, 1]], Y, W) is None
    assert LeastSquaresFit.of(np.column_stack([X, np.zeros(40)]), Y, W) is None
