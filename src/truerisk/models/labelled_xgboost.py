"""XGBoost's classifier for labels of any kind; importing this module imports xgboost."""

from __future__ import annotations

from typing import Any

import numpy as np
from xgboost import XGBClassifier


class LabelledXGBClassifier(XGBClassifier):
    """XGBClassifier that accepts labels of any kind, not only the class codes 0, 1, 2, ...

    The labels of the training rows are numbered in sorted order, so that a class that is absent
    from them is no error either. Everything else, parameters and predictions, is that of XGBoost.
    """

    labels_: np.ndarray

    def fit(self, X: Any, y: Any, **params: Any) -> LabelledXGBClassifier:
        """Fit XGBClassifier on class codes; `params` are passed to `XGBClassifier.fit`.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
        y : array, shape (n_samples,)
        **params
            Of ``XGBClassifier.fit``.

        Returns
        -------
        LabelledXGBClassifier
        """
        if hasattr(self, "labels_"):
            del self.labels_
        labels, codes = np.unique(np.asarray(y), return_inverse=True)
        if params.get("eval_set") is not None:
            eval_set = [
                (X_eval, _encode_labels(labels, y_eval)) for X_eval, y_eval in params["eval_set"]
            ]
            params = {**params, "eval_set": eval_set}
        super().fit(X, codes, **params)
        self.labels_ = labels
        return self

    @property
    def classes_(self) -> np.ndarray:
        """Class labels, in the order of the columns of the predicted probabilities."""
        # During `fit`, `labels_` is missing, and XGBoost's codes 0, 1, ... are returned instead.
        class_labels: np.ndarray = vars(self).get("labels_", super().classes_)
        return class_labels

    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """Predict the label of each row; `params` are passed to `XGBClassifier.predict`.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
        **params
            Of ``XGBClassifier.predict``.

        Returns
        -------
        array, shape (n_samples,)
        """
        codes = np.asarray(super().predict(X, **params))
        return codes if params.get("output_margin") else self.labels_[codes]

    def predict_proba(self, X: Any, **params: Any) -> np.ndarray:
        """Return the class probabilities; `params` are passed to `XGBClassifier.predict_proba`.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
        **params
            Of ``XGBClassifier.predict_proba``.

        Returns
        -------
        array, shape (n_samples, n_classes)
        """
        probabilities = np.asarray(super().predict_proba(X, **params))
        # If there is a single class, XGBoost returns probabilities of two classes.
        return (
            probabilities
            if len(self.labels_) > 1
            else np.ones((len(probabilities), 1), probabilities.dtype)
        )


def _encode_labels(labels: np.ndarray, y: Any) -> np.ndarray:
    """Return the code of each label of y: its position among the sorted training labels.

    Raise ValueError for labels without a training row, as XGBoost does.
    """
    y_labels = np.asarray(y)
    unknown_labels = np.setdiff1d(y_labels, labels)
    if len(unknown_labels):
        raise ValueError(f"eval_set has the label {unknown_labels[0]}, and no training row has.")
    return np.searchsorted(labels, y_labels)
