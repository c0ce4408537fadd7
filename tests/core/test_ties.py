"""What counts as the same risk, for every part that chooses or ranks."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.ties import tied


@pytest.mark.parametrize("unit", [1e-200, 1e-14, 1.0, 1e9])
def test_no_unit_of_a_loss_counts(unit):
    """A last bit is a tie and a millionth is none, for positive and for negative risks."""
    risks = unit * np.array([1.0, 1 + 1e-15, 1 + 1e-6, 2.0])
    assert tied(risks, risks[0]).tolist() == [True, True, False, False]
    assert tied(-risks, -risks[3]).tolist() == [False, False, False, True]


def test_nothing_but_0_ties_with_0():
    """A risk of 0 has no last bit; what failed, at infinity, ties with what failed."""
    assert tied(np.array([0.0, 1e-300, np.inf]), 0.0).tolist() == [True, False, False]
    assert tied(np.inf, np.inf)
