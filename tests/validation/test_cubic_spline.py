"""Restricted cubic splines: smooth, straight beyond the outer knots, with the knots of Harrell."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.validation.calibration_fits import knot_shares, spline_columns

KNOTS = np.array([-1.0, 0.0, 0.5, 2.0])


def test_it_is_rcspline_eval():
    """Rscript -e 'library(Hmisc); rcspline.eval(c(-2,.3,1,3), knots=c(-1,0,.5,2))' of Hmisc 4.8."""
    found = spline_columns(np.array([-2.0, 0.3, 1.0, 3.0]), KNOTS)[:, 2:]
    expected = [
        [0.0, 0.0],
        [0.2441111111, 0.003],
        [0.8611111111, 0.0925925926],
        [3.75, 0.7222222222],
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-9)


def test_it_is_straight_beyond_the_outer_knots():
    """Second differences vanish there, and nowhere inside."""
    for place, straight in ((-3.0, True), (2.5, True), (1.0, False)):
        around = spline_columns(place + np.array([-0.1, 0.0, 0.1]), KNOTS)[:, 2]
        assert bool(abs(around[0] - 2 * around[1] + around[2]) < 1e-12) is straight


def test_few_rows_have_few_knots():
    """Three below a hundred rows; fewer than three leave the line alone."""
    assert (len(knot_shares(99)), len(knot_shares(100))) == (3, 4)
    assert spline_columns(np.arange(3.0), np.array([0.0, 1.0])).shape == (3, 2)
