"""The normal interval of rows tested once; test_intervals.py holds it to the textbook."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.core.errors import Refusal

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = X[:, 0] + RNG.normal(size=30)


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
