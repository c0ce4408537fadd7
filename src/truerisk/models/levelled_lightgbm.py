"""LightGBM with its columns of levels named as a parameter; importing it imports lightgbm."""

from __future__ import annotations

from typing import Any

from lightgbm import LGBMClassifier, LGBMRegressor

LEVELS = "categorical_feature"


class _Levelled:
    """LightGBM takes `categorical_feature` in ``fit`` only, where a pipeline does not give it."""

    def fit(self, X: Any, y: Any, **params: Any) -> Any:
        """Fit with the columns of levels that the parameter names.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
        y : array, shape (n_samples,)
        **params
            Of LightGBM's own ``fit``.

        Returns
        -------
        The model itself.
        """
        levels = self.get_params().get(LEVELS)  # type: ignore[attr-defined]
        if levels is not None:
            params = {LEVELS: list(levels), **params}
        return super().fit(X, y, **params)  # type: ignore[misc]

    def _process_params(self, stage: str) -> dict[str, Any]:
        """What its core is given, which would warn of a parameter that belongs to ``fit``."""
        given: dict[str, Any] = super()._process_params(stage)  # type: ignore[misc]
        given.pop(LEVELS, None)
        return given


class LevelledLGBMClassifier(_Levelled, LGBMClassifier):
    """LGBMClassifier with a parameter `categorical_feature`: positions of columns of levels."""


class LevelledLGBMRegressor(_Levelled, LGBMRegressor):
    """LGBMRegressor with a parameter `categorical_feature`: positions of columns of levels."""
