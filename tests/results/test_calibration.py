"""Calibration: bins, shares, Wilson's intervals, the Brier score."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from truerisk.extend import BadData
from truerisk.results.calibration import Calibration

RNG = np.random.default_rng(0)
GIVEN = RNG.uniform(size=400)
CAME = RNG.uniform(size=400) < GIVEN**2
EXAMPLE = Calibration.from_predictions(CAME[:60], GIVEN[:60])


def test_calibration_has_scikit_learns_bins_of_quantiles():
    found = Calibration.from_predictions(CAME, GIVEN)
    observed, predicted = calibration_curve(CAME, GIVEN, n_bins=10, strategy="quantile")
    np.testing.assert_allclose(found.observed, observed)
    np.testing.assert_allclose(found.predicted, predicted)
    assert found.counts.tolist() == [40] * 10
    assert found.brier == pytest.approx(brier_score_loss(CAME, GIVEN))
    two = Calibration.from_predictions(
        [0, 1] * 50, [0.2, 0.7] * 50
    )  # equal probabilities share a bin
    assert two.predicted.round(6).tolist() == [0.2, 0.7]
    assert two.observed.tolist() == [0.0, 1.0]


def test_calibration_interval_is_wilsons_and_none_of_dependent_rows():
    """15 of 100 at 95 %: [0.0931, 0.2328], R: prop.test(15, 100, correct = FALSE)."""
    found = Calibration.from_predictions([1] * 15 + [0] * 85, np.full(100, 0.2))
    assert found.low.round(4).tolist() == [0.0931]
    assert found.high.round(4).tolist() == [0.2328]
    weights = RNG.uniform(size=400)
    weighted = Calibration.from_predictions(CAME, GIVEN, weights=weights)
    assert weighted.low is None
    assert "no independent trials" in weighted.notes[0]
    assert weighted.brier == pytest.approx(brier_score_loss(CAME, GIVEN, sample_weight=weights))
    assert Calibration.from_predictions(CAME, GIVEN, dependent=True).high is None


@pytest.mark.parametrize("given", [[0.5], [0.5, 1.5], [0.5, np.nan]])
def test_calibration_refuses_what_is_no_probability(given):
    with pytest.raises(BadData):
        Calibration.from_predictions([0, 1], given)
