"""The corrected resampled t; tests/methods/test_intervals.py holds it to the textbook."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge

import truerisk as tr

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = X[:, 0] + RNG.normal(size=30)


def test_a_single_k_fold_has_it_when_asked():
    """J = 5 folds of 6 rows: se² = s² (1/5 + 6/24), t with 4 degrees of freedom."""
    found = tr.estimate_risk(Ridge(), X, Y, method="5-fold", interval="corrected-t")
    error = found.split_risks.std(ddof=1) * np.sqrt(1 / 5 + 6 / 24)
    low, high = stats.t.interval(0.95, 4, found.value, error)
    assert found.std_error == pytest.approx(error)
    assert (found.interval.low, found.interval.high) == pytest.approx((max(low, 0), high))
    assert found.interval.method == "corrected-t"


def test_it_is_the_own_one_of_repetitions():
    """Asked for or not, repeated K-fold has the same interval."""
    usual = tr.estimate_risk(Ridge(), X, Y, method="2x5-fold")
    asked = tr.estimate_risk(Ridge(), X, Y, method="2x5-fold", interval="corrected-t")
    assert usual.interval == asked.interval
