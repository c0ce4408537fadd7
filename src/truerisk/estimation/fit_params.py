"""Validate and route fit parameters: sample weights, groups and early-stopping sets.

A fit parameter is refused before the first fit if no estimator would receive it, or if it would
reveal rows that the fit is tested on.
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

ENSEMBLES_PASSING_WEIGHTS = (
    "sklearn.ensemble:VotingClassifier",
    "sklearn.ensemble:VotingRegressor",
    "sklearn.ensemble:StackingClassifier",
    "sklearn.ensemble:StackingRegressor",
)
"""Models that pass the sample weight to each of their base estimators."""

MODELS_NEEDING_ROUTING = (
    "sklearn.model_selection:FixedThresholdClassifier",
    "sklearn.model_selection:TunedThresholdClassifierCV",
    "sklearn.multiclass:OneVsOneClassifier",
    "sklearn.multiclass:OneVsRestClassifier",
    "sklearn.multiclass:OutputCodeClassifier",
)
"""Models that pass sample weights to the inner estimator only if metadata routing is enabled."""


def prepare_fit_params(
    family: Family, data: Data, sample_weight: Any, fit_params: Any
) -> dict[str, Any]:
    """Return the keyword arguments for the learner's `fit`, with sample weights and groups.

    Raise an error if they are invalid.
    """
    if not isinstance(fit_params, Mapping | None) or not all(
        isinstance(name, str) for name in fit_params or {}
    ):
        raise BadArgument(
            f"{mention('fit_params', fit_params)}: use a dict of what `fit` is given."
        )
    params = fit_params_with_weight(family.estimator, sample_weight, dict(fit_params or {}))
    if params:
        _refuse_row_params_with_resampler(family, params, data.n_rows)
        refuse_stopping_rows(params, data)
    if data.groups is not None:
        warn_of_split_groups(family, data)
    return add_inner_split_params(family, data, params)


def fit_params_with_weight(
    estimator: Any, sample_weight: Any, fit_params: dict[str, Any]
) -> dict[str, Any]:
    """Add the sample weight to the fit parameters; raise Refusal if the model takes no weights."""
    if sample_weight is None:
        return fit_params
    from sklearn import get_config

    if get_config()["enable_metadata_routing"]:
        return {**fit_params, "sample_weight": sample_weight}
    return {**fit_params, _weight_name(estimator): sample_weight}


def _weight_name(estimator: Any) -> str:
    """Return the name of the sample weight in `fit`: 'step__sample_weight' for a pipeline.

    Raise Refusal if the model takes no sample weight.
    """
    from sklearn.utils.validation import has_fit_parameter

    prefix, model = "", estimator
    while is_a(model, PIPELINE):
        step_name, model = model.steps[-1]
        prefix += f"{step_name}__"
    if is_a(model, *ENSEMBLES_PASSING_WEIGHTS):
        # The ensemble passes weights to its base estimators under the name "sample_weight" only.
        for base_estimator in _base_estimators(model):
            if _weight_name(base_estimator) != "sample_weight":
                raise Refusal(
                    f"{type(model).__name__} gives its parts the weight as sample_weight, and a "
                    "pipeline takes it by the name of a step: leave the weights out, or put the "
                    "pipeline around."
                )
        return prefix + "sample_weight"
    if is_a(model, *MODELS_NEEDING_ROUTING):
        raise Refusal(
            f"{type(model).__name__} hands sample_weight on with scikit-learn's metadata routing "
            "only: switch it on (sklearn.set_config(enable_metadata_routing=True)) and let the "
            "model inside ask for it (set_fit_request(sample_weight=True))."
        )
    inner_estimator = getattr(model, "estimator", getattr(model, "regressor", None))
    if inner_estimator is not None and not has_fit_parameter(model, "sample_weight"):
        # A meta-estimator passes fit parameters on to the inner estimator.
        return prefix + _weight_name(inner_estimator)
    if not has_fit_parameter(model, "sample_weight"):
        raise Refusal(
            f"{type(model).__name__}.fit takes no sample_weight, and the weights would be ignored: "
            "leave them out or use a model that takes them."
        )
    return prefix + "sample_weight"


def _base_estimators(model: Any) -> Iterator[Any]:
    yield from (
        base_estimator
        for _, base_estimator in model.estimators
        if not isinstance(base_estimator, str)
    )
    if getattr(model, "final_estimator", None) is not None:
        yield model.final_estimator


def _refuse_row_params_with_resampler(
    family: Family, fit_params: Mapping[str, Any], n_rows: int
) -> None:
    """Raise Refusal if fit parameters such as weights belong to rows and a step resamples rows.

    Pipelines of imbalanced-learn resample X and y only, and no other array with an entry per row.
    """
    if not family.is_piped:
        return
    row_param_names = [name for name, value in fit_params.items() if has_row_entries(value, n_rows)]
    fixed_steps = [step for name, step in family.estimator.steps if name not in family.named]
    grid_values = [value for setting in family.candidates for value in setting.values()]
    resamplers = {
        type(step_or_value).__name__
        for step_or_value in (*fixed_steps, *grid_values)
        if hasattr(step_or_value, "fit_resample")
    }
    if row_param_names and resamplers:
        raise Refusal(
            f"{', '.join(row_param_names)} has an entry for each row, and "
            f"{', '.join(sorted(resamplers))} "
            "changes the rows that the learner sees: what belongs to a row is lost there. Leave it "
            "out, or weigh the classes by class_weight= instead of resampling them."
        )


STOPPING_SET_NAMES = (
    "eval_set",
    "eval_X",
    "X_val",
)  # names of fit parameters that hold rows for early stopping
EARLY_STOPPING_CLASS = "truerisk.models.early_stopping:EarlyStopping"
# In histogram gradient boosting early_stopping="auto" means True above this number of rows.
MAX_ROWS_WITHOUT_STOPPING = 10_000
STOPPING_ADVICE = "tr.models.EarlyStopping(model) sets rows of each training set aside"


def refuse_stopping_rows(params: Mapping[str, Any], data: Data) -> None:
    """Raise Refusal if an early-stopping set holds rows of X, because every row of X is tested."""
    for name, value in params.items():
        if name.rpartition("__")[2] not in STOPPING_SET_NAMES or value is None:
            continue
        for table in _feature_tables(value):
            n_shared = _n_shared_rows(table, data.X)
            if n_shared is None:
                raise Refusal(
                    f"whether {name} holds rows of X cannot be seen ({type(table).__name__}): "
                    f"{STOPPING_ADVICE}."
                )
            if n_shared:
                raise Refusal(
                    f"{n_shared} rows of {name} are rows of X: they would say when fits end that "
                    f"are tested on them, and the estimate would be too good. {STOPPING_ADVICE}."
                )


def add_inner_split_params(family: Family, data: Data, params: dict[str, Any]) -> dict[str, Any]:
    """Add groups, times and blocks to the fit parameters of a learner that splits rows itself.

    Those that the user gave are kept. `EarlyStopping` uses the groups to hold rows out. A search of
    this package also uses the times and the blocks.
    """
    is_truerisk_search = is_honest_search(family.last)
    if not is_truerisk_search and not is_a(family.last, EARLY_STOPPING_CLASS):
        return params
    row_arrays: dict[str, Any] = {"groups": data.groups}
    if is_truerisk_search:
        row_arrays |= {"time": data.time, "block": data.block}
        if data.block is not None and data.places is None:
            row_arrays["groups"] = None  # The groups only repeat the block labels.
    from sklearn import get_config

    prefix = "" if get_config()["enable_metadata_routing"] else family.prefix
    row_params = {prefix + name: rows for name, rows in row_arrays.items() if rows is not None}
    given_names = {name.rpartition("__")[2] for name in params}
    return {
        n: rows for n, rows in row_params.items() if n.rpartition("__")[2] not in given_names
    } | params


def warn_of_split_groups(family: Family, data: Data) -> None:
    """Warn if a learner's early stopping holds out single rows although groups are given."""
    if not any(_draws_stopping_rows(setting, data.n_rows) for setting in family.settings):
        return
    warn(
        f"{family.name} sets rows of each training set aside at random, and groups are given: "
        "it is ended by rows whose group it was fitted on, and so too late. "
        "tr.models.EarlyStopping(model) keeps groups together.",
        TrueRiskWarning,
    )


def _draws_stopping_rows(setting: Mapping[str, Any], n_rows: int) -> bool:
    """Return True if scikit-learn holds out random rows to stop fits with this setting early."""
    if "validation_fraction" not in setting or setting["validation_fraction"] is None:
        return False
    if "early_stopping" in setting:
        early_stopping = setting["early_stopping"]
        return early_stopping is True or (
            early_stopping == "auto" and n_rows > MAX_ROWS_WITHOUT_STOPPING
        )
    return setting.get("n_iter_no_change") is not None


def _feature_tables(value: Any) -> Iterator[Any]:
    """Yield the feature tables in an `eval_set`, given as a pair (X, y) or as a list of pairs.

    Any other value is yielded unchanged.
    """
    if not isinstance(value, list | tuple):
        yield value
    elif all(isinstance(member, list | tuple) for member in value):
        yield from (pair[0] for pair in value)
    else:
        yield value[0]


def _n_shared_rows(table: Any, X: Any) -> int | None:
    """Count the rows of a table that equal a row of X; return None if it cannot be read."""
    table_columns, X_columns = _columns(table), _columns(X)
    if table_columns is None or X_columns is None:
        return None
    if len(table_columns) != len(X_columns):
        return 0
    codes_by_column = [
        _encode_cells(X_column, table_column)
        for X_column, table_column in zip(X_columns, table_columns, strict=True)
    ]
    if not codes_by_column:
        return 0
    n_rows = len(X_columns[0])
    row_codes = np.unique(np.column_stack(codes_by_column), axis=0, return_inverse=True)[1].ravel()
    return int(np.isin(row_codes[n_rows:], row_codes[:n_rows]).sum())


def _columns(table: Any) -> list[np.ndarray] | None:
    if hasattr(table, "columns") and hasattr(table, "shape"):
        return column_arrays(table)
    if hasattr(table, "toarray"):
        table = table.toarray()
    if not isinstance(table, np.ndarray | list):
        return None
    array = np.asarray(table)
    return list(array.T) if array.ndim == 2 else None


def _encode_cells(X_cells: np.ndarray, table_cells: np.ndarray) -> np.ndarray:
    """Encode one column of both tables as integers, so that equal cells get equal codes."""
    are_numeric = all(column.dtype.kind in "biuf" for column in (X_cells, table_cells))
    if are_numeric:
        cells = np.concatenate([X_cells.astype(np.float64), table_cells.astype(np.float64)])
    else:
        cells = np.array(
            [str(cell) for column in (X_cells, table_cells) for cell in column.tolist()]
        )
    return np.unique(cells, return_inverse=True)[1].ravel()
