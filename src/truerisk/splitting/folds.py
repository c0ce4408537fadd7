"""Draw fold numbers for all rows: unstratified, stratified by class, or keeping groups together."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.errors import BadData, TrueRiskWarning, warn
from truerisk.data.data import Data


def fold_numbers(
    data: Data, given_folds: Any, k: int, repeats: int, rng: np.random.Generator, *, stratify: bool
) -> list[np.ndarray]:
    """Return the fold numbers of every repetition: those that the user gave, or random ones."""
    if given_folds is not None:
        # The user gives fold numbers for all rows, in an array of shape `(n,)` or `(repeats, n)`.
        # `data` may hold only a subset of these rows.
        fold_labels = np.atleast_2d(np.asarray(given_folds))
        if data.row_ids is not None and fold_labels.shape[1] > data.row_ids.max():
            fold_labels = fold_labels[:, data.row_ids]
        if fold_labels.ndim != 2 or fold_labels.shape[1] != data.n_rows:
            raise BadData(
                f"folds has shape {np.shape(given_folds)}; give a fold number for each of "
                f"{data.n_rows} rows, or one such list per repetition."
            )
        if any(len(np.unique(repetition_labels)) < 2 for repetition_labels in fold_labels):
            raise BadData("folds holds a single fold: nothing would be left to train on.")
        return list(fold_labels)
    return [draw_folds(data, k, rng, stratify=stratify) for _ in range(repeats)]


def draw_folds(
    data: Data, k: int, rng: np.random.Generator, *, stratify: bool = True
) -> np.ndarray:
    """Draw one fold number 0 … k−1 per row.

    Fold sizes differ by at most 1, and so do the class counts in the folds. With groups, all rows
    of a group get the same fold, and folds are balanced as well as the groups allow.
    """
    strata = data.strata if stratify else None
    if data.groups is not None:
        stratum_codes = np.zeros(data.n_rows, np.int64) if strata is None else strata
        return _draw_group_folds(data.groups, stratum_codes, k, rng)
    if k > data.n_rows:
        raise BadData(
            f"{k} folds need at least {k} rows, and these are {data.n_rows} "
            f"(n_samples={data.n_rows}): use fewer folds."
        )
    # Warn only if all rows are split, and not again when a subset of the rows is split.
    if strata is data.codes is not None and data.row_ids is None:
        class_counts = data.class_sizes
        rarest_class = int(class_counts.argmin())
        if class_counts[rarest_class] < k:
            n_rare_classes = int((class_counts < k).sum())
            more_classes_text = (
                f" (and {n_rare_classes - 1} more classes)" if n_rare_classes > 1 else ""
            )
            warn(
                f"class {data.label(rarest_class)!r} has {class_counts[rarest_class]} rows for {k} "
                f"folds{more_classes_text}: some folds hold none of it; use fewer folds or merge "
                "classes.",
                TrueRiskWarning,
            )
    shuffled_rows = (
        rng.permutation(data.n_rows) if strata is None else shuffle_by_class(strata, rng)
    )
    fold_of_row = np.empty(data.n_rows, dtype=np.int32)
    fold_of_row[shuffled_rows] = rng.permutation(k)[np.arange(data.n_rows) % k]
    return fold_of_row


def shuffle_by_class(strata: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return row numbers ordered by class and shuffled within each class.

    Dealing them out to the folds in turn gives stratified folds.
    """
    shuffled_rows = rng.permutation(len(strata))
    return shuffled_rows[np.argsort(strata[shuffled_rows], kind="stable")]


def _draw_group_folds(
    groups: np.ndarray, class_codes: np.ndarray, k: int, rng: np.random.Generator
) -> np.ndarray:
    """Assign groups to folds so that the folds are balanced.

    The largest group comes first, and each group goes to the fold whose balance it worsens least.
    """
    group_names, group_index = np.unique(groups, return_inverse=True)
    if k > len(group_names):
        raise BadData(
            f"{k} folds need at least {k} groups and there are {len(group_names)}: use fewer folds."
        )
    class_counts = np.zeros((len(group_names), class_codes.max() + 1))
    np.add.at(class_counts, (group_index, class_codes), 1)
    shuffled_groups = rng.permutation(len(group_names))
    group_order = shuffled_groups[
        np.argsort(-class_counts[shuffled_groups].sum(axis=1), kind="stable")
    ]
    target_counts = np.maximum(class_counts.sum(axis=0), 1) / k
    fold_counts = np.zeros((k, class_counts.shape[1]))
    groups_per_fold = np.zeros(k, dtype=np.int64)
    fold_of_group = np.empty(len(group_names), dtype=np.int32)
    for n_assigned_groups, group in enumerate(group_order):
        new_fold_counts = fold_counts + class_counts[group]
        imbalance_increase = (
            (new_fold_counts / target_counts) ** 2 - (fold_counts / target_counts) ** 2
        ).sum(axis=1)
        if len(group_order) - n_assigned_groups <= int((groups_per_fold == 0).sum()):
            # Reserve the remaining groups for empty folds, so that every fold gets a group.
            imbalance_increase[groups_per_fold > 0] = np.inf
        fold_of_group[group] = fold = int(imbalance_increase.argmin())
        fold_counts[fold] += class_counts[group]
        groups_per_fold[fold] += 1
    return fold_of_group[group_index]
