"""How far the losses of a row move when its models lose a further fold of training rows."""

from __future__ import annotations

import numpy as np

from truerisk.core.influences import Shaken

__all__ = ["Shaken", "instability_of_pairs"]


def instability_of_pairs(
    shaken: Shaken,
    residuals: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray,
    groups: np.ndarray | None,
) -> np.ndarray | None:
    """U = W/(Σ φ² + W), a number for each candidate; None where a group is in several folds.

    φ of a row is its `residuals`, loss minus risk, times its share in the `weights`, which belong
    to `rows` in ascending order; the rows of a group are added up. W adds the variances of φ over
    the models that lack a further fold. Nothing moves: 0; losses that move as much as they differ
    from row to row: ½.

    >>> rows = np.array([0, 0, 1, 1])
    >>> moved = Shaken(rows, np.array([1, 2, 0, 2]), np.array([[0.0, 1.0, 1.0, 1.0]]))
    >>> instability_of_pairs(moved, np.array([[-0.5, 0.5]]), np.full(2, 0.5), np.arange(2), None)
    array([0.5])
    """
    member = np.arange(len(rows)) if groups is None else _numbered(groups)
    place = np.searchsorted(rows, shaken.rows)
    n_others = int(shaken.other.max()) + 1
    cell = member[place] * n_others + shaken.other
    seen = np.bincount(cell, minlength=(int(member.max()) + 1) * n_others) > 0
    times = seen.reshape(-1, n_others).sum(axis=1)
    if np.ptp(times) or times[0] < 2:
        return None
    share = weights[place]
    within = np.empty(len(residuals))
    for c, losses in enumerate(shaken.losses):
        sums = np.bincount(cell, losses * share, minlength=len(seen))[seen]
        within[c] = sums.reshape(len(times), times[0]).var(axis=1, ddof=1).sum()
    influence = residuals * weights
    if groups is not None:
        influence = np.array([np.bincount(member, line) for line in influence])
    whole = (influence**2).sum(axis=1) + within
    found = np.where(np.isnan(whole), np.nan, 0.0)
    return np.divide(within, whole, out=found, where=whole > 0)


def _numbered(groups: np.ndarray) -> np.ndarray:
    numbers: np.ndarray = np.unique(groups, return_inverse=True)[1].ravel()
    return numbers
