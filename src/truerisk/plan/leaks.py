"""Leaks: test rows predicted by models that saw a copy, a row of the same group, or a later row.

The rows of a plan, and not the name of a method, show whether its splits go forward in time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.data.rows import row_keys
from truerisk.plan.blocks import ALL, count_occurrences
from truerisk.plan.plan import Plan

Leak = Literal["groups", "copies", "late", "near"]
LeakFinder = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
"""Function of a test set's number, its rows, and a mask of its rows in the training set.

It returns the mask of the rows that leak.
"""


def find_leaks(data: Data, plan: Plan, *kinds: Leak) -> dict[str, np.ndarray]:
    """Find the leaks of a plan: test rows whose models saw rows that are too closely related.

    The model of such a test row saw another row of its group ("groups"), another row with the same
    X and the same y ("copies"), a row of the same or of a later time ("late"), or the row nearest
    to it ("near"). With "near" the result also holds "apart", the test rows that their model did
    not see. Only the given `kinds` are searched. All rows are ascending, and are found in one pass
    over the plan.

    A model that saw the row itself predicts it on purpose (for instance in the apparent part of
    .632+), and no other row could tell it more, so such rows are not counted. The cost is
    proportional to the size of the encoded plan, not to n per fit.
    """
    finder_by_kind: dict[str, LeakFinder] = {}
    if "groups" in kinds and data.groups is not None:
        finder_by_kind["groups"] = _make_key_finder(plan, data.groups)
    if "copies" in kinds and data.row_keys is not None:
        finder_by_kind["copies"] = _make_key_finder(plan, _find_copy_keys(data))
    if "late" in kinds and data.time is not None and not plan.has_drawn_fits:
        finder_by_kind["late"] = _make_time_finder(plan, data.time)
    if "near" in kinds and data.places is not None and not plan.has_drawn_fits:
        finder_by_kind["near"] = _make_nearest_row_finder(plan, data.places)
        finder_by_kind["apart"] = lambda _, test_rows, is_seen: ~is_seen
    rows_by_kind = dict.fromkeys((*get_args(Leak), "apart"), np.empty(0, np.int32))
    if not finder_by_kind:
        return rows_by_kind
    row_lists_by_kind = {leak_kind: [np.empty(0, np.int32)] for leak_kind in finder_by_kind}
    for test_set in range(plan.n_questions):
        test_rows, is_seen = plan.test_rows(test_set)[0], plan.seen(test_set)
        for leak_kind, finder in finder_by_kind.items():
            row_lists_by_kind[leak_kind].append(test_rows[finder(test_set, test_rows, is_seen)])
    return rows_by_kind | {
        leak_kind: np.unique(np.concatenate(rows)) for leak_kind, rows in row_lists_by_kind.items()
    }


def _find_copy_keys(data: Data) -> np.ndarray:
    """Return one integer per row, equal exactly for equal X and y.

    Rows of X with different outcomes are no copies of one case, and they do not make a model that
    saw one of them better on the other.
    """
    outcomes = data.y if data.codes is None else data.codes
    keys = row_keys(np.column_stack([np.asarray(data.row_keys), outcomes]))
    return np.arange(data.n_rows) if keys is None else keys


def describe_copies(data: Data, copied_rows: np.ndarray) -> str:
    """Describe the rows that `find_leaks` found as "copies", with a pair of them as an example."""
    keys, n_copied = _find_copy_keys(data), len(copied_rows)
    row, copy = np.flatnonzero(keys == keys[copied_rows[0]])[:2]
    are_copies = "are exact copies" if n_copied > 1 else "is an exact copy"
    return (
        f"{n_copied} of {data.n_rows} rows {are_copies} (rows {row} and {copy}, for example, have "
        "equal X and equal y): the model that was tested on one copy had the other in its "
        "training set. If the copies are one case, the estimate is too good."
    )


def _make_key_finder(plan: Plan, keys: np.ndarray) -> LeakFinder:
    """Return a function that finds test rows whose model saw another row with the same key."""
    keys = np.unique(keys, return_inverse=True)[1].ravel()
    n_rows_by_key = np.bincount(keys)

    def mark_leaks(test_set: int, test_rows: np.ndarray, is_seen: np.ndarray) -> np.ndarray:
        # A row that was removed from the model is not another row with the same key.
        is_row_left_out = plan.without_row[test_set]
        if is_seen.all() and not is_row_left_out:
            return ~is_seen
        n_training_rows_with_key = _count_training_keys(
            plan, int(plan.fit[test_set]), keys, n_rows_by_key, keys[test_rows]
        )
        return (
            n_training_rows_with_key > is_seen
            if is_row_left_out
            else (n_training_rows_with_key > 0) & ~is_seen
        )

    return mark_leaks


def _make_time_finder(plan: Plan, row_times: np.ndarray) -> LeakFinder:
    """Return a function that finds test rows whose model saw a row of the same or a later time."""
    rows_latest_first = np.argsort(row_times, kind="stable")[::-1]

    def mark_leaks(test_set: int, test_rows: np.ndarray, is_seen: np.ndarray) -> np.ndarray:
        latest_row = _latest_training_row(plan, int(plan.fit[test_set]), rows_latest_first)
        if latest_row is None:
            return np.zeros(len(test_rows), dtype=bool)
        return (row_times[test_rows] <= row_times[latest_row]) & ~is_seen

    return mark_leaks


def _make_nearest_row_finder(plan: Plan, coordinates: np.ndarray) -> LeakFinder:
    """Return a function that finds test rows whose nearest row was seen by the model."""
    check_present("truerisk.plan.distances")
    from truerisk.plan.distances import make_leak_finder

    return make_leak_finder(plan, coordinates)


def _latest_training_row(plan: Plan, fit: int, rows_latest_first: np.ndarray) -> int | None:
    """Return the training row of `fit` with the latest time, or None if there is no training row.

    Apart from the rows that the training set lacks, at most one row is examined.
    """
    if plan.train.base[fit] != ALL:
        is_training_row = np.isin(rows_latest_first, plan.train_rows(fit)[0])
    else:
        removed_blocks = [plan.blocks[int(block)] for block in plan.train.get_removed_blocks(fit)]
        removed_rows = np.concatenate(removed_blocks) if removed_blocks else rows_latest_first[:0]
        is_training_row = ~np.isin(rows_latest_first[: len(removed_rows) + 1], removed_rows)
    return int(rows_latest_first[is_training_row.argmax()]) if is_training_row.any() else None


def _count_training_keys(
    plan: Plan,
    fit: int,
    keys: np.ndarray,
    n_rows_by_key: np.ndarray,
    requested_keys: np.ndarray,
) -> np.ndarray:
    """Return the number of training rows of `fit` with each of the `requested_keys`."""
    if plan.train.base[fit] != ALL:
        rows, _ = plan.train_rows(fit)
        return count_occurrences(np.sort(keys[rows]), requested_keys)
    removed_blocks = [plan.blocks[int(block)] for block in plan.train.get_removed_blocks(fit)]
    # Blocks may overlap, and a row that two of them remove must be counted once.
    removed_keys = (
        np.sort(keys[np.unique(np.concatenate(removed_blocks))]) if removed_blocks else keys[:0]
    )
    return n_rows_by_key[requested_keys] - count_occurrences(removed_keys, requested_keys)


def find_overlapping_rows(plan: Plan) -> np.ndarray:
    """Return the rows, ascending, that are tested by models trained on them."""
    seen_row_lists = [
        plan.test_rows(test_set)[0][plan.seen(test_set)] for test_set in range(plan.n_questions)
    ]
    return np.unique(np.concatenate([np.empty(0, np.int32), *seen_row_lists]))


def refuse_overlapping_rows(name: str, plan: Plan) -> None:
    """Raise Refusal if the user's splits test rows of their own training sets."""
    if len(overlapping_rows := find_overlapping_rows(plan)):
        raise Refusal(
            f"'{name}' tests {len(overlapping_rows)} rows (first: row {overlapping_rows[0]}) by "
            "models "
            "that were trained on them, so the risk would not be honest: give splits whose test "
            "rows are no training rows."
        )


ORDERED_SPLITS_REASON = (
    "the splits are ordered: models train on rows that come before those they test, later ones on "
    "rows that earlier ones tested. Such rows are not independent tests of one procedure, so no "
    "standard error is justified. With time= there is one of losses that depend on each other."
)

TIME_ORDER_REASON = (
    "the rows were tested in the order of time, and a row may depend on those before it: what "
    "rests on independent rows is not justified."
)


def find_split_order(plan: Plan) -> Literal["of rows", "of splits"] | None:
    """Return how the splits respect the order of time, or None if they do not respect it.

    "of rows": several models each see only rows above, or each only rows below, the rows that they
    test, so that the rows are in the order of time or in reverse order. "of splits": in whatever
    order the rows are, rows that one split tests are training rows of another one, and never
    conversely. In K-fold cross-validation and with random splits both happen, and the result is
    None.
    """
    if plan.has_drawn_fits or len(np.unique(plan.fit)) < 2 or not plan.test_sizes.all():
        return None
    rows, test_starts, test_sets = plan.positions[0], plan.test_offsets, range(plan.n_questions)
    is_after_training = is_before_training = True
    for test_set in test_sets:
        train_rows = plan.train_rows(int(plan.fit[test_set]))[0]
        is_after_training = (
            is_after_training
            and len(train_rows) > 0
            and train_rows[-1] < rows[test_starts[test_set]]
        )
        is_before_training = (
            is_before_training
            and len(train_rows) > 0
            and train_rows[0] > rows[test_starts[test_set + 1] - 1]
        )
        if not (is_after_training or is_before_training):
            break
    else:
        return "of rows"
    # training_overlaps[i][j] is True if the model of test set i was trained on rows of test set j.
    training_overlaps: list[np.ndarray] = []
    for test_set in test_sets:
        is_training_row = np.zeros(plan.n_rows, dtype=bool)
        is_training_row[plan.train_rows(int(plan.fit[test_set]))[0]] = True
        training_overlaps.append(np.logical_or.reduceat(is_training_row[rows], test_starts[:-1]))
        for earlier_test_set in range(test_set + 1):
            # If both numbers are the same, the model is tested on its own training rows.
            if (
                training_overlaps[test_set][earlier_test_set]
                and training_overlaps[earlier_test_set][test_set]
            ):
                return None
    return "of splits" if np.any(training_overlaps) else None
