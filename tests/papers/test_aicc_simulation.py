"""AICc is unbiased, AIC is 3 too low, the printed price 7.25."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma

from truerisk.papers.aicc_simulation import EXACT, MEAN_LOG, N, P


def test_the_exact_means_are_those_of_the_methods() -> None:
    """METHODS §6, by simulation: 39.618, 39.617, 36.617, 32.367; all four within .01."""
    mean_log = digamma((N - P) / 2) + np.log(2) - np.log(N)
    assert abs(mean_log - MEAN_LOG) < 1e-14
    known = {"target": 39.618, "AICc": 39.617, "AIC": 36.617, "as printed": 32.367}
    for name, value in known.items():
        assert EXACT[name] == pytest.approx(value, abs=0.011)


def test_means_and_differences_are_the_exact_ones(findings_of):
    """Within 3.5 standard errors, of .08 or less."""
    for table in findings_of("aicc-simulation").tables:
        for row in table.rows:
            assert abs(row.difference) < 3.5, row
            assert row.std_error < 0.08


def test_the_right_price_tends_to_that_of_aic(findings_of):
    """2k(k + 1)/(n − k − 1) with k = 3, which is 3 at n = 12 and nothing at a million rows."""
    (gap,) = findings_of("aicc-simulation").claims[-1].quantities
    assert gap.value == pytest.approx(24 / (10**6 - 4), rel=1e-4)
    assert findings_of("aicc-simulation").claims[-1].verdict == "holds"
