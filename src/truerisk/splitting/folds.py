"""Draw fold numbers for all rows: plain, stratified by class, or keeping groups together."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.errors import BadData, TrueRiskWarning, warn
from truerisk.data.data import Data


def fold_numbers(
    data: Data, folds: Any, k: int, repeats: int, rng: np.random.Generator, *, stratify: bool
) -> list[np.ndarray]:
    """Return the fold numbers of every repetition: the given ones, or drawn ones."""
    if folds is not None:
        # The user gives fold numbers for all rows, with shape `(n,)` or `(repeats, n)`. These data
        # may be a subset of the rows.
        labels = np.atleast_2d(np.asarray(folds))
        if data.row_ids is not None and labels.shape[1] > data.row_ids.max():
            labels = labels[:, data.row_ids]
        if labels.ndim != 2 or labels.shape[1] != data.n_rows:
            raise BadData(
                f"folds has shape {np.shape(folds)}; give a fold number for each of "
                f"{data.n_rows} rows, or one such list per repetition."
            )
        if any(len(np.unique(row)) < 2 for row in labels):
            raise BadData("folds holds a single fold: nothing would be left to train on.")
        return list(labels)
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
        codes = np.zeros(data.n_rows, np.int64) if strata is None else strata
        return _grouped_folds(data.groups, codes, k, rng)
    if k > data.n_rows:
        raise BadData(
            f"{k} folds need at least {k} rows, and these are {data.n_rows} "
            f"(n_samples={data.n_rows}): use fewer folds."
        )
    # Warn once, for the whole data and not for each subset.
    if strata is data.codes is not None and data.row_ids is None:
        counts = data.class_sizes
        rarest = int(counts.argmin())
        if counts[rarest] < k:
            few = int((counts < k).sum())
            others = f" (and {few - 1} more classes)" if few > 1 else ""
            warn(
                f"class {data.label(rarest)!r} has {counts[rarest]} rows for {k} folds{others}: "
                "some folds hold none of it; use fewer folds or merge classes.",
                TrueRiskWarning,
            )
    order = rng.permutation(data.n_rows) if strata is None else shuffled_by_class(strata, rng)
    folds = np.empty(data.n_rows, dtype=np.int32)
    folds[order] = rng.permutation(k)[np.arange(data.n_rows) % k]
    return folds


def shuffled_by_class(strata: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return row numbers ordered by class and shuffled within each class.

    Dealing them out to the folds in turn gives stratified folds.
    """
    order = rng.permutation(len(strata))
    return order[np.argsort(strata[order], kind="stable")]


def _grouped_folds(
    groups: np.ndarray, codes: np.ndarray, k: int, rng: np.random.Generator
) -> np.ndarray:
    """Assign groups to folds, largest first, each where it worsens the balance least."""
    names, member = np.unique(groups, return_inverse=True)
    if k > len(names):
        raise BadData(
            f"{k} folds need at least {k} groups and there are {len(names)}: use fewer folds."
        )
    content = np.zeros((len(names), codes.max() + 1))
    np.add.at(content, (member, codes), 1)
    shuffled = rng.permutation(len(names))
    order = shuffled[np.argsort(-content[shuffled].sum(axis=1), kind="stable")]
    share = np.maximum(content.sum(axis=0), 1) / k
    load = np.zeros((k, content.shape[1]))
    taken = np.zeros(k, dtype=np.int64)
    fold_of = np.empty(len(names), dtype=np.int32)
    for position, group in enumerate(order):
        grown = load + content[group]
        cost = ((grown / share) ** 2 - (load / share) ** 2).sum(axis=1)
        if len(order) - position <= int((taken == 0).sum()):
            # Reserve the remaining groups for empty folds, so that every fold gets one.
            cost[taken > 0] = np.inf
        fold_of[group] = fold = int(cost.argmin())
        load[fold] += content[group]
        taken[fold] += 1
    return fold_of[member]
