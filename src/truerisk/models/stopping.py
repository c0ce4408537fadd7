"""How each package is told the rows that end its fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from inspect import signature
from typing import Any

from truerisk.core.identity import is_a, known_class

__all__ = ["stopped"]

Part = list[Any]
"""X, y and the weights (or None) of some rows."""


def stopped(model: Any, fitted: Part, aside: Part, rounds: int) -> tuple[Any, int]:
    """The model fitted on one part until the other no longer gains, and its number of trees."""
    for places, way in WAYS:
        if is_a(model, *places):
            return model, way(model, fitted, aside, rounds)
    raise ValueError(
        f"{type(model).__name__} takes no rows that end its fit: give a booster of another "
        "class, histogram boosting of scikit-learn, or one of XGBoost, LightGBM or CatBoost."
    )


def _histograms(model: Any, fitted: Part, aside: Part, rounds: int) -> int:
    if "X_val" not in signature(model.fit).parameters:
        raise ValueError(
            "histogram boosting takes rows that end its fit from scikit-learn 1.7 on: use a newer "
            "one, or early_stopping=True, which sets rows aside at random."
        )
    X, y, weights = fitted
    model.set_params(early_stopping=True, n_iter_no_change=rounds)
    more = {} if weights is None else {"sample_weight": weights, "sample_weight_val": aside[2]}
    model.fit(X, y, X_val=aside[0], y_val=aside[1], **more)
    return int(model.n_iter_)


def _xgboost(model: Any, fitted: Part, aside: Part, rounds: int) -> int:
    X, y, weights = fitted
    model.set_params(early_stopping_rounds=rounds)
    more = {}
    if weights is not None:
        more = {"sample_weight": weights, "sample_weight_eval_set": [aside[2]]}
    model.fit(X, y, eval_set=[(aside[0], aside[1])], verbose=False, **more)
    return int(model.best_iteration) + 1


def _lightgbm(model: Any, fitted: Part, aside: Part, rounds: int) -> int:
    from lightgbm import early_stopping

    X, y, weights = fitted
    more: dict[str, Any] = {"eval_set": [(aside[0], aside[1])]}
    if weights is not None:
        more |= {"sample_weight": weights, "eval_sample_weight": [aside[2]]}
    with warnings.catch_warnings():
        # 4.7 announces eval_X and eval_y in the place of eval_set, but numbers no labels of eval_y
        warnings.filterwarnings("ignore", "The argument 'eval_set' is deprecated")
        model.fit(X, y, callbacks=[early_stopping(rounds, verbose=False)], **more)
    return int(model.best_iteration_)


def _catboost(model: Any, fitted: Part, aside: Part, rounds: int) -> int:
    pool = known_class("catboost.core:Pool")
    assert pool is not None  # where the model is, the package is
    X, y, weights = fitted
    levels = model.get_params().get("cat_features")
    ends = pool(aside[0], aside[1], weight=aside[2], cat_features=levels)
    model.fit(X, y, sample_weight=weights, eval_set=ends, early_stopping_rounds=rounds)
    return int(model.tree_count_)


_SKLEARN = "sklearn.ensemble"
WAYS: tuple[tuple[tuple[str, ...], Callable[[Any, Part, Part, int], int]], ...] = (
    (
        (
            f"{_SKLEARN}:HistGradientBoostingClassifier",
            f"{_SKLEARN}:HistGradientBoostingRegressor",
        ),
        _histograms,
    ),
    (("xgboost.sklearn:XGBModel",), _xgboost),
    (("lightgbm.sklearn:LGBMModel",), _lightgbm),
    (("catboost.core:CatBoostClassifier", "catboost.core:CatBoostRegressor"), _catboost),
)
