"""FisherClassifier: a linear classifier fitted by least squares on class codes −1 and +1."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from truerisk.core.documented import DocumentedEstimator

THRESHOLD_RULES = ("least-squares", "balanced")


class FisherClassifier(DocumentedEstimator, ClassifierMixin, BaseEstimator):
    r"""Fisher's linear discriminant: least squares on class codes, each class against the others.

    .. math:: (w_k, b_k) = \arg\min \sum_i \omega_i\,(t_{ik} - b_k - x_i^\top w_k)^2

    with :math:`t_{ik} = 1` in class k and −1 elsewhere, and :math:`\omega_i` the sample weights.
    The prediction is :math:`\arg\max_k b_k + x^\top w_k`. Two classes need one regression, on −1
    and +1, whose sign decides. If columns are collinear, the solution of smallest norm is taken.

    For two classes w is a multiple of :math:`S_W^{-1}(m_1 - m_0)`: the *direction* is that of
    linear discriminant analysis (LDA), and of Fisher (1936). The *threshold* differs. Least squares
    leaves residuals with mean 0, so that the boundary lies nearer to the smaller class; with
    `threshold="balanced"` every class has the same weight: the boundary lies midway between the
    projected class means, as in LDA with equal priors. If all classes have equally many rows, the
    three thresholds agree. With three or more classes this is not LDA: a class that lies between
    two others can be masked by them.

    Parameters
    ----------
    threshold : {"least-squares", "balanced"}, default="least-squares"
        The intercept: that of least squares, or the one with which the residuals, averaged within
        each class first, have mean 0 over the classes.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        The classes, in sorted order.
    coef_ : array, shape (1, n_features) or (n_classes, n_features)
        The coefficients.
    intercept_ : array, shape (1,) or (n_classes,)
        The intercepts.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str, shape (n_features,)
        The names of the features, if X was a frame.

    See Also
    --------
    truerisk.models.LinearDiscriminant : Linear discriminant analysis.
    sklearn.linear_model.RidgeClassifier : Penalised least squares on class codes.

    References
    ----------
    Fisher (1936), The use of multiple measurements in taxonomic problems, Annals of Eugenics 7.
    Duda, Hart, Stork, Pattern Classification, §5.8 (minimum squared error).

    Examples
    --------
    >>> import truerisk as tr
    >>> model = tr.models.FisherClassifier().fit([[0.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1])
    >>> model.predict([[5.2]]), model.decision_function([[3.0]]).round(3).tolist()
    (array([1]), [-0.5])
    >>> tr.models.FisherClassifier("balanced").fit(
    ...     [[0.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1]
    ... ).predict([[4.9]])
    array([0])
    """

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, threshold: Literal["least-squares", "balanced"] = "least-squares") -> None:
        self.threshold = threshold

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FisherClassifier:
        """Compute coefficients and intercepts by weighted least squares.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The training rows.
        y : array, shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array, shape (n_samples,), optional
            The weights of the rows.

        Returns
        -------
        FisherClassifier
            The fitted model.
        """
        if self.threshold not in THRESHOLD_RULES:
            raise ValueError(
                f"threshold={self.threshold!r} is unknown: it is 'least-squares' or 'balanced'."
            )
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        weights = _checked_weights(sample_weight, len(y))
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y holds one class only: there is nothing to distinguish.")
        targets = signed_indicators(codes, len(self.classes_))
        x_mean, target_mean = np.average(X, 0, weights), np.average(targets, 0, weights)
        root_weights = np.sqrt(weights)[:, None]
        slopes = np.linalg.lstsq(
            root_weights * (X - x_mean), root_weights * (targets - target_mean), rcond=None
        )[0]
        if self.threshold == "balanced":
            # The balanced intercept comes from averages over classes, of X and of the class codes.
            # These averages omit classes whose rows all have weight 0.
            weighted_classes = [k for k in np.unique(codes) if weights[codes == k].any()]
            class_means = [
                np.average(X[codes == k], 0, weights[codes == k]) for k in weighted_classes
            ]
            class_targets = [targets[codes == k][0] for k in weighted_classes]
            x_mean, target_mean = np.mean(class_means, axis=0), np.mean(class_targets, axis=0)
        self.coef_ = np.ascontiguousarray(slopes.T)
        self.intercept_ = target_mean - x_mean @ slopes
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return each class's regression value; for two classes, only that of the second class.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,) or (n_samples, n_classes)
            The values.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        values: np.ndarray = X @ self.coef_.T + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest decision value, or the first of several such classes.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,)
            The predicted labels.
        """
        values = self.decision_function(X)
        codes = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]


def signed_indicators(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return a matrix of codes: +1 where a row belongs to the column's class, otherwise −1.

    There is one column per class; for two classes there is only the column of the second class.
    """
    first_column_class = 1 if n_classes == 2 else 0
    return np.where(codes[:, None] == np.arange(first_column_class, n_classes), 1.0, -1.0)


def _checked_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Check the sample weights and return one weight per row, which is 1 by default."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights: np.ndarray = check_array(sample_weight, ensure_2d=False, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}.")
    if (weights < 0).any() or not weights.any():
        raise ValueError("sample_weight must not be negative, and not zero everywhere.")
    return weights
