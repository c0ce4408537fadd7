"""The losses of an estimate along time are those of its rows, and a trend is told from noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.statistics.long_run import long_run

RNG = np.random.default_rng(0)
N = 600
X, Y = RNG.normal(size=(N, 2)), RNG.normal(size=N)
PLACES = RNG.permutation(N)
DATES = np.datetime64("2024-01-01") + PLACES


def estimate(y=Y, **more):
    return tr.estimate_risk(DummyRegressor(), X, y, **more)


def test_groups_have_no_test_of_a_trend():
    """Their rows depend on each other wherever they stand in time."""
    found = tr.risk_over_time(estimate(groups=np.arange(N) % 60))
    assert (found.std_error, found.p_value) == (None, None)
    assert "may be met again later" in str(found)
    assert tr.risk_over_time(estimate()).p_value is not None
    placed = tr.risk_over_time(estimate(block=np.arange(N) % 60), np.arange(N))
    assert "rows come in blocks or groups" in str(placed).replace("\n", " ")


def test_the_means_are_those_of_the_rows_in_their_order():
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


def test_an_estimate_of_a_file_has_lost_its_times():
    """Row numbers would be taken for times in silence."""
    again = tr.RiskEstimate.from_json(estimate(time=DATES).to_json())
    with pytest.raises(Refusal, match="read from a file .* give time="):
        tr.risk_over_time(again)
    assert tr.risk_over_time(again, DATES).p_value is not None


def test_the_trend_is_the_line_of_least_squares_with_its_long_run_error():
    """From the first tested time to the last; times of several rows count by their mean."""
    est = estimate(time=np.arange(N))
    found = tr.risk_over_time(est)
    x = np.linspace(0, 1, len(est.losses))
    slope, start = np.polyfit(x, est.losses, 1)
    assert found.slope == pytest.approx(slope)
    centred = x - x.mean()
    parts = centred * (est.losses - start - slope * x) / (centred @ centred)
    assert found.std_error == pytest.approx(len(x) * long_run(parts).std_error)
    twice = tr.estimate_risk(DummyRegressor(), np.repeat(X, 2, axis=0), np.repeat(Y, 2),
                             time=np.repeat(np.arange(N), 2))  # fmt: skip
    again = tr.risk_over_time(twice, np.repeat(np.arange(N), 2))
    assert again.slope == pytest.approx(found.slope, rel=1e-6)


def test_a_risk_that_grows_is_seen():
    """And one that stays is not."""
    grows = Y * np.linspace(0.5, 2, N)
    assert tr.risk_over_time(estimate(grows, time=np.arange(N))).p_value < 0.01
    assert tr.risk_over_time(estimate(time=np.arange(N))).p_value > 0.05


def test_few_times_have_a_slope_and_no_test():
    """A note says why."""
    est = tr.estimate_risk(Ridge(), X[:90], Y[:90], cv="forward-2")
    found = tr.risk_over_time(est, n_stretches=100)
    assert (found.std_error, found.p_value) == (None, None)
    assert "60 times are too few" in found.notes[0]
    assert len(found.values) == 60


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: tr.risk_over_time(0.3), BadArgument, "estimate=0.3: give what"),
        (lambda: tr.risk_over_time(estimate(), n_stretches=0), BadArgument, "n_stretches=0"),
        (
            lambda: tr.risk_over_time(estimate(), np.arange(7)),
            BadData,
            "give one time for each of 600",
        ),
        (lambda: tr.risk_over_time(estimate(sample_weight=1 + Y**2)), Refusal, "rows had weights"),
        (
            lambda: tr.risk_over_time(estimate(block=RNG.uniform(size=(N, 2)))),
            Refusal,
            "have places and no times, and their numbers are no times",
        ),
        (
            lambda: tr.risk_over_time(estimate(scoring="r2")),
            Refusal,
            "has no losses of single rows",
        ),
        (
            lambda: tr.risk_over_time(estimate(), np.arange(N) // 300),
            BadData,
            "rows of 2 times were tested",
        ),
    ],
    ids=["estimate", "stretches", "times", "weights", "places", "scores", "two"],
)
def test_what_has_no_course_is_refused(make, error, message):
    """What is wrong, and what to do."""
    with pytest.raises(error, match=message):
        make()


def test_the_band_holds_the_mean_of_a_stretch():
    """Of an autoregression about 95 of 100 stretches, each taken by itself; 0 bounds losses."""
    held = []
    for seed in range(40):
        noise = np.random.default_rng(seed).standard_normal(N + 50)
        for t in range(1, N + 50):
            noise[t] += 0.5 * noise[t - 1]
        est = estimate(time=np.arange(N))
        losses = noise[50:][est.loss_rows] + 10
        found = tr.risk_over_time(replace(est, losses=losses), np.arange(N))
        held.append((found.low <= 10) & (found.high >= 10))
    assert 0.92 < np.mean(held) < 0.99
    squares = tr.risk_over_time(estimate(time=np.arange(N)), np.arange(N), n_stretches=100)
    assert squares.low.min() == 0


def test_no_band_without_a_test():
    """A series that is too short for one has none of the other; the sentence says why."""
    X, Y = RNG.normal(size=(150, 2)), RNG.normal(size=150)
    est = tr.estimate_risk(DummyRegressor(), X, Y, time=np.arange(150))
    found = tr.risk_over_time(est, np.arange(150))
    assert found.low is None
    assert found.high is None
    assert found.to_dict()["low"] is None
    assert list(found.to_frame()["low"]) == [None] * 10
    assert "No test: " in found.said
    with pytest.raises(BadArgument, match="confidence_level"):
        tr.risk_over_time(est, np.arange(150), confidence_level=95)


def test_a_trend_is_said_in_a_sentence():
    """Which way, by how much, and how likely without one."""
    rising = Y * np.sqrt(1 + 20 * np.arange(N) / N)
    found = tr.risk_over_time(estimate(rising, time=np.arange(N)), np.arange(N))
    assert found.said.startswith(f"The risk rises by {found.slope:.4f} from the first time")
    flat = tr.risk_over_time(estimate(time=np.arange(N)), np.arange(N))
    assert flat.said.startswith("No trend beyond chance")


@pytest.mark.parametrize("time", [5, "day"])
def test_what_is_no_list_of_times_is_refused(time):
    """A name is none either: an estimate has no columns."""
    with pytest.raises(BadArgument, match="give one time for each of 600 rows"):
        tr.risk_over_time(estimate(time=np.arange(N)), time)
