"""Fit classifiers with at most k intervals of one feature and the fewest errors, for every k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.kernels import native_module
from truerisk.kernels.integer_arrays import check_bounds, to_integer_array

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray


LARGEST_COUNT = 2**31


def labels_for_every_k(counts: ArrayLike, ks: Iterable[int]) -> NDArray[np.int8]:
    """Return the labels of the k-interval classifier with the fewest errors, for every k of a list.

    Groups of rows with equal x are sorted by x. A classifier gives each group a label, 0 or 1, that
    changes at most k − 1 times. Among the classifiers with the fewest errors the one with the
    fewest intervals is chosen. Ties are broken in favour of the longest first interval, then the
    longest second interval, and so on, and finally in favour of the classifier whose first label is
    0. One backward pass takes O(groups · max k).

    Parameters
    ----------
    counts : array of int, shape (n_groups, 2)
        Rows of class 0 and of class 1 in each group, the groups from left to right.
    ks : iterable of int
        Numbers of intervals, at least 1, in any order.

    Returns
    -------
    array of int8, shape (n_ks, n_groups)

    Raises
    ------
    ValueError
        When a shape, a type or a bound is wrong.
    Refusal
        When the compiled module is missing.

    Examples
    --------
    >>> labels_for_every_k([[1, 0], [0, 1], [1, 0]], ks=[1, 2, 3])
    array([[0, 0, 0],
           [0, 0, 0],
           [0, 1, 0]], dtype=int8)
    """
    error_counts, distinct_ks, index_of_k = _errors_and_ks(counts, ks)
    labels = np.empty((len(distinct_ks), len(error_counts)), dtype=np.int8)
    native_module().interval_labels(error_counts, distinct_ks, labels)
    return np.take(labels, index_of_k, axis=0)


def labels_after_changes(
    counts: ArrayLike,
    ks: Iterable[int],
    group: ArrayLike,
    instead: ArrayLike,
    asks_next: ArrayLike | None = None,
) -> NDArray[np.int8]:
    """Return the label that a group of rows gets if only its own counts change, for every k.

    The result holds the label for every k and every change. It is the label that
    `labels_for_every_k` would give with `counts[group[c]]` replaced by `instead[c]`. A group
    without rows gets the label of its left neighbour if both neighbours differ, since each interval
    is made as long as possible. The cost is O(groups · max k²) for any number of changes.

    Parameters
    ----------
    counts, ks
        As in `labels_for_every_k`.
    group : array of int, shape (n_changes,)
    instead : array of int, shape (n_changes, 2)
        Rows of class 0 and of class 1 that the group has instead.
    asks_next : array of bool, shape (n_changes,), optional
        Where true, the label of the next group to the right is wanted, not that of the group.

    Returns
    -------
    array of int8, shape (n_ks, n_changes)

    Examples
    --------
    >>> labels_after_changes([[1, 0], [0, 1], [1, 0]], [1, 3], group=[1], instead=[[1, 0]])
    array([[0],
           [0]], dtype=int8)
    """
    error_counts, distinct_ks, index_of_k = _errors_and_ks(counts, ks)
    groups = to_integer_array(group, "group", n_dimensions=1)
    check_bounds(groups, "group", 0, len(error_counts) - 1, "the last group")
    changed_errors = _count_errors(instead, "instead")
    asks_next_group = (
        np.zeros(len(groups), bool) if asks_next is None else np.asarray(asks_next, bool)
    )
    if changed_errors.shape != (len(groups), 2) or asks_next_group.shape != (len(groups),):
        raise ValueError(
            f"group, instead and asks_next must be equally long, got {len(groups)}, "
            f"{len(changed_errors)} and {len(asks_next_group)}"
        )
    if (asks_next_group & (groups == len(error_counts) - 1)).any():
        raise ValueError("asks_next is true for the last group, which has no next one")
    group_order = np.argsort(groups, kind="stable")
    labels = np.empty((len(distinct_ks), len(groups)), dtype=np.int8)
    native_module().interval_changed(
        error_counts,
        distinct_ks,
        np.ascontiguousarray(groups[group_order], dtype=np.int64),
        np.ascontiguousarray(changed_errors[group_order]),
        asks_next_group[group_order].astype(np.int8),
        labels,
    )
    labels_by_change = np.empty_like(labels)
    labels_by_change[:, group_order] = labels
    return np.take(labels_by_change, index_of_k, axis=0)


def _errors_and_ks(
    counts: ArrayLike, ks: Iterable[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Return error counts `(group, label)`, the sorted distinct ks, and each k's index in these."""
    error_counts = _count_errors(counts, "counts")
    if not len(error_counts):
        raise ValueError("counts has no groups: there is nothing to divide into intervals")
    k_array = to_integer_array(list(ks), "ks", n_dimensions=1)
    if k_array.size == 0:
        raise ValueError("ks is empty: give at least one number of intervals")
    check_bounds(k_array, "ks", 1, LARGEST_COUNT, "more than any line needs")
    distinct_ks, index_of_k = np.unique(k_array.astype(np.int64), return_inverse=True)
    return error_counts, distinct_ks, index_of_k.ravel()


def _count_errors(counts: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return the number of rows in each group that are misclassified by label 0 and by label 1."""
    count_array = to_integer_array(counts, name, n_dimensions=2)
    if count_array.shape[1] != 2:
        raise ValueError(
            f"{name} must have 2 columns, one per class, got shape {count_array.shape}"
        )
    check_bounds(count_array, name, 0, LARGEST_COUNT, "more than any data hold")
    return np.ascontiguousarray(count_array[:, ::-1], dtype=np.int64)
