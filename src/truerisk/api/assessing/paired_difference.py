"""Two mean losses on the same rows: their difference, and whether it exceeds its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.table.data import Data

__all__ = ["Paired", "paired_difference"]

_NOTHING = 1e-12


@dataclass(frozen=True)
class Paired:
    """Mean paired difference with its standard error over `n_units` rows, or groups of rows.

    `scale` is the largest loss: a spread far below it is rounding.
    """

    mean: float
    std_error: float
    n_units: int
    scale: float = 1.0

    def exceeds_noise(self, level: float) -> bool:
        """Whether 0 lies outside the t interval of this level."""
        if self.std_error <= _NOTHING * self.scale:
            return False  # no spread, so nothing is known of the error
        from scipy.special import stdtrit

        return bool(abs(self.mean) > stdtrit(self.n_units - 1, (1 + level) / 2) * self.std_error)


def paired_difference(
    first: np.ndarray, second: np.ndarray, rows: np.ndarray, data: Data
) -> Paired | None:
    r"""Weighted mean of d = first − second with its standard error, clustered by groups.

    se² = m/(m−1) · Σ_g (Σ_{i∈g} w_i (d_i − mean))² with Σ w = 1 over m groups, or m rows where
    there are no groups. None for fewer than two of them.
    """
    weights = data.weights(rows)
    weights = np.ones(len(rows)) if weights is None else weights
    share = weights / weights.sum()
    differences = first - second
    mean = float(share @ differences)
    residuals = share * (differences - mean)
    if data.clusters is not None:
        residuals = np.bincount(np.unique(data.clusters[rows], return_inverse=True)[1], residuals)
    m = len(residuals)
    if m < 2:
        return None
    scale = float(max(np.abs(first).max(), np.abs(second).max()))
    return Paired(mean, float(np.sqrt(m / (m - 1) * (residuals**2).sum())), m, scale)
