"""Subsamples of a training set: nested in one another from size to size, disjoint within a size."""

from __future__ import annotations

import numpy as np

from truerisk.core.table.data import Data

__all__ = ["draw_order", "subsamples"]


def draw_order(data: Data, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """These rows in an order any stretch of which is a stratified subsample, or holds whole groups.

    Within each class the rows are shuffled, and row r of n_c stands at (r + u)/n_c with one u for
    the class: a stretch of m rows has m n_c/n of them, to within less than 2. Groups are shuffled
    whole.
    """
    if data.groups is not None:
        _, member = np.unique(data.groups[rows], return_inverse=True)
        shuffled = rng.permutation(int(member.max()) + 1)[member.ravel()]
        return rows[np.argsort(shuffled, kind="stable")]
    shuffled = rng.permutation(rows)
    if data.codes is None:
        return shuffled
    codes = data.codes_of(shuffled)
    place = np.empty(len(rows))
    for code in np.unique(codes):
        mine = codes == code
        place[mine] = (np.arange(mine.sum()) + rng.random()) / mine.sum()
    return shuffled[np.argsort(place, kind="stable")]


def subsamples(
    order: np.ndarray, groups: np.ndarray | None, size: int, draws: int
) -> list[np.ndarray]:
    """Stretches of `size` rows, one after the other, at most `draws`: the first is in larger ones.

    Whole groups fill a stretch as nearly as they can, and none is begun that they cannot fill.

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
    """Where the run of each group ends."""
    return np.append(np.flatnonzero(groups[1:] != groups[:-1]) + 1, len(groups))
