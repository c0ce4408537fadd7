"""A model around another one: what it says of columns is what the fitted one inside says."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

__all__ = ["Around"]


class Around(MetaEstimatorMixin, BaseEstimator):
    """A model that fits `estimator` in its own way and keeps the fitted one as `estimator_`."""

    @property
    def n_features_in_(self) -> int:
        """Columns seen in `fit`."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns seen in `fit`, if X was a frame."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.feature_names_in_)
