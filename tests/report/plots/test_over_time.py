"""The risk over time is drawn as it is: its stretches, their band, and the line of the trend."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import truerisk as tr

LOAD = tr.datasets.make_daily_load
X, Y = LOAD(730, random_state=1)


def found(time, **options):
    return tr.risk_over_time(tr.estimate_risk(Ridge(), X, Y, time=time), **options)


def test_stretches_band_and_trend(axes):
    """A point in the middle of each stretch; a band around them; the fitted line, dashed."""
    course = found(np.arange(730.0), n_stretches=5)
    assert course.plot(ax=axes) is axes
    points, trend = axes.lines
    assert points.get_ydata() == pytest.approx(course.values)
    assert points.get_xdata() == pytest.approx((course.starts + course.ends) / 2)
    assert trend.get_linestyle() == "--"
    assert np.ptp(trend.get_ydata()) == pytest.approx(abs(course.slope))
    band = axes.collections[-1].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(course.high.max())
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time", "risk (squared)")


def test_a_score_is_drawn_as_a_score(axes):
    """Its steps, its band and its trend are those of the course, and larger is better."""
    high = np.median(Y) < Y
    est = tr.estimate_risk(LogisticRegression(), X, high, time=np.arange(730), scoring="accuracy")
    course = tr.risk_over_time(est)
    course.plot(ax=axes)
    points, trend = axes.lines
    assert points.get_ydata() == pytest.approx(course.values)
    assert np.diff(trend.get_ydata())[0] == pytest.approx(course.slope)
    band = axes.collections[-1].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(course.high.max())
    assert axes.get_ylabel() == "accuracy (larger is better)"


def test_dates_stay_dates(axes):
    """The axis of time counts days, from the first stretch on."""
    course = found(LOAD.dates(730))
    course.plot(ax=axes)
    assert axes.lines[0].get_xdata()[0] == course.starts[0] + (course.ends - course.starts)[0] / 2


def test_without_a_test_there_is_no_line():
    """A short series has means, and neither band nor trend."""
    X, Y = LOAD(120, random_state=1)
    course = tr.risk_over_time(tr.estimate_risk(Ridge(), X, Y, time=np.arange(120)))
    assert course.p_value is None
    ax = course.plot()
    assert len(ax.lines) == 1


def test_four_years_of_dates_have_ticks_without_a_warning():
    """Matplotlib warns where it finds no distance that suits; few ticks are enough."""
    time = LOAD.dates(730).astype("datetime64[D]")
    wide = time[0] + 2 * (time - time[0])
    ax = found(wide).plot()
    ax.figure.canvas.draw()
    assert 2 <= len(ax.get_xticks()) <= 9
