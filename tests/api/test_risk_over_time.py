"""The losses of an estimate along time are those of its rows, and a trend is told from noise."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.statistics.long_run import long_run

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
    assert "groups that are met again" in str(found)
    assert tr.risk_over_time(estimate()).p_value is not None


def test_the_means_are_those_of_the_rows_in_their_order():
    """Whatever the order of the table; every tested row is in one stretch."""
    est = estimate(time=DATES)
    found = tr.risk_over_time(est, DATES, n_stretches=4)
    order = np.argsort(DATES[est.loss_rows])
    parts = np.array_split(est.losses[order], 4)
    assert found.values == pytest.approx([part.mean() for part in parts])
    assert found.n_rows.tolist() == [len(part) for part in parts]
    assert (found.starts[1:] > found.ends[:-1]).all()
    assert list(found.frame()["risk"]) == found.values.tolist()
    assert "trend from first to last" in str(found)


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
    est = tr.estimate_risk(Ridge(), X[:90], Y[:90], method="forward-2")
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
        (lambda: tr.risk_over_time(estimate(loss="r2")), Refusal, "has no losses of single rows"),
        (
            lambda: tr.risk_over_time(estimate(), np.arange(N) // 300),
            BadData,
            "rows of 2 times were tested",
        ),
    ],
    ids=["estimate", "stretches", "times", "weights", "scores", "two"],
)
def test_what_has_no_course_is_refused(make, error, message):
    """What is wrong, and what to do."""
    with pytest.raises(error, match=message):
        make()
