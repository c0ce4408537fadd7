"""Fold numbers for all rows: plain, stratified by class, or keeping groups together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.errors import BadArgument, BadData, TrueRiskWarning, warn
from truerisk.data.data import Data
from truerisk.data.places import USUAL_CELLS, grid_cells, joined, usual_side


def fold_numbers(
    data: Data, folds: Any, k: int, repeats: int, rng: np.random.Generator, *, stratify: bool
) -> list[np.ndarray]:
    """Fold numbers of every repetition: the given ones, or drawn."""
    if folds is not None:
        # A user numbers all rows, `(n,)` or `(repeats, n)`; this data may be a part of them.
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
    """One fold number 0 … k−1 per row; fold sizes, and class counts in them, differ by at most 1.

    With groups, all rows of a group get one fold, and folds are balanced as well as groups allow.
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
    if strata is data.codes is not None and data.row_ids is None:  # said once, of the whole data
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
    """Row numbers class after class, shuffled within: dealing them out in turn stratifies."""
    order = rng.permutation(len(strata))
    return order[np.argsort(strata[order], kind="stable")]


def _grouped_folds(
    groups: np.ndarray, codes: np.ndarray, k: int, rng: np.random.Generator
) -> np.ndarray:
    """Largest groups first, each to the fold that it unbalances least, code by code."""
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
            cost[taken > 0] = np.inf  # every fold gets a group
        fold_of[group] = fold = int(cost.argmin())
        load[fold] += content[group]
        taken[fold] += 1
    return fold_of[member]


def side_of(data: Data, size: float | None) -> float:
    """The side of the cells: `size`, or that of 25 squares over the box around the places."""
    places = _places(data)
    return float(size) if size is not None else usual_side(places, USUAL_CELLS)


def blocks_of(data: Data, size: float | None) -> np.ndarray:
    """The number of the block of each row: its label, or its cell; groups are in one block."""
    if data.block is not None and data.places is None:
        if size is not None:
            raise BadArgument(
                f"size={size} is the side of cells, and block= holds labels, which have none: "
                "leave size out, or give coordinates."
            )
        assert data.groups is not None  # labels are groups
        return data.groups
    places, side = _places(data), side_of(data, size)
    cells = grid_cells(places, side)
    if cells.max() == 0:
        across = " × ".join(f"{extent:g}" for extent in np.ptp(places, axis=0))
        raise BadData(
            f"size={side:.15g} puts all {data.n_rows} rows into one block, for the places reach "
            f"over {across}: give a smaller size."
        )
    blocks = cells if data.groups is None else joined(cells, data.groups)
    if blocks.max() == 0:
        raise BadData(
            "groups tie all blocks together, each group reaching into the next block: no fold can "
            "keep both whole. Leave groups out, or give a larger size."
        )
    return blocks


def block_folds(
    data: Data, k: int, size: float | None, rng: np.random.Generator, *, stratify: bool
) -> np.ndarray:
    """One fold number per row: whole blocks, dealt so that folds are about equally large."""
    blocks = blocks_of(data, size)
    n_blocks = len(np.unique(blocks))
    if k > n_blocks:
        raise BadData(
            f"{k} folds need at least {k} blocks and there are {n_blocks}: use fewer folds, or "
            "smaller blocks (size=)."
        )
    return draw_folds(replace(data, groups=blocks), k, rng, stratify=stratify)


def rows_within(data: Data, rows: np.ndarray, radius: float) -> np.ndarray:
    """Other rows that lie at most `radius` from one of these, ascending."""
    from scipy.spatial import cKDTree

    places = _places(data)
    others = np.setdiff1d(np.arange(data.n_rows), rows)
    if not len(others):
        return others
    apart = cKDTree(places[rows]).query(places[others])[0]
    return others[apart <= radius]


def _places(data: Data) -> np.ndarray:
    """The coordinates, or a sentence on why there are none."""
    if data.places is not None:
        return data.places
    if data.block is None:
        raise BadData(
            "no places are given: name the coordinates of the rows, or the labels of their blocks, "
            "by block=."
        )
    raise BadData(
        "block= holds labels, and labels lie at no distance from each other: give coordinates, or "
        "use 'blocks-5', which leaves labels out whole."
    )
