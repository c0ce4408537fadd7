"""Simple learners for conformance tests: fast, exact, and independent of the order of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import BaggingClassifier

from truerisk.core.overrides import override


class NearestMean(ClassifierMixin, BaseEstimator):
    """Classifier that predicts the class with the nearest mean.

    `rest` is the weight of all features but the first.

    If cells are multiples of a power of two, the sums are exact, so the fitted means do not depend
    on the order of the rows. The training rows may have a single class.
    """

    def __init__(self, rest: float = 1.0) -> None:
        self.rest = rest

    @override
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NearestMean:
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        row_weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.classes_ = (
            np.unique(y[row_weights > 0]) if (row_weights > 0).any() else np.unique(y)[:1]
        )
        self.means_ = np.array(
            [
                _mean(X[y == class_label], row_weights[y == class_label])
                for class_label in self.classes_
            ]
        )
        self.n_features_in_ = X.shape[1]
        return self

    @override
    def predict(self, X: Any) -> Any:
        return self.classes_[self._distances(X).argmin(axis=1)]

    @override
    def predict_proba(self, X: Any) -> Any:
        distances = self._distances(X)
        closeness = np.exp(distances.min(axis=1, keepdims=True) - distances)
        return closeness / closeness.sum(axis=1, keepdims=True)

    def degrees_of_freedom(self, X: Any) -> float:
        """Return the number of free parameters: one linear function of x for each class but one."""
        return float((len(self.classes_) - 1) * (self.n_features_in_ + 1))

    def taken_out(self, X: Any, y: Any) -> np.ndarray:
        """Return the leave-one-out decision values: each row's own class mean excludes the row.

        The value is half the difference of the squared distances to the two class means.
        """
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        class_codes = (y == self.classes_[1]).astype(np.int64)
        class_sizes = np.bincount(class_codes, minlength=2)
        decision_values = np.empty(len(X))
        for row_number, own_class in enumerate(class_codes):
            mean_without_row = (
                class_sizes[own_class] * self.means_[own_class] - X[row_number]
            ) / max(class_sizes[own_class] - 1, 1)
            model_without_row = clone(self)
            model_without_row.means_, model_without_row.classes_ = self.means_.copy(), self.classes_
            model_without_row.means_[own_class], model_without_row.n_features_in_ = (
                mean_without_row,
                self.n_features_in_,
            )
            slopes, intercepts = model_without_row.linear_rule()
            decision_values[row_number] = X[row_number] @ slopes[0] + intercepts[0]
        return decision_values

    def linear_rule(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts: one pair for two classes, else one per class.

        For two classes the decision value is half the difference of the squared distances to the
        means.
        """
        feature_weights = np.r_[1.0, np.full(self.n_features_in_ - 1, self.rest)]
        slopes = self.means_ * feature_weights
        intercepts = -(self.means_ * slopes).sum(axis=1) / 2
        if len(self.classes_) == 2:
            return slopes[1:] - slopes[:1], intercepts[1:] - intercepts[:1]
        return slopes, intercepts

    def _distances(self, X: Any) -> np.ndarray:
        feature_weights = np.r_[1.0, np.full(self.n_features_in_ - 1, self.rest)]
        differences = np.asarray(X, dtype=np.float64)[:, None, :] - self.means_[None]
        return (differences**2 * feature_weights).sum(axis=2)


class PerfectClassifier(ClassifierMixin, BaseEstimator):
    """Classifier that predicts `labels[i]`, where i is the value of the first feature."""

    def __init__(self, labels: Any = (0, 1)) -> None:
        self.labels = labels

    @override
    def fit(self, X: Any, y: Any) -> PerfectClassifier:
        self.classes_ = np.asarray(self.labels)
        return self

    @override
    def predict(self, X: Any) -> Any:
        return self.classes_[np.asarray(X)[:, 0].astype(int)]

    @override
    def predict_proba(self, X: Any) -> Any:
        return np.eye(len(self.classes_))[np.asarray(X)[:, 0].astype(int)]

    def taken_out(self, X: Any, y: Any) -> np.ndarray:
        """Return leave-one-out log-odds so large that the other class has probability 0."""
        return np.where(np.asarray(X)[:, 0] > 0, 800.0, -800.0)

    def degrees_of_freedom(self, X: Any) -> float:
        """Return 0, because the model learns nothing."""
        return 0.0


class PerfectRegressor(RegressorMixin, BaseEstimator):
    """Regressor that predicts the first feature, which is the target itself."""

    @override
    def fit(self, X: Any, y: Any) -> PerfectRegressor:
        self.n_features_in_ = np.shape(X)[1]
        return self

    @override
    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, 0]

    def taken_out(self, X: Any, y: Any) -> np.ndarray:
        """Return the leave-one-out predictions, which are the first feature."""
        return np.asarray(X)[:, 0]

    def degrees_of_freedom(self, X: Any) -> float:
        """Return 0, because the model learns nothing."""
        return 0.0


class SortedBagging(BaggingClassifier):
    """Bagging that draws its samples from sorted rows, so the order of the rows does not matter."""

    @override
    def fit(self, X: Any, y: Any) -> SortedBagging:
        X, y = np.asarray(X), np.asarray(y)
        self.order_ = np.lexsort(X.T)
        super().fit(X[self.order_], y[self.order_])
        return self

    @property
    @override
    def estimators_samples_(self) -> list[np.ndarray]:
        return [self.order_[drawn_rows] for drawn_rows in super().estimators_samples_]


def _mean(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    sum_of_weights = weights.sum()
    return (rows * weights[:, None]).sum(axis=0) / (sum_of_weights or 1.0)
