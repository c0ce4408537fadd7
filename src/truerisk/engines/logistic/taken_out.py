"""Scores of a train set's own rows, each taken out of the fit to first order, for every penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.models.stated.without_a_row import logistic_without, row_variances

__all__ = ["OwnRows", "Penalty"]


@dataclass(frozen=True, eq=False)
class Penalty:
    """Of each candidate the weight of the half squares beside the total likelihood.

    With `standardize` each square is multiplied by the variance of its column; with `selects` only
    columns with a coefficient are in the fit.
    """

    ridge: np.ndarray
    selects: bool
    standardize: bool


@dataclass(frozen=True, eq=False)
class OwnRows:
    """The rows that a fit saw, with their classes (0, 1) and weights."""

    X: Any
    rows: np.ndarray
    codes: np.ndarray
    weights: np.ndarray

    def without(self, scores: np.ndarray, coefficients: np.ndarray, penalty: Penalty) -> np.ndarray:
        """From scores (candidate, row, 1) of all rows to those without each row."""
        used = np.flatnonzero(coefficients.any(axis=(0, 1))) if penalty.selects else slice(None)
        part = self.X[:, used]
        part = part.tocsr()[self.rows].toarray() if hasattr(part, "tocsr") else part[self.rows]
        slopes = coefficients[:, 0, used]
        scale = row_variances(part, self.weights) if penalty.standardize else np.ones(part.shape[1])
        found = np.empty_like(scores)
        for c, ridge in enumerate(penalty.ridge):
            mine = np.flatnonzero(slopes[c]) if penalty.selects else np.arange(part.shape[1])
            found[c, :, 0] = logistic_without(
                part[:, mine], self.codes, self.weights, scores[c, :, 0], ridge * scale[mine]
            )
        return found
