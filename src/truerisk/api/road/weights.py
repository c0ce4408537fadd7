"""How sample weights reach a fit: by name where the model takes them, by step in a pipeline.

Where they cannot reach it, that is said before anything is fitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.identity import PIPELINE, is_a
from truerisk.core.table.data import has_row_entries

__all__ = ["fit_params_with_weight", "refuse_behind_resampling"]

PARTED = (
    "sklearn.ensemble:VotingClassifier",
    "sklearn.ensemble:VotingRegressor",
    "sklearn.ensemble:StackingClassifier",
    "sklearn.ensemble:StackingRegressor",
)
"""Models that give the weight to every part of theirs."""

ROUTED = (
    "sklearn.model_selection:FixedThresholdClassifier",
    "sklearn.model_selection:TunedThresholdClassifierCV",
    "sklearn.multiclass:OneVsOneClassifier",
    "sklearn.multiclass:OneVsRestClassifier",
    "sklearn.multiclass:OutputCodeClassifier",
)
"""Models that hand a weight to the model inside with metadata routing only."""


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
    if is_a(model, *PARTED):
        return prefix + _name_in_parts(model)
    if is_a(model, *ROUTED):
        raise Refusal(
            f"{type(model).__name__} hands sample_weight on with scikit-learn's metadata routing "
            "only: switch it on (sklearn.set_config(enable_metadata_routing=True)) and let the "
            "model inside ask for it (set_fit_request(sample_weight=True))."
        )
    inner = getattr(model, "estimator", getattr(model, "regressor", None))
    if inner is not None and not has_fit_parameter(model, "sample_weight"):
        return prefix + _name(inner)  # a search or wrapper that hands fit parameters on
    if not has_fit_parameter(model, "sample_weight"):
        raise Refusal(
            f"{type(model).__name__}.fit takes no sample_weight, and a weight that is ignored "
            "would be a lie: leave the weights out or use a model that takes them."
        )
    return prefix + "sample_weight"


def _name_in_parts(model: Any) -> str:
    """The name by which every part takes the weight, which is one and the same."""
    for part in _parts(model):
        if _name(part) != "sample_weight":
            raise Refusal(
                f"{type(model).__name__} gives its parts the weight as sample_weight, and a "
                "pipeline takes it by the name of a step: leave the weights out, or put the "
                "pipeline around."
            )
    return "sample_weight"


def _parts(model: Any) -> Iterator[Any]:
    yield from (part for _, part in model.estimators if not isinstance(part, str))
    if getattr(model, "final_estimator", None) is not None:
        yield model.final_estimator


def refuse_behind_resampling(family: Family, fit_params: Mapping[str, Any], n_rows: int) -> None:
    """Refuse what belongs to rows (weights) where a step changes the rows that the learner sees.

    imbalanced-learn's pipelines resample X and y, and nothing that travels with them.
    """
    of_rows = [name for name, value in fit_params.items() if has_row_entries(value, n_rows)]
    steps = _resampling(family) if of_rows else []
    if steps:
        raise Refusal(
            f"{', '.join(of_rows)} has an entry for each row, and {', '.join(steps)} changes the "
            "rows that the learner sees: what belongs to a row is lost there. Leave it out, or "
            "weigh the classes by class_weight= instead of resampling them."
        )


def _resampling(family: Family) -> list[str]:
    """The steps of a pipeline, as given or as the grid has them, that resample rows."""
    if not family.is_piped:
        return []
    kept = [step for name, step in family.estimator.steps if name not in family.named]
    put = [value for given in family.candidates for value in given.values()]
    return sorted({type(one).__name__ for one in (*kept, *put) if hasattr(one, "fit_resample")})
