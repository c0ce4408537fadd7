"""The normal interval of rows tested once; test_intervals.py holds it to the textbook."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.methods.interval_forms.wald import variance_of_mean

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = X[:, 0] + RNG.normal(size=30)


def test_the_variance_of_a_mean_is_the_textbook_one():
    """s²/n of rows, and s²/m of group means where groups are equal."""
    losses = RNG.random(12)
    weights = np.full(12, 1 / 12)
    variance, m = variance_of_mean(losses, weights, losses.mean(), None)
    assert (variance, m) == (pytest.approx(stats.sem(losses) ** 2), 12)
    groups = np.arange(12) // 3
    means = losses.reshape(4, 3).mean(axis=1)
    variance, m = variance_of_mean(losses, weights, losses.mean(), groups)
    assert (variance, m) == (pytest.approx(stats.sem(means) ** 2), 4)


def test_asked_for_it_is_the_usual_one():
    """interval="wald" changes nothing where it is the method's own."""
    usual = tr.estimate_risk(Ridge(), X, Y, method="5-fold")
    asked = tr.estimate_risk(Ridge(), X, Y, method="5-fold", interval="wald")
    assert asked.interval == usual.interval
    assert asked.std_error == usual.std_error


def test_rows_tested_repeatedly_are_refused():
    """Their losses are not those of one cross-validation."""
    with pytest.raises(Refusal, match=r"tested once.*corrected-t"):
        tr.estimate_risk(Ridge(), X, Y, method="2x5-fold", interval="wald")
