"""Distances from the test rows of a plan to the rows on which their models were trained."""

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
    """Return, for each test row of a plan, the distance to the nearest training row of its fit.

    The distance is NaN if the row itself is a training row, if training sets are drawn at random,
    or if there are no training rows.
    """
    if plan.has_drawn_fits:
        return np.full(len(plan.positions[0]), np.nan)
    tree = _tree(places)
    distances = [
        np.where(
            plan.seen(question),
            np.nan,
            _distances_to_training(plan, question, tree, plan.test_rows(question)[0]),
        )
        for question in range(plan.n_questions)
    ]
    return np.concatenate(distances) if distances else np.empty(0)


def distances_to_nearest(places: np.ndarray) -> np.ndarray:
    """Return the distance from each row to the nearest other row."""
    nearest: np.ndarray = _tree(places).query(places, 2)[0][:, 1]
    return nearest


def _distances_to_training(plan: Plan, question: int, tree: Any, rows: np.ndarray) -> np.ndarray:
    """Return the distance from each row to the nearest training row of a fit, or NaN.

    The number of neighbours that are searched doubles until one of them is a training row.
    """
    is_training_row = np.zeros(plan.n_rows, dtype=bool)
    is_training_row[plan.train_rows(int(plan.fit[question]))[0]] = True
    distances = np.full(len(rows), np.nan)
    if not is_training_row.any():
        return distances
    k, unresolved = 2, np.arange(len(rows))
    while len(unresolved):
        distance, row = tree.query(tree.data[rows[unresolved]], min(k, plan.n_rows))
        is_training_neighbour = is_training_row[row]
        has_training_neighbour = is_training_neighbour.any(axis=1)
        distances[unresolved[has_training_neighbour]] = distance[
            has_training_neighbour, is_training_neighbour[has_training_neighbour].argmax(axis=1)
        ]
        unresolved, k = unresolved[~has_training_neighbour], 2 * k
    return distances


def _tree(places: np.ndarray) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(places)


def saw_nearest(plan: Plan, places: np.ndarray) -> Look:
    """Return a function that finds the test rows whose nearest row was in the training set."""
    tree, nearest = _tree(places), distances_to_nearest(places)

    def look(question: int, test_rows: np.ndarray, is_seen: np.ndarray) -> np.ndarray:
        return (
            _distances_to_training(plan, question, tree, test_rows) <= nearest[test_rows]
        ) & ~is_seen

    return look


def distance_note(plan: Plan, places: np.ndarray) -> tuple[str, ...]:
    """Return a note on the distances from the training rows for which the risk holds."""
    distances = distances_to_seen(plan, places)
    finite = distances[np.isfinite(distances)]
    if not len(finite):
        return ()
    smallest, median, largest = np.percentile(finite, [0, 50, 100])
    sentence = (
        f"the risk is that at places {smallest:.3g} to {largest:.3g} (median {median:.3g}) from "
        "the "
        "nearest training row, Euclidean in the unit of block=: it says nothing of places further "
        "away."
    )
    return (sentence,)
