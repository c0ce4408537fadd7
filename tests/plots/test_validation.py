"""Calibration and decision curves are drawn as they are told."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.support.rms_data import drawn

import truerisk as tr

X, Y, _ = drawn()


@pytest.fixture(scope="module")
def found():
    """With optimism."""
    return tr.validate(GaussianNB(), X, Y, replicates=3)


def test_the_calibration_curve_is_held_out_apparent_and_corrected(found):
    """Three lines, a band, and the diagonal."""
    ax = found.calibration.plot()
    curve = found.calibration.curve
    for line, values in zip(
        ax.lines, (curve.observed, curve.corrected, curve.apparent), strict=False
    ):
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert len(ax.lines) == 4
    assert len(ax.collections) == 1


def test_the_decision_curve_stands_beside_all_and_nobody(found):
    """Model with its band, corrected, treat all with its band, nobody."""
    _, ax = plt.subplots()
    assert found.net_benefit.plot(ax=ax) is ax
    assert len(ax.lines) == 4
    assert len(ax.collections) == 2
    np.testing.assert_array_equal(ax.lines[2].get_ydata(), found.net_benefit.treat_all)


def test_nothing_is_drawn_of_what_is_not_there():
    """Without samples there is no corrected line."""
    bare = tr.validate(GaussianNB(), X, Y, replicates=0)
    assert len(bare.calibration.plot().lines) == 3
    assert len(bare.net_benefit.plot().lines) == 3
