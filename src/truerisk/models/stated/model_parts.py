"""The parts of a model: its steps, its coefficients, and steps that rebalance classes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from truerisk.core import formats
from truerisk.core.identity import PIPELINE, is_a, is_from
from truerisk.data.rows import column_names, n_columns

MOST_COEFFICIENTS = 30  # maximum number of coefficients in a paragraph


def coefficients_of(model: Any, X: Any, *, of_first_class: bool) -> dict[str, float]:
    """Return intercept and coefficients of the last step; {} if it is not linear, or too long.

    Linear models of two classes refer to the second: `of_first_class` changes the signs. For
    columns that are only scaled, coefficients are in the units of the columns.
    """
    before, learner = (model[:-1], model[-1]) if is_a(model, PIPELINE) else (None, model)
    coef, intercept = (np.ravel(getattr(learner, f"{one}_", ())) for one in ("coef", "intercept"))
    numbered = [f"column {k}" for k in range(n_columns(X) or 0)]
    names = [str(name) for name in column_names(X) or numbered]
    try:
        names = names if before is None else list(before.get_feature_names_out(names))
    except (AttributeError, ValueError):  # The step has no names for its outputs.
        return {}
    if len(intercept) != 1 or len(coef) != len(names) or len(coef) > MOST_COEFFICIENTS:
        return {}
    scaler = scaler_of(model)
    if scaler is not None and scaler.with_std:
        coef = coef / scaler.scale_
    if scaler is not None and scaler.with_mean:
        intercept = intercept - coef @ scaler.mean_
    values = np.array([*intercept, *coef], dtype=float) * (-1 if of_first_class else 1) + 0.0
    pairs = zip(["intercept", *names], values.tolist(), strict=True)
    return {formats.clean(name, 40): value for name, value in pairs}


def scaler_of(model: Any) -> Any | None:
    """Return the step that scales the columns, if it is the only preprocessing."""
    before: Any = model[:-1] if is_a(model, PIPELINE) else ()
    only = before[0] if len(before) == 1 else None
    return only if is_a(only, "sklearn.preprocessing:StandardScaler") else None


def inside(model: Any) -> list[Any]:
    """Return the model and all its parts, including those for some columns."""
    return [model, *model.get_params(deep=True).values()]


PACKAGES = ("sksurv", "imblearn", "xgboost", "lightgbm", "catboost")


def releases_of(model: Any) -> dict[str, str]:
    """Return the versions of packages other than scikit-learn that the model is from."""
    used = [name for name in PACKAGES if any(is_from(one, name) for one in inside(model))]
    return {name: str(sys.modules[name].__version__) for name in used}


WEIGHTS = {
    "class_weight": None,
    "class_weights": None,
    "auto_class_weights": None,
    "is_unbalance": False,
    "scale_pos_weight": 1,
    "priors": None,
}
"""Parameters that weight classes, and their neutral values."""


def rebalanced_by(model: Any) -> tuple[str, ...]:
    """Return descriptions of what reweights or resamples classes in the model."""
    found = [
        f"{name}={formats.clean(str(one.get_params()[name]), 40)} of {type(one).__name__}"
        for one in inside(model)
        for name, usual in WEIGHTS.items()
        if hasattr(one, "get_params")
        and (weight := one.get_params(deep=False).get(name)) not in (None, usual)
        and not (isinstance(weight, Mapping) and all(one == 1 for one in weight.values()))
    ]
    found += [type(one).__name__ for one in inside(model) if hasattr(one, "fit_resample")]
    return tuple(dict.fromkeys(found))


def recalibrated(model: Any) -> bool:
    """Return True if everything that rebalances classes is inside a part that calibrates."""
    calibrators = [
        one for one in inside(model) if is_a(one, "sklearn.calibration:CalibratedClassifierCV")
    ]
    mended = {how for one in calibrators for how in rebalanced_by(one)}
    return bool(calibrators) and mended == {*rebalanced_by(model)}


def steps_of(model: Any) -> tuple[str, ...]:
    """Return the classes of the steps of a model, the learner's the last."""
    if is_a(model, PIPELINE):
        return tuple(name for _, step in model.steps for name in steps_of(step))
    if model is None or isinstance(model, str):  # This step does nothing.
        return () if model is None else (model,)
    return (formats.clean(type(model).__name__, 40),)


IMPUTERS = (
    *("sklearn.impute:SimpleImputer", "sklearn.impute:KNNImputer"),
    "truerisk.models.multiple_imputation:MultipleImputation",
)


def imputes(model: Any) -> bool:
    """Return True if a part of the model imputes missing values."""
    # The iterative imputer is experimental: its class must not be imported before it is used.
    return any(is_a(one, *IMPUTERS) or hasattr(one, "initial_strategy") for one in inside(model))
