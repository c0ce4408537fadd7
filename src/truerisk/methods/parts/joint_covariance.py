"""How the errors of several risks go together that were found by testing the same rows."""

from __future__ import annotations

import numpy as np

from truerisk.core.loss import Loss
from truerisk.methods.interval_forms.inflation import ONCE

__all__ = ["joint_covariance"]


def joint_covariance(
    influences: np.ndarray, values: np.ndarray, groups: np.ndarray | None, loss: Loss
) -> np.ndarray | None:
    """1.8 m/(m − 1) Σ_g φ_g φ_gᵀ over m rows or groups; None where some risk has no variance.

    `influences[s]` is what each row adds to the error of risk s, whose value is `values[s]`. The
    factor is that of a cross-validated risk (`inflation.py`), the same for all: training sets that
    are nested vary together about as the tested rows do. Where errors are counted, and there are
    fewer than two, the variance is at least that of two (Agresti and Coull, 1998, add as many),
    which such sizes have in common: the same rows saw none.

    >>> from truerisk.core.losses import Squared
    >>> covariance = joint_covariance(
    ...     np.array([[0.25, -0.25], [0.5, -0.5]]), np.array([0.5, 0.5]), None, Squared()
    ... )
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
    if loss.binary:
        two = 2 / (m + 4)
        lacking = np.maximum(0.0, ONCE * two * (1 - two) / m - np.diag(covariance)) ** 0.5
        lacking[np.asarray(values) * m >= 2] = 0.0
        covariance += np.outer(lacking, lacking)
    return covariance if (np.diag(covariance) > 0).all() else None
