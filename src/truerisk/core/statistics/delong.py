"""The area under a ROC curve as a U-statistic, and DeLong's variance of it; ties count half."""

from __future__ import annotations

import numpy as np

__all__ = ["area", "covariance", "placements"]


def area(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None) -> float:
    r"""Share of (positive, negative) pairs that the scores put in the right order.

    Σ_i Σ_j w_i w_j ([s_i > s_j] + ½ [s_i = s_j]) / Σ_i w_i Σ_j w_j over positives i, negatives j.
    Without weights the sum is one of whole numbers and exact.
    """
    _, level = np.unique(scores, return_inverse=True)
    if weights is None:
        up, down = np.bincount(level, positive), np.bincount(level, ~positive)
    else:
        up, down = np.bincount(level, weights * positive), np.bincount(level, weights * ~positive)
    below = np.cumsum(down) - down
    return float((up * (2 * below + down)).sum() / (2 * up.sum() * down.sum()))


def placements(scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """For each positive the share of negatives below it, for each negative of positives above.

    These are the structural components V10 and V01 of DeLong, DeLong and Clarke-Pearson (1988);
    each has the area as its mean over its class.
    """
    _, level = np.unique(scores, return_inverse=True)
    up, down = np.bincount(level, positive), np.bincount(level, ~positive)
    below = np.cumsum(down) - down / 2
    above = up.sum() - np.cumsum(up) + up / 2
    return np.where(positive, below[level] / down.sum(), above[level] / up.sum())


def covariance(
    parts: np.ndarray, positive: np.ndarray, groups: np.ndarray | None = None
) -> np.ndarray | None:
    r"""Covariance of the areas of several scores of the same rows, one row of `parts` each.

    S10/m + S01/n with the sample covariances of the components of m positives and n negatives
    (DeLong et al., 1988). Rows of one group may depend: their residuals are summed first, and the
    two classes covary through the groups they share (Obuchowski, 1997). None where a class has
    fewer than two rows, or stands in fewer than two groups.
    """
    m, n = int(positive.sum()), int((~positive).sum())
    ids = np.arange(len(positive)) if groups is None else np.unique(groups, return_inverse=True)[1]
    i10, i01 = len(np.unique(ids[positive])), len(np.unique(ids[~positive]))
    if min(i10, i01) < 2:
        return None
    ups = _residual_sums(parts, positive, ids)
    downs = _residual_sums(parts, ~positive, ids)
    found = i10 / (i10 - 1) * (ups @ ups.T) / m**2 + i01 / (i01 - 1) * (downs @ downs.T) / n**2
    if groups is not None:
        i = int(ids.max()) + 1
        cross = i / (i - 1) * (ups @ downs.T) / (m * n)
        found = found + cross + cross.T
    return np.asarray(found)


def _residual_sums(parts: np.ndarray, mine: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Per group, the summed distance of this class's components from their mean."""
    residuals = parts[:, mine] - parts[:, mine].mean(axis=1, keepdims=True)
    size = int(ids.max()) + 1
    return np.array([np.bincount(ids[mine], row, minlength=size) for row in residuals])
