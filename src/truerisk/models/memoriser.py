"""Memoriser: a classifier that memorises the training rows and does not generalise."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from truerisk.core.documented import DocumentedEstimator


class Memoriser(DocumentedEstimator, ClassifierMixin, BaseEstimator):
    r"""Classifier that repeats the labels of its training rows; other rows get the first class.

    .. math:: f(x) = \max\{y_i : x_i = x\}, \text{ or } \min_i y_i \text{ if no } x_i = x

    With classes 0 and 1 it predicts 1 only for rows that have label 1 in the training set. If no
    row occurs twice, its training error is 0, and its error on fresh rows is the share of all
    classes but the first. It shows how little a training error can mean.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        The classes, in sorted order.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str, shape (n_features,)
        The names of the features, if X was a frame.

    See Also
    --------
    truerisk.methods.Apparent : The training error.

    References
    ----------
    Mehta (2010), Practical issues in classification: error rates, ROC curves, and
    cross-validation.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_simple(50, random_state=1)
    >>> for method in ("apparent", "5-fold"):
    ...     print(tr.estimate_risk(tr.models.Memoriser(), X, y, cv=method).value)
    0.0
    0.5
    """

    classes_: np.ndarray

    def fit(self, X: Any, y: Any) -> Memoriser:
        """Store the training rows and their labels.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The training rows.
        y : array, shape (n_samples,)
            The labels of the training rows.

        Returns
        -------
        Memoriser
            The fitted model.
        """
        self._seen, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of equal training rows (the largest of several), or the first class.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,)
            The predicted labels.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        distinct_rows, distinct_row_numbers = np.unique(
            np.vstack([self._seen, X]), axis=0, return_inverse=True
        )
        training_row_numbers, predicted_row_numbers = np.split(
            distinct_row_numbers.ravel(), [len(self._seen)]
        )
        codes = np.zeros(len(distinct_rows), dtype=np.intp)
        np.maximum.at(codes, training_row_numbers, self._codes)
        return self.classes_[codes[predicted_row_numbers]]
