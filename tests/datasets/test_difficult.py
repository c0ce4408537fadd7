"""The difficult problem is the stated one."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.datasets import make_difficult


def test_difficult_is_the_stated_rotation() -> None:
    """Rows are Z [[1,-1],[1,1]]/sqrt(2) of variances (1, 40), means (3,3) apart."""
    turn = np.array([[1, -1], [1, 1]]) / np.sqrt(2)
    np.testing.assert_allclose(make_difficult.means[1], np.array([3, 3]) @ turn, atol=1e-12)
    expected = turn.T @ np.diag([1, 40]) @ turn
    np.testing.assert_allclose(make_difficult.covariances[0], expected)
    np.testing.assert_allclose(make_difficult.covariances[1], expected)


def test_the_bayes_risk_is_phi() -> None:
    """Phi of minus half of sqrt(9 + 9/40), which a rotation does not change."""
    assert make_difficult.bayes_risk == pytest.approx(0.064427291899, abs=1e-11)
