"""Splits in the order of time: forward splits with a rolling origin, and purged blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.core.errors import BadData
from truerisk.data.data import Data
from truerisk.data.times import as_span

Split = tuple[np.ndarray, np.ndarray]


def times_of(data: Data) -> np.ndarray:
    """Return the times of the rows, or their row numbers if they have no times."""
    return np.arange(data.n_rows) if data.time is None else data.time


def forward_splits(data: Data, k: int, gap: Any, window: Any, horizon: Any) -> list[Split]:
    """Return K splits in order of time, each training set ending `gap` before its test set.

    Without a `horizon` each test set has n // (K + 1) rows and the last test set ends with the last
    row, as in scikit-learn's TimeSeriesSplit. With a `horizon` the test sets are periods of that
    length. Rows with the same time stay together. Groups that are tested are removed from the
    training set.
    """
    times = times_of(data)
    pause = as_span(gap, data.time, "gap")
    starts = _starts(times, k, None if horizon is None else as_span(horizon, data.time, "horizon"))
    length = None if window is None else as_span(window, data.time, "window")
    splits = []
    for fold, first, test in _blocks(times, starts):
        seen = times < first - pause
        if length is not None:
            seen &= times >= first - pause - length
        train = _without_groups(data, np.flatnonzero(seen), test)
        if not len(train):
            raise BadData(_nothing_before(data, fold, int((times < first).sum())))
        splits.append((train, test))
    return splits


def purged_splits(data: Data, k: int, purge: Any, embargo: Any) -> list[Split]:
    """Split time into K periods of about equal size and train on the rows around each of them.

    A label that is known only `purge` after its row overlaps the labels of the test rows. Rows up
    to `purge` before and after the test rows are therefore left out, and after them also the rows
    of a further `embargo`.
    """
    times = times_of(data)
    before, after = (as_span(s, data.time, n) for s, n in ((purge, "purge"), (embargo, "embargo")))
    in_order = np.sort(times)
    if k > data.n_rows:
        raise BadData(f"{k} folds need at least {k} rows, and these are {data.n_rows}.")
    sizes = np.full(k, data.n_rows // k) + (np.arange(k) < data.n_rows % k)
    starts = in_order[np.cumsum(sizes) - sizes]
    splits = []
    for fold, first, test in _blocks(times, _distinct(starts, times, k)):
        seen = (times < first - before) | (times > times[test].max() + before + after)
        train = _without_groups(data, np.flatnonzero(seen), test)
        if not len(train):
            raise BadData(
                f"fold {fold} has no training rows: purge={purge} and embargo={embargo} take away "
                "all that its own rows and groups leave. Shorten them, or use more folds."
            )
        splits.append((train, test))
    return splits


def _starts(times: np.ndarray, k: int, horizon: Any) -> np.ndarray:
    """Return the time at which each test set begins."""
    in_order, n = np.sort(times), len(times)
    if horizon is None:
        size = n // (k + 1)
        if size == 0:
            raise BadData(
                f"{k} forward splits need at least {k + 1} rows, and these are {n}: use fewer."
            )
        return _distinct(in_order[n - np.arange(k, 0, -1) * size], times, k)
    edges = in_order[-1] - np.arange(k, 0, -1) * horizon
    if not edges[0] >= in_order[0] or not edges[-1] < in_order[-1]:
        raise BadData(
            f"{k} stretches of horizon={horizon} do not fit between {in_order[0]} and "
            f"{in_order[-1]} and leave rows before them: use a horizon that is positive and "
            "shorter, or fewer splits."
        )
    starts = in_order[np.searchsorted(in_order, edges, side="right")]
    empty = np.flatnonzero(starts[1:] == starts[:-1])
    if len(empty):
        raise BadData(
            f"no row lies in stretch {empty[0]} of horizon={horizon}, which begins after "
            f"{edges[empty[0]]}: use a longer horizon."
        )
    return starts


def _distinct(starts: np.ndarray, times: np.ndarray, k: int) -> np.ndarray:
    """Return the starts if they are distinct, so that rows of one time fit into one test set.

    Raise an error otherwise.
    """
    if (starts[1:] > starts[:-1]).all():
        return starts
    raise BadData(
        f"the rows have {len(np.unique(times))} different times, and rows of one time are not "
        f"split, so that {k} splits would test some of them twice: use fewer splits."
    )


def _blocks(times: np.ndarray, starts: np.ndarray) -> Iterator[tuple[int, Any, np.ndarray]]:
    """Yield the number, the first time and the rows of every test set."""
    block = np.searchsorted(starts, times, side="right") - 1
    for fold, first in enumerate(starts):
        yield fold, first, np.flatnonzero(block == fold)


def _without_groups(data: Data, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Remove the training rows whose groups are tested."""
    if data.groups is None:
        return train
    return train[~np.isin(data.groups[train], data.groups[test])]


def _nothing_before(data: Data, fold: int, n_before: int) -> str:
    if n_before == 0:
        return (
            f"split {fold} has no training rows: all rows before what it tests have the time of "
            "its first row. Use fewer splits."
        )
    kind = "groups" if data.block is None else "blocks"
    groups = "" if data.groups is None else f", or are of {kind} that are tested"
    return (
        f"split {fold} has no training rows: the {n_before} rows before what it tests lie in the "
        f"gap, or before the window{groups}. Use a shorter gap, a longer window or fewer splits"
        f"{groups and f', or leave {kind} out where known {kind} are to be predicted'}."
    )
