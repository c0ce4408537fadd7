"""One held-out part of the rows, of a given share: plain, stratified, or whole groups."""

from __future__ import annotations

import numpy as np

from truerisk.core.errors import BadData
from truerisk.core.table.data import Data
from truerisk.resampling.folds import shuffled_by_class

__all__ = ["draw_held_out"]


def draw_held_out(
    data: Data, share: float, rng: np.random.Generator, *, stratify: bool = True
) -> np.ndarray:
    """Row numbers, ascending, of a held-out part; neither part is empty."""
    if not 0 < share < 1:
        raise BadData(f"a held-out share of {share} leaves nothing on one side; use 0 < share < 1.")
    if data.n_rows < 2:
        raise BadData("one row (n_samples=1) cannot be split into a training and a test part.")
    if data.groups is not None:
        return _grouped(data.groups, share, rng)
    by_class = stratify and data.codes is not None
    order = shuffled_by_class(data, rng) if by_class else rng.permutation(data.n_rows)
    size = min(max(round(data.n_rows * share), 1), data.n_rows - 1)
    # A random start: a fixed one would round the first class down and the last up, every time.
    steps = np.floor(np.arange(data.n_rows + 1) * size / data.n_rows + rng.random())
    return np.sort(order[np.diff(steps) > 0])


def _grouped(groups: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Groups in random order until the share is reached as nearly as whole groups allow."""
    names, member, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise BadData("one group cannot be split into two parts: more groups are needed.")
    order = rng.permutation(len(names))
    filled = np.cumsum(sizes[order])
    n_groups = int(np.abs(filled[:-1] - share * len(groups)).argmin()) + 1
    return np.flatnonzero(np.isin(member, order[:n_groups]))
