"""The simple problem is the stated one."""

from __future__ import annotations

import pytest

from truerisk.datasets import make_simple


def test_the_best_linear_rule_of_simple_is_the_bayes_rule() -> None:
    """x1 > 1 is wrong with probability Phi(-1); a constant rule half of the time."""
    assert make_simple.true_risk_linear([1, 0], -1) == pytest.approx(make_simple.bayes_risk)
    assert make_simple.true_risk_linear([-1, 0], 1) == pytest.approx(1 - make_simple.bayes_risk)
    assert make_simple.true_risk_linear([0, 0], 3) == 0.5


def test_the_bayes_risk_is_phi() -> None:
    """Phi(-1): unit variances, means 2 apart."""
    assert make_simple.bayes_risk == pytest.approx(0.158655253931, abs=1e-11)
