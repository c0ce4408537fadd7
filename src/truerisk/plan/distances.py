"""Distances from the test rows of a plan to the rows on which their models were trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from truerisk.plan.plan import Plan

LeakFinder = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
"""Function of a test set's number, its rows, and a mask of its rows in the training set.

It returns the mask of the rows that leak.
"""


def distances_to_training_rows(plan: Plan, coordinates: np.ndarray) -> np.ndarray:
    """Return the distance from each test row of a plan to the nearest training row of its fit.

    The distance is NaN if the row itself is a training row, if training sets are drawn at random,
    or if there are no training rows.
    """
    if plan.has_drawn_fits:
        return np.full(len(plan.positions[0]), np.nan)
    tree = _neighbour_tree(coordinates)
    distances = [
        np.where(
            plan.seen(test_set),
            np.nan,
            _training_row_distances(plan, test_set, tree, plan.test_rows(test_set)[0]),
        )
        for test_set in range(plan.n_questions)
    ]
    return np.concatenate(distances) if distances else np.empty(0)


def distances_to_nearest_row(coordinates: np.ndarray) -> np.ndarray:
    """Return the distance from each row to the nearest other row."""
    nearest_distances: np.ndarray = _neighbour_tree(coordinates).query(coordinates, 2)[0][:, 1]
    return nearest_distances


def _training_row_distances(plan: Plan, test_set: int, tree: Any, rows: np.ndarray) -> np.ndarray:
    """Return the distance from each row to the nearest training row of a fit, or NaN.

    The number of neighbours that are searched doubles until one of them is a training row.
    """
    is_training_row = np.zeros(plan.n_rows, dtype=bool)
    is_training_row[plan.train_rows(int(plan.fit[test_set]))[0]] = True
    distances = np.full(len(rows), np.nan)
    if not is_training_row.any():
        return distances
    k, unresolved_rows = 2, np.arange(len(rows))
    while len(unresolved_rows):
        neighbour_distances, neighbour_rows = tree.query(
            tree.data[rows[unresolved_rows]], min(k, plan.n_rows)
        )
        is_training_neighbour = is_training_row[neighbour_rows]
        has_training_neighbour = is_training_neighbour.any(axis=1)
        distances[unresolved_rows[has_training_neighbour]] = neighbour_distances[
            has_training_neighbour, is_training_neighbour[has_training_neighbour].argmax(axis=1)
        ]
        unresolved_rows, k = unresolved_rows[~has_training_neighbour], 2 * k
    return distances


def _neighbour_tree(coordinates: np.ndarray) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(coordinates)


def make_leak_finder(plan: Plan, coordinates: np.ndarray) -> LeakFinder:
    """Return a function that finds test rows whose nearest other row was in the training set."""
    tree, nearest_distances = _neighbour_tree(coordinates), distances_to_nearest_row(coordinates)

    def mark_leaks(test_set: int, test_rows: np.ndarray, is_training_row: np.ndarray) -> np.ndarray:
        return (
            _training_row_distances(plan, test_set, tree, test_rows) <= nearest_distances[test_rows]
        ) & ~is_training_row

    return mark_leaks


def distance_note(plan: Plan, coordinates: np.ndarray) -> tuple[str, ...]:
    """Return a note on how far test rows are from training rows: the risk holds for such rows."""
    distances = distances_to_training_rows(plan, coordinates)
    finite_distances = distances[np.isfinite(distances)]
    if not len(finite_distances):
        return ()
    smallest, median, largest = np.percentile(finite_distances, [0, 50, 100])
    sentence = (
        f"the risk is that at places {smallest:.3g} to {largest:.3g} (median {median:.3g}) from "
        "the nearest training row, Euclidean in the unit of block=: it says nothing of places "
        "further away."
    )
    return (sentence,)
