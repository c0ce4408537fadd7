"""Instability plots."""

from __future__ import annotations

import numpy as np

from truerisk.validation.prediction_stability import PredictionStability

RNG = np.random.default_rng(0)
GIVEN = RNG.uniform(size=80)
OTHERS = np.clip(GIVEN + 0.1 * RNG.standard_normal((6, 80)), 0, 1)


def test_every_further_prediction_is_drawn():
    """A point per row and model, the range around the diagonal, the threshold twice."""
    ax = PredictionStability.of(np.arange(80), GIVEN, OTHERS, "", event="ill").plot()
    points = next(line for line in ax.get_lines() if line.get_marker() == ".")
    assert points.get_xdata().tolist() == np.tile(GIVEN, 6).tolist()
    assert points.get_ydata().tolist() == OTHERS.ravel().tolist()
    low, high = (line.get_ydata() for line in ax.get_lines()[1:3])
    assert (low < high).all()
    assert sum(list(line.get_xdata()) == [0.5, 0.5] for line in ax.get_lines()) == 1


def test_numbers_have_no_threshold():
    """Of a regression there is the diagonal of its own range."""
    ax = PredictionStability.of(np.arange(80), 9 * GIVEN, 9 * OTHERS, "").plot()
    diagonal = ax.get_lines()[-1]
    assert list(diagonal.get_xdata()) == [9 * GIVEN.min(), 9 * GIVEN.max()]
    assert ax.get_xlabel() == "prediction"
