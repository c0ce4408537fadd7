"""Check the times of rows, given as numbers, dates or the name of a column of X."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from truerisk.core.arguments import mention, repr_on_one_line, to_row_array
from truerisk.core.errors import BadArgument, BadData
from truerisk.data.rows import TableView

DATE_DTYPE = "datetime64[us]"
MISSING_TIME_ADVICE = (
    "a row without a time is neither before nor after another; give it one or leave it out."
)
# Larger integers are not exact as floats.
MAX_EXACT_INTEGER = 2**53


def checked_times(time: Any, table: TableView) -> np.ndarray:
    """Check and convert the times of rows: one float, or one date in UTC without zone, per row.

    Times may be in any order, with ties.

    Texts are numbers, or dates in ISO 8601 format. A single text is the name of a column of X.

    >>> checked_times(["2024-05-01", "2024-04-01"], TableView(None, 2))
    array(['2024-05-01T00:00:00.000000', '2024-04-01T00:00:00.000000'],
          dtype='datetime64[us]')
    """
    array = _time_array(table.column(time, "time") if isinstance(time, str) else time)
    if array.shape != (table.n_rows,):
        raise BadData(
            f"time has shape {array.shape}; give one time for each of {table.n_rows} rows."
        )
    times = array if array.dtype.kind in "Mf" else _parsed_times(array)
    missing_rows = np.flatnonzero(
        np.isnat(times) if times.dtype.kind == "M" else ~np.isfinite(times)
    )
    if len(missing_rows):
        raise BadData(f"time[{missing_rows[0]}] is {times[missing_rows[0]]}: {MISSING_TIME_ADVICE}")
    if times.dtype.kind == "f" and _dates_from_numbers(times) is not None:
        raise BadData(
            f"time[0] is {times[0]:.0f}, and all of time are dates written as numbers: from one "
            "month to the next such numbers leap. Give them as texts, or as dates."
        )
    if (times == times[0]).all():
        raise BadData("time is the same in all rows: no row comes after another.")
    return times


def parse_dates(column: Any) -> np.ndarray | None:
    """Convert a column of dates, in any notation, to an array; return None if a cell is no date.

    >>> parse_dates(["20240531", "20240601"])
    array(['2024-05-31T00:00:00.000000', '2024-06-01T00:00:00.000000'],
          dtype='datetime64[us]')
    >>> parse_dates([1.5, 2.5])
    """
    try:
        array = _time_array(column)
        if array.ndim != 1 or not len(array) or array.dtype.kind not in "iufMOU":
            return None
        if array.dtype.kind in "iuf":
            return _dates_from_numbers(array)
        if array.dtype.kind != "M":
            # A trial with the first cell shows for most columns that they hold no dates.
            _parsed_times(array[:1])
            array = _parsed_times(array)
    except (BadData, OverflowError):
        return None
    return array if array.dtype.kind == "M" and not np.isnat(array).any() else None


def convert_time_span(span: Any, times: np.ndarray | None, argument: str) -> Any:
    """Convert a time span to the unit of `times`.

    If `times` is None, the span is a number of rows, which is checked.

    >>> int(convert_time_span(3, None, "gap")), convert_time_span(0.5, np.array([1.0, 2.0]), "gap")
    (3, 0.5)
    >>> str(convert_time_span(timedelta(days=1), np.array(["2024-05-01"], "M8[h]"), "gap"))
    '24 hours'
    """
    if times is not None and times.dtype.kind == "M":
        return _as_duration(span, times, argument)
    if not isinstance(span, int | float | np.number) or isinstance(span, bool | np.timedelta64):
        unit_text = (
            f"rows, since no {mention('time')} is given"
            if times is None
            else f"the unit of {mention('time')}"
        )
        raise BadArgument(f"{mention(argument, span)}: give a number, in {unit_text}.")
    if not np.isfinite(span) or span < 0 or (times is None and span != int(span)):
        number_kind = "whole number of rows" if times is None else "finite number"
        raise BadArgument(f"{mention(argument, span)}: give a {number_kind} that is not negative.")
    return int(span) if times is None else float(span)


def _as_duration(span: Any, times: np.ndarray, name: str) -> np.timedelta64:
    # pandas' Timedelta is a subclass of timedelta, too.
    if isinstance(span, timedelta):
        span = np.timedelta64(getattr(span, "to_timedelta64", lambda: span)())
    elif isinstance(span, int | float) and span == 0:
        span = np.timedelta64(0, "us")
    if not isinstance(span, np.timedelta64):
        raise BadArgument(
            f"{mention(name, span)}: {mention('time')} holds dates, so give a length of time, such "
            "as numpy.timedelta64(7, 'D')."
        )
    if np.datetime_data(span.dtype)[0] in ("Y", "M"):
        raise BadArgument(
            f"{mention(name, span)}: months and years are not equally long; give days, such as "
            "np.timedelta64(30, 'D')."
        )
    if np.isnat(span) or span < np.timedelta64(0, "us"):
        raise BadArgument(f"{mention(name, span)}: a length of time is not negative.")
    converted_span = span.astype(f"m8[{np.datetime_data(times.dtype)[0]}]")
    # If the dates have a unit too coarse to express the span, the span keeps its own unit.
    return converted_span if converted_span == span else span


def _time_array(values: Any) -> np.ndarray:
    """Convert times to an array, with dates in UTC; integers and booleans stay as they are."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        row = int(np.flatnonzero(np.ma.getmaskarray(values))[0])
        raise BadData(f"time[{row}] is masked: {MISSING_TIME_ADVICE}")
    if str(getattr(values, "dtype", "")).startswith("datetime64") and hasattr(values, "to_numpy"):
        return values.to_numpy(dtype="datetime64[ns]")
    array = to_row_array("time", values, "give one number or date for each row")
    if array.dtype.kind == "M" and np.datetime_data(array.dtype)[0] in ("Y", "M"):
        # Years and months have no fixed length, so they are converted to days.
        return array.astype("datetime64[D]")
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _parsed_times(array: np.ndarray) -> np.ndarray:
    """Convert integers, texts or date objects to floats or to an array of dates."""
    dtype_kind, cells = array.dtype.kind, array.tolist()
    if dtype_kind in "iu" or (
        dtype_kind == "O" and all(isinstance(cell, int | float) for cell in cells)
    ):
        if any(isinstance(cell, int) and abs(cell) > MAX_EXACT_INTEGER for cell in cells):
            raise BadData(
                "time holds whole numbers beyond 2**53, which floats do not tell apart: give "
                "dates, such as array.astype('datetime64[ns]')."
            )
        return array.astype(np.float64)
    if dtype_kind == "U" or (dtype_kind == "O" and all(isinstance(cell, str) for cell in cells)):
        return _times_from_texts([str(cell) for cell in cells])
    if dtype_kind == "O" and all(isinstance(cell, date) for cell in cells):
        return _array_from_dates(cells)
    row = next((i for i, time_cell in enumerate(cells) if not isinstance(time_cell, date)), 0)
    raise BadData(
        f"time[{row}] is {repr_on_one_line(cells[row])}, and {_mismatch_reason(cells, row)}: give "
        "numbers, or dates (datetime64, datetime, or texts such as 2024-05-31)."
    )


def _mismatch_reason(cells: list[Any], row: int) -> str:
    other_types = {type(cell) for cell in cells} - {type(cells[row])}
    return "others are of another kind" if other_types else "that is no time"


def _times_from_texts(cells: list[str]) -> np.ndarray:
    are_numbers = [_is_number(cell) for cell in cells]
    if all(are_numbers):
        parsed_dates = _parse_basic_dates(cells)
        return np.array([float(cell) for cell in cells]) if parsed_dates is None else parsed_dates
    # NumPy would read a plain number as a year.
    if any(are_numbers):
        row = are_numbers.index(True)
        raise BadData(
            f"time[{row}] is {repr_on_one_line(cells[row])}, a number, and others are none: give "
            "numbers, or dates as ISO 8601 writes them, in all rows."
        )
    try:
        with warnings.catch_warnings():
            # NumPy warns if a text has a time zone. The warning becomes an error here.
            # The slower conversion below then reads the time zone.
            warnings.simplefilter("error")
            return np.array([cell.strip() for cell in cells], dtype=DATE_DTYPE)
    except (ValueError, Warning):
        pass
    dates = []
    for row, cell in enumerate(cells):
        try:
            dates.append(datetime.fromisoformat(cell.strip()))
        except ValueError:
            raise BadData(
                f"time[{row}] is {repr_on_one_line(cell)}, which is neither a number nor a date as "
                "ISO 8601 writes it, such as 2024-05-31 or 2024-05-31T18:00: convert the column "
                "first."
            ) from None
    return _array_from_dates(dates)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parse_basic_dates(cells: Iterable[str]) -> np.ndarray | None:
    """Parse dates in the ISO 8601 basic format (20240531); return None if a cell holds no date."""
    days = []
    for cell in map(str.strip, cells):
        if len(cell) != 8 or cell[:2] not in ("19", "20"):
            return None
        try:
            days.append(date.fromisoformat(cell))
        except ValueError:
            return None
    return np.array(days, dtype=DATE_DTYPE)


def _dates_from_numbers(date_numbers: np.ndarray) -> np.ndarray | None:
    """Convert numbers such as 20240531 to dates; return None if some are no dates."""
    if (
        not (date_numbers.min() >= 19e6 and date_numbers.max() < 21e6)
        or (date_numbers % 1 != 0).any()
    ):
        return None
    return _parse_basic_dates(f"{date_number:.0f}" for date_number in date_numbers)


def _array_from_dates(cells: list[Any]) -> np.ndarray:
    # A cell that differs from itself is pandas' NaT.
    missing_row = next((i for i, cell in enumerate(cells) if cell != cell), None)
    if missing_row is not None:
        raise BadData(f"time[{missing_row}] is NaT: {MISSING_TIME_ADVICE}")
    have_zone = [getattr(cell, "tzinfo", None) is not None for cell in cells]
    if any(have_zone) and not all(have_zone):
        raise BadData(
            "time has dates with a zone and dates without one: which comes first is not known. "
            "Give all of them one."
        )
    if any(have_zone):
        cells = [cell.astimezone(UTC).replace(tzinfo=None) for cell in cells]
    return np.array(cells, dtype=DATE_DTYPE)
