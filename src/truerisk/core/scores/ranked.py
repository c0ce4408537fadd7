"""Scores of ranks: AUC and average precision. Ranks by several models do not compare."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.loss import Loss
from truerisk.core.present import clean
from truerisk.core.table.data import Data

__all__ = ["AUC", "AveragePrecision"]


class _Ranked(Loss):
    """A score of the order in which rows of two classes are put; ties are one level."""

    response, per_row, upper, perfect, is_score = "score", False, 1.0, 1.0, True
    tells_influences = True

    def check(self, data: Data) -> None:
        super().check(data)
        if data.n_classes != 2:
            raise Refusal(
                f"loss '{self.word}' needs two classes and y has {data.n_classes}; "
                "use 'log' or 'brier'."
            )

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        positive, w = self._sides(data, rows, weights)
        return np.array([self._loss(scores, positive, w) for scores in answers])

    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        positive, w = self._sides(data, rows, weights)
        return np.array(
            [
                self._influence(scores, positive, w, value)
                for scores, value in zip(answers, about, strict=True)
            ]
        )

    @staticmethod
    @abstractmethod
    def _loss(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
        """Of one candidate; NaN has no order."""

    @staticmethod
    @abstractmethod
    def _influence(
        scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, value: float
    ) -> np.ndarray:
        """What every row does to it, about some value of it."""

    def _sides(
        self, data: Data, rows: np.ndarray, weights: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which rows are positive, and their weights; a test set of one class is refused."""
        positive = data.codes_of(rows) == 1
        w = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        if not w[positive].any() or not w[~positive].any():
            raise Refusal(
                f"loss '{self.word}' needs both classes in every test set, and one of "
                f"{len(rows)} rows holds a single class; use fewer folds or average='pooled'."
            )
        return positive, w


class AUC(_Ranked):
    """1 − AUC: the chance that a negative row is ranked above a positive one, ties counted half.

    A positive row has the influence (share of negatives above it − loss) W/W₊, W₊ the weight of
    these; a negative one the same with the share of positives below it (LeDell, Petersen and van
    der Laan, 2015).
    """

    word = "auc"
    holds_in_space = True

    @staticmethod
    def _loss(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
        """Weighted share of (positive, negative) pairs in the wrong order."""
        if not np.isfinite(scores).all():
            return float("nan")
        up, down, _ = _by_level(scores, positive, weights)
        above = down.sum() - np.cumsum(down)
        return float((up * (above + down / 2)).sum() / (up.sum() * down.sum()))

    @staticmethod
    def _influence(
        scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, value: float
    ) -> np.ndarray:
        if not np.isfinite(scores).all():
            return np.full(len(scores), np.nan)
        up, down, level = _by_level(scores, positive, weights)
        above = (down.sum() - np.cumsum(down) + down / 2) / down.sum()
        below = (np.cumsum(up) - up / 2) / up.sum()
        by_class = np.where(positive, weights.sum() / up.sum(), weights.sum() / down.sum())
        placed: np.ndarray = by_class * (np.where(positive, above[level], below[level]) - value)
        return placed

    def counted_twice(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        """The variance of one pair over their number: each of its rows has it in its influence."""
        positive, w = self._sides(data, rows, weights)
        per_pair = [(side @ side) / side.sum() ** 2 for side in (w[positive], w[~positive])]
        told = np.empty(len(answers))
        for c, (scores, mean) in enumerate(zip(answers, about, strict=True)):
            up, down, _ = _by_level(scores, positive, w)
            loss, tied = self._loss(scores, positive, w), up @ down / (up.sum() * down.sum())
            told[c] = loss - tied / 4 - 2 * mean * loss + mean**2  # (h - mean)², h = 1, ½ or 0
        return told * per_pair[0] * per_pair[1]


class AveragePrecision(_Ranked):
    r"""1 − Σ_i w_i P_i / W₊ over the positive rows, P_i the precision down to row i's score.

    It is the area under the precision-recall curve as steps, as scikit-learn computes it. Besides
    its own precision, (P_i − AP) W/W₊, a row does something to those of all positive rows that do
    not stand above it: (1[i positive] − P_j)/N_j, N_j the weight down to row j.
    """

    word = "average-precision"

    def check(self, data: Data) -> None:
        super().check(data)
        self.notes = (f"positive class: {clean(repr(data.label(1)), 60)}",)

    @staticmethod
    def _loss(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
        if not np.isfinite(scores).all():
            return float("nan")
        up, down, _ = _by_level(scores, positive, weights)
        precision, _ = _precision(up, down)
        return float(1 - up @ precision / up.sum())

    @staticmethod
    def _influence(
        scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, value: float
    ) -> np.ndarray:
        if not np.isfinite(scores).all():
            return np.full(len(scores), np.nan)
        up, down, level = _by_level(scores, positive, weights)
        precision, reached = _precision(up, down)
        own = positive * (precision[level] - (1 - value))
        kept, lost = np.cumsum(up / reached), np.cumsum(up * precision / reached)
        others = positive * kept[level] - lost[level]
        told: np.ndarray = -(own + others) * weights.sum() / up.sum()
        return told


def _by_level(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weight of positive and of negative rows at every distinct score, and each row's place."""
    _, level = np.unique(scores, return_inverse=True)
    return np.bincount(level, weights * positive), np.bincount(level, weights * ~positive), level


def _precision(up: np.ndarray, down: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of positives among the rows down to each score, and the weight of these."""
    called, right = np.cumsum((up + down)[::-1])[::-1], np.cumsum(up[::-1])[::-1]
    reached = np.where(called > 0, called, 1.0)  # of rows without a weight nothing is said
    return right / reached, reached
