"""Net benefit is that of dcurves, and its error that of a mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.rms_data import drawn, foreign

from truerisk.validation.discrimination import NetBenefit, net_benefits
from truerisk.validation.outcomes import Outcomes

X, Y, _ = drawn()
ROWS = Outcomes.of(Y, foreign(X))
# dcurves.dca(data, outcome="y", modelnames=["p"], thresholds=T), dcurves 1.1.7 of PyPI
T = np.array([0.05, 0.1, 0.2, 0.3, 0.5, 0.7])
MODEL = [0.432018, 0.384259, 0.312500, 0.260714, 0.141667, 0.047222]
EVERYBODY = [0.429825, 0.398148, 0.322917, 0.226190, -0.083333, -0.805556]


def test_it_is_dcurves():
    """Of the model, and of treating everybody."""
    assert net_benefits(ROWS, T)[0] == pytest.approx(MODEL, abs=6e-7)
    assert net_benefits(ROWS, T, everybody=True)[0] == pytest.approx(EVERYBODY, abs=6e-7)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 0.95))
def test_it_is_the_count(seed, t):
    """TP/n − FP/n · t/(1 − t), ties with the threshold treated; weights are copies."""
    rng = np.random.default_rng(seed)
    y, p, times = rng.random(30) < 0.4, rng.integers(0, 11, 30) / 10, rng.integers(0, 3, 30)
    times[0] = 1
    value, _ = net_benefits(Outcomes.of(y, p, times), np.array([t]))
    rows = np.repeat(np.arange(30), times)
    called = p[rows] >= t
    right = np.count_nonzero(called & y[rows])
    wrong = np.count_nonzero(called & ~y[rows])
    assert value[0] == pytest.approx((right - wrong * t / (1 - t)) / len(rows))


def test_the_band_is_wald_with_groups_whole():
    """The error of a mean; rows three times in groups of the three have the error of the rows."""
    thrice = np.repeat(np.arange(len(Y)), 3)
    one = np.ones(len(thrice))
    rows = Outcomes(
        Y[thrice].astype(float), ROWS.predictions[thrice], one, thrice, np.arange(len(one))
    )
    one, three = net_benefits(ROWS, T)[1], net_benefits(rows, T)[1]
    assert three == pytest.approx(one)
    gains = np.where(ROWS.predictions >= 0.5, np.where(Y == 1, 1.0, -1.0), 0.0)
    assert one[4] == pytest.approx(gains.std(ddof=1) / np.sqrt(len(Y)))


def test_it_prints_some_thresholds():
    """Those of a clinic that are among the ones asked for."""
    found = NetBenefit.of(ROWS, T, event="1", apparent=np.array(MODEL), corrected=None)
    assert [line.split()[0] for line in str(found).splitlines()[2:]] == [
        "0.05", "0.1", "0.2", "0.3", "0.5",
    ]  # fmt: skip
    assert found.to_dict()["corrected"] is None
