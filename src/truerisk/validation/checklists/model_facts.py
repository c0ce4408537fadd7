"""What a model and its table are made of, and how many rows such a model takes.

Steps, coefficients, cells without a value, what rebalances classes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from truerisk.core import present
from truerisk.core.errors import Refusal
from truerisk.core.identity import PIPELINE, is_a, is_from
from truerisk.data.rows import column_arrays, column_names, is_missing, n_columns
from truerisk.planning import model_size

MOST_COEFFICIENTS = 30  # in a paragraph


def coefficients_of(model: Any, X: Any, *, of_first_class: bool) -> dict[str, float]:
    """The intercept and what each feature of the last step has; {} of no line, or of a long one.

    A line of two classes speaks of the second: `of_first_class` turns its signs. Columns that are
    scaled and nothing else have theirs in their own units.
    """
    before, learner = (model[:-1], model[-1]) if is_a(model, PIPELINE) else (None, model)
    coef, intercept = (np.ravel(getattr(learner, f"{one}_", ())) for one in ("coef", "intercept"))
    numbered = [f"column {k}" for k in range(n_columns(X) or 0)]
    names = [str(name) for name in column_names(X) or numbered]
    try:
        names = names if before is None else list(before.get_feature_names_out(names))
    except (AttributeError, ValueError):  # a step that names nothing
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
    return {present.clean(name, 40): value for name, value in pairs}


def scaler_of(model: Any) -> Any | None:
    """The step that scales its columns, where that is all that is done to them."""
    before: Any = model[:-1] if is_a(model, PIPELINE) else ()
    only = before[0] if len(before) == 1 else None
    return only if is_a(only, "sklearn.preprocessing:StandardScaler") else None


def inside(model: Any) -> list[Any]:
    """The model and everything that it is made of, in parts of tables, too."""
    return [model, *model.get_params(deep=True).values()]


PACKAGES = ("sksurv", "imblearn", "xgboost", "lightgbm", "catboost")


def releases_of(model: Any) -> dict[str, str]:
    """Versions of the packages beside scikit-learn that the model, or a part of it, is from."""
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
"""Parameters that weigh classes, and what leaves them as they are."""


def rebalanced_by(model: Any) -> tuple[str, ...]:
    """What in the model weighs classes or draws them anew, in words."""
    found = [
        f"{name}={present.clean(str(one.get_params()[name]), 40)} of {type(one).__name__}"
        for one in inside(model)
        for name, usual in WEIGHTS.items()
        if hasattr(one, "get_params")
        and (weight := one.get_params(deep=False).get(name)) not in (None, usual)
        and not (isinstance(weight, Mapping) and all(one == 1 for one in weight.values()))
    ]
    found += [type(one).__name__ for one in inside(model) if hasattr(one, "fit_resample")]
    return tuple(dict.fromkeys(found))


def recalibrated(model: Any) -> bool:
    """Whether all that rebalances classes stands inside a part that calibrates them."""
    calibrators = [
        one for one in inside(model) if is_a(one, "sklearn.calibration:CalibratedClassifierCV")
    ]
    mended = {how for one in calibrators for how in rebalanced_by(one)}
    return bool(calibrators) and mended == {*rebalanced_by(model)}


def steps_of(model: Any) -> tuple[str, ...]:
    """Return the classes of the steps of a model, the learner's the last."""
    if is_a(model, PIPELINE):
        return tuple(name for _, step in model.steps for name in steps_of(step))
    if model is None or isinstance(model, str):  # a step that does nothing
        return () if model is None else (model,)
    return (present.clean(type(model).__name__, 40),)


def gaps_in(X: Any) -> np.ndarray | None:
    """Which cells have no value; None where X is no table of cells."""
    if column_names(X) is not None:
        columns = [np.asarray(column).tolist() for column in column_arrays(X)]
        return np.array([[is_missing(cell) for cell in column] for column in columns]).T
    if hasattr(X, "tocsr") or getattr(X, "ndim", 0) != 2:
        return None
    cells = np.asarray(X)
    if cells.dtype.kind == "f":
        return np.isnan(cells)
    if cells.dtype.kind != "O":
        return np.zeros(cells.shape, dtype=bool)
    return np.array([[is_missing(cell) for cell in row] for row in cells.tolist()])


class FollowUp(NamedTuple):
    """Events per person and unit of time, the horizon of the risks, and the mean time observed."""

    rate: float
    horizon: float
    follow_up: float

    @classmethod
    def until(cls, horizon: float, y: np.ndarray) -> FollowUp:
        """Return that of outcomes in time: whether the event came, and after which time."""
        came, lasted = y.T
        return cls(float(came.sum() / lasted.sum()), float(horizon), float(lasted.mean()))


def rows_needed(
    n_features: int | None, share: float | None, r2: float | None, times: FollowUp | None = None
) -> int | None:
    """Return how many rows the criteria of Riley et al. (2019) ask for to develop the model.

    `r2` is that of Nagelkerke, of numbers the share of variance explained. Classes have a `share`
    of the event and outcomes in time their `times`; numbers have neither, and their mean need not
    be known. The result is None where r2 is not above 0.
    """
    if not n_features or r2 is None or not 0 < r2 < 1:
        return None
    with suppress(Refusal):  # more rows than anybody has
        if times is None and share is None:
            return max(model_size.rows_of_line(n_features, r2))
        z = model_size.normal_quantile(0.95)
        if times is not None:
            likelihood = model_size.likelihood_of_times(times.rate * times.follow_up)
            overall = model_size.rows_for_risk(*times, margin=model_size.MARGIN, z=z)
        else:
            assert share is not None
            likelihood = model_size.likelihood_of_classes(share)
            spread = math.sqrt(share * (1 - share))
            overall = model_size.rows_for_error(spread, model_size.MARGIN / z)
        largest = model_size.largest_r2(likelihood)
        return max(*model_size.rows_of_likelihood(n_features, r2 * largest, largest), overall)
    return None


def rows_to_test(share: float | None, auc: float | None) -> int | None:
    """In other people, a calibrated model of this AUC, by the `share` of the event."""
    if share is None or auc is None or not 0.5 < auc < 1:
        return None
    with suppress(Refusal):
        error = model_size.LinearPredictor.of_auc(auc, share).slope_error()
        z = model_size.normal_quantile(0.95)
        return max(model_size.rows_to_validate(share, auc, error, z))
    return None
