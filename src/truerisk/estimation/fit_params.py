"""Validate and route fit parameters: sample weights, groups and early-stopping sets.

A parameter is refused before the first fit if it cannot reach the fit, or if it would reveal rows
that the fit is tested on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, Refusal, TrueRiskWarning, warn
from truerisk.core.family import Family
from truerisk.core.identity import PIPELINE, is_a, is_honest_search
from truerisk.data.data import Data, has_row_entries
from truerisk.data.rows import column_arrays

PARTED = (
    "sklearn.ensemble:VotingClassifier",
    "sklearn.ensemble:VotingRegressor",
    "sklearn.ensemble:StackingClassifier",
    "sklearn.ensemble:StackingRegressor",
)
"""Models that pass the sample weight to each of their base estimators."""

ROUTED = (
    "sklearn.model_selection:FixedThresholdClassifier",
    "sklearn.model_selection:TunedThresholdClassifierCV",
    "sklearn.multiclass:OneVsOneClassifier",
    "sklearn.multiclass:OneVsRestClassifier",
    "sklearn.multiclass:OutputCodeClassifier",
)
"""Models that pass a sample weight to the inner estimator with metadata routing only."""


def params_of_fits(
    family: Family, data: Data, sample_weight: Any, fit_params: Any
) -> dict[str, Any]:
    """Return all keyword arguments of each fit of a family."""
    if not isinstance(fit_params, Mapping | None) or not all(
        isinstance(name, str) for name in fit_params or {}
    ):
        raise BadArgument(
            f"{mention('fit_params', fit_params)}: use a dict of what `fit` is given."
        )
    params = fit_params_with_weight(family.estimator, sample_weight, dict(fit_params or {}))
    if params:
        _refuse_behind_resampling(family, params, data.n_rows)
        refuse_stopping_rows(params, data)
    if data.groups is not None:
        warn_of_cut_groups(family, data)
    return with_rows_inside(family, data, params)


def fit_params_with_weight(
    estimator: Any, sample_weight: Any, fit_params: dict[str, Any]
) -> dict[str, Any]:
    """Add the sample weight to the fit parameters. A model that takes no weights is refused."""
    if sample_weight is None:
        return fit_params
    from sklearn import get_config

    if get_config()["enable_metadata_routing"]:
        return {**fit_params, "sample_weight": sample_weight}
    return {**fit_params, _name(estimator): sample_weight}


def _name(estimator: Any) -> str:
    """Return 'sample_weight', or 'step__sample_weight' for the last step of a pipeline."""
    from sklearn.utils.validation import has_fit_parameter

    prefix, model = "", estimator
    while is_a(model, PIPELINE):
        step, model = model.steps[-1]
        prefix += f"{step}__"
    if is_a(model, *PARTED):
        # All base estimators receive the weight under the name "sample_weight".
        for part in _parts(model):
            if _name(part) != "sample_weight":
                raise Refusal(
                    f"{type(model).__name__} gives its parts the weight as sample_weight, and a "
                    "pipeline takes it by the name of a step: leave the weights out, or put the "
                    "pipeline around."
                )
        return prefix + "sample_weight"
    if is_a(model, *ROUTED):
        raise Refusal(
            f"{type(model).__name__} hands sample_weight on with scikit-learn's metadata routing "
            "only: switch it on (sklearn.set_config(enable_metadata_routing=True)) and let the "
            "model inside ask for it (set_fit_request(sample_weight=True))."
        )
    inner = getattr(model, "estimator", getattr(model, "regressor", None))
    if inner is not None and not has_fit_parameter(model, "sample_weight"):
        # A meta-estimator passes fit parameters on to the inner estimator.
        return prefix + _name(inner)
    if not has_fit_parameter(model, "sample_weight"):
        raise Refusal(
            f"{type(model).__name__}.fit takes no sample_weight, and the weights would be ignored: "
            "leave them out or use a model that takes them."
        )
    return prefix + "sample_weight"


def _parts(model: Any) -> Iterator[Any]:
    yield from (part for _, part in model.estimators if not isinstance(part, str))
    if getattr(model, "final_estimator", None) is not None:
        yield model.final_estimator


def _refuse_behind_resampling(family: Family, fit_params: Mapping[str, Any], n_rows: int) -> None:
    """Refuse parameters with an entry per row (weights) if a step resamples the rows.

    Pipelines of imbalanced-learn resample X and y only, and no other array with an entry per row.
    """
    if not family.is_piped:
        return
    of_rows = [name for name, value in fit_params.items() if has_row_entries(value, n_rows)]
    plain_steps = [step for name, step in family.estimator.steps if name not in family.named]
    put = [value for setting in family.candidates for value in setting.values()]
    steps = {type(one).__name__ for one in (*plain_steps, *put) if hasattr(one, "fit_resample")}
    if of_rows and steps:
        raise Refusal(
            f"{', '.join(of_rows)} has an entry for each row, and {', '.join(sorted(steps))} "
            "changes the rows that the learner sees: what belongs to a row is lost there. Leave it "
            "out, or weigh the classes by class_weight= instead of resampling them."
        )


REQUESTED = ("eval_set", "eval_X", "X_val")  # names of fit parameters that hold early-stopping rows
STOPPER = "truerisk.models.early_stopping:EarlyStopping"
# early_stopping="auto" of histogram gradient boosting is True above this number of rows
MANY = 10_000
INSTEAD = "tr.models.EarlyStopping(model) sets rows of each training set aside"


def refuse_stopping_rows(params: Mapping[str, Any], data: Data) -> None:
    """Refuse early-stopping sets that hold rows of X, because every row of X is also tested."""
    for name, value in params.items():
        if name.rpartition("__")[2] not in REQUESTED or value is None:
            continue
        for table in _tables(value):
            n_known = _n_known(table, data.X)
            if n_known is None:
                raise Refusal(
                    f"whether {name} holds rows of X cannot be seen ({type(table).__name__}): "
                    f"{INSTEAD}."
                )
            if n_known:
                raise Refusal(
                    f"{n_known} rows of {name} are rows of X: they would say when fits end that "
                    f"are tested on them, and the estimate would be too good. {INSTEAD}."
                )


def with_rows_inside(family: Family, data: Data, params: dict[str, Any]) -> dict[str, Any]:
    """Pass groups, times and blocks to a learner that splits rows itself, unless they are given.

    `EarlyStopping` uses the groups to hold rows out. A search of this package also uses the times
    and the blocks.
    """
    ours = is_honest_search(family.last)
    if not ours and not is_a(family.last, STOPPER):
        return params
    row_arrays: dict[str, Any] = {"groups": data.groups}
    if ours:
        row_arrays |= {"time": data.time, "block": data.block}
        if data.block is not None and data.places is None:
            row_arrays["groups"] = None  # block labels were already copied to the groups
    from sklearn import get_config

    prefix = "" if get_config()["enable_metadata_routing"] else family.prefix
    own = {prefix + name: rows for name, rows in row_arrays.items() if rows is not None}
    own_names = {name.rpartition("__")[2] for name in params}
    return {n: rows for n, rows in own.items() if n.rpartition("__")[2] not in own_names} | params


def warn_of_cut_groups(family: Family, data: Data) -> None:
    """Warn if a learner's own early stopping holds out single rows although groups are given."""
    if not any(_draws(setting, data.n_rows) for setting in family.settings):
        return
    warn(
        f"{family.name} sets rows of each training set aside at random, and groups are given: "
        "it is ended by rows whose group it was fitted on, and so too late. "
        "tr.models.EarlyStopping(model) keeps groups together.",
        TrueRiskWarning,
    )


def _draws(setting: Mapping[str, Any], n_rows: int) -> bool:
    """Return True if a setting makes scikit-learn stop a fit early by rows that it draws."""
    if "validation_fraction" not in setting or setting["validation_fraction"] is None:
        return False
    if "early_stopping" in setting:
        early_stopping = setting["early_stopping"]
        return early_stopping is True or (early_stopping == "auto" and n_rows > MANY)
    return setting.get("n_iter_no_change") is not None


def _tables(value: Any) -> Iterator[Any]:
    """Yield the feature tables in an `eval_set`, given as a pair (X, y) or as a list of pairs.

    A value that is neither is yielded as it is.
    """
    if not isinstance(value, list | tuple):
        yield value
    elif all(isinstance(one, list | tuple) for one in value):
        yield from (pair[0] for pair in value)
    else:
        yield value[0]


def _n_known(table: Any, X: Any) -> int | None:
    """Count the rows of a table that are rows of X; return None if the table cannot be read."""
    theirs, ours = _columns(table), _columns(X)
    if theirs is None or ours is None:
        return None
    if len(theirs) != len(ours):
        return 0
    both = [_codes(a, b) for a, b in zip(ours, theirs, strict=True)]
    if not both:
        return 0
    n = len(ours[0])
    keys = np.unique(np.column_stack(both), axis=0, return_inverse=True)[1].ravel()
    return int(np.isin(keys[n:], keys[:n]).sum())


def _columns(table: Any) -> list[np.ndarray] | None:
    if hasattr(table, "columns") and hasattr(table, "shape"):
        return column_arrays(table)
    if hasattr(table, "toarray"):
        table = table.toarray()
    if not isinstance(table, np.ndarray | list):
        return None
    array = np.asarray(table)
    return list(array.T) if array.ndim == 2 else None


def _codes(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Encode one column of both tables as integers, so that equal cells get equal codes."""
    numbers = all(labels.dtype.kind in "biuf" for labels in (ours, theirs))
    if numbers:
        cells = np.concatenate([ours.astype(np.float64), theirs.astype(np.float64)])
    else:
        cells = np.array([str(cell) for labels in (ours, theirs) for cell in labels.tolist()])
    return np.unique(cells, return_inverse=True)[1].ravel()
