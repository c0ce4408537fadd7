"""LightGBM with its categorical columns as a parameter; importing this module imports lightgbm."""

from __future__ import annotations

from typing import Any

from lightgbm import LGBMClassifier, LGBMRegressor

CATEGORICAL_PARAMETER = "categorical_feature"


class _WithCategoricalColumns:
    """Mixin that adds the parameter `categorical_feature`, which LightGBM accepts only in ``fit``.

    In a pipeline it could not be passed to ``fit`` without further work.
    """

    def fit(self, X: Any, y: Any, **params: Any) -> Any:
        """Fit LightGBM with the categorical columns from the parameter `categorical_feature`.

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
        categorical_columns = self.get_params().get(CATEGORICAL_PARAMETER)  # type: ignore[attr-defined]
        if categorical_columns is not None:
            params = {CATEGORICAL_PARAMETER: list(categorical_columns), **params}
        return super().fit(X, y, **params)  # type: ignore[misc]

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Return the parameters for LightGBM's core library, without `categorical_feature`.

        The core library would warn of this parameter, because it belongs to ``fit``.
        """
        core_params: dict[str, Any] = super()._process_params(stage)  # type: ignore[misc]
        core_params.pop(CATEGORICAL_PARAMETER, None)
        return core_params


class CategoricalLGBMClassifier(_WithCategoricalColumns, LGBMClassifier):
    """LGBMClassifier with a parameter `categorical_feature`: positions of categorical columns."""


class CategoricalLGBMRegressor(_WithCategoricalColumns, LGBMRegressor):
    """LGBMRegressor with a parameter `categorical_feature`: positions of categorical columns."""
