"""Net benefit is that of dcurves, and its error that of a mean."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import beta, norm
from tests.support.rms_data import drawn, foreign

from truerisk.validation.discrimination import NetBenefit, net_benefits
from truerisk.validation.gain import gain_interval
from truerisk.validation.outcomes import Outcomes

X, Y, _ = drawn()
ROWS = Outcomes.from_predictions(Y, foreign(X))
# dcurves.dca(data, outcome="y", modelnames=["p"], thresholds=T), dcurves 1.1.7 of PyPI
T = np.array([0.05, 0.1, 0.2, 0.3, 0.5, 0.7])
MODEL = [0.432018, 0.384259, 0.312500, 0.260714, 0.141667, 0.047222]
EVERYBODY = [0.429825, 0.398148, 0.322917, 0.226190, -0.083333, -0.805556]


def test_net_benefits_are_dcurves():
    assert net_benefits(ROWS, T)[0] == pytest.approx(MODEL, abs=6e-7)
    assert net_benefits(ROWS, T, "treat all")[0] == pytest.approx(EVERYBODY, abs=6e-7)
    differences = net_benefits(ROWS, T, "model minus treat all")[0]
    assert differences == pytest.approx(np.subtract(MODEL, EVERYBODY), abs=2e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 0.95))
def test_net_benefits_are_the_count(seed, t):
    """TP/n − FP/n · t/(1 − t), ties with the threshold treated; weights are copies."""
    rng = np.random.default_rng(seed)
    y, p, times = rng.random(30) < 0.4, rng.integers(0, 11, 30) / 10, rng.integers(0, 3, 30)
    times[0] = 1
    value, _ = net_benefits(Outcomes.from_predictions(y, p, times), np.array([t]))
    rows = np.repeat(np.arange(30), times)
    called = p[rows] >= t
    right = np.count_nonzero(called & y[rows])
    wrong = np.count_nonzero(called & ~y[rows])
    assert value[0] == pytest.approx((right - wrong * t / (1 - t)) / len(rows))


def test_net_benefits_error_counts_groups_whole():
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
    # The 20 groups give 19 degrees, to a band that rests on 20 sums.
    members = np.arange(len(Y)) % 20
    rows = Outcomes.from_predictions(ROWS.observed, ROWS.predictions, members=members)
    found = NetBenefit.from_outcomes(rows, T, event="1", apparent=None, corrected=None)
    half = stats.t.ppf(0.975, 19) * net_benefits(rows, T)[1]
    assert found.high - found.honest == pytest.approx(half)
    assert (rows.degrees_of_freedom, ROWS.degrees_of_freedom) == (19, np.inf)


def benefit(t: np.ndarray) -> NetBenefit:
    return NetBenefit.from_outcomes(ROWS, t, event="1", apparent=np.zeros(len(t)), corrected=None)


def test_net_benefit_prints_some_thresholds_of_many_and_all_of_few():
    for t, shown in (
        (np.arange(1, 100) / 100, ["0.05", "0.1", "0.2", "0.3", "0.5"]),
        (np.array([0.25]), ["0.25"]),
    ):
        lines = str(benefit(t)).splitlines()
        assert [line.split()[0] for line in lines[2:-1]] == shown
        assert lines[-1] == benefit(t).sentence
    assert benefit(T).to_dict()["corrected"] is None


T99 = np.arange(1, 100) / 100


def test_net_benefit_sentence_counts_thresholds_with_a_shown_gain():
    """It counts the simultaneous intervals above 0, and not the values above 0.

    Held-out values of noise lie above both policies at several thresholds by chance alone.
    """
    many = Outcomes.from_predictions(np.tile(Y, 5), np.tile(foreign(X), 5))
    found = NetBenefit.from_outcomes(many, T99, event="1", apparent=None, corrected=None)
    by_value = int((found.honest > np.maximum(found.treat_all, 0)).sum())
    shown = int((found.gain_low > 0).sum())
    assert 0 < shown < by_value < 99
    assert f"at {shown} of 99 thresholds" in found.sentence
    assert "95 % interval of the difference, simultaneous over thresholds" in found.sentence
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.3
    noise = Outcomes.from_predictions(y, 1 / (1 + np.exp(0.85 - rng.standard_normal(300) / 2)))
    found = NetBenefit.from_outcomes(noise, T99, event="1", apparent=None, corrected=None)
    assert (found.honest > np.maximum(found.treat_all, 0)).sum() >= 3
    assert found.sentence.startswith("At no threshold is it shown that the model gains more")


def test_net_benefit_sentence_lists_runs_of_thresholds():
    """Runs of neighbouring thresholds are named, or their ends where there are many runs."""
    found = benefit(T99)
    ranges = np.where((T99 < 0.205) & (T99 > 0.015) | (T99 == 0.91), 0.1, -0.1)
    said = replace(found, gain_low=ranges).sentence
    assert "at 20 of 99 thresholds (0.02 to 0.2 and 0.91)" in said
    gaps = replace(found, gain_low=np.where(np.arange(99) % 2, 0.1, -0.1)).sentence
    assert "at 49 of 99 thresholds (0.02 to 0.98, with gaps)" in gaps
    assert "at every threshold (0.01 to 0.99)" in replace(found, gain_low=T99).sentence
    # Rows in time or space have values alone: they show nothing.
    rows = {"event": "1", "apparent": None, "corrected": None, "is_certain": False}
    found = NetBenefit.from_outcomes(ROWS, T99, **rows)
    assert found.gain_low is None
    assert found.sentence.endswith("There is no interval, so this may be chance.")
    same = Outcomes.from_predictions(Y, np.full(len(Y), 0.5))  # treats everybody, then nobody
    assert NetBenefit.from_outcomes(same, T99, **rows).sentence.startswith(
        "At no threshold does the model"
    )
    assert NetBenefit.from_outcomes(ROWS, T[:1], **rows).sentence.endswith("nobody 0.")


def test_net_benefit_sentence_of_one_threshold_has_the_interval_of_the_gain():
    """One threshold has the values of all three policies and the interval of the gain."""
    one = benefit(np.array([0.25]))
    assert f"from a probability of 0.25 on, gains {one.honest[0]:.4f} true" in one.sentence
    assert f"treating everybody gains {one.treat_all[0]:.4f}, nobody 0." in one.sentence
    gain = one.honest[0] - one.treat_all[0]
    assert one.gain_low[0] < gain < one.gain_high[0]
    assert f"is {gain:.4f} (95 % {one.gain_low[0]:.4f} to {one.gain_high[0]:.4f})" in one.sentence


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_gain_interval_surrounds_the_difference(seed):
    rng = np.random.default_rng(seed)
    p, weights = rng.random(60), rng.integers(1, 4, 60)
    rows = Outcomes.from_predictions(rng.random(60) < p, p, weights, rng.integers(0, 25, 60))
    low, high = gain_interval(rows, T99, 0.95)
    gain = net_benefits(rows, T99)[0] - np.maximum(net_benefits(rows, T99, "treat all")[0], 0)
    assert (low <= gain + 1e-12).all()
    assert (gain <= high + 1e-12).all()


@pytest.mark.parametrize("n_groups", [None, 6])
def test_gain_interval_is_that_of_clopper_and_pearson_at_one_threshold(n_groups):
    """The quantile is that of two normal intervals, or of t where there are groups alike."""
    y, p = np.repeat([1, 0, 1, 0], [3, 27, 20, 10]), np.repeat([0.1, 0.8], 30)
    groups = None if n_groups is None else np.arange(60) % n_groups
    low, high = gain_interval(
        Outcomes.from_predictions(y, p, members=groups), np.array([0.5]), 0.95
    )
    z = norm.ppf((1 + 0.95**0.5) / 2)  # two independent differences
    tail = norm.sf(z if n_groups is None else stats.t.ppf(norm.cdf(z), n_groups - 1))
    few, many = beta.ppf([tail, 1 - tail], [30, 31], [31, 30])  # of the rows on either side
    below = 0.5 - beta.ppf([1 - tail, tail], [4, 3], [27, 28])
    above = beta.ppf([tail, 1 - tail], [20, 21], [11, 10]) - 0.5
    lows = [one[0] * (few if one[0] > 0 else many) / 0.5 for one in (below, above)]
    assert low[0] == pytest.approx(min(lows), abs=0.01)
    assert high[0] == pytest.approx(min(below[1], above[1]) * many / 0.5, abs=0.01)


def test_gain_interval_counts_groups_and_rows():
    """Four copies of every row, in groups of the four, tell no more than single rows.

    Two answers of half the weight to each row are one answer.
    """
    one_low, one_high = gain_interval(ROWS, T, 0.95)
    four = np.repeat(np.arange(len(Y)), 4)
    copies = Outcomes.from_predictions(Y[four], ROWS.predictions[four], members=four)
    low, high = gain_interval(copies, T, 0.95)
    assert low == pytest.approx(one_low, abs=0.01)
    assert high == pytest.approx(one_high, abs=0.01)
    twice = np.tile(np.arange(len(Y)), 2)
    rows = Outcomes.from_predictions(
        Y[twice], ROWS.predictions[twice], np.full(len(twice), 0.5), rows=twice
    )
    assert gain_interval(rows, T, 0.95)[0] == pytest.approx(one_low)
    same = Outcomes.from_predictions(Y, np.full(len(Y), 0.5))  # treats everybody, then nobody
    low, high = gain_interval(same, T, 0.95)
    assert (low <= 0).all()
    assert (high >= 0).all()
