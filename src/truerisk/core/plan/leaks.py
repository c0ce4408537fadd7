"""Rows tested by models that saw too much: a copy, a row of the same group, or a later row."""

from __future__ import annotations

import numpy as np

from truerisk.core.plan.blocks import ALL, occurrences
from truerisk.core.plan.nearest_seen import distances_to_nearest, distances_to_seen
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data

__all__ = [
    "across",
    "cut_groups",
    "known_to_their_models",
    "leaks_in_time",
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
