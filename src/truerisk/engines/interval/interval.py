"""Engine for IntervalClassifier: one pass serves all k, all left-out rows and all flipped labels.

Leaving one row out, or flipping its label, changes the counts at one value of the feature. The
optimum to the left and to the right of this value is known from one pass over all rows in each
direction, so that all such fits are computed together (`fits_of_one_table.py` finds these fits).
Any other fit takes one pass for all numbers of intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exact_instance
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.interval.compiled import labels_after_changes, labels_for_every_k
from truerisk.engines.settings import Group
from truerisk.engines.templates.fits_of_one_table import (
    find_single_row_fits,
    store_single_row_predictions,
)
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.models.interval_classifier import IntervalClassifier, midpoint_boundaries
from truerisk.plan.extras.counted import CountCollector, find_counted_test_sets
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan


@frozen
class Intervals(OnePass):
    """Engine for IntervalClassifier with any candidates `k`.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.models.IntervalClassifier : The learner.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_kearns(60, random_state=0)
    >>> engine = tr.engines.Intervals()
    >>> tr.estimate_risk(tr.models.IntervalClassifier(4), X, y, engine=engine).engine
    'interval'
    """

    name: ClassVar[str] = "interval"
    along: ClassVar[tuple[str, ...]] = ("k",)
    serves: ClassVar[frozenset[str]] = frozenset({"flips", "counted"})
    compiled: ClassVar[bool] = True
    weighted: ClassVar[bool] = False

    @override
    def learners(self) -> Sequence[type]:
        return (IntervalClassifier,)

    @override
    def rounds(self, group: Group) -> bool:
        return False

    @override
    def learner_refusal(self, family: Family) -> str | None:
        if not is_exact_instance(family.estimator, *self.learners()):
            return f"it serves IntervalClassifier, not {type(family.estimator).__name__}."
        return None

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        k = setting["k"]
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            return f"k={k!r} is no number of intervals."
        return None

    @override
    def single_refusal(self, family: Family) -> str | None:
        return None  # The classifier computes in double precision.

    @override
    def table_refusal(self, family: Family, data: Data) -> str | None:
        is_one_column = len(np.shape(data.X)) == 2 and np.shape(data.X)[1] == 1
        if not is_one_column or super().table_refusal(family, data) is not None:
            return "X is not one column of finite numbers."
        return None

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if data.n_classes != 2:
            return f"y has {data.n_classes} classes, and intervals alternate between two."
        return None

    def table(self, group: Group, data: Data) -> Any:
        """Return all rows sorted by their single feature; each fit selects its training rows.

        Parameters
        ----------
        group : Group
            Candidates whose predictions one pass computes together.
        data : Data
            The checked rows of the call.

        Returns
        -------
        object
            The sorted rows.
        """
        return _SortedRows.from_rows(super().table(group, data))

    @override
    def fits(self, numbers: Any) -> bool:
        # The predictions depend on the order of the feature values, not on their size.
        # Boundaries are midpoints between feature values.
        return True

    def answer_together(self, task: Task) -> np.ndarray:
        """Compute the fits that change a single row, which they leave out or whose label they flip.

        Each of these fits predicts the changed row.

        Parameters
        ----------
        task : Task
            The group of candidates, the plan and the predictions collected so far.

        Returns
        -------
        array of bool, shape (n_fits,)
            True for the fits whose predictions are computed.
        """
        plan = task.plan
        is_single, changed_rows = find_single_row_fits(plan)
        # Probabilities are class shares within intervals, so that interval boundaries are needed.
        if task.request.response != "label":
            is_single[:] = False
        # To count training rows per interval, interval boundaries are needed as well.
        is_single[plan.fit[find_counted_test_sets(plan)]] = False
        fits = np.flatnonzero(is_single)
        if len(fits):
            labels = _predict_changed_rows(task, fits, changed_rows[fits])
            store_single_row_predictions(task, fits, labels, np.zeros(labels.shape, dtype=bool))
        return is_single

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        sorted_rows, test_sets = cast("_SortedRows", shown.X), cast("list[_SortedRows]", tests)
        counts_of_all_groups = sorted_rows.count_rows(shown.y, shown.times)
        present_groups = np.flatnonzero(counts_of_all_groups.sum(axis=1))
        group_counts, nearest_group = (
            counts_of_all_groups[present_groups],
            sorted_rows.nearest_training_group(present_groups),
        )
        predictions_by_group = labels = labels_for_every_k(
            group_counts, _numbers_of_intervals(task, group)
        )
        interval_sizes, response = None, task.request.response
        gathered_counts = CountCollector.from_holder(task.collected)
        if response != "label" or (
            gathered_counts is not None and shown.fit in gathered_counts.fits
        ):
            interval_sizes, class_shares = interval_sizes_and_shares(labels, group_counts)
            predictions_by_group = {"label": labels, "probability": class_shares}.get(
                response, class_shares[..., 1]
            )
        predictions = []
        for test_set_number, test_rows in zip(task.questions(shown.fit), test_sets, strict=True):
            test_groups = nearest_group[test_rows.group_of_row]
            predictions.append(predictions_by_group[:, test_groups])
            if interval_sizes is not None and gathered_counts is not None:
                class_counts = (interval_sizes[..., None] * class_shares)[:, test_groups]
                gathered_counts.store_counts(
                    int(test_set_number), task.lines_of(group), class_counts
                )
        return predictions


@frozen(eq=False)
class _SortedRows:
    """Rows with a single feature, as its sorted distinct values and each row's index in these."""

    distinct_values: np.ndarray
    group_of_row: np.ndarray

    @classmethod
    def from_rows(cls, X: np.ndarray) -> _SortedRows:
        distinct_values, group = np.unique(X[:, 0], return_inverse=True)
        return cls(distinct_values, group.ravel())

    def __getitem__(self, rows: np.ndarray) -> _SortedRows:
        """Return the selected rows, with the same list of distinct values as all rows."""
        return _SortedRows(self.distinct_values, self.group_of_row[rows])

    def count_rows(self, codes: np.ndarray, times: np.ndarray | None = None) -> np.ndarray:
        """Return the number of rows `(group, class)` in each group of equal feature values."""
        cell_indices = 2 * self.group_of_row + codes
        cell_counts = np.bincount(
            cell_indices, weights=times, minlength=2 * len(self.distinct_values)
        )
        return cell_counts.astype(np.int64).reshape(-1, 2)

    def nearest_training_group(self, present_groups: np.ndarray) -> np.ndarray:
        """Return for each group the index in `present_groups` of the group whose label it gets.

        It is computed for all groups of rows with equal feature values. `present_groups` are the
        groups in the training set. A group gets the label of its left neighbour among the training
        groups if it lies left of the boundary between both neighbours, else the label of the right
        neighbour. If both have the same label there is no boundary, and the choice does not matter.
        """
        right_index = np.searchsorted(present_groups, np.arange(len(self.distinct_values)))
        right_neighbour = np.minimum(right_index, len(present_groups) - 1)
        left_neighbour = np.maximum(right_index - 1, 0)
        is_between = (right_neighbour > left_neighbour) & (
            present_groups[right_neighbour] > np.arange(len(self.distinct_values))
        )
        boundaries = midpoint_boundaries(
            self.distinct_values[present_groups[left_neighbour]],
            self.distinct_values[present_groups[right_neighbour]],
        )
        return np.where(
            is_between & (self.distinct_values <= boundaries), left_neighbour, right_neighbour
        )

    def is_right_of_boundary(self, groups: np.ndarray) -> np.ndarray:
        """Return True for groups that lie right of the boundary between their two neighbours."""
        is_inner = (groups > 0) & (groups < len(self.distinct_values) - 1)
        if not is_inner.any():
            return is_inner
        inner_groups = np.where(is_inner, groups, 1)
        return is_inner & (
            midpoint_boundaries(
                self.distinct_values[inner_groups - 1], self.distinct_values[inner_groups + 1]
            )
            < self.distinct_values[inner_groups]
        )


def _numbers_of_intervals(task: Task, group: Group) -> list[int]:
    """Return each candidate's number of intervals, limited to the number of rows."""
    return [min(int(setting["k"]), task.data.n_rows) for setting in group.settings]


def _predict_changed_rows(task: Task, fits: np.ndarray, changed_rows: np.ndarray) -> np.ndarray:
    """Predict the row that each fit leaves out or flips; return the labels `(candidate, fit)`."""
    codes, flipped_labels = task.data.class_codes, Flips.from_holder(task.plan)
    sorted_rows = task.X
    group_counts, group_of_fit = (
        sorted_rows.count_rows(codes),
        sorted_rows.group_of_row[changed_rows],
    )
    new_counts = group_counts[group_of_fit]
    new_counts[np.arange(len(fits)), codes[changed_rows]] -= 1
    if flipped_labels is not None:
        fit_index = np.searchsorted(fits, flipped_labels.fit)
        is_flipped = (fit_index < len(fits)) & (
            fits[np.minimum(fit_index, len(fits) - 1)] == flipped_labels.fit
        )
        new_counts[fit_index[is_flipped], flipped_labels.code[is_flipped]] += 1
    is_right_of_boundary = (new_counts.sum(axis=1) == 0) & sorted_rows.is_right_of_boundary(
        group_of_fit
    )
    return labels_after_changes(
        group_counts,
        _numbers_of_intervals(task, task.group),
        group_of_fit,
        new_counts,
        is_right_of_boundary,
    )


def interval_sizes_and_shares(
    labels: np.ndarray, group_counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the size and the class shares of the interval that holds each group, for every k."""
    is_start = np.ones(labels.shape, dtype=bool)
    is_start[:, 1:] = labels[:, 1:] != labels[:, :-1]
    tiled_counts = np.tile(group_counts, (len(labels), 1))
    interval_counts = np.add.reduceat(tiled_counts, np.flatnonzero(is_start), axis=0)
    interval_sizes = interval_counts.sum(axis=1)
    interval_index = np.cumsum(is_start.ravel()).reshape(labels.shape) - 1
    return interval_sizes[interval_index], (interval_counts / interval_sizes[:, None])[
        interval_index
    ]
