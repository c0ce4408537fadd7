"""Times are numbers or dates, one for each row, in whatever form a user has them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.core.errors import BadArgument, BadData
from truerisk.data.data import Data
from truerisk.data.rows import TableView
from truerisk.data.times import as_span, checked_times

DAYS = ["2024-05-03", "2024-05-01", "2024-05-02"]
DATES = np.array(DAYS, dtype="M8[D]")


@pytest.mark.parametrize(
    "given",
    [
        DATES,
        DATES.astype("M8[ns]"),
        DAYS,
        np.array(DAYS, dtype=object),
        [datetime.fromisoformat(day) for day in DAYS],
        [date.fromisoformat(day) for day in DAYS],
        [datetime.fromisoformat(day).replace(tzinfo=UTC) for day in DAYS],
        [f"{day}T02:00+02:00" for day in DAYS],
        pd.to_datetime(DAYS),
        pd.Series(pd.to_datetime(DAYS), index=[7, 8, 9]),
        pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        pl.Series(DAYS).str.to_date(),
    ],
    ids=[
        "days",
        "nanoseconds",
        "texts",
        "objects",
        "datetimes",
        "dates",
        "UTC",
        "offset",
        "index",
        "series",
        "Tokyo",
        "polars",
    ],
)
def test_dates_are_the_same_dates_in_every_form(given) -> None:
    """Arrays, texts, datetimes with and without a zone, pandas and polars."""
    times = checked_times(given, TableView(None, 3))
    assert times is not None
    assert times.dtype.kind == "M"
    assert (times == DATES).all()


@pytest.mark.parametrize(
    "given", [[3, 1, 2], ["3", "1.0", " 2"], np.array([3, 1, 2], dtype="u1")], ids=str
)
def test_numbers_are_floats(given) -> None:
    """Whole numbers, and texts of numbers, as a file has them."""
    assert checked_times(given, TableView(None, 3)).tolist() == [3.0, 1.0, 2.0]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_name_is_a_column_of_the_frame(frame) -> None:
    """It is looked up; anything else that is no column is named."""
    X = frame({"day": [3, 1, 2], "x": [1.0, 2.0, 3.0]})
    assert checked_times("day", TableView(X, 3)).tolist() == [3.0, 1.0, 2.0]
    with pytest.raises(BadData, match="X has no such column; did you mean 'day'"):
        checked_times("days", TableView(X, 3))
    with pytest.raises(BadData, match="names a column, and X is no frame"):
        checked_times("day", TableView(np.zeros((3, 1)), 3))


def test_a_name_of_two_columns_is_none() -> None:
    """Which of them is meant is not known."""
    X = pd.DataFrame([[1, 2], [3, 4]], columns=["day", "day"])
    with pytest.raises(BadData, match="X has 2 columns of this name"):
        checked_times("day", TableView(X, 2))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], r"shape \(2,\); give one time for each of 3 rows"),
        ([1, np.nan, 2], r"time\[1\] is nan: a row without a time"),
        ([1, np.inf, 2], r"time\[1\] is inf"),
        (["2024-05-01", "NaT", "2024-05-02"], r"time\[1\] is NaT"),
        (pd.Series(pd.to_datetime(["2024-05-01", None, "2024-05-02"])), r"time\[1\] is NaT"),
        ([1, 1, 1], "the same in all rows"),
        (
            ["2024-05-01", "01/05/2024", "2024-05-02"],
            r"time\[1\] is '01/05/2024', which",
        ),
        ([datetime(2024, 5, 1), "x", 3], r"time\[1\] is 'x', and others are of another kind"),
        ([datetime(2024, 5, 1), None, datetime(2024, 5, 2)], r"time\[1\] is None"),
        ([True, False, True], "that is no time|others are of another kind"),
        ([1j, 2j, 3j], "that is no time"),
        (pd.period_range("2024-01", periods=3, freq="M"), "that is no time"),
        ([[1], [2, 3], [4]], "not equally long"),
        (np.array([2**60, 2**60 + 1, 2**60 + 2]), "beyond 2..53"),
        ([datetime(2024, 5, 1), datetime(2024, 5, 2, tzinfo=UTC)] * 2, "with a zone"),
    ],
)
def test_what_is_no_time_is_named(given, message) -> None:
    """What is wrong, in which row, and what to do."""
    n = 4 if "zone" in message else 3
    with pytest.raises(BadData, match=message):
        checked_times(given, TableView(None, n))


def test_times_are_cut_with_the_rows_and_change_the_fingerprint() -> None:
    """As groups are; data without them have the fingerprint that they always had."""
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    plain = Data.check(X, y, task="classification")
    data = Data.check(X, y, task="classification", time=np.arange(8)[::-1], block=list("abcdabcd"))
    part = data.subset(np.array([1, 3, 4])).subset(np.array([0, 2]))
    assert part.time is not None
    assert part.time.tolist() == [6.0, 3.0]
    assert part.block is not None
    assert part.block.tolist() == [1, 0]
    later = Data.check(X, y, task="classification", time=np.arange(8)[::-1] + 1.0)
    assert len({plain.fingerprint, data.fingerprint, later.fingerprint}) == 3


def test_lengths_of_time_have_the_unit_of_the_times() -> None:
    """Numbers for numbers, durations for dates, whole rows where there are no times."""
    numbers, hours = np.array([1.0, 2.5]), DATES.astype("M8[h]")
    assert as_span(0.5, numbers, "gap") == 0.5
    assert as_span(np.int64(2), None, "gap") == 2
    day = np.timedelta64(1, "D")
    for given in (day, timedelta(days=1), pd.Timedelta("1D")):
        assert as_span(given, hours, "gap") == day
    assert as_span(0, hours, "gap") == np.timedelta64(0, "D")
    assert hours[0] - as_span(timedelta(minutes=90), hours, "gap") < hours[0]


@pytest.mark.parametrize(
    ("given", "times", "message"),
    [
        (-1, None, "whole number of rows that is not negative"),
        (1.5, None, "whole number of rows"),
        (True, None, "give a number, in rows, since no time= is given"),
        ("7", np.array([1.0]), "give a number, in the unit of time="),
        (np.nan, np.array([1.0]), "finite number that is not negative"),
        (np.timedelta64(1, "D"), np.array([1.0]), "in the unit of time="),
        (7, DATES, "time= holds dates, so give a length of time"),
        (np.timedelta64(-1, "D"), DATES, "not negative"),
        (np.timedelta64("NaT", "D"), DATES, "not negative"),
        (np.timedelta64(1, "M"), DATES, "months and years are not equally long; give days"),
        (np.timedelta64(1, "Y"), DATES, "months and years are not equally long"),
    ],
)
def test_lengths_in_another_unit_are_refused(given, times, message) -> None:
    """Seven what? Rows, days and numbers are not taken for one another."""
    with pytest.raises(BadArgument, match=f"gap=.*{message}"):
        as_span(given, times, "gap")


@pytest.mark.parametrize("unit", ["M", "Y"])
def test_months_and_years_are_days(unit) -> None:
    """They have no one length, so lengths of time could not be counted in them."""
    months = np.datetime64("2000-01", unit) + np.arange(120)
    times = checked_times(months, TableView(None, 120))
    assert np.datetime_data(times.dtype)[0] in ("D", "us")
    assert (times == months).all()
    X = np.random.default_rng(0).normal(size=(120, 2))
    found = tr.estimate_risk(Ridge(), X, X[:, 0], time=months)
    assert "days ahead" in found.notes[0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([pd.NaT, pd.Timestamp("2024-05-01")], r"time\[0\] is NaT: a row without a time"),
        (np.ma.masked_array([1, 2, 3], [False, True, False]), r"time\[1\] is masked"),
        (["2024-05-01", "5", "2024-05-02"], r"time\[1\] is '5', a number, and others are none"),
        ([20240531, 20240601], r"time\[0\] is 20240531, and all of time are dates written as"),
        (np.array([20240531.0, 20240601.0]), "dates written as numbers"),
    ],
)
def test_times_that_would_be_read_as_others_are_refused(given, message) -> None:
    """Missing ones, bare numbers among dates, and dates that are written as numbers."""
    with pytest.raises(BadData, match=message):
        checked_times(given, TableView(None, len(given)))


def test_the_basic_dates_of_iso_8601_are_dates() -> None:
    """As texts; eight digits that are no date are numbers."""
    times = checked_times(["20240531", "20240601"], TableView(None, 2))
    assert (times[1] - times[0]) == np.timedelta64(1, "D")
    assert checked_times(["20240531", "20249901"], TableView(None, 2)).dtype.kind == "f"
    assert checked_times([20240531, 20249901], TableView(None, 2)).dtype.kind == "f"
