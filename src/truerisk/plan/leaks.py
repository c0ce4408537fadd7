"""Leaks: rows tested by models that saw a copy, a row of the same group, or a later row.

The rows of a plan, and not the name of a method, show whether its splits go forward in time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.plan.blocks import ALL, occurrences
from truerisk.plan.plan import Plan

Leak = Literal["groups", "copies", "late", "near"]
Look = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
"""Function of a question, its rows and the mask of those that its model saw.

It returns the mask of the rows that leak.
"""


def leaks_of(data: Data, plan: Plan, *kinds: Leak) -> dict[str, np.ndarray]:
    """Find the rows tested by models that saw too much, ascending, in one pass over a plan.

    The model saw another row of their group ("groups"), an exact copy of their row of X ("copies"),
    a row of the same or of a later time ("late"), or the row nearest to them ("near"). With "near"
    the result also holds "apart", the tested rows that their model did not see. Only the given
    `kinds` are searched.

    A model that saw the row itself predicts it on purpose (for instance in the apparent part of
    .632+), and no other row could tell it more, so such rows are not counted. The cost is
    proportional to the size of the encoded plan, not to n per fit.

    >>> from truerisk.plan.builder import leave_out
    >>> folds = leave_out(4, [np.array([0, 0, 1, 1])])
    >>> data = Data.check(np.eye(4), range(4), task="regression", groups=[7, 8, 8, 9])
    >>> leaks_of(data, folds, "groups")["groups"]
    array([1, 2], dtype=int32)
    """
    looks: dict[str, Look] = {}
    if "groups" in kinds and data.groups is not None:
        looks["groups"] = _by_key(plan, data.groups)
    keys = data.row_keys if "copies" in kinds else None
    if keys is not None:
        looks["copies"] = _by_key(plan, keys)
    if "late" in kinds and data.time is not None and not plan.has_drawn_fits:
        looks["late"] = _by_time(plan, data.time)
    if "near" in kinds and data.places is not None and not plan.has_drawn_fits:
        looks["near"] = _by_place(plan, data.places)
        looks["apart"] = lambda _, tested, seen: ~seen
    found = dict.fromkeys((*get_args(Leak), "apart"), np.empty(0, np.int32))
    if not looks:
        return found
    parts = {kind: [np.empty(0, np.int32)] for kind in looks}
    for q in range(plan.n_questions):
        tested, seen = plan.test_rows(q)[0], plan.seen(q)
        for kind, look in looks.items():
            parts[kind].append(tested[look(q, tested, seen)])
    return found | {kind: np.unique(np.concatenate(rows)) for kind, rows in parts.items()}


def _by_key(plan: Plan, keys: np.ndarray) -> Look:
    """Return a function that finds rows whose model saw another row with the same key."""
    keys = np.unique(keys, return_inverse=True)[1].ravel()
    totals = np.bincount(keys)

    def look(q: int, tested: np.ndarray, seen: np.ndarray) -> np.ndarray:
        # The row is in the training set, but the model is made without it.
        taken_out = plan.without_row[q]
        if seen.all() and not taken_out:
            return ~seen
        left = _with_keys(plan, int(plan.fit[q]), keys, totals, keys[tested])
        return left > seen if taken_out else (left > 0) & ~seen

    return look


def _by_time(plan: Plan, times: np.ndarray) -> Look:
    """Return a function that finds rows whose model saw a row of the same or a later time."""
    latest_first = np.argsort(times, kind="stable")[::-1]

    def look(q: int, tested: np.ndarray, seen: np.ndarray) -> np.ndarray:
        last = _last_seen(plan, int(plan.fit[q]), latest_first)
        if last is None:
            return np.zeros(len(tested), dtype=bool)
        return (times[tested] <= times[last]) & ~seen

    return look


def _by_place(plan: Plan, places: np.ndarray) -> Look:
    """Return a function that finds rows whose model saw the row nearest to them."""
    check_present("truerisk.plan.distances")
    from truerisk.plan.distances import saw_nearest

    return saw_nearest(plan, places)


def _last_seen(plan: Plan, fit: int, latest_first: np.ndarray) -> int | None:
    """Return the training row of `fit` with the latest time.

    Apart from the rows that the fit lacks, at most one row is looked at.
    """
    if plan.train.base[fit] != ALL:
        held = np.isin(latest_first, plan.train_rows(fit)[0])
    else:
        removed = [plan.blocks[int(b)] for b in plan.train.without(fit)]
        outside = np.concatenate(removed) if removed else latest_first[:0]
        held = ~np.isin(latest_first[: len(outside) + 1], outside)
    return int(latest_first[held.argmax()]) if held.any() else None


def _with_keys(
    plan: Plan, fit: int, keys: np.ndarray, totals: np.ndarray, requested: np.ndarray
) -> np.ndarray:
    """Count the training rows of `fit` with each of the `requested` keys."""
    if plan.train.base[fit] != ALL:
        rows, _ = plan.train_rows(fit)
        return occurrences(np.sort(keys[rows]), requested)
    removed = [plan.blocks[int(b)] for b in plan.train.without(fit)]
    # Blocks may overlap: a row that two of them remove must be counted once.
    outside = np.sort(keys[np.unique(np.concatenate(removed))]) if removed else keys[:0]
    return totals[requested] - occurrences(outside, requested)


def known_rows(plan: Plan) -> np.ndarray:
    """Return the rows that are tested by models trained on them, ascending."""
    known = [plan.test_rows(q)[0][plan.seen(q)] for q in range(plan.n_questions)]
    return np.unique(np.concatenate([np.empty(0, np.int32), *known]))


def refuse_known_rows(name: str, plan: Plan) -> None:
    """Refuse given splits that test rows of their own training sets: their risk is not honest."""
    if len(known := known_rows(plan)):
        raise Refusal(
            f"'{name}' tests {len(known)} rows (first: row {known[0]}) by models that were "
            "trained on them, so the risk would not be honest: give splits whose test rows are no "
            "training rows."
        )


ORDERED = (
    "the splits are ordered: models train on rows that come before those they test, later ones on "
    "rows that earlier ones tested. Such rows are not independent tests of one procedure, so no "
    "standard error is justified. With time= there is one of losses that depend on each other."
)

IN_TIME = (
    "the rows were tested in the order of time, and a row may depend on those before it: what "
    "rests on independent rows is not justified."
)


def order_of(plan: Plan) -> Literal["of rows", "of splits"] | None:
    """Return the order of the splits if each model is tested on rows after its training rows.

    "of rows": several models each see only rows above, or each only rows below, those they test, so
    that the rows are in the order of time or in reverse order. "of splits": in whatever order the
    rows are, rows that one split tests are training rows of another one, and never conversely. In
    K-fold cross-validation and with random splits both happen, and the result is None.

    >>> from truerisk.plan.builder import split_plan
    >>> rows = np.arange(6)
    >>> order_of(split_plan(6, [(rows[:2], rows[2:4]), (rows[:4], rows[4:])]))
    'of rows'
    >>> order_of(split_plan(6, [(rows[3:], rows[:3]), (rows[:3], rows[3:])]))
    """
    if plan.has_drawn_fits or len(np.unique(plan.fit)) < 2 or not plan.test_sizes.all():
        return None
    rows, starts, questions = plan.positions[0], plan.test_offsets, range(plan.n_questions)
    before = after = True
    for q in questions:
        train = plan.train_rows(int(plan.fit[q]))[0]
        before = before and len(train) > 0 and train[-1] < rows[starts[q]]
        after = after and len(train) > 0 and train[0] > rows[starts[q + 1] - 1]
        if not (before or after):
            break
    else:
        return "of rows"
    trained: list[np.ndarray] = []  # trained[q][s] is true if the model of q saw rows that s tests
    for q in questions:
        seen = np.zeros(plan.n_rows, dtype=bool)
        seen[plan.train_rows(int(plan.fit[q]))[0]] = True
        trained.append(np.logical_or.reduceat(seen[rows], starts[:-1]))
        for s in range(q + 1):
            # If s equals q, the model saw rows that it tests itself.
            if trained[q][s] and trained[s][q]:
                return None
    return "of splits" if np.any(trained) else None
