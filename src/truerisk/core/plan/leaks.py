"""Rows tested by models that saw too much: a copy, a row of the same group, or a later row.

How far tested rows lie from those that a model saw, and whether splits go forward in time, is told
by the rows of a plan, not by a name.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from truerisk.core.plan.blocks import ALL, occurrences
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data

__all__ = [
    "IN_TIME",
    "ORDERED",
    "across",
    "cut_groups",
    "distances_to_nearest",
    "distances_to_seen",
    "known_to_their_models",
    "leaks_in_time",
    "order_of",
    "split_copies",
    "tested_by_neighbours",
]


def cut_groups(data: Data, plan: Plan) -> np.ndarray:
    """Rows tested by a model that saw other rows of their group, ascending."""
    return np.empty(0, np.int32) if data.groups is None else across(plan, data.groups)


def known_to_their_models(plan: Plan) -> np.ndarray:
    """Rows tested by a model that was trained on them, ascending: splits of others may ask so."""
    known = [plan.test_rows(q)[0][plan.seen(q)] for q in range(plan.n_questions)]
    return np.unique(np.concatenate([np.empty(0, np.int32), *known]))


def split_copies(data: Data, plan: Plan) -> np.ndarray:
    """Rows tested by a model that saw an exact copy of their row of X, ascending."""
    keys = data.row_keys
    if keys is None or int(keys.max()) + 1 == len(keys):  # all rows differ
        return np.empty(0, np.int32)
    return across(plan, keys)


def leaks_in_time(data: Data, plan: Plan) -> np.ndarray:
    """Rows tested by a model that saw a row of the same or of a later time, ascending.

    A model that saw the row itself is asked about it on purpose, as in `across`.
    """
    if data.time is None or plan.laws is not None:
        return np.empty(0, np.int32)
    latest_first = np.argsort(data.time, kind="stable")[::-1]
    late = [np.empty(0, np.int32)]
    for q in range(plan.n_questions):
        tested, seen = plan.test_rows(q)[0], plan.seen(q)
        last = _last_seen(plan, int(plan.fit[q]), latest_first)
        if last is not None:
            late.append(tested[(data.time[tested] <= data.time[last]) & ~seen])
    return np.unique(np.concatenate(late))


def tested_by_neighbours(data: Data, plan: Plan) -> tuple[np.ndarray, int]:
    """Rows tested by a model that saw the row next to them, and how many rows it was tested on.

    No other row lies nearer. Rows that a model saw itself are asked about on purpose.
    """
    if data.places is None or plan.laws is not None:
        return np.empty(0, np.int32), 0
    apart = distances_to_seen(plan, data.places)
    rows = plan.positions[0]
    known = np.isfinite(apart)
    near = known & (apart <= distances_to_nearest(data.places)[rows])
    return np.unique(rows[near]), len(np.unique(rows[known]))


def _last_seen(plan: Plan, fit: int, latest_first: np.ndarray) -> int | None:
    """The train row of `fit` that comes last, without a look at more rows than it lacks."""
    if plan.train.base[fit] != ALL:
        held = np.isin(latest_first, plan.train_rows(fit)[0])
    else:
        removed = [plan.blocks[int(b)] for b in plan.train.without(fit)]
        outside = np.concatenate(removed) if removed else latest_first[:0]
        held = ~np.isin(latest_first[: len(outside) + 1], outside)
    return int(latest_first[held.argmax()]) if held.any() else None


def across(plan: Plan, keys: np.ndarray) -> np.ndarray:
    """Rows tested by a model that saw another row with the same key, but not the row, ascending.

    A model that saw the row itself is asked about it on purpose (the apparent part of .632+, say):
    no other row tells it more. Costs the size of the coded plan, not n per fit.

    >>> from truerisk.core.plan.partitions import leave_out
    >>> folds = leave_out(4, [np.array([0, 0, 1, 1])])
    >>> across(folds, np.array([7, 7, 8, 9])), across(folds, np.array([7, 8, 8, 9]))
    (array([], dtype=int32), array([1, 2], dtype=int32))
    """
    keys = np.unique(keys, return_inverse=True)[1].ravel()
    totals = np.bincount(keys)
    leaking = [np.empty(0, np.int32)]
    for q in range(plan.n_questions):
        tested, seen = plan.test_rows(q)[0], plan.seen(q)
        taken_out = plan.without_row[q]  # the row is in the train set, but not in the model
        if seen.all() and not taken_out:
            continue
        left = _with_keys(plan, int(plan.fit[q]), keys, totals, keys[tested])
        leaking.append(tested[left > seen if taken_out else (left > 0) & ~seen])
    return np.unique(np.concatenate(leaking))


def _with_keys(
    plan: Plan, fit: int, keys: np.ndarray, totals: np.ndarray, asked: np.ndarray
) -> np.ndarray:
    """How many train rows of `fit` carry each of the `asked` keys."""
    if plan.train.base[fit] != ALL:
        rows, _ = plan.train_rows(fit)
        return occurrences(np.sort(keys[rows]), asked)
    removed = [plan.blocks[int(b)] for b in plan.train.without(fit)]
    # blocks may overlap: a row taken away twice is gone once
    outside = np.sort(keys[np.unique(np.concatenate(removed))]) if removed else keys[:0]
    return totals[asked] - occurrences(outside, asked)


def distances_to_seen(plan: Plan, places: np.ndarray) -> np.ndarray:
    """For every answer of a plan, how far the nearest row lies that its model saw.

    NaN where the model saw the row itself, or was made of drawn or of no rows.

    >>> from truerisk.core.plan.partitions import leave_out
    >>> plan = leave_out(4, [np.array([0, 0, 1, 1])])
    >>> distances_to_seen(plan, np.array([[0.0], [1.0], [3.0], [4.0]])).tolist()
    [3.0, 2.0, 2.0, 3.0]
    """
    if plan.laws is not None:
        return np.full(len(plan.positions[0]), np.nan)
    tree = _tree(places)
    found = []
    for q in range(plan.n_questions):
        fit, tested = int(plan.fit[q]), plan.test_rows(q)[0]
        seen = np.zeros(plan.n_rows, dtype=bool)
        seen[plan.train_rows(fit)[0]] = True
        apart = _nearest_of(tree, places[tested], seen)
        found.append(np.where(plan.seen(q), np.nan, apart))
    return np.concatenate(found) if found else np.empty(0)


def distances_to_nearest(places: np.ndarray) -> np.ndarray:
    """How far the nearest other row lies from each row.

    >>> distances_to_nearest(np.array([[0.0], [1.0], [3.0]])).tolist()
    [1.0, 1.0, 2.0]
    """
    nearest: np.ndarray = _tree(places).query(places, 2)[0][:, 1]
    return nearest


def _nearest_of(tree: Any, places: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Distances to the nearest row that was seen: among twice as many neighbours until there is."""
    found = np.full(len(places), np.nan)
    if not seen.any():
        return found
    k, open_ = 2, np.arange(len(places))
    while len(open_):
        distance, row = tree.query(places[open_], min(k, len(seen)))
        among = seen[row]
        there = among.any(axis=1)
        found[open_[there]] = distance[there, among[there].argmax(axis=1)]
        open_, k = open_[~there], 2 * k
    return found


def _tree(places: np.ndarray) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(places)


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
    """Whether models are tested on what comes after their training rows, one after the other.

    "of rows": several models each see only rows above, or each only rows below, those they test, so
    that the rows stand in the order of time or in the reverse one. "of splits": however the rows
    stand, rows that one split tests train the model of another one, and never conversely. In K-fold
    cross-validation, and in random splits, they do both, and the answer is None.

    >>> from truerisk.core.plan.builder import split_plan
    >>> rows = np.arange(6)
    >>> order_of(split_plan(6, [(rows[:2], rows[2:4]), (rows[:4], rows[4:])]))
    'of rows'
    >>> order_of(split_plan(6, [(rows[3:], rows[:3]), (rows[:3], rows[3:])]))
    """
    if plan.laws is not None or len(np.unique(plan.fit)) < 2 or not plan.test_sizes.all():
        return None
    rows, questions = plan.positions[0], range(plan.n_questions)
    before = after = True
    for q in questions:
        train, test = plan.train_rows(int(plan.fit[q]))[0], plan.test_rows(q)[0]
        before = before and len(train) > 0 and train[-1] < test[0]
        after = after and len(train) > 0 and train[0] > test[-1]
        if not (before or after):
            break
    else:
        return "of rows"
    trained: list[np.ndarray] = []  # [q][s]: the model of q saw rows that s tests
    for q in questions:
        seen = np.zeros(plan.n_rows, dtype=bool)
        seen[plan.train_rows(int(plan.fit[q]))[0]] = True
        trained.append(np.logical_or.reduceat(seen[rows], plan.test_offsets[:-1]))
        if any(trained[q][s] and trained[s][q] for s in range(q + 1)):  # or rows that it saw itself
            return None
    return "of splits" if np.any(trained) else None
