"""Split rows in the order of time: forward splits with a rolling origin, and purged folds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.core.errors import BadData
from truerisk.data.data import Data
from truerisk.data.times import convert_time_span

Split = tuple[np.ndarray, np.ndarray]


def get_row_times(data: Data) -> np.ndarray:
    """Return the times of the rows, or their row numbers if they have no times."""
    return np.arange(data.n_rows) if data.time is None else data.time


def forward_splits(data: Data, k: int, gap: Any, window: Any, horizon: Any) -> list[Split]:
    """Return K splits in order of time; each training set ends `gap` before its test set begins.

    Without a `horizon` each test set has n // (K + 1) rows and the last test set ends with the last
    row, as in scikit-learn's TimeSeriesSplit. With a `horizon` the test sets are periods of that
    length. Rows with the same time stay together. Groups that are tested are removed from the
    training set.
    """
    row_times = get_row_times(data)
    gap_span = convert_time_span(gap, data.time, "gap")
    start_times = _test_start_times(
        row_times, k, None if horizon is None else convert_time_span(horizon, data.time, "horizon")
    )
    window_span = None if window is None else convert_time_span(window, data.time, "window")
    splits = []
    for fold, first_time, test in _test_sets(row_times, start_times):
        is_training = row_times < first_time - gap_span
        if window_span is not None:
            is_training &= row_times >= first_time - gap_span - window_span
        train = _remove_test_groups(data, np.flatnonzero(is_training), test)
        if not len(train):
            raise BadData(_empty_training_message(data, fold, int((row_times < first_time).sum())))
        splits.append((train, test))
    return splits


def purged_splits(data: Data, k: int, purge: Any, embargo: Any) -> list[Split]:
    """Return K splits that test a period of time and train on the rows before and after it.

    The periods contain about equally many rows. A label that is known only `purge` after the time
    of its row overlaps the labels of the test rows. Rows up to `purge` before and after the test
    rows are therefore left out of training, and after the test rows also a further `embargo`.
    """
    row_times = get_row_times(data)
    purge_span, embargo_span = (
        convert_time_span(span, data.time, span_name)
        for span, span_name in ((purge, "purge"), (embargo, "embargo"))
    )
    sorted_times = np.sort(row_times)
    if k > data.n_rows:
        raise BadData(f"{k} folds need at least {k} rows, and these are {data.n_rows}.")
    test_sizes = np.full(k, data.n_rows // k) + (np.arange(k) < data.n_rows % k)
    start_times = sorted_times[np.cumsum(test_sizes) - test_sizes]
    splits = []
    for fold, first_time, test in _test_sets(row_times, _check_distinct(start_times, row_times, k)):
        is_training = (row_times < first_time - purge_span) | (
            row_times > row_times[test].max() + purge_span + embargo_span
        )
        train = _remove_test_groups(data, np.flatnonzero(is_training), test)
        if not len(train):
            raise BadData(
                f"fold {fold} has no training rows: purge={purge} and embargo={embargo} take away "
                "all that its own rows and groups leave. Shorten them, or use more folds."
            )
        splits.append((train, test))
    return splits


def _test_start_times(row_times: np.ndarray, k: int, horizon: Any) -> np.ndarray:
    """Return the time at which each test set of the forward splits begins."""
    sorted_times, n_rows = np.sort(row_times), len(row_times)
    if horizon is None:
        test_size = n_rows // (k + 1)
        if test_size == 0:
            raise BadData(
                f"{k} forward splits need at least {k + 1} rows, and these are {n_rows}: use fewer."
            )
        return _check_distinct(sorted_times[n_rows - np.arange(k, 0, -1) * test_size], row_times, k)
    period_starts = sorted_times[-1] - np.arange(k, 0, -1) * horizon
    if not period_starts[0] >= sorted_times[0] or not period_starts[-1] < sorted_times[-1]:
        raise BadData(
            f"{k} stretches of horizon={horizon} do not fit between {sorted_times[0]} and "
            f"{sorted_times[-1]} and leave rows before them: use a horizon that is positive and "
            "shorter, or fewer splits."
        )
    start_times = sorted_times[np.searchsorted(sorted_times, period_starts, side="right")]
    empty_periods = np.flatnonzero(start_times[1:] == start_times[:-1])
    if len(empty_periods):
        raise BadData(
            f"no row lies in stretch {empty_periods[0]} of horizon={horizon}, which begins after "
            f"{period_starts[empty_periods[0]]}: use a longer horizon."
        )
    return start_times


def _check_distinct(start_times: np.ndarray, row_times: np.ndarray, k: int) -> np.ndarray:
    """Return the start times of the test sets; raise an error if two of them are equal.

    Rows with the same time must be in the same test set.
    """
    if (start_times[1:] > start_times[:-1]).all():
        return start_times
    raise BadData(
        f"the rows have {len(np.unique(row_times))} different times, and rows of one time are not "
        f"split, so that {k} splits would test some of them twice: use fewer splits."
    )


def _test_sets(times: np.ndarray, start_times: np.ndarray) -> Iterator[tuple[int, Any, np.ndarray]]:
    """Yield the fold number, the first time and the rows of every test set."""
    test_set_of_row = np.searchsorted(start_times, times, side="right") - 1
    for fold, first_time in enumerate(start_times):
        yield fold, first_time, np.flatnonzero(test_set_of_row == fold)


def _remove_test_groups(data: Data, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return the training rows whose groups do not occur in the test set."""
    if data.groups is None:
        return train
    return train[~np.isin(data.groups[train], data.groups[test])]


def _empty_training_message(data: Data, fold: int, n_earlier_rows: int) -> str:
    if n_earlier_rows == 0:
        return (
            f"split {fold} has no training rows: all rows before what it tests have the time of "
            "its first row. Use fewer splits."
        )
    unit_name = "groups" if data.block is None else "blocks"
    groups_clause = "" if data.groups is None else f", or are of {unit_name} that are tested"
    left_out_clause = groups_clause and (
        f", or leave {unit_name} out where known {unit_name} are to be predicted"
    )
    return (
        f"split {fold} has no training rows: the {n_earlier_rows} rows before what it tests lie in "
        "the "
        f"gap, or before the window{groups_clause}. Use a shorter gap, a longer window or fewer "
        "splits"
        f"{left_out_clause}."
    )
