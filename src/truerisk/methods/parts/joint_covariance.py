"""How the errors of several risks go together that were found by testing the same rows."""

from __future__ import annotations

import numpy as np

from truerisk.core.loss import Loss
from truerisk.methods.interval_forms.inflation import ONCE

__all__ = ["joint_covariance"]


def joint_covariance(
    influences: np.ndarray, groups: np.ndarray | None, loss: Loss
) -> np.ndarray | None:
    """1.8 m/(m − 1) Σ_g φ_g φ_gᵀ over m rows or groups; None where some risk has no variance.

    `influences[s]` is what each row adds to the error of risk s. The factor is that of a
    cross-validated risk (`inflation.py`), the same for all: training sets that are nested vary
    together about as the tested rows do. Where no row, or every row, is wrong, the variance is
    that of half an error, for losses with a bound.

    >>> from truerisk.core.losses import ZeroOne
    >>> covariance = joint_covariance(np.array([[0.25, -0.25], [0.5, -0.5]]), None, ZeroOne())
    >>> covariance.round(3).tolist()
    [[0.45, 0.9], [0.9, 1.8]]
    """
    summed = influences
    if groups is not None:
        member = np.unique(groups, return_inverse=True)[1].ravel()
        summed = np.array([np.bincount(member, line) for line in influences])
    m = summed.shape[1]
    if m < 2:
        return None
    covariance = ONCE * m / (m - 1) * summed @ summed.T
    least = 0.0
    if loss.upper is not None and loss.lower is not None:
        half = 0.5 / (m + 1)
        least = ONCE * half * (1 - half) / m * (loss.upper - loss.lower) ** 2
    variances = np.diag(covariance)
    np.fill_diagonal(covariance, np.maximum(variances, least))
    return covariance if (np.diag(covariance) > 0).all() else None
