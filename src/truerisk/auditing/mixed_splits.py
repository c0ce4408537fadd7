"""Detect splits that train and test models on related rows: near in time, space or groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.contracts import Method
from truerisk.core.formats import escape_and_truncate
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.data.rows import column_names
from truerisk.data.times import parse_dates
from truerisk.plan.leaks import find_leaks
from truerisk.plan.plan import Plan
from truerisk.search.related_rows import RelationKind, find_mixed_relation, method_with_rows_apart

ARGUMENT_BY_RELATION = {"time": "time=", "space": "block=", "groups": "groups="}


@frozen(eq=False)
class MixedSplits:
    """Splits in which rows were tested by models that were trained on related rows.

    This concerns `n_rows` rows of `data`. `relation_source` says where the relation was found, and
    `is_given_by_user` whether the user specified it. If not, `has_times` says whether these are
    times, or just numbers by which the table is sorted, and `are_neighbours_alike` whether
    neighbours have similar y. The splits of `method` keep related rows together. There are as many
    splits as in the search, so that models are trained on about as many rows.
    """

    kind: RelationKind
    data: Data
    n_rows: int
    relation_source: str
    is_given_by_user: bool
    method: Method
    has_times: bool = True
    are_neighbours_alike: bool = True

    @property
    def test_set_name(self) -> str:
        """Name of the test sets of the recommended method, such as "folds of whole blocks"."""
        stretches_text = "stretches of time" if self.has_times else "stretches of rows"
        if self.method.respects_time:
            return stretches_text
        kind_of_part = "blocks" if self.method.respects_space else "groups"
        return f"folds of whole {kind_of_part}"


def find_mixed_splits(
    data: Data, plan: Plan, row_order: OrderOfRows | None = None
) -> MixedSplits | None:
    """Return how the splits of a plan mix related rows, or None if they do not.

    If times, places and groups are unknown, `row_order` is used: by default the order in which the
    table is sorted.
    """
    mixed_relation = find_mixed_relation(data, plan)
    if mixed_relation is not None:
        kind, n_rows = mixed_relation
        return _build_mixed_splits(data, plan, kind, n_rows, ARGUMENT_BY_RELATION[kind])
    if data.time is not None:
        return None
    row_order = order_of_table(data) if row_order is None else row_order
    if row_order is None:
        return None
    timed_data = replace(data, time=row_order.order_values)
    n_late_rows = len(find_leaks(timed_data, plan, "late")["late"])
    if not n_late_rows:
        return None
    order_mixed_splits = _build_mixed_splits(
        timed_data, plan, "time", n_late_rows, row_order.column_label, by_user=False
    )
    are_alike = are_neighbours_alike(data.y[np.argsort(row_order.order_values, kind="stable")])
    return replace(
        order_mixed_splits, has_times=row_order.has_times, are_neighbours_alike=are_alike
    )


def _build_mixed_splits(
    data: Data, plan: Plan, kind: RelationKind, n_rows: int, source: str, *, by_user: bool = True
) -> MixedSplits:
    """Build the `MixedSplits` for a relation, with the method that respects all known relations."""
    method = method_with_rows_apart(data, plan.n_questions)
    return MixedSplits(kind, data, n_rows, source, by_user, method)


TIME_WORDS = (
    "time|times|timestamp|datetime|date|dates|epoch|year|month|week|day|days|hour|minute|second"
)
TIME_NAME_PATTERN = re.compile(rf"(?:^|[^a-z])(?:{TIME_WORDS})(?:[^a-z]|$)", re.IGNORECASE)
MIN_SHARE_OF_DISTINCT_NUMBERS = (
    0.95  # Numbers may be times only if at least this share of them is distinct.
)
MIN_SHARE_OF_EQUAL_STEPS = (
    0.5  # Numbers may be times only if at least this share of the steps between rows is equal.
)
MIN_ROWS_FOR_SIMILARITY = 20  # Fewer rows cannot show whether neighbouring rows have similar y.
MIN_SIMILARITY_IN_STD_ERRORS = (
    3.0  # Neighbouring rows are similar if the statistic exceeds this many standard errors.
)
# A column whose first rows (this many) are not sorted is not examined further.
N_ROWS_EXAMINED_FIRST = 50


@frozen(eq=False)
class OrderOfRows:
    """Order of the rows: one number per row, and the column that holds these numbers.

    `has_times` is True if type or name show that the numbers are times. Otherwise they only say
    that the table is sorted by them.
    """

    order_values: np.ndarray
    column_label: str
    has_times: bool


def order_of_table(data: Data) -> OrderOfRows | None:
    """Return the order in which the rows of a frame or an array are sorted, or None.

    All columns by which the rows are sorted define the same stretches of rows, so that one column
    is enough.
    """
    X = data.X
    names = column_names(X)
    if names is None:
        return order_of_columns(_candidate_columns(X), data.y)
    named_columns: list[tuple[str, Any]] = []
    index = getattr(X, "index", None)
    if index is not None and not _is_default_index(index):
        named_columns = [("the index", index)]
    is_pandas = hasattr(X, "iloc")
    columns = (
        (column_index, name, X.iloc[:, column_index] if is_pandas else X[name])
        for column_index, name in enumerate(names)
    )
    return order_of_columns(
        (
            *named_columns,
            *((f"column {escape_and_truncate(name, 40)!r}", column) for _, name, column in columns),
        ),
        data.y,
    )


def order_of_columns(columns: Iterable[tuple[str, Any]], y: np.ndarray) -> OrderOfRows | None:
    """Return the order of the rows that a sorted column shows, or None.

    Dates are preferred, then numbers in a column named like a time, then other numbers.

    Numbers are considered only if they increase in equal steps, and if y is similar for
    neighbouring rows: otherwise a model that fails for unseen numbers would be no sign of time.
    Numbers without a suitable name are considered only if nothing else may explain the order of the
    rows: neither y nor another column is sorted. A table that was sorted by a feature and then
    numbered has no times, although its stretches differ.
    """
    regular_orders: list[OrderOfRows] = []
    n_sorted_columns = 0
    for column_label, column in columns:
        dates = parse_dates(column)
        if dates is not None:
            # Dates may also be sorted from the newest to the oldest.
            if _is_sorted(dates) or _is_sorted(dates[::-1]):
                return OrderOfRows(dates, column_label, True)
            continue
        column_values = _finite_numbers(column)
        if column_values is None or not _is_sorted(column_values):
            continue
        n_sorted_columns += 1
        if _has_regular_steps(column_values):
            has_time_name = TIME_NAME_PATTERN.search(_column_name(column_label, column)) is not None
            regular_orders.append(OrderOfRows(column_values, column_label, has_time_name))
    if not regular_orders or not are_neighbours_alike(y):
        return None
    order_in_time = next(
        (regular_order for regular_order in regular_orders if regular_order.has_times), None
    )
    if order_in_time is not None or n_sorted_columns > len(regular_orders) or _is_grouped(y):
        return order_in_time
    return regular_orders[0]


def are_neighbours_alike(y: np.ndarray) -> bool:
    """Return True if y is more similar for neighbouring rows than in a random order.

    The difference has to exceed three standard errors, of the lag-one rank correlation or of the
    number of neighbours of the same class. With several targets one is enough.
    """
    # Data frames store text labels as objects, so they are converted to text.
    if y.dtype.kind == "O":
        y = np.array(list(map(str, y.ravel()))).reshape(y.shape)
    if y.ndim == 2:
        return any(are_neighbours_alike(column) for column in y.T)
    if len(y) < MIN_ROWS_FOR_SIMILARITY or y.dtype.kind not in "iufbUS":
        return False
    values, value_codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    n, value_codes = len(y), value_codes.ravel()
    if y.dtype.kind == "f":
        ranks = (np.cumsum(counts) - counts / 2)[value_codes] - n / 2
        return len(values) > 1 and ranks[1:] @ ranks[:-1] > MIN_SIMILARITY_IN_STD_ERRORS / np.sqrt(
            n
        ) * (ranks @ ranks)
    class_shares = counts / n
    sum_of_squares, sum_of_cubes = np.sum(class_shares**2), np.sum(class_shares**3)
    equal_pair_share = np.mean(value_codes[1:] == value_codes[:-1])
    return equal_pair_share - sum_of_squares > MIN_SIMILARITY_IN_STD_ERRORS * np.sqrt(
        (sum_of_squares + sum_of_squares**2 - 2 * sum_of_cubes) / n
    )


def _candidate_columns(X: Any) -> Iterator[tuple[str, Any]]:
    """Return name and values of each column of a numeric array that is sorted in the first rows."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "iuf":
        return iter(())
    first_rows = X[:N_ROWS_EXAMINED_FIRST]
    sorted_columns = np.flatnonzero((first_rows[1:] >= first_rows[:-1]).all(axis=0))
    return ((f"column {column}", X[:, column]) for column in sorted_columns)


def _is_default_index(index: Any) -> bool:
    """Return True for the default index of a frame: 0 to n - 1, without a name."""
    values = np.asarray(index)
    is_range = values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values)))
    return index.name is None and is_range


def _column_name(column_label: str, column: Any) -> str:
    return (
        str(getattr(column, "name", "") or "")
        if column_label == "the index"
        else column_label[len("column ") :]
    )


def _finite_numbers(column: Any) -> np.ndarray | None:
    """Return a column as floats if it has one finite number per row, else None."""
    values = np.asarray(column)
    if values.ndim != 1 or values.dtype.kind not in "iuf" or len(values) < 3:
        return None
    float_values = values.astype(np.float64)
    return float_values if np.isfinite(float_values).all() else None


def _is_sorted(values: np.ndarray) -> bool:
    return bool((values[1:] >= values[:-1]).all() and values[-1] > values[0])


def _has_regular_steps(column_values: np.ndarray) -> bool:
    """Return True if nearly all numbers in a column are distinct, and rise mostly in equal steps.

    A feature by which the table happens to be sorted has steps of every size.
    """
    steps = np.diff(column_values)
    if (column_values != np.floor(column_values)).any() or np.mean(
        steps > 0
    ) < MIN_SHARE_OF_DISTINCT_NUMBERS:
        return False
    return bool(np.mean(steps == np.median(steps)) >= MIN_SHARE_OF_EQUAL_STEPS)


def _is_grouped(y: np.ndarray) -> bool:
    """Return True if the rows are sorted by y, or if the rows of each class are contiguous."""
    if y.ndim != 1:
        return False
    if y.dtype.kind == "f":
        return _is_sorted(y) or _is_sorted(y[::-1])
    return int((y[1:] != y[:-1]).sum()) < len(set(y.tolist()))
