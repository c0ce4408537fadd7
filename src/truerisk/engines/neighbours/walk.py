"""Predict by nearest neighbours in all fits of a plan, with one pass along each list for all k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.data.data import RowsCacheKey
from truerisk.engines.neighbours.distances import (
    MetricSettings,
    NearestRows,
    cosine_rounding_bound,
    find_nearest,
)
from truerisk.engines.settings import Group
from truerisk.engines.templates.task import Shown, Task
from truerisk.kernels import native_module
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan

CERTAIN, TIED, LIST_TOO_SHORT = 0, 1, 2
# A fit without two of five folds is trained on this share of the rows.
SHARE_WITHOUT_TWO_FOLDS = 0.6
# A squared distance is accurate if its rounding bound is at most this share of the distance.
# Since the bounds are about ten times too large, nine digits are then correct.
MAX_RELATIVE_ROUNDING_BOUND = 2e-8
MAX_CLASSES = 32767  # A label is stored in two bytes.


@frozen(eq=False)
class RowTargets:
    """Targets of all rows, either as class codes below `n_classes` or as numbers.

    Numbers have the shape (row, target).
    """

    codes: np.ndarray | None
    targets: np.ndarray | None
    n_classes: int = 0


@frozen(eq=False)
class NeighbourPredictions:
    """Predictions of each row of each test set for every k, with a verdict on each prediction.

    The predictions are `labels` (n_ks, n_positions) or `shares` (n_ks, n_positions, width). A
    verdict is CERTAIN, TIED (rows at equal distances around rank k have different targets, and the
    search algorithm decides which are used), or SHORT (the list ended too early).
    """

    labels: np.ndarray | None
    shares: np.ndarray | None
    verdicts: np.ndarray


def predict_plan(
    nearest_lists: NearestRows,
    list_of_row: np.ndarray,
    plan: Plan,
    k_values: np.ndarray,
    row_targets: RowTargets,
    *,
    k_of_fit: np.ndarray | None = None,
    by_distance: bool = False,
    unreliable_distances: np.ndarray | None = None,
    wanted_output: Literal["labels", "shares"] = "labels",
) -> NeighbourPredictions:
    """Predict all test rows of a plan by their nearest neighbours, for every k.

    With `k_of_fit`, only the k with index `k_of_fit[fit]` is used in a fit, and none for -1. With
    `by_distance`, a prediction is TIED if the squared distance of the nearest row is at most the
    entry of `unreliable_distances` for its list (default: its `ties`), because the prediction then
    depends on how a program rounds. `list_of[row]` is the number of the row's list, or -1 for rows
    that are never tested.
    """
    _check(nearest_lists, list_of_row, plan, k_values, row_targets)
    if (
        unreliable_distances is not None
        and unreliable_distances.shape != nearest_lists.tie_bounds.shape
    ):
        raise ValueError(
            f"{len(unreliable_distances)} doubts for {len(nearest_lists.tie_bounds)} lists"
        )
    n_outputs = len(k_values) if k_of_fit is None else 1
    n_positions = int(plan.test_offsets[-1])
    if row_targets.codes is not None:
        class_codes, target_table, n_classes_or_targets = (
            row_targets.codes.astype(np.int32),
            np.empty((0, 0)),
            row_targets.n_classes,
        )
    else:
        target_table = np.ascontiguousarray(row_targets.targets, dtype=np.float64).reshape(
            plan.n_rows, -1
        )
        class_codes, n_classes_or_targets = np.empty(0, np.int32), target_table.shape[1]
    returns_labels = wanted_output == "labels"
    labels = np.empty((n_outputs if returns_labels else 0, n_positions), dtype=np.int16)
    if k_of_fit is not None:  # A prediction for which no candidate is requested keeps the label -1.
        labels.fill(-1)
    shares = np.full(
        (0 if returns_labels else n_outputs, n_positions, n_classes_or_targets), np.nan
    )
    verdicts = np.zeros((n_outputs, n_positions), dtype=np.uint8)
    row_counts = plan.blocks.counts
    test_set_order, test_set_starts = plan.questions_of
    flipped_labels = None if plan.extra is None else Flips.from_holder(plan)
    if flipped_labels is None:
        empty_array = np.empty(0, np.int32)
        flip_starts, flipped_labels = (
            np.zeros(plan.n_fits + 1, np.int32),
            Flips(empty_array, empty_array, empty_array),
        )
    else:
        flip_starts, flipped_labels = _sort_by_fit(flipped_labels, plan.n_fits)
    native_module().walk_plan(
        nearest_lists.index,
        nearest_lists.squared_distances,
        nearest_lists.tie_bounds,
        nearest_lists.tie_bounds
        if unreliable_distances is None
        else np.ascontiguousarray(unreliable_distances, dtype=np.float64),
        nearest_lists.holds_all_rows,
        list_of_row.astype(np.int32),
        plan.blocks.rows,
        plan.blocks.offsets,
        np.empty(0, np.int32) if row_counts is None else row_counts,
        plan.train.base,
        plan.train.removed_blocks,
        plan.train.offsets,
        plan.test.base,
        plan.test.removed_blocks,
        plan.test.offsets,
        test_set_order.astype(np.int64),
        test_set_starts.astype(np.int64),
        plan.test_offsets,
        flip_starts,
        flipped_labels.row,
        flipped_labels.code,
        k_values.astype(np.int32),
        np.empty(0, np.int32) if k_of_fit is None else k_of_fit.astype(np.int32),
        by_distance,
        class_codes,
        target_table,
        n_classes_or_targets,
        plan.n_rows,
        labels,
        shares,
        verdicts,
    )
    return NeighbourPredictions(
        labels if returns_labels else None, None if returns_labels else shares, verdicts
    )


def _check(
    nearest_lists: NearestRows,
    list_of_row: np.ndarray,
    plan: Plan,
    k_values: np.ndarray,
    row_targets: RowTargets,
) -> None:
    """Raise ValueError if the compiled code would read out of bounds."""
    n_rows = plan.n_rows
    if list_of_row.shape != (n_rows,) or list_of_row.max(initial=-1) >= len(nearest_lists.index):
        raise ValueError(
            f"list_of must name one of {len(nearest_lists.index)} lists for each of {n_rows} rows"
        )
    if (
        nearest_lists.index.size
        and not 0 <= nearest_lists.index.min() <= nearest_lists.index.max() < n_rows
    ):
        raise ValueError(f"lists name rows outside 0 ... {n_rows - 1}")
    if nearest_lists.squared_distances.shape != nearest_lists.index.shape or len(
        nearest_lists.tie_bounds
    ) != len(nearest_lists.index):
        raise ValueError("lists and their distances have different shapes")
    if not len(k_values) or k_values.min() < 1:
        raise ValueError("ks must be positive")
    if row_targets.codes is not None:
        if (
            len(row_targets.codes) != n_rows
            or not 0 <= row_targets.codes.min() <= row_targets.codes.max() < row_targets.n_classes
        ):
            raise ValueError(
                f"codes must give each of {n_rows} rows a class below {row_targets.n_classes}"
            )
        if row_targets.n_classes > MAX_CLASSES:
            raise ValueError(f"{row_targets.n_classes} classes are more than labels can tell apart")
    elif row_targets.targets is None or len(row_targets.targets) != n_rows:
        raise ValueError(f"targets must give each of {n_rows} rows a value")
    rows, _ = plan.positions
    if len(rows) and list_of_row[rows].min() < 0:
        raise ValueError("a row is asked about that has no list")


def _sort_by_fit(unsorted_flips: Flips, n_fits: int) -> tuple[np.ndarray, Flips]:
    """Sort flipped labels by fit; also return where the flips of each fit start."""
    fit_order = np.argsort(unsorted_flips.fit, kind="stable")
    sorted_flips = Flips(
        *(getattr(unsorted_flips, field_name)[fit_order] for field_name in ("fit", "row", "code"))
    )
    return np.searchsorted(sorted_flips.fit, np.arange(n_fits + 1)).astype(np.int32), sorted_flips


@frozen(eq=False)
class CheckedPredictions:
    """Predictions `(k, test row)`, with a mask of those that depend on rows at equal distances.

    The mask is `is_unresolved`.
    """

    predictions: np.ndarray
    is_unresolved: np.ndarray


@frozen(eq=False)
class NeighbourPredictor:
    """Input of nearest-neighbour predictions: a plan, the targets, and the values of k."""

    task: Task
    group: Group
    plan: Plan
    y: np.ndarray
    list_of_row: np.ndarray
    n_columns: int
    k_of_fit: np.ndarray | None = None

    def predict(
        self, lists: Callable[[int], NearestRows], train_share: float
    ) -> CheckedPredictions:
        """Predict all test rows from lists of nearest rows, which are made as long as necessary.

        `train_share` is the share of listed rows that are in a training set. The first lists are so
        long that a random subset with this share almost always contains the largest k. If some
        lists are too short, all are made four times as long.
        """
        data, y, metric_settings = self.task.data, self.y, MetricSettings.from_group(self.group)
        k_values = self.group.values("n_neighbors").astype(np.int64)
        row_targets = RowTargets(y, None, data.n_classes)
        if data.codes is None:
            row_targets = RowTargets(None, y.reshape(len(y), -1))
        returns_labels = self.task.request.response == "label" and self.task.collected.extra is None
        largest_k = int(k_values.max())
        list_length = (
            int(np.ceil((largest_k + 4 * np.sqrt(largest_k * (1 - train_share))) / train_share)) + 8
        )
        while True:
            nearest_lists = lists(list_length)
            neighbour_predictions = predict_plan(
                nearest_lists,
                self.list_of_row,
                self.plan,
                k_values,
                row_targets,
                k_of_fit=self.k_of_fit,
                by_distance=metric_settings.has_distance_weights,
                unreliable_distances=self._unreliable_distances(
                    nearest_lists, metric_settings, largest_k
                )
                if metric_settings.has_distance_weights
                else None,
                wanted_output="labels" if returns_labels else "shares",
            )
            if neighbour_predictions.verdicts.max(initial=CERTAIN) != LIST_TOO_SHORT:
                break
            list_length *= 4
        predictions = (
            neighbour_predictions.labels if returns_labels else neighbour_predictions.shares
        )
        assert predictions is not None
        is_unresolved = neighbour_predictions.verdicts == TIED
        if np.isinf(
            nearest_lists.tie_bounds
        ).any():  # If a list holds an infinite distance, its order is unknown.
            is_unresolved |= np.isinf(nearest_lists.tie_bounds)[
                self.list_of_row[self.plan.positions[0]]
            ]
        return CheckedPredictions(predictions, is_unresolved)

    def _unreliable_distances(
        self, nearest_lists: NearestRows, metric_settings: MetricSettings, largest_k: int
    ) -> np.ndarray:
        """Return for each list the squared distance below which scikit-learn's digits are too few.

        scikit-learn computes |x|² − 2x'y + |y|², or 1 − cosine, and such differences lose their
        leading digits. Smaller distances have reciprocals with fewer than nine correct digits.
        """
        n_rows = int(self.plan.least_train_sizes.min())
        if metric_settings.metric == "cosine":
            return np.maximum(
                nearest_lists.tie_bounds,
                (cosine_rounding_bound(self.n_columns) / MAX_RELATIVE_ROUNDING_BOUND) ** 2,
            )
        if metric_settings.is_euclidean and metric_settings.computes_all_distances(
            self.n_columns, n_rows, largest_k
        ):
            return np.divide(nearest_lists.tie_bounds, MAX_RELATIVE_ROUNDING_BOUND)
        return nearest_lists.tie_bounds


def predict_in_all_fits(task: Task) -> CheckedPredictions:
    """Predict the test rows of all fits, from one list of nearest rows for each test row.

    The fits can share the lists, because no pipeline step learns from rows.
    """
    plan, group, data, X = task.plan, task.group, task.data, task.X
    if plan.n_fits == 1:  # With a single split, distances between test rows are not needed.
        searched_rows = plan.train_rows(0)[0]
    elif (plan.train.base == ALL).any():
        searched_rows = np.arange(plan.n_rows)
    else:  # Only rows that are in some training set can be neighbours.
        base_blocks = np.unique(plan.train.base)
        searched_rows = np.unique(
            np.concatenate([plan.blocks[int(block)] for block in base_blocks])
        )
    is_tested = np.zeros(plan.n_rows, dtype=bool)
    is_tested[plan.positions[0]] = True
    query_rows = np.flatnonzero(is_tested)
    list_of_row = np.full(plan.n_rows, -1, dtype=np.int32)
    list_of_row[query_rows] = np.arange(len(query_rows))
    y = data.y if data.codes is None else data.codes
    predictor = NeighbourPredictor(task, group, plan, y, list_of_row, X.shape[1], task.places)
    train_share = max(1, int(plan.least_train_sizes.min())) / len(searched_rows)
    train_share = max(
        2 * train_share - 1, min(train_share, SHARE_WITHOUT_TWO_FOLDS)
    )  # In most other plans, fits lack two folds.
    return predictor.predict(partial(_find_lists, task, query_rows, searched_rows), train_share)


_cached_lists: WeakKeyDictionary[RowsCacheKey, tuple[Any, int, NearestRows]] = WeakKeyDictionary()


def _find_lists(
    task: Task, query_rows: np.ndarray, searched_rows: np.ndarray, list_length: int
) -> NearestRows:
    """Return the rows nearest to each query row, among rows that are in some training set.

    Nested validation needs the lists of all rows among all rows twice (for tuning and for testing),
    and a permutation test needs these lists thousands of times with other targets. The last lists
    of all rows are therefore cached per data set.
    """
    X, group, metric_settings = task.X, task.group, MetricSettings.from_group(task.group)
    if not len(query_rows) == len(searched_rows) == len(X):
        nearest_lists = find_nearest(
            metric_settings,
            X if len(query_rows) == len(X) else X[query_rows],
            X if len(searched_rows) == len(X) else X[searched_rows],
            list_length,
        )
        # If the searched rows are 0, 1, 2, ..., list entries are already row numbers.
        if searched_rows[-1] < len(searched_rows):
            return nearest_lists
        return replace(nearest_lists, index=searched_rows[nearest_lists.index].astype(np.int32))
    step_settings = None
    if group.rowwise is not None:
        step_settings = [(type(step), step.get_params()) for _, step in group.rowwise.steps]
    cache_key = (metric_settings.metric, metric_settings.p, step_settings)
    cached_lists = _cached_lists.get(task.data.same_rows)
    if cached_lists is not None and cached_lists[0] == cache_key and cached_lists[1] >= list_length:
        return cached_lists[2]
    nearest_lists = find_nearest(metric_settings, X, X, list_length)
    _cached_lists[task.data.same_rows] = (cache_key, list_length, nearest_lists)
    return nearest_lists


def predict_in_one_fit(
    task: Task, group: Group, shown: Shown, test_rows: np.ndarray
) -> CheckedPredictions:
    """Predict the test rows of one fit, by a plan that holds only its training and test rows."""
    X, y = shown.X, shown.y
    if shown.times is not None:
        X, y = np.repeat(X, shown.times, axis=0), np.repeat(y, shown.times, axis=0)
    n_train_rows, n_test_rows = len(X), len(test_rows)
    plan_builder = PlanBuilder(n_train_rows + n_test_rows)
    train_block, test_block = (
        plan_builder.block(np.arange(n_train_rows)),
        plan_builder.block(np.arange(n_train_rows, n_train_rows + n_test_rows)),
    )
    plan_builder.ask((train_block, ()), (test_block, ()))
    # Test rows are never neighbours, so that their targets are not used.
    unused_targets = np.zeros((n_test_rows, *y.shape[1:]), dtype=y.dtype)
    list_of_row = np.concatenate([np.full(n_train_rows, -1), np.arange(n_test_rows)])
    predictor = NeighbourPredictor(
        task,
        group,
        plan_builder.build(),
        np.concatenate([y, unused_targets]),
        list_of_row,
        X.shape[1],
    )
    metric_settings = MetricSettings.from_group(group)
    return predictor.predict(
        lambda list_length: find_nearest(metric_settings, test_rows, X, list_length),
        train_share=1.0,
    )
