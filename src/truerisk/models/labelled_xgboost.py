"""XGBoost's classifier for arbitrary labels; importing this module imports xgboost."""

from __future__ import annotations

from typing import Any

import numpy as np
from xgboost import XGBClassifier


class LabelledXGBClassifier(XGBClassifier):
    """XGBClassifier for arbitrary labels, instead of the class numbers 0, 1, … only.

    The labels of the training rows are numbered in sorted order, so that a class that is absent
    from them is no error either. Everything else, parameters and predictions, is that of XGBoost.
    """

    labels_: np.ndarray

    def fit(self, X: Any, y: Any, **params: Any) -> LabelledXGBClassifier:
        """Fit on the numbers of the classes; `params` are those of XGBClassifier.

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
            eval_set = [(one, _codes(labels, of)) for one, of in params["eval_set"]]
            params = {**params, "eval_set": eval_set}
        super().fit(X, codes, **params)
        self.labels_ = labels
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The labels in the order of the columns of probabilities."""
        # During `fit`, XGBoost sets the classes to the codes 0, 1, ...
        held: np.ndarray = vars(self).get("labels_", super().classes_)
        return held

    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """Return the label of each row; `params` are those of XGBClassifier.

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
        """Return the probability of each class; `params` are those of XGBClassifier.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
        **params
            Of ``XGBClassifier.predict_proba``.

        Returns
        -------
        array, shape (n_samples, n_classes)
        """
        shares = np.asarray(super().predict_proba(X, **params))
        # XGBoost treats a single class as two.
        return shares if len(self.labels_) > 1 else np.ones((len(shares), 1), shares.dtype)


def _codes(labels: np.ndarray, y: Any) -> np.ndarray:
    """Return the numbers of these labels.

    Raise for labels without a training row, as XGBoost does.
    """
    given = np.asarray(y)
    strange = np.setdiff1d(given, labels)
    if len(strange):
        raise ValueError(f"eval_set has the label {strange[0]}, and no training row has.")
    return np.searchsorted(labels, given)
