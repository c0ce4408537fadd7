"""IntervalClassifier: minimum training error on the line with at most k intervals."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

NEVER = 2**60  # This exceeds the number of errors in any data.


class IntervalClassifier(ClassifierMixin, BaseEstimator):
    r"""Classifier on the line with at most k intervals and the smallest number of training errors.

    .. math:: \hat f_k = \arg\min_{f \in \mathcal F_k} \#\{i : f(x_i) \ne y_i\}

    where a function of :math:`\mathcal F_k` divides the line into at most k intervals with
    alternating labels (Kearns et al., 1997). The minimum is exact, by dynamic programming in O(n
    k). Boundaries lie midway between neighbouring distinct x of the training rows, and a row on a
    boundary belongs to the left interval; rows with equal x always get equal labels.

    Several functions can make equally few errors. The one with the **fewest intervals** is taken;
    among these the one that **stays** longest, read from left to right (the longest first interval,
    then the longest second, ...); of two with the same boundaries the one that starts with the
    lower class, **label 0** (this can only be the choice between the two constant functions).

    It takes one feature, as a column or as a one-dimensional array, and two classes.

    Parameters
    ----------
    k : int, default=2
        The largest number of intervals. More intervals than runs of equal labels have no effect.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        The classes, in sorted order.
    boundaries_ : array, shape (n_intervals - 1,)
        The boundaries between the intervals, ascending.
    labels_ : array, shape (n_intervals,)
        The class of each interval, from left to right.
    counts_ : array of int, shape (n_intervals, n_classes)
        The number of training rows of each class in each interval.
    n_features_in_ : int
        The number of features, 1.
    feature_names_in_ : array of str, shape (n_features,)
        The names of the features, if X was a frame.

    See Also
    --------
    truerisk.datasets.KearnsProblem : The problem that suits this learner.

    References
    ----------
    Kearns, Mansour, Ng, Ron (1997), An experimental and theoretical comparison of model selection
    methods, Machine Learning 27, 7–50. Daudin, Mary-Huard, Model selection in classification: the
    swapping method, §3.2.

    Examples
    --------
    >>> import truerisk as tr
    >>> model = tr.models.IntervalClassifier(k=3).fit([[1.0], [2.0], [4.0], [7.0]], [0, 1, 1, 0])
    >>> model.boundaries_.tolist(), model.labels_.tolist()
    ([1.5, 5.5], [0, 1, 0])
    >>> model.predict([[3.0], [5.5], [6.0]]).tolist()
    [1, 1, 0]
    """

    classes_: np.ndarray
    boundaries_: np.ndarray
    labels_: np.ndarray
    counts_: np.ndarray

    def __init__(self, k: int = 2) -> None:
        self.k = k

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # A single feature of a problem predicts poorly.
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False  # scikit-learn's IsotonicRegression has the same tag.
        return tags

    def fit(self, X: Any, y: Any) -> IntervalClassifier:
        """Divide the line into intervals.

        Parameters
        ----------
        X : array, shape (n_samples, 1) or (n_samples,)
            The training rows.
        y : array, shape (n_samples,)
            Labels of at most two classes.

        Returns
        -------
        IntervalClassifier
            The fitted model.
        """
        if isinstance(self.k, bool) or not isinstance(self.k, Integral) or self.k < 1:
            raise ValueError(f"k={self.k!r} is no number of intervals: give a whole number >= 1.")
        column, y = validate_data(self, _column(X), y, dtype=np.float64)
        self._refuse_width(column.shape[1])
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        self.classes_, codes = np.unique(y, return_inverse=True)
        values, group = np.unique(column[:, 0], return_inverse=True)
        counts = np.zeros((len(values), 2), dtype=np.int64)
        np.add.at(counts, (group.ravel(), codes.ravel()), 1)
        ends, label = _least_errors(counts, int(self.k))
        self.boundaries_ = boundaries_between(values[ends], values[ends + 1])
        self.labels_ = self.classes_[(label + np.arange(len(ends) + 1)) % 2]
        per_interval = np.add.reduceat(counts, np.concatenate([[0], ends + 1]), axis=0)
        self.counts_ = per_interval[:, : len(self.classes_)]
        return self

    def apply(self, X: Any) -> np.ndarray:
        """Return the number of the interval of each row, 0 for the leftmost.

        `counts_[model.apply(X)].sum(axis=1)` is the number of training rows behind each prediction.

        Parameters
        ----------
        X : array, shape (n_samples, 1) or (n_samples,)
            The rows.

        Returns
        -------
        array of int, shape (n_samples,)
            The numbers of the intervals.
        """
        check_is_fitted(self)
        column = validate_data(self, _column(X), reset=False, dtype=np.float64)
        return np.searchsorted(self.boundaries_, column[:, 0], side="left")

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the interval of each row.

        Parameters
        ----------
        X : array, shape (n_samples, 1) or (n_samples,)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,)
            The predicted labels.
        """
        interval = self.apply(X)
        return self.labels_[interval]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class shares among the training rows of the interval of each row.

        Parameters
        ----------
        X : array, shape (n_samples, 1) or (n_samples,)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples, n_classes)
            The probabilities, in the order of `classes_`.
        """
        interval = self.apply(X)
        return (self.counts_ / self.counts_.sum(axis=1, keepdims=True))[interval]

    def _refuse_width(self, n_features: int) -> None:
        if n_features != 1:
            raise ValueError(
                f"X has {n_features} features (n_features={n_features}), but "
                f"{type(self).__name__} divides a line: it is expecting 1 feature as input. "
                "Choose one column."
            )


def boundaries_between(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return midpoints of left < right such that left <= boundary < right despite rounding."""
    # The numbers are halved first, because the sum of two large ones may overflow.
    middle = left / 2 + right / 2
    inside = (left <= middle) & (middle < right)
    return np.where(inside, middle, left)


def _column(X: Any) -> Any:
    """Return X, or the column for a one-dimensional X."""
    if hasattr(X, "tocoo"):  # A sparse X is refused during validation.
        return X
    if not hasattr(X, "ndim"):
        X = np.asarray(X)
    return np.asarray(X).reshape(-1, 1) if X.ndim == 1 else X


def _least_errors(counts: np.ndarray, k: int) -> tuple[np.ndarray, int]:
    """Return the groups after which an interval ends, and the label of the first interval.

    The recursion goes from right to left: `ahead[a, r − 1]` is the minimum number of errors from a
    group on that has label a and is in the first of exactly r intervals. `stays[g]` says whether
    group g + 1 then has the same label as group g, which is preferred if it costs nothing.
    """
    n, most = len(counts), min(k, len(counts))
    wrong = counts[:, ::-1]
    stays = np.ones((n, 2, most), dtype=bool)
    ahead = np.full((2, most), NEVER)
    ahead[:, 0] = wrong[-1]
    changed = np.full((2, most), NEVER)
    for g in range(n - 2, -1, -1):
        changed[:, 1:] = ahead[::-1, :-1]
        np.less_equal(ahead, changed, out=stays[g])
        ahead = np.minimum(np.minimum(ahead, changed) + wrong[g][:, None], NEVER)
    least = ahead.min(axis=0)
    fewest = int(least.argmin())
    firsts = np.flatnonzero(ahead[:, fewest] == least[fewest])
    ways = [(_ends(stays, int(a), fewest), -int(a)) for a in firsts]
    ends, negated = max(ways)  # Later ends are preferred, and then the lower label.
    return np.array(ends, dtype=np.intp), -negated


def _ends(stays: np.ndarray, label: int, changes: int) -> list[int]:
    """Return the groups after which the label changes, starting with `label`."""
    ends = []
    for g in range(len(stays) - 1):
        if not stays[g, label, changes]:
            ends.append(g)
            label, changes = 1 - label, changes - 1
    return ends
