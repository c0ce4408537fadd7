"""Columns of X that a fitted model uses: its steps keep them and its learner gives them weight.

A step keeps columns (a scaler), selects some (`get_support`), makes several from one (an encoder),
or treats some separately (`ColumnTransformer`, `FeatureUnion`). If a step mixes columns, as
principal components do, the columns that the model uses are unknown. A learner uses the columns
with nonzero coefficients (`coef_`) or a positive importance (`feature_importances_`). A combination
of models uses what any of them uses. Any other learner uses all columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
from sklearn.base import clone

from truerisk.core.errors import Refusal
from truerisk.core.identity import PIPELINE, find_class_entry, is_a
from truerisk.data.rows import n_columns
from truerisk.models.stated.question import predicts_with_best_estimator

ColumnOrigins = list[int]
"""Origin of every column of a transformed table: the position in X of the column it comes from."""


def selected_features(model: Any, n_columns: int) -> np.ndarray:
    """Return a boolean mask of the columns of X that the fitted model uses.

    Raise Refusal with the reason if this is unknown. A search uses the columns that its best model
    uses.

    >>> from sklearn.linear_model import Lasso
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> selected_features(Lasso(0.1).fit(X, X[:, 0]), 2).tolist()
    [True, False]
    """
    origins = np.array(_origins_used(model, list(range(n_columns))), dtype=np.intp)
    is_used = np.zeros(n_columns, dtype=bool)
    is_used[origins] = True
    return is_used


def n_features_before_learner(model: Any, X: Any, y: Any) -> int | None:
    """Return the largest number of features that X has on its way through the steps to the learner.

    This is the number of coefficients that a linear model would have. A text column counts once per
    category. For this purpose the steps are fitted on all rows, and warnings are suppressed,
    because other fits have already given them. The result is None if X has no columns.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> pipeline = make_pipeline(OneHotEncoder(), "passthrough")
    >>> n_features_before_learner(pipeline, np.eye(3)[:, :1], None)
    2
    """
    largest_n_columns = n_columns(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _, step in model.steps[:-1] if is_a(model, PIPELINE) and largest_n_columns else ():
            # A "passthrough" step and a step that resamples rows have no `transform`.
            if hasattr(step, "transform"):
                X = clone(step).fit(X, y).transform(X)
                largest_n_columns = max(largest_n_columns or 0, n_columns(X) or 0)
    return largest_n_columns


def _origins_used(model: Any, origins: ColumnOrigins) -> ColumnOrigins:
    if predicts_with_best_estimator(model):
        return _origins_used(model.best_estimator_, origins)
    if is_a(model, PIPELINE):
        return _origins_used(model.steps[-1][1], _origins_after_step(model[:-1], origins))
    get_inner_models = find_class_entry(model, WRAPPED_MODEL_GETTERS)
    if get_inner_models is not None:
        return sorted(
            {
                origin
                for inner_model in get_inner_models(model)
                for origin in _origins_used(inner_model, origins)
            }
        )
    weights = _columns_with_weight(model)
    if weights is not None:
        return _origins_in_mask(model, origins, weights)
    if any(hasattr(inner_model, "fit") for inner_model in model.get_params(deep=False).values()):
        raise Refusal(
            f"{type(model).__name__} holds other models: which columns these use is not known."
        )
    return origins


def _columns_with_weight(model: Any) -> np.ndarray | None:
    """Return a mask of the columns to which the learner gives a weight.

    Return None if the learner has no weights.
    """
    if hasattr(model, "coef_"):
        coefficients = model.coef_
        dense_coefficients = (
            coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
        )
        return np.asarray(np.atleast_2d(np.asarray(dense_coefficients) != 0).any(axis=0))
    # Forests of scikit-survival raise NotImplementedError for their importances.
    with suppress(NotImplementedError):
        if hasattr(model, "feature_importances_"):
            return np.asarray(model.feature_importances_) > 0
    return None


def _origins_after_step(step: Any, origins: ColumnOrigins) -> ColumnOrigins:
    """Return, for each column that a step produces, the columns of X from which it comes."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return origins
    if is_a(step, PIPELINE):
        for _, inner_step in step.steps:
            origins = _origins_after_step(inner_step, origins)
        return origins
    origin_formula = find_class_entry(step, ORIGIN_FORMULAS)
    if origin_formula is not None:
        return origin_formula(step, origins)
    if hasattr(step, "get_support"):
        return _origins_in_mask(step, origins, np.asarray(step.get_support()))
    if is_a(step, "sklearn.base:OneToOneFeatureMixin"):
        return origins
    raise Refusal(
        f"{type(step).__name__} makes columns of several others: which of them were selected is "
        "not known."
    )


def _origins_in_mask(model: Any, origins: ColumnOrigins, mask: np.ndarray) -> ColumnOrigins:
    if len(mask) != len(origins):
        raise Refusal(
            f"{type(model).__name__} speaks of {len(mask)} columns and was given {len(origins)}: "
            "which of them were selected is not known."
        )
    return [
        origin for origin, is_selected in zip(origins, mask.tolist(), strict=True) if is_selected
    ]


def _origins_of_encoder(encoder: Any, origins: ColumnOrigins) -> ColumnOrigins:
    """Return the origins in X of a one-hot encoder's columns, one for each category that is kept.

    Dropped categories have no column, and rare categories share one column.
    """
    dropped_categories = encoder.drop_idx_
    rare_categories = getattr(encoder, "infrequent_categories_", None)
    origins_by_column = []
    for j, (origin, categories) in enumerate(zip(origins, encoder.categories_, strict=True)):
        n_categories = len(categories) - (
            dropped_categories is not None and dropped_categories[j] is not None
        )
        n_merged = (
            0
            if rare_categories is None or rare_categories[j] is None
            else len(rare_categories[j]) - 1
        )
        origins_by_column.append([origin] * (n_categories - n_merged))
    return list(chain.from_iterable(origins_by_column))


def _origins_of_imputer(imputer: Any, origins: ColumnOrigins) -> ColumnOrigins:
    """Return the origins of an imputer's columns.

    An imputer drops empty columns and may append missing-value indicators.
    """
    indicator_columns = [] if imputer.indicator_ is None else imputer.indicator_.features_.tolist()
    is_empty = [
        isinstance(value, float) and value != value for value in imputer.statistics_.tolist()
    ]
    keeps_empty = getattr(imputer, "keep_empty_features", False)
    kept_origins = [
        origin
        for origin, is_dropped in zip(origins, is_empty, strict=True)
        if keeps_empty or not is_dropped
    ]
    return kept_origins + [origins[j] for j in indicator_columns]


def _origins_of_function(step: Any, origins: ColumnOrigins) -> ColumnOrigins:
    """Return the origins in X of a FunctionTransformer's columns.

    Raise Refusal unless the columns correspond one to one to those of the input.
    """
    if step.func is None or step.feature_names_out == "one-to-one":
        return origins
    raise Refusal("a FunctionTransformer without feature_names_out='one-to-one' may mix columns.")


def _origins_of_transformers(
    steps_with_columns: Iterable[tuple[Any, Sequence[int]]], origins: ColumnOrigins
) -> ColumnOrigins:
    origins_by_step = (
        _origins_after_step(step, [origins[j] for j in columns])
        for step, columns in steps_with_columns
        if not (isinstance(step, str) and step == "drop")
    )
    return list(chain.from_iterable(origins_by_step))


def _origins_of_column_transformer(step: Any, origins: ColumnOrigins) -> ColumnOrigins:
    position_of_name = {name: j for j, name in enumerate(getattr(step, "feature_names_in_", ()))}
    # scikit-learn 1.6 warns when the specification of the remainder is read.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        steps_with_columns = [
            (transformer, _selected_positions(columns, position_of_name, len(origins)))
            for _, transformer, columns in step.transformers_
        ]
    return _origins_of_transformers(steps_with_columns, origins)


def _selected_positions(selector: Any, position_of_name: Mapping[str, int], n: int) -> list[int]:
    """Return the column positions that one transformer of a ColumnTransformer selects."""
    if isinstance(selector, slice):
        slice_ends = [
            position_of_name.get(slice_end, slice_end)
            for slice_end in (selector.start, selector.stop)
        ]
        # Slices of column names include their end.
        slice_stop = slice_ends[1] + 1 if isinstance(selector.stop, str) else slice_ends[1]
        return list(range(n))[slice(slice_ends[0], slice_stop, selector.step)]
    selector_entries = np.atleast_1d(np.asarray(selector, dtype=object)).tolist()
    if selector_entries and all(
        isinstance(selector_entry, bool | np.bool_) for selector_entry in selector_entries
    ):
        return np.flatnonzero(selector_entries).tolist()
    return [
        position_of_name[selector_entry]
        if isinstance(selector_entry, str)
        else range(n)[int(selector_entry)]
        for selector_entry in selector_entries
    ]


def _origins_of_union(step: Any, origins: ColumnOrigins) -> ColumnOrigins:
    columns = range(len(origins))
    return _origins_of_transformers(
        ((transformer, columns) for _, transformer in step.transformer_list), origins
    )


def _wrapped_estimator_getter(name: str) -> Callable[[Any], list[Any]]:
    return lambda model: [getattr(model, name)]


WRAPPED_MODEL_GETTERS: Mapping[str, Callable[[Any], list[Any]]] = {
    "sklearn.calibration:CalibratedClassifierCV": lambda model: [
        calibrated.estimator for calibrated in model.calibrated_classifiers_
    ],
    "sklearn.compose:TransformedTargetRegressor": _wrapped_estimator_getter("regressor_"),
    "sklearn.ensemble:VotingClassifier": lambda model: list(model.estimators_),
    "sklearn.ensemble:VotingRegressor": lambda model: list(model.estimators_),
    "sklearn.model_selection:FixedThresholdClassifier": _wrapped_estimator_getter("estimator_"),
    "sklearn.model_selection:TunedThresholdClassifierCV": _wrapped_estimator_getter("estimator_"),
    "truerisk.models.early_stopping:EarlyStopping": _wrapped_estimator_getter("estimator_"),
}

ORIGIN_FORMULAS: Mapping[str, Callable[[Any, ColumnOrigins], ColumnOrigins]] = {
    "sklearn.preprocessing:OneHotEncoder": _origins_of_encoder,
    "sklearn.preprocessing:FunctionTransformer": _origins_of_function,
    "sklearn.impute:SimpleImputer": _origins_of_imputer,
    "sklearn.compose:ColumnTransformer": _origins_of_column_transformer,
    "sklearn.pipeline:FeatureUnion": _origins_of_union,
}
