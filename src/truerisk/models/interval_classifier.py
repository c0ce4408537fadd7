"""IntervalClassifier: least training error in one feature, with at most k intervals."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from truerisk.core.documented import DocumentedEstimator

# This number is larger than any possible number of errors.
MORE_THAN_ALL_ERRORS = 2**60


class IntervalClassifier(DocumentedEstimator, ClassifierMixin, BaseEstimator):
    r"""Classifier with at most k intervals of one feature and the least number of training errors.

    .. math:: \hat f_k = \arg\min_{f \in \mathcal F_k} \#\{i : f(x_i) \ne y_i\}

    where a function of :math:`\mathcal F_k` divides the line into at most k intervals with
    alternating labels (Kearns et al., 1997). The minimum is exact, by dynamic programming in O(n
    k). Boundaries lie midway between neighbouring distinct x of the training rows, and a row on a
    boundary belongs to the left interval; rows with equal x always get equal labels.

    Several functions can make equally few errors. The function with the **fewest
    intervals** is chosen. If several have equally few intervals, the function with the **longest
    first interval** is chosen, then the longest second interval, and so on from left to right. Of
    two functions with the same boundaries the one that starts with the lower class, **label 0**, is
    chosen (this can only be the choice between the two constant functions).

    X must have one feature, as a column or as a one-dimensional array, and y two classes.

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
        # If a problem has several features, a classifier that uses only one predicts poorly.
        tags.classifier_tags.poor_score = True
        tags.input_tags.one_d_array = True
        # IsotonicRegression of scikit-learn also takes a single feature, and sets the same tag.
        tags.input_tags.two_d_array = False
        return tags

    def fit(self, X: Any, y: Any) -> IntervalClassifier:
        """Find the boundaries and labels of the intervals with the least number of training errors.

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
        column, y = validate_data(self, _as_column(X), y, dtype=np.float64)
        self._check_one_feature(column.shape[1])
        check_classification_targets(y)
        target_type = type_of_target(y, input_name="y", raise_unknown=True)
        if target_type != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {target_type}."
            )
        self.classes_, codes = np.unique(y, return_inverse=True)
        values, value_indices = np.unique(column[:, 0], return_inverse=True)
        class_counts = np.zeros((len(values), 2), dtype=np.int64)
        np.add.at(class_counts, (value_indices.ravel(), codes.ravel()), 1)
        last_groups, first_label = _intervals_with_least_errors(class_counts, int(self.k))
        self.boundaries_ = midpoint_boundaries(values[last_groups], values[last_groups + 1])
        self.labels_ = self.classes_[(first_label + np.arange(len(last_groups) + 1)) % 2]
        interval_counts = np.add.reduceat(
            class_counts, np.concatenate([[0], last_groups + 1]), axis=0
        )
        self.counts_ = interval_counts[:, : len(self.classes_)]
        return self

    def apply(self, X: Any) -> np.ndarray:
        """Return for each row the number of the interval in which it lies, 0 for the leftmost.

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
        column = validate_data(self, _as_column(X), reset=False, dtype=np.float64)
        return np.searchsorted(self.boundaries_, column[:, 0], side="left")

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of the interval in which each row lies.

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
        """Return for each row the class shares among the training rows in the same interval.

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

    def _check_one_feature(self, n_features: int) -> None:
        if n_features != 1:
            raise ValueError(
                f"X has {n_features} features (n_features={n_features}), but "
                f"{type(self).__name__} divides a line: it is expecting 1 feature as input. "
                "Choose one column."
            )


def midpoint_boundaries(left_values: np.ndarray, right_values: np.ndarray) -> np.ndarray:
    """Return the midpoints of neighbouring x, rounded so that left x <= boundary < right x."""
    # Each number is halved before adding, because the sum of two large numbers may overflow.
    midpoints = left_values / 2 + right_values / 2
    is_between = (left_values <= midpoints) & (midpoints < right_values)
    return np.where(is_between, midpoints, left_values)


def _as_column(X: Any) -> Any:
    """Return X with two dimensions; a one-dimensional X becomes a column."""
    # A sparse X is refused later, during validation.
    if hasattr(X, "tocoo"):
        return X
    if not hasattr(X, "ndim"):
        X = np.asarray(X)
    return np.asarray(X).reshape(-1, 1) if X.ndim == 1 else X


def _intervals_with_least_errors(class_counts: np.ndarray, k: int) -> tuple[np.ndarray, int]:
    """Find the intervals with the fewest training errors.

    Return the last group of each interval, and the label of the first interval. A group is a set of
    rows with equal x. The last group of the last interval is not returned.

    The recursion goes from right to left. `errors_ahead[a, r − 1]` is the minimum number of errors
    in the current group and all groups to its right, if the group has label a and exactly r
    intervals remain. `keeps_label[g]` is True if group g + 1 then has the same label as group g,
    which is preferred if it causes no more errors.
    """
    n, max_intervals = len(class_counts), min(k, len(class_counts))
    errors = class_counts[:, ::-1]
    keeps_label = np.ones((n, 2, max_intervals), dtype=bool)
    errors_ahead = np.full((2, max_intervals), MORE_THAN_ALL_ERRORS)
    errors_ahead[:, 0] = errors[-1]
    errors_after_change = np.full((2, max_intervals), MORE_THAN_ALL_ERRORS)
    for g in range(n - 2, -1, -1):
        errors_after_change[:, 1:] = errors_ahead[::-1, :-1]
        np.less_equal(errors_ahead, errors_after_change, out=keeps_label[g])
        errors_ahead = np.minimum(
            np.minimum(errors_ahead, errors_after_change) + errors[g][:, None], MORE_THAN_ALL_ERRORS
        )
    least_errors = errors_ahead.min(axis=0)
    n_changes = int(least_errors.argmin())
    first_labels = np.flatnonzero(errors_ahead[:, n_changes] == least_errors[n_changes])
    last_groups_and_labels = [
        (_last_groups(keeps_label, int(label), n_changes), -int(label)) for label in first_labels
    ]
    # Among equally good solutions, later boundaries are preferred, and then the lower label.
    last_groups, negated_label = max(last_groups_and_labels)
    return np.array(last_groups, dtype=np.intp), -negated_label


def _last_groups(keeps_label: np.ndarray, label: int, n_changes: int) -> list[int]:
    """Follow the best decisions from left to right; return the groups before a change of label."""
    last_groups = []
    for g in range(len(keeps_label) - 1):
        if not keeps_label[g, label, n_changes]:
            last_groups.append(g)
            label, n_changes = 1 - label, n_changes - 1
    return last_groups
