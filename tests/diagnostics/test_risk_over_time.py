"""The losses of an estimate along time are those of its rows, and a trend is told from noise."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.extend import BadArgument, BadData, Refusal
from truerisk.statistics.long_run import long_run_std_error

RNG = np.random.default_rng(0)
N = 600
X, Y = RNG.normal(size=(N, 2)), RNG.normal(size=N)
DATES = np.datetime64("2024-01-01") + RNG.permutation(N)


def estimate(y=Y, **more):
    return tr.estimate_risk(DummyRegressor(), X, y, **more)


@pytest.fixture(scope="module")
def timed():
    """An estimate of rows that stand in the order of time."""
    return estimate(time=np.arange(N))


@pytest.mark.parametrize(
    ("options", "time", "said"),
    [
        ({"groups": np.arange(N) % 60}, None, "may be met again later"),
        ({"block": np.arange(N) % 60}, np.arange(N), "rows come in blocks or groups"),
    ],
)
def test_risk_over_time_has_no_test_of_rows_that_depend_otherwise(options, time, said):
    found = tr.risk_over_time(estimate(**options), time)
    assert (found.std_error, found.p_value) == (None, None)
    assert said in str(found).replace("\n", " ")
    assert tr.risk_over_time(estimate()).p_value is not None


def test_risk_over_time_has_the_means_of_rows_in_the_order_of_time():
    """Whatever the order of the table; every tested row is in one stretch."""
    est = estimate(time=DATES)
    found = tr.risk_over_time(est, DATES, n_stretches=4)
    order = np.argsort(DATES[est.loss_rows])
    parts = np.array_split(est.losses[order], 4)
    assert found.values == pytest.approx([part.mean() for part in parts])
    assert found.n_rows.tolist() == [len(part) for part in parts]
    assert (found.starts[1:] > found.ends[:-1]).all()
    assert list(found.to_frame()["value"]) == found.values.tolist()
    assert "trend from first to last" in str(found)
    assert str(tr.risk_over_time(est, n_stretches=4)) == str(found)  # it knows its times


def test_risk_over_time_of_an_estimate_of_a_file_asks_for_times():
    """Row numbers would be taken for times in silence."""
    again = tr.RiskEstimate.from_json(estimate(time=DATES).to_json())
    with pytest.raises(Refusal, match="read from a file .* give time="):
        tr.risk_over_time(again)
    assert tr.risk_over_time(again, DATES).p_value is not None


def test_risk_over_time_has_the_line_of_least_squares_with_its_long_run_error(timed):
    """From the first tested time to the last; times of several rows count by their mean."""
    found = tr.risk_over_time(timed)
    x = np.linspace(0, 1, len(timed.losses))
    slope, start = np.polyfit(x, timed.losses, 1)
    assert found.slope == pytest.approx(slope)
    centred = x - x.mean()
    parts = centred * (timed.losses - start - slope * x) / (centred @ centred)
    assert found.std_error == pytest.approx(len(x) * long_run_std_error(parts).std_error)
    times = np.repeat(np.arange(N), 2)
    twice = tr.estimate_risk(DummyRegressor(), np.repeat(X, 2, axis=0), np.repeat(Y, 2), time=times)
    assert tr.risk_over_time(twice, times).slope == pytest.approx(found.slope, rel=1e-6)


def test_risk_over_time_tells_a_risk_that_grows_from_one_that_stays(timed):
    grows = tr.risk_over_time(estimate(Y * np.sqrt(1 + 20 * np.arange(N) / N), time=np.arange(N)))
    assert grows.p_value < 0.01
    assert grows.trend_sentence.startswith(
        f"The risk rises by {grows.slope:.4f} from the first time"
    )
    stays = tr.risk_over_time(timed)
    assert stays.p_value > 0.05
    assert stays.trend_sentence.startswith("No trend beyond chance")


def test_risk_over_time_of_few_times_has_a_slope_and_no_test():
    est = tr.estimate_risk(Ridge(), X[:90], Y[:90], cv="forward-2")
    found = tr.risk_over_time(est, n_stretches=100)
    assert (found.std_error, found.p_value) == (None, None)
    assert "60 time points are too few" in found.notes[0]
    assert len(found.values) == 60


def test_risk_over_time_has_bands_that_hold_the_mean_of_a_stretch(timed):
    """Of an autoregression about 95 of 100 stretches, each taken by itself; 0 bounds losses."""
    held = []
    for seed in range(40):
        noise = np.random.default_rng(seed).standard_normal(N + 50)
        for t in range(1, N + 50):
            noise[t] += 0.5 * noise[t - 1]
        losses = noise[50:][timed.loss_rows] + 10
        found = tr.risk_over_time(replace(timed, losses=losses), np.arange(N))
        held.append((found.low <= 10) & (found.high >= 10))
    assert 0.92 < np.mean(held) < 0.99
    assert tr.risk_over_time(timed, np.arange(N), n_stretches=100).low.min() == 0


def test_risk_over_time_has_no_band_of_a_series_too_short_for_a_test():
    X, Y = RNG.normal(size=(150, 2)), RNG.normal(size=150)
    est = tr.estimate_risk(DummyRegressor(), X, Y, time=np.arange(150))
    found = tr.risk_over_time(est, np.arange(150))
    assert (found.low, found.high, found.to_dict()["low"]) == (None, None, None)
    assert list(found.to_frame()["low"]) == [None] * 10
    assert "No test: " in found.trend_sentence


RISK = estimate()
PLACES = RNG.uniform(size=(N, 2))


@pytest.mark.parametrize(
    ("est", "options", "error", "message"),
    [
        (0.3, {}, BadArgument, "estimate=0.3: give what"),
        (RISK, {"n_stretches": 0}, BadArgument, "n_stretches=0"),
        (RISK, {"time": np.arange(7)}, BadData, "give one time for each of 600"),
        (RISK, {"time": 5}, BadArgument, "give one time for each of 600 rows"),
        (RISK, {"time": "day"}, BadArgument, "give one time for each of 600 rows"),
        (RISK, {"time": np.arange(N) // 300}, BadData, "rows of 2 times were tested"),
        (RISK, {"confidence_level": 95}, BadArgument, "confidence_level"),
        (estimate(sample_weight=1 + Y**2), {}, Refusal, "rows had weights"),
        (estimate(block=PLACES), {}, Refusal, "have places and no times, and their numbers are no"),
        (estimate(scoring="r2"), {}, Refusal, "has no losses of single rows"),
    ],
)
def test_risk_over_time_refuses_what_has_no_course(est, options, error, message):
    with pytest.raises(error, match=message):
        tr.risk_over_time(est, **options)
