"""LightGBM with its categorical columns as a parameter; importing it imports lightgbm."""

from __future__ import annotations

from typing import Any

from lightgbm import LGBMClassifier, LGBMRegressor

LEVELS = "categorical_feature"


class _Levelled:
    """LightGBM with `categorical_feature`, which it accepts only in ``fit``, as a parameter.

    A pipeline does not pass it to ``fit``.
    """

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
        """Return the parameters of LightGBM's core, without the one that belongs to ``fit``.

        The core would warn of it.
        """
        given: dict[str, Any] = super()._process_params(stage)  # type: ignore[misc]
        given.pop(LEVELS, None)
        return given


class LevelledLGBMClassifier(_Levelled, LGBMClassifier):
    """LGBMClassifier with a parameter `categorical_feature`: positions of categorical columns."""


class LevelledLGBMRegressor(_Levelled, LGBMRegressor):
    """LGBMRegressor with a parameter `categorical_feature`: positions of categorical columns."""
