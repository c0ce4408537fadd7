"""Calibration: bins, shares, Wilson's intervals, the Brier score."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from truerisk.core.errors import BadData
from truerisk.results.calibration import Calibration

RNG = np.random.default_rng(0)
GIVEN = RNG.uniform(size=400)
CAME = RNG.uniform(size=400) < GIVEN**2
EXAMPLE = Calibration.of(CAME[:60], GIVEN[:60])


def test_bins_are_those_of_the_quantiles():
    """Means and shares are scikit-learn's with strategy="quantile"."""
    found = Calibration.of(CAME, GIVEN)
    observed, predicted = calibration_curve(CAME, GIVEN, n_bins=10, strategy="quantile")
    np.testing.assert_allclose(found.observed, observed)
    np.testing.assert_allclose(found.predicted, predicted)
    assert found.counts.tolist() == [40] * 10
    assert found.brier == pytest.approx(brier_score_loss(CAME, GIVEN))


def test_the_interval_is_wilsons():
    """15 of 100 at 95 %: [0.0931, 0.2328], R: prop.test(15, 100, correct = FALSE)."""
    found = Calibration.of([1] * 15 + [0] * 85, np.full(100, 0.2))
    assert found.low.round(4).tolist() == [0.0931]
    assert found.high.round(4).tolist() == [0.2328]


def test_equal_probabilities_share_a_bin():
    """Two values make two bins however many rows there are."""
    found = Calibration.of([0, 1] * 50, [0.2, 0.7] * 50)
    assert found.predicted.round(6).tolist() == [0.2, 0.7]
    assert found.observed.tolist() == [0.0, 1.0]


def test_rows_that_depend_have_no_interval():
    """Weights and groups leave the shares and take the intervals away, with a note."""
    weights = RNG.uniform(size=400)
    found = Calibration.of(CAME, GIVEN, weights=weights)
    assert found.low is None
    assert "no independent trials" in found.notes[0]
    assert found.brier == pytest.approx(brier_score_loss(CAME, GIVEN, sample_weight=weights))
    assert Calibration.of(CAME, GIVEN, dependent=True).high is None


@pytest.mark.parametrize("given", [[0.5], [0.5, 1.5], [0.5, np.nan]])
def test_what_is_no_probability_is_refused(given):
    """A missing, a too large and an undefined probability."""
    with pytest.raises(BadData):
        Calibration.of([0, 1], given)
