"""How sample weights reach a fit: by name where the model takes them, by step in a pipeline."""

from __future__ import annotations

from typing import Any

from truerisk.core.errors import Refusal
from truerisk.core.identity import PIPELINE, is_a

__all__ = ["fit_params_with_weight"]


def fit_params_with_weight(
    estimator: Any, sample_weight: Any, fit_params: dict[str, Any]
) -> dict[str, Any]:
    """Fit parameters that carry the weight; a model that takes none is refused, never ignored."""
    if sample_weight is None:
        return fit_params
    from sklearn import get_config

    if get_config()["enable_metadata_routing"]:
        return {**fit_params, "sample_weight": sample_weight}
    return {**fit_params, _name(estimator): sample_weight}


def _name(estimator: Any) -> str:
    """'sample_weight', or 'step__sample_weight' for the last step of a pipeline."""
    from sklearn.utils.validation import has_fit_parameter

    prefix, model = "", estimator
    while is_a(model, PIPELINE):
        step, model = model.steps[-1]
        prefix += f"{step}__"
    inner = getattr(model, "estimator", getattr(model, "regressor", None))
    if inner is not None and not has_fit_parameter(model, "sample_weight"):
        return prefix + _name(inner)  # a search or wrapper that hands fit parameters on
    if not has_fit_parameter(model, "sample_weight"):
        raise Refusal(
            f"{type(model).__name__}.fit takes no sample_weight, and a weight that is ignored "
            "would be a lie: leave the weights out or use a model that takes them."
        )
    return prefix + "sample_weight"
