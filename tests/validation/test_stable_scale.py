"""The scale on which risks are drawn together: there and back, its slope, and equal noise."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.validation.many_levels import StableScale

SCALES = [
    StableScale(0.0, 1.0),
    StableScale(0.0, 2.0),
    StableScale(0.0, 2.0, logit=True),
    StableScale(0.0, None),
    StableScale(None, None),
]


@pytest.mark.parametrize("scale", SCALES)
def test_there_and_back(scale):
    """Risks stay what they are."""
    values = np.array([0.02, 0.3, 0.97])
    assert scale.back(scale.of(values)) == pytest.approx(values)


@pytest.mark.parametrize("scale", SCALES)
def test_the_slope_is_the_derivative(scale):
    """By differences, of many rows."""
    values, step = np.array([0.1, 0.4, 0.8]), 1e-6
    by_differences = (scale.of(values + step) - scale.of(values)) / step
    assert scale.slope(values, np.full(3, 1e9)) == pytest.approx(by_differences, rel=1e-4)


def test_noise_is_that_of_the_rows_alone():
    """Of errors in n rows the standard error is 1/(2√n), whatever their rate, and finite at 0."""
    n, rates = 400.0, np.array([0.05, 0.3, 0.5, 0.9])
    errors = np.sqrt(rates * (1 - rates) / n)
    slopes = SCALES[0].slope(rates, np.full(4, n))
    assert slopes * errors == pytest.approx(1 / (2 * np.sqrt(n)), rel=0.05)
    assert np.isfinite(SCALES[0].slope(np.array([0.0, 1.0]), np.full(2, 20.0))).all()
