"""Rank scores: AUC and average precision. Scores of different models have no common ranking."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.confusion_scores import OneClassScore
from truerisk.losses.loss import ENOUGH_EVENTS, Events
from truerisk.plan.answers import Response


@frozen
class _RatedClass:
    """Class that is rated against all others.

    `mean_weight` is its weight in the mean over the classes, `is_positive` is True for its rows,
    and `scores` are the candidates' scores for this class.
    """

    mean_weight: float
    is_positive: np.ndarray
    scores: np.ndarray


class _RankScore(OneClassScore):
    """Base class of scores that rate how well rows of a class are ranked above all other rows.

    Rows with equal predictions share a rank. Decision values rank the rows of two classes. The
    probability of a class ranks the rows of several classes, and is also used if a mean over
    classes was requested.
    """

    per_row, upper, perfect, is_score = False, 1.0, 1.0, True
    response: Response = "score"
    tells_influences = True
    enough_events = ENOUGH_EVENTS

    def check(self, data: Data) -> None:
        super().check(data)
        needs_probabilities = data.n_classes > 2 or self.over_classes is not None
        self.response = "probability" if needs_probabilities else "score"

    def rated(self, data: Data) -> int | None:
        """Return the code of the rated class, as in scikit-learn.

        With two classes one class is rated, whatever mean over classes is requested.

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
        """Count the rows of the smaller of two classes, or of the smallest of several classes.

        Parameters
        ----------
        data : Data
            The checked rows of the call.

        Returns
        -------
        Events or None
            The few rows that the value depends on.
        """
        rated_code = None if data.n_classes == 2 else self.rated(data)
        return Events.from_class(data, rated_code, self.enough_events)

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        rated_classes, row_weights = self._rated_classes_and_weights(data, rows, answers, weights)
        return np.asarray(
            sum(
                rated_class.mean_weight * self._candidate_losses(rated_class, row_weights)
                for rated_class in rated_classes
            )
        )

    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        rated_classes, row_weights = self._rated_classes_and_weights(data, rows, answers, weights)
        influences = np.zeros(answers.shape[:2])
        for rated_class, values in zip(
            rated_classes, self._reference_losses(rated_classes, row_weights, about), strict=True
        ):
            for influences_of_candidate, scores, value in zip(
                influences, rated_class.scores, values, strict=True
            ):
                influences_of_candidate += rated_class.mean_weight * self._influence(
                    scores, rated_class.is_positive, row_weights, value
                )
            # The mean weights each class by its share of the rows, which one more row of the class
            # increases.
            if self.over_classes == "weighted" and len(rated_classes) > 1:
                influences += (rated_class.is_positive - rated_class.mean_weight) * values[:, None]
        return influences

    def _reference_losses(
        self, rated_classes: Sequence[_RatedClass], row_weights: np.ndarray, about: np.ndarray
    ) -> list[np.ndarray]:
        """Return, for each class, the loss around which its influences are computed.

        It is the class's own loss, shifted like the mean.
        """
        if len(rated_classes) == 1:
            return [about]
        losses = [self._candidate_losses(rated_class, row_weights) for rated_class in rated_classes]
        mean = sum(
            rated_class.mean_weight * class_losses
            for rated_class, class_losses in zip(rated_classes, losses, strict=True)
        )
        return [class_losses + about - mean for class_losses in losses]

    def _candidate_losses(self, rated_class: _RatedClass, row_weights: np.ndarray) -> np.ndarray:
        return np.array(
            [
                self._loss(scores, rated_class.is_positive, row_weights)
                for scores in rated_class.scores
            ]
        )

    @staticmethod
    @abstractmethod
    def _loss(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
        """Return the loss of one candidate; it is NaN if its scores are not finite."""

    @staticmethod
    @abstractmethod
    def _influence(
        scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, value: float
    ) -> np.ndarray:
        """Return the influence of every row on the loss, computed around the loss `value`."""

    def _rated_classes_and_weights(
        self, data: Data, rows: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None
    ) -> tuple[list[_RatedClass], np.ndarray]:
        """Return the rated classes and the row weights; raise if the test set lacks a class."""
        codes, rated_code = data.codes_of(rows), self.rated(data)
        row_weights = (
            np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        )
        rated_codes = np.arange(data.n_classes) if rated_code is None else np.array([rated_code])
        weight_by_class = np.bincount(codes, row_weights, data.n_classes)
        for class_code in rated_codes[
            (weight_by_class[rated_codes] == 0)
            | (weight_by_class[rated_codes] == weight_by_class.sum())
        ]:
            has_two_classes = data.n_classes == 2
            needed_rows_text = (
                "both classes"
                if has_two_classes
                else f"rows of {data.label(class_code)!r} and of others"
            )
            raise Refusal(
                f"loss '{self.name}' needs {needed_rows_text} in every test set, and one of "
                f"{len(rows)} rows {'holds a single class' if has_two_classes else 'lacks them'}; "
                "use fewer folds, or 'auc pooled', which takes all answers as one set."
            )
        shares = np.full(len(rated_codes), 1 / len(rated_codes))
        if self.over_classes == "weighted":
            shares = weight_by_class[rated_codes] / weight_by_class[rated_codes].sum()
        rated_classes = [
            _RatedClass(
                float(share), codes == class_code, _scores_for_class(int(class_code), predictions)
            )
            for class_code, share in zip(rated_codes, shares, strict=True)
        ]
        return rated_classes, row_weights


class AUC(_RankScore):
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
        positive_weights, negative_weights, _ = _weights_by_score(scores, positive, weights)
        negative_weight_above = negative_weights.sum() - np.cumsum(negative_weights)
        return float(
            (positive_weights * (negative_weight_above + negative_weights / 2)).sum()
            / (positive_weights.sum() * negative_weights.sum())
        )

    @staticmethod
    def _influence(
        scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, value: float
    ) -> np.ndarray:
        if not np.isfinite(scores).all():
            return np.full(len(scores), np.nan)
        positive_weights, negative_weights, score_index = _weights_by_score(
            scores, positive, weights
        )
        negative_share_above = (
            negative_weights.sum() - np.cumsum(negative_weights) + negative_weights / 2
        ) / negative_weights.sum()
        positive_share_below = (
            np.cumsum(positive_weights) - positive_weights / 2
        ) / positive_weights.sum()
        class_factor = np.where(
            positive, weights.sum() / positive_weights.sum(), weights.sum() / negative_weights.sum()
        )
        influences: np.ndarray = class_factor * (
            np.where(positive, negative_share_above[score_index], positive_share_below[score_index])
            - value
        )
        return influences

    def counted_twice(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        """Return the variance of the loss of one pair of rows, divided by the number of pairs.

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
        rated_classes, row_weights = self._rated_classes_and_weights(data, rows, answers, weights)
        pair_variances = np.zeros(len(answers))
        for rated_class, means in zip(
            rated_classes, self._reference_losses(rated_classes, row_weights, about), strict=True
        ):
            weights_by_class = (
                row_weights[rated_class.is_positive],
                row_weights[~rated_class.is_positive],
            )
            pair_weight = rated_class.mean_weight**2 * np.prod(
                [
                    (class_weights @ class_weights) / class_weights.sum() ** 2
                    for class_weights in weights_by_class
                ]
            )
            for candidate, (scores, mean) in enumerate(zip(rated_class.scores, means, strict=True)):
                positive_weights, negative_weights, _ = _weights_by_score(
                    scores, rated_class.is_positive, row_weights
                )
                loss = self._loss(scores, rated_class.is_positive, row_weights)
                tied_share = (
                    positive_weights
                    @ negative_weights
                    / (positive_weights.sum() * negative_weights.sum())
                )
                # This is the mean of (h − mean)² over all pairs of rows, where h is 1 for a pair in
                # the wrong order, ½ for a tied pair, and 0 for a pair in the right order.
                pair_variances[candidate] += pair_weight * (
                    loss - tied_share / 4 - 2 * mean * loss + mean**2
                )
        return pair_variances

    def enlargement(self, data: Data, rows: np.ndarray) -> tuple[float, float]:
        """Return the factor that removes the bias of the AUC's variance, and infinite degrees.

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
        n, rated_code, weights = len(rows), self.rated(data), data.weights(rows)
        weighted_rows = rows if weights is None else rows[weights > 0]
        m = np.bincount(data.codes_of(weighted_rows), minlength=data.n_classes)
        k = len(weighted_rows) - m
        class_sizes = np.maximum(
            [m, k] if rated_code is None else [m[rated_code], k[rated_code]], 2
        )
        return float((class_sizes / (class_sizes - 1)).prod(axis=0).max() * (n - 1) / n), np.inf


class AveragePrecision(_RankScore):
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
    # With 15 events in a sample, a 95 % interval covers the true value in 86 % of the samples; with
    # 30 events, in 92 %.
    enough_events = 30

    @override
    def check(self, data: Data) -> None:
        super().check(data)
        # A mean over all classes is refused, because it is biased upwards in small test sets.
        if self.rated(data) is None:
            raise Refusal(
                f"loss '{self.name}' is of one class and y has {data.n_classes}: name it, such as "
                f"{mention('positive', data.label(1))}, or use 'auc'."
            )

    @staticmethod
    def _loss(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
        if not np.isfinite(scores).all():
            return float("nan")
        positive_weights, negative_weights, _ = _weights_by_score(scores, positive, weights)
        precision, _ = _precision(positive_weights, negative_weights)
        return float(1 - positive_weights @ precision / positive_weights.sum())

    @staticmethod
    def _influence(
        scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, value: float
    ) -> np.ndarray:
        if not np.isfinite(scores).all():
            return np.full(len(scores), np.nan)
        positive_weights, negative_weights, score_index = _weights_by_score(
            scores, positive, weights
        )
        precision, weight_above = _precision(positive_weights, negative_weights)
        own_influence = positive * (precision[score_index] - (1 - value))
        gain_from_positive_row, loss_from_any_row = (
            np.cumsum(positive_weights / weight_above),
            np.cumsum(positive_weights * precision / weight_above),
        )
        influence_on_others = (
            positive * gain_from_positive_row[score_index] - loss_from_any_row[score_index]
        )
        influence: np.ndarray = (
            -(own_influence + influence_on_others) * weights.sum() / positive_weights.sum()
        )
        return influence


def _scores_for_class(class_code: int, predictions: np.ndarray) -> np.ndarray:
    """Return scores that are larger for rows of a class: its probability or decision values.

    Decision values are for the second of two classes, so that their sign is changed for the first.
    """
    if predictions.ndim == 3:
        return predictions[..., class_code]
    return predictions if class_code == 1 else -predictions


def _weights_by_score(
    scores: np.ndarray, is_positive: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sum the weights of positive and of negative rows at each distinct score.

    Return both sums in the ascending order of the distinct scores, and for each row the index of
    its score in this order.
    """
    _, score_index = np.unique(scores, return_inverse=True)
    return (
        np.bincount(score_index, weights * is_positive),
        np.bincount(score_index, weights * ~is_positive),
        score_index,
    )


def _precision(
    positive_weights: np.ndarray, negative_weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the precision among rows at or above each score, and the weight of these rows."""
    weight_above, positive_weight_above = (
        np.cumsum((positive_weights + negative_weights)[::-1])[::-1],
        np.cumsum(positive_weights[::-1])[::-1],
    )
    # Rows of weight 0 contribute nothing.
    safe_weight = np.where(weight_above > 0, weight_above, 1.0)
    return positive_weight_above / safe_weight, safe_weight
