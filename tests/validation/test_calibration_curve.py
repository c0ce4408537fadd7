"""The flexible curve is that of R's spline; right probabilities lie on it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from tests.support.rms_data import RMS, drawn, foreign

from truerisk.core.errors import Refusal
from truerisk.validation.calibration import CalibrationFit, grid_of
from truerisk.validation.outcomes import Outcomes

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
    grid = grid_of(Outcomes.of(np.zeros(101), np.linspace(0, 1, 101)))
    assert (grid[0], grid[-1]) == pytest.approx((0.01, 0.99))


def test_whole_weights_are_repeated_rows():
    """Knots and all four errors are about those of the rows so often."""
    times = np.random.default_rng(1).integers(1, 4, len(Y))
    where = np.repeat(np.arange(len(Y)), times)
    weighted, often = (
        Outcomes.of(Y, ROWS.predictions, times),
        Outcomes.of(Y[where], ROWS.predictions[where]),
    )
    one, other = CalibrationFit.of(weighted), CalibrationFit.of(often)
    assert one.knots == pytest.approx(other.knots, abs=0.1)
    assert one.errors(weighted) == pytest.approx(other.errors(often), abs=0.01)


def test_a_row_asked_repeatedly_is_one_row():
    """Nine rows with the event are too few, also where each was answered three times."""
    rows = np.tile(np.arange(60), 3)
    given, ones = np.random.default_rng(0).random(180), np.ones(180)
    found = Outcomes(ones * (rows < 9), given, ones / 3, rows, rows)
    assert (found.n_rows, found.n_events, found.n_rarer, found.n_answers) == (60, 9, 9, 180)
    with pytest.raises(Refusal, match="9 rows of the rarer outcome"):
        CalibrationFit.of(found)


def test_few_events_have_no_curve():
    """Nine rows with the event are too few."""
    y = np.arange(60) < 9
    with pytest.raises(Refusal, match="9 rows of the rarer outcome"):
        CalibrationFit.of(Outcomes.of(y, np.tile([0.2, 0.3, 0.4], 20)))
