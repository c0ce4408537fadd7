"""The flexible curve is that of R's spline; right probabilities lie on it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from tests.support.rms_data import RMS, drawn, foreign

from truerisk.core.errors import Refusal
from truerisk.core.validation.calibration_curve import CalibrationFit, grid_of
from truerisk.core.validation.outcomes import Outcomes

X, Y, _ = drawn()
ROWS = Outcomes.of(Y, foreign(X))


def test_it_is_the_spline_of_r():
    """ICI, E50, E90 and Emax of glm(y ~ rcspline.eval(logit p))."""
    found = CalibrationFit.of(ROWS).errors(ROWS)
    assert found == pytest.approx({w: RMS["by hand"][w] for w in found}, abs=1e-7)


def test_the_band_holds_what_is_right():
    """Of 100 samples with right probabilities the band leaves the diagonal out at few points."""
    rng = np.random.default_rng(0)
    at = np.array([0.2, 0.5, 0.8])
    held = np.zeros(3)
    for _ in range(100):
        p = expit(rng.normal(size=400))
        rows = Outcomes.of(rng.random(400) < p, p)
        low, high = CalibrationFit.of(rows).band(at, rows.members, 0.95)
        held += (low <= at) & (at <= high)
    assert (held >= 88).all()


def test_the_grid_leaves_the_ends_out():
    """From the 1 % to the 99 % quantile."""
    grid = grid_of(np.linspace(0, 1, 101))
    assert (grid[0], grid[-1]) == pytest.approx((0.01, 0.99))


def test_few_events_have_no_curve():
    """Nine rows with the event are too few."""
    y = np.arange(60) < 9
    with pytest.raises(Refusal, match="9 rows of the rarer outcome"):
        CalibrationFit.of(Outcomes.of(y, np.tile([0.2, 0.3, 0.4], 20)))
