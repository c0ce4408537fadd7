"""How far tested rows lie from the rows that their models saw."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.plan.plan import Plan

__all__ = ["distances_to_nearest", "distances_to_seen"]


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
