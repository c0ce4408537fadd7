"""Scores of predicted labels, computed from each class's hits, rows and predictions.

Each score g depends on the confusion table only through the hits h_k, rows t_k and predictions s_k
of every class k, and does not change if all weights are doubled. A row of class t that was
predicted as s has the influence W (∂g/∂t_t + ∂g/∂s_s + 1[t = s] ∂g/∂h_t), where W is the total
weight. The derivatives are computed by a complex step (Squire and Trapp, 1998), which is exact up
to rounding. A predicted label that y does not contain is wrong, and counts as a prediction of no
class.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any, Literal, Self

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Events, Loss, class_code

ClassAverage = Literal["macro", "weighted"]


class OneClassScore(Loss):
    """Base class of scores of one class, which is called `positive`.

    The default `positive` is the greater of two labels. For three or more classes it is the mean
    over all classes, each against all others. `average` applies this mean to two classes as well,
    with equal weights ("macro") or weighted by their rows ("weighted").
    """

    def __init__(self, average: ClassAverage | None = None, positive: Any = None) -> None:
        if average not in (None, "macro", "weighted"):
            raise UnknownName(f"average={average!r} is unknown; use 'macro', 'weighted' or None.")
        if average is not None and positive is not None:
            raise BadArgument(
                f"average='{average}' is a mean over all classes, and {mention('positive')} names "
                "one of them: give one of the two."
            )
        self.over_classes, self.positive = average, positive
        if average is not None:
            self.name = f"{self.name}-{average}"

    @override
    def check(self, data: Data) -> None:
        super().check(data)
        if self.rated(data) is None:
            weight_text = (
                "weighted by its rows" if self.over_classes == "weighted" else "with equal weight"
            )
            self.notes = (f"mean over {data.n_classes} classes, each {weight_text}",)

    @override
    def rated(self, data: Data) -> int | None:
        if self.over_classes is None and self.positive is not None:
            return class_code(self.positive, data)
        return 1 if self.over_classes is None and data.n_classes == 2 else None

    @override
    def events(self, data: Data) -> Events | None:
        return Events.from_class(data, self.rated(data))

    @override
    def of_class(self, positive: Any) -> Self:
        if self.over_classes is not None or self.positive is not None:
            return self
        copied_loss = copy(self)
        copied_loss.positive = positive
        return copied_loss


COMPLEX_STEP = 1e-20


class _ConfusionLoss(Loss):
    """Base class of losses of the form 1 − a score of the weighted confusion table."""

    response, per_row, is_score, upper, perfect = "label", False, True, 1.0, 1.0
    tells_influences = True
    is_biased_on_small_sets = True
    wants_two = False  # True if the test set must contain two classes.

    def events(self, data: Data) -> Events | None:
        return Events.from_class(data)

    @abstractmethod
    def _score(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        """Return the score of confusion tables, as arrays whose last axis holds the classes."""

    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        tables = self._confusion_tables(data, rows, answers, weights)
        return self.perfect - self._score(*np.moveaxis(tables, 1, 0))

    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        tables, influences = (
            self._confusion_tables(data, rows, answers, weights),
            np.empty(answers.shape),
        )
        truth, answers, _ = self._encode_labels(data, rows, answers)
        for influences_of_rows, table, labels in zip(influences, tables, answers, strict=True):
            hit_slopes, true_slopes, predicted_slopes = self._score_derivatives(table)
            # Predicted labels that are no class have code -1, which selects this additional last
            # entry.
            predicted_slopes = np.append(predicted_slopes, 0.0)
            slopes = (
                true_slopes[truth]
                + predicted_slopes[labels]
                + np.where(labels == truth, hit_slopes[truth], 0)
            )
            influences_of_rows[:] = -slopes * table[1].sum()
        return influences

    def of_one_row(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        tables = self._confusion_tables(data, rows, answers, weights)
        return np.array([self._largest_change(table, len(rows)) for table in tables])

    def _largest_change(self, table: np.ndarray, n_rows: int) -> float:
        """Return the largest change of the score due to one row that changes from wrong to right.

        Changes from right to wrong count as well. The result is the maximum over the true classes.
        The prediction moves to, or from, the other class that is predicted most often.
        """
        _, true_weights, predicted_weights = table
        row_weight, changed_tables = true_weights.sum() / n_rows, []
        for k in np.flatnonzero(true_weights):
            other_class = np.where(
                np.arange(len(predicted_weights)) == k, -1.0, predicted_weights
            ).argmax()
            for direction in (1, -1):
                changed_table = table.copy()
                changed_table[0, k] += direction * row_weight
                changed_table[2, [k, other_class]] += (
                    direction * row_weight,
                    -direction * row_weight,
                )
                if (changed_table >= 0).all() and changed_table[0, k] <= true_weights[k]:
                    changed_tables.append(changed_table)
        if not changed_tables:
            return 0.0
        score_changes = self._score(*np.moveaxis(np.array(changed_tables), 1, 0)) - self._score(
            *table
        )
        return float(np.abs(score_changes).max())

    def _encode_labels(
        self, data: Data, rows: np.ndarray, labels: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Return class codes of true and predicted labels, and the table's number of classes."""
        return data.codes_of(rows), labels, data.n_classes

    def _confusion_tables(
        self, data: Data, rows: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Return the weights of the hits, the true rows and the predicted rows of each class.

        The result has the shape `(n_candidates, 3, n_classes)`.
        """
        truth, predictions, n_classes = self._encode_labels(data, rows, predictions)
        row_weights = (
            np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        )
        class_weights = np.bincount(truth, row_weights, n_classes)
        self._check_test_set(class_weights, len(rows))
        tables = np.empty((len(predictions), 3, n_classes))
        for table, labels in zip(tables, predictions, strict=True):
            is_right, is_known_label = labels == truth, labels >= 0
            table[0] = np.bincount(truth[is_right], row_weights[is_right], n_classes)
            table[1] = class_weights
            table[2] = np.bincount(labels[is_known_label], row_weights[is_known_label], n_classes)
        return tables

    def _score_derivatives(self, table: np.ndarray) -> np.ndarray:
        """Return the derivatives of the score with respect to every weight of a confusion table."""
        complex_steps = 1j * COMPLEX_STEP * np.eye(table.size).reshape(-1, *table.shape)
        stepped_scores = self._score(*np.moveaxis(table + complex_steps, 1, 0))
        return np.asarray(stepped_scores.imag / COMPLEX_STEP).reshape(table.shape)

    def _check_test_set(self, true_weights: np.ndarray, n_rows: int) -> None:
        """Raise Refusal if the test set lacks rows that the score needs."""
        if self.wants_two and np.count_nonzero(true_weights) < 2:
            self._refuse_test_set("rows of two classes", n_rows, "holds a single class")

    def _refuse_test_set(self, needed_rows: str, n_rows: int, missing_rows_text: str) -> None:
        raise Refusal(
            f"loss '{self.name}' needs {needed_rows} in every test set, and one of {n_rows} rows "
            f"{missing_rows_text}; use fewer folds, or 'f1 pooled', say, which takes all answers "
            "as one set."
        )


class BalancedAccuracy(_ConfusionLoss):
    """Loss 1 − balanced accuracy, where balanced accuracy is the mean recall of the classes.

    See Also
    --------
    truerisk.losses.Recall : Share of the rows of a class that are found.
    truerisk.losses.GMean : Geometric mean of the recalls.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.BalancedAccuracy()).value, 4)
    0.9
    """

    name = "balanced-accuracy"

    def _score(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        return _mean(_ratio(hit_weights, true_weights), true_weights.real > 0)


class GMean(_ConfusionLoss):
    """Loss 1 − the geometric mean of the recalls of the classes (Kubat and Matwin, 1997).

    If no row of a class is found, the influences are computed as if half a row had been found.

    See Also
    --------
    truerisk.losses.BalancedAccuracy : Mean of the recalls of all classes.
    truerisk.losses.Recall : Share of the rows of a class that are found.

    References
    ----------
    Kubat M, Matwin S (1997). Addressing the curse of imbalanced training sets: one-sided selection.
    Proceedings of the 14th International Conference on Machine Learning.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.GMean()).value, 4)
    0.8983
    """

    name, wants_two = "g-mean", True

    def _score(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        is_present = true_weights.real > 0
        recalls = np.where(is_present, _ratio(hit_weights, true_weights), 1.0)
        return np.asarray(recalls.prod(axis=-1) ** (1 / is_present.sum(axis=-1)))

    def _score_derivatives(self, table: np.ndarray) -> np.ndarray:
        hit_weights, true_weights, _ = table
        half_row = true_weights[true_weights > 0].min() / 2 if (true_weights > 0).any() else 0.0
        return super()._score_derivatives(
            np.array([np.where(hit_weights > 0, hit_weights, half_row), true_weights, table[2]])
        )


class MCC(_ConfusionLoss):
    """Loss 1 − Matthews' correlation of true and predicted classes.

    For several classes it is that of Gorodkin (2004). With n the total weight it is (n Σ h_k − Σ
    t_k s_k)/√((n² − Σ s_k²)(n² − Σ t_k²)), where h_k, t_k and s_k are the weights of the rows of
    class k that are found, that belong to it, and that are predicted as it. Constant predictions
    have the score 0.

    See Also
    --------
    truerisk.losses.Kappa : Cohen's kappa.
    truerisk.losses.FBeta : Mean of precision and recall.

    References
    ----------
    Gorodkin J (2004). Comparing two K-category assignments by a K-category correlation coefficient.
    Computational Biology and Chemistry 28:367–374.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.MCC()).value, 4)
    0.8038
    """

    name, upper, wants_two = "mcc", 2.0, True

    def _score(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        n = true_weights.sum(axis=-1)
        unknown_weight = n - predicted_weights.sum(axis=-1)
        covariance = n * hit_weights.sum(axis=-1) - (true_weights * predicted_weights).sum(axis=-1)
        predicted_variance = n**2 - (predicted_weights**2).sum(axis=-1) - unknown_weight**2
        true_variance = n**2 - (true_weights**2).sum(axis=-1)
        is_constant = predicted_variance.real <= 1e-12 * n.real**2
        standard_deviations = np.sqrt(
            np.where(is_constant, 1.0, predicted_variance) * true_variance
        )
        return np.where(is_constant, 0.0, covariance / standard_deviations)


class Kappa(_ConfusionLoss):
    """Loss 1 − Cohen's kappa, (a − c)/(1 − c) with accuracy a and chance agreement c (Cohen, 1960).

    See Also
    --------
    truerisk.losses.MCC : Matthews' correlation.
    truerisk.losses.BalancedAccuracy : Mean of the recalls of all classes.

    References
    ----------
    Cohen J (1960). A coefficient of agreement for nominal scales. Educational and Psychological
    Measurement 20:37–46.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.Kappa()).value, 4)
    0.8
    """

    name, upper, wants_two = "kappa", 2.0, True

    def _score(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        n = true_weights.sum(axis=-1)
        agreement, chance_agreement = (
            hit_weights.sum(axis=-1) / n,
            (true_weights * predicted_weights).sum(axis=-1) / n**2,
        )
        return np.asarray((agreement - chance_agreement) / (1 - chance_agreement))


class _OneClassLoss(OneClassScore, _ConfusionLoss):
    """Base class of losses 1 − score, where the score rates one class against all others.

    The score may also be the mean over all classes. The mean includes the classes that occur in the
    truth or the predictions of a test set.
    """

    needs_positive = True

    def _encode_labels(
        self, data: Data, rows: np.ndarray, labels: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the codes 1 for the rated class, 0 for other classes, -1 for unknown labels."""
        truth, labels, n_classes = super()._encode_labels(data, rows, labels)
        rated_code = self.rated(data)
        if rated_code is None or (rated_code, n_classes) == (1, 2):
            return truth, labels, n_classes
        return (
            np.where(truth == rated_code, 1, 0),
            np.where(labels < 0, -1, labels == rated_code),
            2,
        )

    @abstractmethod
    def _class_scores(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        """Return the score of every class."""

    def _score(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        scores = self._class_scores(hit_weights, true_weights, predicted_weights)
        if self._rates_one_class(true_weights):
            return np.asarray(scores[..., 1])
        if self.over_classes == "weighted":
            return np.asarray((true_weights * scores).sum(axis=-1) / true_weights.sum(axis=-1))
        return _mean(scores, (true_weights.real > 0) | (predicted_weights.real > 0))

    def _rates_one_class(self, true_weights: np.ndarray) -> bool:
        return self.over_classes is None and true_weights.shape[-1] == 2

    def _check_test_set(self, true_weights: np.ndarray, n_rows: int) -> None:
        super()._check_test_set(true_weights, n_rows)
        if self.needs_positive and self._rates_one_class(true_weights) and not true_weights[1]:
            self._refuse_test_set("rows of the positive class", n_rows, "holds none")


class FBeta(_OneClassLoss):
    """Loss 1 − F_β, where F_β = (1 + β²) h / (β² t + s) combines precision and recall.

    h, t and s are the weights of the rows that are found, that belong to the class, and that are
    predicted as it. Recall is β times as important as precision. With `beta` = 1 it is F1, the
    harmonic mean of both (van Rijsbergen, 1979).

    Parameters
    ----------
    beta : float, default=1.0
        The importance of recall relative to precision.
    average : {"macro", "weighted"}, optional
        The mean over classes: unweighted, or weighted by the number of rows. By default the score
        is that of the positive class of two.
    positive : label, optional
        The positive class. The default is the greater of two labels.

    See Also
    --------
    truerisk.losses.Precision : Share of the predictions of a class that are right.
    truerisk.losses.Recall : Share of the rows of a class that are found.

    References
    ----------
    van Rijsbergen CJ (1979). Information Retrieval. 2nd edition, Butterworths.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.FBeta()).value, 4)
    0.9051
    """

    name = "f1"

    def __init__(
        self, beta: float = 1.0, average: ClassAverage | None = None, positive: Any = None
    ) -> None:
        value: object = beta
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
            raise BadArgument(f"{mention('beta', beta)}: give a number above 0; 1 is F1.")
        self.beta = float(value)
        self.name = f"f{self.beta:.15g}"
        super().__init__(average, positive)

    def _class_scores(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        beta_squared = self.beta**2
        return _ratio(
            (1 + beta_squared) * hit_weights, beta_squared * true_weights + predicted_weights
        )


class Precision(_OneClassLoss):
    """Loss 1 − precision, where precision is the share h/s of right predictions of the class.

    Of the rows that are predicted as the class, with weight s, those with weight h belong to it.
    The precision is 0 if no row is predicted as the class.

    Parameters
    ----------
    average : {"macro", "weighted"}, optional
        The mean over classes: unweighted, or weighted by the number of rows. By default the score
        is that of the positive class of two.
    positive : label, optional
        The positive class. The default is the greater of two labels.

    See Also
    --------
    truerisk.losses.Recall : Share of the rows of a class that are found.
    truerisk.losses.FBeta : Mean of precision and recall.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.Precision()).value, 4)
    0.881
    """

    name, needs_positive = "precision", False

    def _class_scores(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        return _ratio(hit_weights, predicted_weights)


class Recall(_OneClassLoss):
    """Loss 1 − recall, where recall is the share h/t of rows of the class that are found.

    Parameters
    ----------
    average : {"macro", "weighted"}, optional
        The mean over classes: unweighted, or weighted by the number of rows. By default the score
        is that of the positive class of two.
    positive : label, optional
        The positive class. The default is the greater of two labels.

    See Also
    --------
    truerisk.losses.Precision : Share of the predictions of a class that are right.
    truerisk.losses.Specificity : Recall of the other classes.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.Recall()).value, 4)
    0.9333
    """

    name = "recall"

    def _class_scores(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        return _ratio(hit_weights, true_weights)


class Sensitivity(Recall):
    """Loss 1 − sensitivity, which is another name of recall.

    Parameters
    ----------
    average : {"macro", "weighted"}, optional
        The mean over classes: unweighted, or weighted by the number of rows. By default the score
        is that of the positive class of two.
    positive : label, optional
        The positive class. The default is the greater of two labels.

    See Also
    --------
    truerisk.losses.Recall : Share of the rows of a class that are found.
    truerisk.losses.Specificity : Recall of the other classes.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.Sensitivity()).value, 4)
    0.9333
    """

    name = "sensitivity"


class Specificity(_OneClassLoss):
    """Loss 1 − specificity, where specificity is the recall of the negative rows.

    It is the share of the rows of other classes that are not predicted as the class. With two
    classes it is the share of the negative rows that are found, which is their recall.

    Parameters
    ----------
    average : {"macro", "weighted"}, optional
        The mean over classes: unweighted, or weighted by the number of rows. By default the score
        is that of the positive class of two.
    positive : label, optional
        The positive class. The default is the greater of two labels.

    See Also
    --------
    truerisk.losses.Recall : Share of the rows of a class that are found.
    truerisk.losses.BalancedAccuracy : Mean of the recalls of all classes.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> round(tr.estimate_risk(GaussianNB(), X, y, scoring=tr.losses.Specificity()).value, 4)
    0.8667
    """

    name, needs_positive = "specificity", False

    @override
    def events(self, data: Data) -> Events | None:
        rated_code = self.rated(data)
        if rated_code is None or data.n_classes > 2:
            # No rows are counted, because all other classes together rarely have few rows.
            return None
        return Events.from_class(data, 1 - rated_code)

    def _score(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        if self._rates_one_class(true_weights):
            return _ratio(hit_weights[..., 0], true_weights[..., 0])
        return super()._score(hit_weights, true_weights, predicted_weights)

    def _class_scores(
        self, hit_weights: np.ndarray, true_weights: np.ndarray, predicted_weights: np.ndarray
    ) -> np.ndarray:
        other_weights = true_weights.sum(axis=-1, keepdims=True) - true_weights
        return _ratio(other_weights - predicted_weights + hit_weights, other_weights)

    def _check_test_set(self, true_weights: np.ndarray, n_rows: int) -> None:
        super()._check_test_set(true_weights, n_rows)
        if self._rates_one_class(true_weights) and not true_weights[0]:
            self._refuse_test_set("rows of the negative class", n_rows, "holds none")


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide two arrays; the ratio is 0 if the denominator is 0, as in scikit-learn."""
    is_zero = denominator.real == 0
    return np.where(is_zero, 0.0, numerator / np.where(is_zero, 1.0, denominator))


def _mean(scores: np.ndarray, is_present: np.ndarray) -> np.ndarray:
    """Return the mean of the scores over the classes that are present."""
    return np.asarray(np.where(is_present, scores, 0.0).sum(axis=-1) / is_present.sum(axis=-1))
