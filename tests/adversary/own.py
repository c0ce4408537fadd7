"""Classes of a user's own: named like scikit-learn's or made from them, and different in effect."""

import numpy as np
from sklearn import discriminant_analysis, linear_model, neighbors, preprocessing
from sklearn.base import BaseEstimator, TransformerMixin

__all__ = [
    "Halving",
    "KNeighborsClassifier",
    "LinearDiscriminantAnalysis",
    "Mirrored",
    "Normalizer",
    "Ridge",
    "StandardScaler",
]


class StandardScaler(TransformerMixin, BaseEstimator):
    """Takes the largest training row from every row, and squares."""

    def fit(self, X, y=None):
        self.largest_ = np.asarray(X, dtype=float).max(axis=0)
        return self

    def transform(self, X):
        return (np.asarray(X, dtype=float) - self.largest_) ** 2


class Normalizer(TransformerMixin, BaseEstimator):
    """Divides by the first training row's length; scikit-learn's looks at no other row."""

    def fit(self, X, y=None):
        self.length_ = 1.0 + np.abs(np.asarray(X, dtype=float)[0]).sum()
        return self

    def transform(self, X):
        return np.asarray(X, dtype=float) / self.length_ + self.length_


class Halving(preprocessing.MinMaxScaler):
    """A subclass that halves its first column once more."""

    def transform(self, X):
        found = super().transform(X)
        found[:, 0] /= 2
        return found


class Mirrored(preprocessing.StandardScaler):
    """A subclass that shows absolute values."""

    def transform(self, X, copy=None):
        return np.abs(super().transform(X, copy))


class KNeighborsClassifier(neighbors.KNeighborsClassifier):
    """A subclass under the same name that answers with the class after the one found."""

    def predict(self, X):
        found = np.searchsorted(self.classes_, super().predict(X))
        return self.classes_[(found + 1) % len(self.classes_)]


class LinearDiscriminantAnalysis(discriminant_analysis.LinearDiscriminantAnalysis):
    """A subclass under the same name that forgets its last training row."""

    def fit(self, X, y):
        return super().fit(X[:-1], y[:-1])


class Ridge(linear_model.Ridge):
    """A subclass under the same name whose answers are one too large."""

    def predict(self, X):
        return super().predict(X) + 1.0
