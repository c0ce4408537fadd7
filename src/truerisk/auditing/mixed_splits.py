"""Splits of a search that separate related rows: in time, in space, or in groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from truerisk.contracts import Method
from truerisk.core.formats import clean
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.data.rows import column_names
from truerisk.data.times import dates_in
from truerisk.methods.kfold import KFold
from truerisk.methods.spatial import Blocks
from truerisk.methods.temporal import Purged
from truerisk.plan.leaks import leaks_of
from truerisk.plan.plan import Plan

Kind = Literal["time", "space", "groups"]

MOST_PARTS = 10


@frozen(eq=False)
class Mixed:
    """Splits in which rows were tested by models that had seen related rows.

    This concerns `n_rows` rows of `data`. `place` says where the relation was found, and `by_user`
    whether the user specified it. If not, `are_times` says whether these are times, or just numbers
    by which the table is sorted, and `alike` whether neighbours have similar y. The splits of
    `method` keep related rows together. There are as many as in the search, so that models see
    about as many rows.
    """

    kind: Kind
    data: Data
    n_rows: int
    place: str
    by_user: bool
    method: Method
    are_times: bool = True
    alike: bool = True

    @property
    def parts(self) -> str:
        """Name of the sets of rows that the recommended method leaves out as a whole."""
        stretches = "stretches of time" if self.are_times else "stretches of rows"
        kinds: dict[type, str] = {Purged: stretches, Blocks: "folds of whole blocks"}
        return kinds.get(type(self.method), "folds of whole groups")


def mixed_splits(data: Data, plan: Plan, order: OrderOfRows | None = None) -> Mixed | None:
    """Return how the splits of a plan separate related rows, or None.

    If times, places and groups are unknown, `order` is used: by default the order in which the
    table is sorted.
    """
    named = _of_given(data, plan)
    if named is not None or data.time is not None:
        return named
    order = order_of_table(data) if order is None else order
    if order is None:
        return None
    timed = replace(data, time=order.times)
    n_late = len(leaks_of(timed, plan, "late")["late"])
    mixed = _find_mixed(timed, plan, "time", n_late, order.place, by_user=False)
    alike = neighbours_alike(data.y[np.argsort(order.times, kind="stable")])
    return None if mixed is None else replace(mixed, are_times=order.are_times, alike=alike)


def _of_given(data: Data, plan: Plan) -> Mixed | None:
    leaks = leaks_of(data, plan, "late", "near", "groups")
    n = {kind: len(rows) for kind, rows in leaks.items()}
    if n["late"]:
        return _find_mixed(data, plan, "time", n["late"], "time=")
    if 2 * n["near"] > n["apart"]:
        return _find_mixed(data, plan, "space", n["near"], "block=")
    return _find_mixed(data, plan, "groups", n["groups"], "groups=")


def _find_mixed(
    data: Data, plan: Plan, kind: Kind, n_rows: int, place: str, *, by_user: bool = True
) -> Mixed | None:
    """Return the finding with a method that respects all known relations, not only this kind."""
    if not n_rows:
        return None
    k = min(max(plan.n_questions, 2), MOST_PARTS)
    method: Method = Purged(k, average="fold")
    if data.time is None and data.places is not None:
        method = Blocks(k, average="fold")
    elif data.time is None and data.groups is not None:
        method = KFold(min(k, len(np.unique(data.groups))), average="fold")
    return Mixed(kind, data, n_rows, place, by_user, method)


WORDS_OF_TIME = (
    "time|times|timestamp|datetime|date|dates|epoch|year|month|week|day|days|hour|minute|second"
)
NAME_OF_TIME = re.compile(rf"(?:^|[^a-z])(?:{WORDS_OF_TIME})(?:[^a-z]|$)", re.IGNORECASE)
DISTINCT = 0.95  # minimum share of distinct values for numbers that may be times
REGULAR = 0.5  # Minimum share of equal steps. A clock has them, a sorted feature has not.
FEWEST = 20  # With fewer rows it cannot be decided whether neighbours are similar.
ERRORS = 3.0  # Neighbours are similar beyond this many standard errors.
LOOKED_AT = 50  # If these first rows are unsorted, the others are not examined.


@frozen(eq=False)
class OrderOfRows:
    """A time for each row, and where it was found; `are_times` says that kind or name show it.

    Otherwise the numbers only say that the table is sorted by them.
    """

    times: np.ndarray
    place: str
    are_times: bool


def order_of_table(data: Data) -> OrderOfRows | None:
    """Return the order in which the rows of a frame or an array are sorted, if any.

    All columns that sort the rows define the same stretches of rows, so that one is enough.
    """
    X = data.X
    names = column_names(X)
    if names is None:
        return order_of_columns(_of_array(X), data.y)
    listed: list[tuple[str, Any]] = []
    index = getattr(X, "index", None)
    if index is not None and not _is_default(index):
        listed = [("the index", index)]
    frame = hasattr(X, "iloc")
    columns = ((j, name, X.iloc[:, j] if frame else X[name]) for j, name in enumerate(names))
    return order_of_columns(
        (*listed, *((f"column {clean(name, 40)!r}", column) for _, name, column in columns)), data.y
    )


def order_of_columns(columns: Iterable[tuple[str, Any]], y: np.ndarray) -> OrderOfRows | None:
    """Return sorted dates, else sorted numbers with the name of a time, else sorted numbers.

    Numbers are considered only if they increase in equal steps, and if y is similar for
    neighbouring rows: otherwise a model that fails for unseen numbers would be no sign of time.
    Numbers without a suitable name are considered only if nothing else may explain the order of the
    rows: neither y nor another column is sorted. A table that was sorted by a feature and then
    numbered has no times, although its stretches differ.
    """
    counted: list[OrderOfRows] = []
    sorted_by = 0
    for place, column in columns:
        dates = dates_in(column)
        if dates is not None:
            if _is_sorted(dates) or _is_sorted(dates[::-1]):  # The newest date may come first.
                return OrderOfRows(dates, place, True)
            continue
        numbers = _numbers(column)
        if numbers is None or not _is_sorted(numbers):
            continue
        sorted_by += 1
        if _counts(numbers):
            named = NAME_OF_TIME.search(_name(place, column)) is not None
            counted.append(OrderOfRows(numbers, place, named))
    if not counted or not neighbours_alike(y):
        return None
    times = next((order for order in counted if order.are_times), None)
    if times is not None or sorted_by > len(counted) or _is_grouped(y):
        return times
    return counted[0]


def neighbours_alike(y: np.ndarray) -> bool:
    """Return True if y is more similar for neighbouring rows than in a random order.

    The difference has to exceed three standard errors, of the lag-one rank correlation or of the
    number of neighbours of the same class. With several targets one is enough.
    """
    if y.dtype.kind == "O":  # Frames store text labels as objects.
        y = np.array(list(map(str, y.ravel()))).reshape(y.shape)
    if y.ndim == 2:
        return any(neighbours_alike(column) for column in y.T)
    if len(y) < FEWEST or y.dtype.kind not in "iufbUS":
        return False
    values, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    n, codes = len(y), codes.ravel()
    if y.dtype.kind == "f":
        ranks = (np.cumsum(counts) - counts / 2)[codes] - n / 2
        return len(values) > 1 and ranks[1:] @ ranks[:-1] > ERRORS / np.sqrt(n) * (ranks @ ranks)
    shares = counts / n
    pairs, triples = np.sum(shares**2), np.sum(shares**3)
    alike = np.mean(codes[1:] == codes[:-1])
    return alike - pairs > ERRORS * np.sqrt((pairs + pairs**2 - 2 * triples) / n)


def _of_array(X: Any) -> Iterator[tuple[str, Any]]:
    """Return the columns of a numeric array that may be sorted, judged by their first rows."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "iuf":
        return iter(())
    head = X[:LOOKED_AT]
    rising = np.flatnonzero((head[1:] >= head[:-1]).all(axis=0))
    return ((f"column {j}", X[:, j]) for j in rising)


def _is_default(index: Any) -> bool:
    """Return True for a frame's default index: 0 to n - 1, without a name."""
    values = np.asarray(index)
    counts = values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values)))
    return index.name is None and counts


def _name(place: str, column: Any) -> str:
    return (
        str(getattr(column, "name", "") or "") if place == "the index" else place[len("column ") :]
    )


def _numbers(column: Any) -> np.ndarray | None:
    """Return finite numbers, one per row; None for anything else."""
    values = np.asarray(column)
    if values.ndim != 1 or values.dtype.kind not in "iuf" or len(values) < 3:
        return None
    numbers = values.astype(np.float64)
    return numbers if np.isfinite(numbers).all() else None


def _is_sorted(values: np.ndarray) -> bool:
    return bool((values[1:] >= values[:-1]).all() and values[-1] > values[0])


def _counts(numbers: np.ndarray) -> bool:
    """Return True if almost every row has its own number, mostly in equal steps.

    A feature by which the table happens to be sorted has steps of every size.
    """
    steps = np.diff(numbers)
    if (numbers != np.floor(numbers)).any() or np.mean(steps > 0) < DISTINCT:
        return False
    return bool(np.mean(steps == np.median(steps)) >= REGULAR)


def _is_grouped(y: np.ndarray) -> bool:
    """Return True if the rows are sorted by y, or if the rows of each class are contiguous."""
    if y.ndim != 1:
        return False
    if y.dtype.kind == "f":
        return _is_sorted(y) or _is_sorted(y[::-1])
    return int((y[1:] != y[:-1]).sum()) < len(set(y.tolist()))
