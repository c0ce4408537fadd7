"""CatBoost with categorical columns that scikit-learn can clone; importing it imports catboost."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from catboost import CatBoostClassifier, CatBoostRegressor


class _CloneableCatBoost:
    """Mixin that lets ``clone`` copy a CatBoost model with a list of `cat_features`.

    CatBoost copies the list, and ``clone`` would take the copy for another value and raise.
    """

    def __sklearn_clone__(self) -> Any:
        return type(self)(**deepcopy(self.get_params()))  # type: ignore[attr-defined]


class CategoricalCatBoostClassifier(_CloneableCatBoost, CatBoostClassifier):
    """CatBoostClassifier that ``clone`` can copy if `cat_features` is a list of columns."""


class CategoricalCatBoostRegressor(_CloneableCatBoost, CatBoostRegressor):
    """CatBoostRegressor that ``clone`` can copy if `cat_features` is a list of columns."""
