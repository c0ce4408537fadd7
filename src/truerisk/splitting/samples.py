"""Draw rows at random: a held-out set, bootstrap samples, or nested training sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.arguments import as_array
from truerisk.core.errors import BadData, TrueRiskWarning, warn
from truerisk.data.data import Data
from truerisk.splitting.folds import shuffled_by_class


def draw_held_out(
    data: Data, share: float, rng: np.random.Generator, *, stratify: bool = True
) -> np.ndarray:
    """Draw a held-out set and return its row numbers, ascending; neither part is empty."""
    if not 0 < share < 1:
        raise BadData(f"a held-out share of {share} leaves nothing on one side; use 0 < share < 1.")
    if data.n_rows < 2:
        raise BadData("one row (n_samples=1) cannot be split into a training and a test part.")
    if data.groups is not None:
        return _grouped(data.groups, share, rng)
    strata = data.strata if stratify else None
    order = rng.permutation(data.n_rows) if strata is None else shuffled_by_class(strata, rng)
    size = min(max(round(data.n_rows * share), 1), data.n_rows - 1)
    # The start is random: with a fixed start, rounding would always favour the last class over the
    # first.
    steps = np.floor(np.arange(data.n_rows + 1) * size / data.n_rows + rng.random())
    return np.sort(order[np.diff(steps) > 0])


def _grouped(groups: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Draw whole groups in random order until their rows are as near to the share as possible."""
    names, member, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise BadData("one group cannot be split into two parts: more groups are needed.")
    order = rng.permutation(len(names))
    filled = np.cumsum(sizes[order])
    n_groups = int(np.abs(filled[:-1] - share * len(groups)).argmin()) + 1
    return np.flatnonzero(np.isin(member, order[:n_groups]))


def draw_samples(
    data: Data, n_samples: int, rng: np.random.Generator, *, stratify: bool = False
) -> np.ndarray:
    """Draw bootstrap samples and return how often each sample holds each row.

    The result has shape `(n_samples, n_rows)`, and each sample consists of n draws with
    replacement.

    With groups, each sample draws as many groups as there are, with replacement, each with all of
    its rows. With `stratify` each class (or the groups of each class) is resampled separately, to
    its own size.
    """
    n_rows = data.n_rows
    member = np.arange(n_rows) if data.groups is None else _numbered(data.groups)
    n_members = int(member.max()) + 1
    if stratify and data.codes is not None:
        # Strata hold whole groups, so the rows of a group must be of one class.
        classes = np.zeros(n_members, dtype=np.int64)
        classes[member] = data.class_codes
        mixed = np.unique(member[classes[member] != data.class_codes])
        if len(mixed):
            raise BadData(
                f"{len(mixed)} groups hold rows of several classes, so that groups cannot be drawn "
                "within classes: use stratify=False."
            )
        parts = [np.flatnonzero(classes == c) for c in np.unique(classes)]
    else:
        parts = [np.arange(n_members)]
    times = np.zeros((n_samples, n_members), dtype=np.int64)
    for part in parts:
        picked = part[rng.integers(len(part), size=(n_samples, len(part)))]
        times += _counted(picked, n_members)
    if data.groups is not None:
        times = times[:, member]
    # Warn once, for the whole data and not for each subset.
    if data.codes is not None and data.row_ids is None:
        held = times @ np.eye(data.n_classes, dtype=np.int64)[data.codes_of(np.arange(data.n_rows))]
        lacking = (held == 0).sum(axis=0)
        if lacking.any():
            worst = int(lacking.argmax())
            warn(
                f"{lacking[worst]} of {len(times)} bootstrap samples hold no row of class "
                f"{data.label(worst)!r}: some learners cannot be fitted on them. Draw within the "
                "classes, tr.methods.Bootstrap(..., stratify=True), or merge classes.",
                TrueRiskWarning,
            )
    return times


def given_samples(samples: Any, data: Data) -> np.ndarray:
    """Count how often each row occurs in each given sample; a sample is a list of row numbers."""
    if data.row_ids is not None:
        raise BadData(
            "samples are given for all rows, and here a part of them is to be sampled (inside an "
            "outer split): leave samples out, so that they are drawn."
        )
    try:
        drawn = as_array(samples)
    except ValueError:
        drawn = np.empty(0)
    if drawn.ndim != 2 or drawn.dtype.kind not in "iu" or not drawn.size:
        raise BadData(
            f"samples of shape {np.shape(drawn)} are no (replicates, n) array of row numbers."
        )
    if drawn.min() < 0 or drawn.max() >= data.n_rows:
        bad = int(np.flatnonzero(((drawn < 0) | (drawn >= data.n_rows)).any(axis=1))[0])
        raise BadData(
            f"sample {bad} names rows outside 0 … {data.n_rows - 1}: samples hold row numbers."
        )
    return _counted(drawn, data.n_rows)


def _numbered(groups: np.ndarray) -> np.ndarray:
    return np.unique(groups, return_inverse=True)[1].ravel()


def _counted(drawn: np.ndarray, n_members: int) -> np.ndarray:
    """Count how often each member occurs in each row of `drawn`."""
    places = drawn + np.arange(len(drawn))[:, None] * n_members
    counted = np.bincount(places.ravel(), minlength=len(drawn) * n_members)
    return counted.reshape(len(drawn), n_members)


def draw_order(data: Data, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Shuffle rows so that every run of consecutive rows is a stratified subsample.

    The rows of each class are shuffled, and row r of the n_c rows of a class gets the position (r +
    u)/n_c, with one random u per class. A run of m rows then holds m n_c/n rows of the class, to
    within less than 2. If there are groups, whole groups are shuffled instead, without
    stratification.
    """
    if data.groups is not None:
        _, member = np.unique(data.groups[rows], return_inverse=True)
        shuffled = rng.permutation(int(member.max()) + 1)[member.ravel()]
        return rows[np.argsort(shuffled, kind="stable")]
    shuffled = rng.permutation(rows)
    if data.strata is None:
        return shuffled
    codes = data.strata[shuffled]
    place = np.empty(len(rows))
    for code in np.unique(codes):
        mine = codes == code
        place[mine] = (np.arange(mine.sum()) + rng.random()) / mine.sum()
    return shuffled[np.argsort(place, kind="stable")]


def subsamples(
    order: np.ndarray, groups: np.ndarray | None, size: int, draws: int
) -> list[np.ndarray]:
    """Cut at most `draws` consecutive runs of `size` rows; the first lies in that of a larger size.

    With groups, each run consists of whole groups whose number of rows is as near to `size` as
    possible. No run begins where fewer than `size` rows are left.

    >>> [part.tolist() for part in subsamples(np.array([3, 0, 2, 1]), None, 2, 2)]
    [[0, 3], [1, 2]]
    >>> [part.tolist() for part in subsamples(np.arange(6), np.array(list("aabbcc")), 3, 2)]
    [[0, 1], [2, 3]]
    """
    if groups is None:
        there_are = min(draws, len(order) // size)
        return [np.sort(order[j * size : (j + 1) * size]) for j in range(there_are)]
    ends = _ends_of_groups(groups[order])
    parts: list[np.ndarray] = []
    start = 0
    while len(parts) < draws and len(order) - start >= size:
        later = ends[ends > start]
        end = int(later[np.abs(later - start - size).argmin()])
        parts.append(np.sort(order[start:end]))
        start = end
    return parts


def _ends_of_groups(groups: np.ndarray) -> np.ndarray:
    """Return the position after the last row of each group."""
    return np.append(np.flatnonzero(groups[1:] != groups[:-1]) + 1, len(groups))
