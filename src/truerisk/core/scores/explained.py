"""R²: how much of the variance of y the answers explain."""

from __future__ import annotations

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.loss import Loss
from truerisk.core.table.data import Data

__all__ = ["R2"]


class R2(Loss):
    """1 − R² = Σ (y − f)² / Σ (y − ȳ)², the mean over targets where there are several.

    A row has the influence ((y − f)² − m (y − ȳ)²)/S about the loss m, with S the variance of y.
    """

    word, response, per_row, is_score, perfect = "r2", "value", False, True, 1.0
    tasks = ("regression",)
    usual_average = "pooled"
    tells_influences = True

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        errors, spread, share = self._squares(data, rows, answers, weights)
        ratios = np.einsum("i,cit->ct", share, errors) / (share @ spread)
        return np.asarray(ratios.mean(axis=1))

    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        errors, spread, share = self._squares(data, rows, answers, weights)
        variance = share @ spread
        of_targets = np.einsum("i,cit->ct", share, errors) / variance
        of_targets += (about - of_targets.mean(axis=1))[:, None]
        told = (errors - of_targets[:, None] * spread) / variance
        return np.asarray(told.mean(axis=2))

    def _squares(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(y − f)² by candidate, (y − ȳ)², with an axis of targets, and the rows' shares."""
        y = data.y[rows].reshape(len(rows), -1)
        w = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        if not w.any() or (np.ptp(y[w > 0], axis=0) == 0).any():
            raise Refusal(
                f"loss '{self.word}' needs several values of y in every test set, and one of "
                f"{len(rows)} rows holds a single one; use fewer folds or average='pooled'."
            )
        share = w / w.sum()
        errors = (answers.reshape(len(answers), *y.shape) - y) ** 2
        return errors, (y - share @ y) ** 2, share
