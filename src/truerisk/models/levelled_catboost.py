"""CatBoost with columns of levels that scikit-learn can clone; importing it imports catboost."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from catboost import CatBoostClassifier, CatBoostRegressor


class _Levelled:
    """CatBoost copies its `cat_features`, and ``clone`` takes the copy for another value."""

    def __sklearn_clone__(self) -> Any:
        return type(self)(**deepcopy(self.get_params()))  # type: ignore[attr-defined]


class LevelledCatBoostClassifier(_Levelled, CatBoostClassifier):
    """CatBoostClassifier, which can be cloned with a list of `cat_features`."""


class LevelledCatBoostRegressor(_Levelled, CatBoostRegressor):
    """CatBoostRegressor, which can be cloned with a list of `cat_features`."""
