"""Steps and coefficients of a model, the packages it comes from, and how it reweights classes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from truerisk.core import formats
from truerisk.core.identity import PIPELINE, is_a, is_from
from truerisk.data.rows import column_names, n_columns

# The methods paragraph lists at most this number of coefficients.
MAX_COEFFICIENTS = 30


def extract_coefficients(
    model: Any, X: Any, *, of_first_class: bool, horizon: float | None = None
) -> dict[str, float]:
    """Return the intercept and coefficients, by name, of a model whose last step is linear.

    The result is empty if the last step is not linear or has too many coefficients. In place of the
    intercept, a Cox model has the cumulative hazard at the horizon of a row whose columns are 0.

    Linear models of two classes refer to the second class; `of_first_class` changes the signs. For
    columns that are only scaled, coefficients are in the units of the columns.
    """
    previous_steps, learner = (model[:-1], model[-1]) if is_a(model, PIPELINE) else (None, model)
    coef, intercept = (
        np.ravel(getattr(learner, f"{attribute}_", ())) for attribute in ("coef", "intercept")
    )
    default_column_names = [f"column {k}" for k in range(n_columns(X) or 0)]
    names = [str(name) for name in column_names(X) or default_column_names]
    try:
        names = (
            names if previous_steps is None else list(previous_steps.get_feature_names_out(names))
        )
    # Some earlier step does not name its output columns.
    except (AttributeError, ValueError):
        return {}
    baseline_hazard = getattr(learner, "cum_baseline_hazard_", None)  # as in scikit-survival
    is_cox = horizon is not None and callable(baseline_hazard)
    if len(coef) != len(names) or len(coef) > MAX_COEFFICIENTS:
        return {}
    if is_cox:
        intercept = np.zeros(1)  # It collects what the scaled columns add to the baseline.
    elif len(intercept) != 1:
        return {}
    scaler = find_single_scaler(model)
    if scaler is not None and scaler.with_std:
        coef = coef / scaler.scale_
    if scaler is not None and scaler.with_mean:
        intercept = intercept - coef @ scaler.mean_
    values = np.array([*intercept, *coef], dtype=float) * (-1 if of_first_class else 1) + 0.0
    first_name = "intercept"
    if is_cox:
        assert baseline_hazard is not None
        values[0] = float(baseline_hazard(horizon)) * np.exp(values[0])
        first_name = f"baseline cumulative hazard at {horizon:.12g}"
    pairs = zip([first_name, *names], values.tolist(), strict=True)
    return {formats.escape_and_truncate(name, 40): value for name, value in pairs}


def find_single_scaler(model: Any) -> Any | None:
    """Return a pipeline's StandardScaler if no other step precedes the learner.

    Return None otherwise.
    """
    previous_steps: Any = model[:-1] if is_a(model, PIPELINE) else ()
    only_step = previous_steps[0] if len(previous_steps) == 1 else None
    return only_step if is_a(only_step, "sklearn.preprocessing:StandardScaler") else None


def model_with_nested_estimators(model: Any) -> list[Any]:
    """Return a list of the model and all its parameters, also those of nested estimators."""
    return [model, *model.get_params(deep=True).values()]


PACKAGES = ("sksurv", "imblearn", "xgboost", "lightgbm", "catboost")


def package_versions(model: Any) -> dict[str, str]:
    """Return the versions of the packages that define the model's classes, except scikit-learn."""
    package_names = [
        name
        for name in PACKAGES
        if any(
            is_from(nested_estimator, name)
            for nested_estimator in model_with_nested_estimators(model)
        )
    ]
    return {name: str(sys.modules[name].__version__) for name in package_names}


CLASS_WEIGHT_PARAMETERS = {
    "class_weight": None,
    "class_weights": None,
    "auto_class_weights": None,
    "is_unbalance": False,
    "scale_pos_weight": 1,
    "priors": None,
}
"""Names of estimators' parameters that weight classes, with the values that have no effect."""


def describe_rebalancing(model: Any) -> tuple[str, ...]:
    """Describe each parameter or step of the model that reweights or resamples classes."""
    descriptions = [
        f"{name}={formats.escape_and_truncate(str(nested_estimator.get_params()[name]), 40)} of "
        f"{type(nested_estimator).__name__}"
        for nested_estimator in model_with_nested_estimators(model)
        for name, neutral_value in CLASS_WEIGHT_PARAMETERS.items()
        if hasattr(nested_estimator, "get_params")
        and (weight := nested_estimator.get_params(deep=False).get(name))
        not in (None, neutral_value)
        and not (
            isinstance(weight, Mapping)
            and all(class_weight == 1 for class_weight in weight.values())
        )
    ]
    descriptions += [
        type(nested_estimator).__name__
        for nested_estimator in model_with_nested_estimators(model)
        if hasattr(nested_estimator, "fit_resample")
    ]
    return tuple(dict.fromkeys(descriptions))


def is_rebalancing_calibrated(model: Any) -> bool:
    """Return True if a CalibratedClassifierCV encloses every reweighting or resampling step."""
    calibrators = [
        nested_estimator
        for nested_estimator in model_with_nested_estimators(model)
        if is_a(nested_estimator, "sklearn.calibration:CalibratedClassifierCV")
    ]
    calibrated_descriptions = {
        description
        for nested_estimator in calibrators
        for description in describe_rebalancing(nested_estimator)
    }
    return bool(calibrators) and calibrated_descriptions == {*describe_rebalancing(model)}


def step_class_names(model: Any) -> tuple[str, ...]:
    """Return the class names of the steps of a model, with the learner's last."""
    if is_a(model, PIPELINE):
        return tuple(name for _, step in model.steps for name in step_class_names(step))
    # A step that is a string or None, such as "passthrough", does nothing.
    if model is None or isinstance(model, str):
        return () if model is None else (model,)
    return (formats.escape_and_truncate(type(model).__name__, 40),)


PENALISED = (
    "sklearn.linear_model:LogisticRegression",
    "sksurv.linear_model:CoxPHSurvivalAnalysis",
    "sksurv.linear_model:CoxnetSurvivalAnalysis",
)


def describe_penalty(model: Any) -> str:
    """Return the kind of penalty of a logistic or Cox regression, or "" for any other learner.

    >>> from sklearn.linear_model import LogisticRegression
    >>> describe_penalty(LogisticRegression(C=0.1))
    'ridge'
    """
    learner = model[-1] if is_a(model, PIPELINE) else model
    if not is_a(learner, *PENALISED):
        return ""
    settings = learner.get_params(deep=False)
    strength = settings.get("alpha", 1.0)
    is_penalised = settings.get("penalty", "") is not None and settings.get("C", 1.0) != np.inf
    if not is_penalised or (np.isscalar(strength) and strength == 0):
        return "unpenalised"
    # Recent versions of scikit-learn state the penalty by l1_ratio alone.
    l1_ratio = {"l1": 1.0, "l2": 0.0}.get(settings.get("penalty", ""), settings.get("l1_ratio"))
    return {None: "ridge", 0: "ridge", 1: "lasso"}.get(l1_ratio, "elastic-net")


def preparation_class_names(model: Any) -> tuple[str, ...]:
    """Return the class names of what prepares the data, also inside of a ColumnTransformer."""
    return tuple(dict.fromkeys(_transformer_names(model[:-1] if is_a(model, PIPELINE) else None)))


def _transformer_names(step: Any) -> Iterator[str]:
    if is_a(step, PIPELINE):
        for _, inner_step in step.steps:
            yield from _transformer_names(inner_step)
    elif is_a(step, "sklearn.compose:ColumnTransformer"):
        for _, transformer, _ in step.transformers:
            yield from _transformer_names(transformer)
    elif hasattr(step, "transform"):
        yield from step_class_names(step)


IMPUTERS = (
    *("sklearn.impute:SimpleImputer", "sklearn.impute:KNNImputer"),
    "truerisk.models.multiple_imputation:MultipleImputation",
)


def has_imputer(model: Any) -> bool:
    """Return True if the model or an estimator nested in it imputes missing values."""
    # The iterative imputer is experimental, so its class must not be imported before it is used.
    return any(
        is_a(nested_estimator, *IMPUTERS) or hasattr(nested_estimator, "initial_strategy")
        for nested_estimator in model_with_nested_estimators(model)
    )
