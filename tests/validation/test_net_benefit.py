"""Net benefit is that of dcurves, and its error that of a mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
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


def test_net_benefit_of_groups_has_the_t_quantile():
    """The 20 groups give 19 degrees, to a band that rests on 20 sums."""
    members = np.arange(len(Y)) % 20
    rows = Outcomes.of(ROWS.observed, ROWS.predictions, members=members)
    found = NetBenefit.of(rows, T, event="1", apparent=None, corrected=None)
    half = stats.t.ppf(0.975, 19) * net_benefits(rows, T)[1]
    assert found.high - found.honest == pytest.approx(half)
    assert rows.degrees == 19
    assert ROWS.degrees == np.inf


def benefit(t: np.ndarray) -> NetBenefit:
    return NetBenefit.of(ROWS, t, event="1", apparent=np.zeros(len(t)), corrected=None)


def test_it_prints_some_thresholds_of_many_and_all_of_few():
    """Of many those of a clinic; one that was chosen stands alone."""
    for t, shown in (
        (np.arange(1, 100) / 100, ["0.05", "0.1", "0.2", "0.3", "0.5"]),
        (np.array([0.25]), ["0.25"]),
    ):
        lines = str(benefit(t)).splitlines()
        assert [line.split()[0] for line in lines[2:-1]] == shown
        assert lines[-1] == benefit(t).sentence
    assert benefit(T).to_dict()["corrected"] is None


def test_a_sentence_says_where_the_model_gains_more():
    """Than the better of treating everybody and nobody; of one threshold what each gains."""
    t = np.arange(1, 100) / 100
    found = benefit(t)
    better = t[found.honest > np.maximum(found.treat_all, 0)]
    assert 0 < len(better) < len(t)
    assert f"{len(better)} of 99 thresholds" in found.sentence
    base = np.maximum(found.treat_all, 0)
    ranges = replace(found, honest=base + ((t < 0.205) & (t > 0.015) | (t == 0.91)))
    assert ranges.sentence.endswith("at 20 of 99 thresholds: 0.02 to 0.2 and 0.91.")
    gaps = replace(found, honest=base + (np.arange(99) % 2))
    assert gaps.sentence.endswith("at 49 of 99 thresholds: 0.02 to 0.98, with gaps.")
    one = benefit(np.array([0.25]))
    assert f"from a probability of 0.25 on, gains {one.honest[0]:.4f} true" in one.sentence
    assert f"treating everybody gains {one.treat_all[0]:.4f}, nobody 0." in one.sentence
    same = Outcomes.of(Y, np.full(len(Y), 0.5))  # treats everybody, then nobody
    never = NetBenefit.of(same, t, event="1", apparent=t, corrected=None)
    assert never.sentence.startswith("At no threshold")
