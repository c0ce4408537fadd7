"""Distances from the tested rows of a plan to the rows that their models were trained on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from truerisk.plan.plan import Plan

Look = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
"""Function of a question, its rows and the mask of those that its model saw.

It returns the mask of the rows that leak.
"""


def distances_to_seen(plan: Plan, places: np.ndarray) -> np.ndarray:
    """Return, for every answer of a plan, the distance to the nearest row that its model saw.

    The distance is NaN if the model saw the row itself, was trained on drawn rows, or on no rows.

    >>> from truerisk.plan.builder import leave_out
    >>> plan = leave_out(4, [np.array([0, 0, 1, 1])])
    >>> distances_to_seen(plan, np.array([[0.0], [1.0], [3.0], [4.0]])).tolist()
    [3.0, 2.0, 2.0, 3.0]
    """
    if plan.has_drawn_fits:
        return np.full(len(plan.positions[0]), np.nan)
    tree = _tree(places)
    apart = [
        np.where(plan.seen(q), np.nan, _to_seen(plan, q, tree, plan.test_rows(q)[0]))
        for q in range(plan.n_questions)
    ]
    return np.concatenate(apart) if apart else np.empty(0)


def distances_to_nearest(places: np.ndarray) -> np.ndarray:
    """Return the distance from each row to the nearest other row.

    >>> distances_to_nearest(np.array([[0.0], [1.0], [3.0]])).tolist()
    [1.0, 1.0, 2.0]
    """
    nearest: np.ndarray = _tree(places).query(places, 2)[0][:, 1]
    return nearest


def _to_seen(plan: Plan, question: int, tree: Any, rows: np.ndarray) -> np.ndarray:
    """Return the distance from each row to the nearest row that a model saw, NaN if there is none.

    The number of neighbours that are searched doubles until one of them was seen.
    """
    seen = np.zeros(plan.n_rows, dtype=bool)
    seen[plan.train_rows(int(plan.fit[question]))[0]] = True
    apart = np.full(len(rows), np.nan)
    if not seen.any():
        return apart
    k, open_ = 2, np.arange(len(rows))
    while len(open_):
        distance, row = tree.query(tree.data[rows[open_]], min(k, plan.n_rows))
        among = seen[row]
        there = among.any(axis=1)
        apart[open_[there]] = distance[there, among[there].argmax(axis=1)]
        open_, k = open_[~there], 2 * k
    return apart


def _tree(places: np.ndarray) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(places)


def saw_nearest(plan: Plan, places: np.ndarray) -> Look:
    """Return a function that finds the tested rows whose nearest row was in the training set."""
    tree, nearest = _tree(places), distances_to_nearest(places)

    def look(q: int, tested: np.ndarray, seen: np.ndarray) -> np.ndarray:
        return (_to_seen(plan, q, tree, tested) <= nearest[tested]) & ~seen

    return look


def apart_note(plan: Plan, places: np.ndarray) -> tuple[str, ...]:
    """Return a note that says for which distances from the training rows the risk holds.

    >>> from truerisk.plan.builder import leave_out
    >>> places = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> apart_note(leave_out(4, [np.array([0, 0, 1, 1])]), places)[0][:50]
    'the risk is that at places 2 to 3 (median 2.5) fro'
    """
    apart = distances_to_seen(plan, places)
    finite = apart[np.isfinite(apart)]
    if not len(finite):
        return ()
    least, middle, most = np.percentile(finite, [0, 50, 100])
    sentence = (
        f"the risk is that at places {least:.3g} to {most:.3g} (median {middle:.3g}) from the "
        "nearest training row, Euclidean in the unit of block=: it says nothing of places further "
        "away."
    )
    return (sentence,)
