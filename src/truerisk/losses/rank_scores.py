"""Rank scores: AUC and average precision. Ranks by different models cannot be compared."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.confusion_scores import OfOneClass
from truerisk.losses.loss import ENOUGH, Events
from truerisk.plan.answers import Response


@frozen
class _Side:
    """One class against the rest: its share of the score, its rows, and each candidate's scores."""

    share: float
    positive: np.ndarray
    scores: np.ndarray


class _Ranked(OfOneClass):
    """A score of the ranking of a class against the rest; tied rows form one level.

    Decision values rank the rows of two classes. The probability of a class ranks the rows of
    several classes, and is also used if a mean over classes was requested.
    """

    per_row, upper, perfect, is_score = False, 1.0, 1.0, True
    response: Response = "score"
    tells_influences = True
    enough_events = ENOUGH

    def check(self, data: Data) -> None:
        super().check(data)
        several = data.n_classes > 2 or self.over_classes is not None
        self.response = "probability" if several else "score"

    def rated(self, data: Data) -> int | None:
        """Return the code of the rated class, as in scikit-learn.

        With two classes one is rated, whatever mean over classes is requested.

        Parameters
        ----------
        data : Data
            The checked rows of the call.

        Returns
        -------
        int or None
            The code of the class, or None if all classes are rated.
        """
        return 1 if data.n_classes == 2 and self.positive is None else super().rated(data)

    def events(self, data: Data) -> Events | None:
        """Return the rows of the smaller side of the ranking, with several classes of the smallest.

        Parameters
        ----------
        data : Data
            The checked rows of the call.

        Returns
        -------
        Events or None
            The few rows that the value depends on.
        """
        rated = None if data.n_classes == 2 else self.rated(data)
        return Events.of_class(data, rated, self.enough_events)

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        sides, w = self._sides(data, rows, answers, weights)
        return np.asarray(sum(side.share * self._losses(side, w) for side in sides))

    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        sides, w = self._sides(data, rows, answers, weights)
        influences = np.zeros(answers.shape[:2])
        for side, values in zip(sides, self._each_about(sides, w, about), strict=True):
            for line, scores, value in zip(influences, side.scores, values, strict=True):
                line += side.share * self._influence(scores, side.positive, w, value)
            if (
                self.over_classes == "weighted" and len(sides) > 1
            ):  # One more row of a class increases the class's share.
                influences += (side.positive - side.share) * values[:, None]
        return influences

    def _each_about(
        self, sides: Sequence[_Side], w: np.ndarray, about: np.ndarray
    ) -> list[np.ndarray]:
        """Return, for each class, the value that its influences are relative to.

        It is the class's own loss, shifted like the mean.
        """
        if len(sides) == 1:
            return [about]
        losses = [self._losses(side, w) for side in sides]
        mean = sum(side.share * own for side, own in zip(sides, losses, strict=True))
        return [own + about - mean for own in losses]

    def _losses(self, side: _Side, w: np.ndarray) -> np.ndarray:
        return np.array([self._loss(scores, side.positive, w) for scores in side.scores])

    @staticmethod
    @abstractmethod
    def _loss(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
        """Return the loss of one candidate; it is NaN if scores are not finite."""

    @staticmethod
    @abstractmethod
    def _influence(
        scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, value: float
    ) -> np.ndarray:
        """Return the influence of every row on the loss, relative to a value of it."""

    def _sides(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> tuple[list[_Side], np.ndarray]:
        """Return the rated classes and the weights of rows; raise if the set lacks one class."""
        codes, rated = data.codes_of(rows), self.rated(data)
        w = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        each = np.arange(data.n_classes) if rated is None else np.array([rated])
        sums = np.bincount(codes, w, data.n_classes)
        for code in each[(sums[each] == 0) | (sums[each] == sums.sum())]:
            two = data.n_classes == 2
            needed = "both classes" if two else f"rows of {data.label(code)!r} and of others"
            raise Refusal(
                f"loss '{self.name}' needs {needed} in every test set, and one of {len(rows)} rows "
                f"{'holds a single class' if two else 'lacks them'}; use fewer folds, "
                "or 'auc pooled', which takes all answers as one set."
            )
        shares = np.full(len(each), 1 / len(each))
        if self.over_classes == "weighted":
            shares = sums[each] / sums[each].sum()
        sides = [
            _Side(float(share), codes == code, _speaking_for(int(code), answers))
            for code, share in zip(each, shares, strict=True)
        ]
        return sides, w


class AUC(_Ranked):
    """Loss 1 − AUC: the probability that a negative row is ranked above a positive one.

    Ties count half. A positive row has the influence (share of negatives above it − loss) W/W₊,
    with W₊ the weight of the positive rows; a negative row has the same with the share of positives
    below it (LeDell, Petersen and van der Laan, 2015).

    Parameters
    ----------
    average : {"macro", "weighted"}, optional
        The mean over classes: unweighted, or weighted by the number of rows. By default the score
        is that of the positive class of two.
    positive : label, optional
        The positive class. The default is the greater of two labels.

    See Also
    --------
    truerisk.losses.AveragePrecision : Area under the precision-recall curve.
    RocCurve : The ROC curve itself.

    References
    ----------
    LeDell E, Petersen M, van der Laan M (2015). Computationally efficient confidence intervals for
    cross-validated area under the ROC curve estimates. Electronic Journal of Statistics
    9:1583–1607.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.AUC()).value, 4)
    0.9444
    """

    name = "auc"
    holds_in_space = True

    @staticmethod
    def _loss(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
        """Return the weighted share of (positive, negative) pairs in the wrong order."""
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
        """Return the variance of one pair divided by the number of pairs.

        Each of the two rows of a pair has the pair in its influence. The effect of a pair on the
        AUCs of both its classes is counted as if it were two pairs.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        rows : array of int
            Row numbers.
        answers : array, shape (n_candidates, n_rows, ...)
            The predictions of every candidate for these rows.
        weights : array, shape (n_rows,), or None
            Sample weights of these rows. None means equal weights.
        about : array
            The value of each candidate around which the influence is computed.

        Returns
        -------
        array, shape (n_candidates,)
            The part that is counted twice, for each candidate.
        """
        sides, w = self._sides(data, rows, answers, weights)
        counted = np.zeros(len(answers))
        for side, means in zip(sides, self._each_about(sides, w, about), strict=True):
            parts = w[side.positive], w[~side.positive]
            per_pair = side.share**2 * np.prod([(p @ p) / p.sum() ** 2 for p in parts])
            for c, (scores, mean) in enumerate(zip(side.scores, means, strict=True)):
                up, down, _ = _by_level(scores, side.positive, w)
                loss = self._loss(scores, side.positive, w)
                tied = up @ down / (up.sum() * down.sum())
                # (h - mean)², h = 1, ½ or 0
                counted[c] += per_pair * (loss - tied / 4 - 2 * mean * loss + mean**2)
        return counted

    def enlargement(self, data: Data, rows: np.ndarray) -> tuple[float, float]:
        """Return the factor of the variance that removes its bias, and the degrees of freedom.

        With m rows of one class against k others, m k/((m − 1)(k − 1)) instead of n/(n − 1) leaves
        no bias. Rows without weight count in n alone. With several classes it is the factor of the
        rarest class; a single row counts as two.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        rows : array of int
            Row numbers.

        Returns
        -------
        tuple of float
            The factor of the variance, and infinity.
        """
        n, rated, weights = len(rows), self.rated(data), data.weights(rows)
        known = rows if weights is None else rows[weights > 0]
        m = np.bincount(data.codes_of(known), minlength=data.n_classes)
        k = len(known) - m
        sizes = np.maximum([m, k] if rated is None else [m[rated], k[rated]], 2)
        return float((sizes / (sizes - 1)).prod(axis=0).max() * (n - 1) / n), np.inf


class AveragePrecision(_Ranked):
    """Loss 1 − average precision, Σ_i w_i P_i / W₊ over the positive rows.

    P_i is the precision down to the score of row i. The average precision is the area under the
    precision-recall curve as a step function, as scikit-learn computes it. Besides its own
    precision, (P_i − AP) W/W₊, a row affects the precisions of all positive rows that are not
    ranked above it: (1[i positive] − P_j)/N_j, with N_j the weight down to row j.

    Parameters
    ----------
    average : {"macro", "weighted"}, optional
        The mean over classes: unweighted, or weighted by the number of rows. By default the score
        is that of the positive class of two.
    positive : label, optional
        The positive class. The default is the greater of two labels.

    See Also
    --------
    truerisk.losses.AUC : Area under the ROC curve.
    truerisk.losses.Precision : Share of the predictions of a class that are right.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.AveragePrecision()).value, 4)
    0.9539
    """

    name = "average-precision"
    is_biased_on_small_sets = True
    enough_events = 30  # With 15 events the interval covers .86, with 30 it covers .92.

    @override
    def check(self, data: Data) -> None:
        super().check(data)
        if self.rated(data) is None:  # Its mean over classes is biased upwards in small test sets.
            raise Refusal(
                f"loss '{self.name}' is of one class and y has {data.n_classes}: name it, such as "
                f"{mention('positive', data.label(1))}, or use 'auc'."
            )

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
        gained, lost = np.cumsum(up / reached), np.cumsum(up * precision / reached)
        others = positive * gained[level] - lost[level]
        influence: np.ndarray = -(own + others) * weights.sum() / up.sum()
        return influence


def _speaking_for(code: int, answers: np.ndarray) -> np.ndarray:
    """Return scores that are larger for a class: its probability or oriented decision values.

    Decision values are for the second of two classes.
    """
    if answers.ndim == 3:
        return answers[..., code]
    return answers if code == 1 else -answers


def _by_level(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the weights of positive and negative rows per distinct score, and each row's level."""
    _, level = np.unique(scores, return_inverse=True)
    return np.bincount(level, weights * positive), np.bincount(level, weights * ~positive), level


def _precision(up: np.ndarray, down: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the precision among the rows down to each score, and the weight of these rows."""
    called, right = np.cumsum((up + down)[::-1])[::-1], np.cumsum(up[::-1])[::-1]
    reached = np.where(called > 0, called, 1.0)  # Rows of weight 0 contribute nothing.
    return right / reached, reached
