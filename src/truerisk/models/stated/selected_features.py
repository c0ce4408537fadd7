"""Columns of X that a fitted model uses: those that its steps keep and its learner weights.

A step keeps columns (a scaler), selects some (`get_support`), makes several from one (an encoder),
or treats some separately (`ColumnTransformer`, `FeatureUnion`). If a step mixes columns, as
principal components do, nothing can be said. A learner uses the columns with nonzero coefficients
(`coef_`) or a positive importance (`feature_importances_`). A combination of models uses what any
of them uses. Any other learner uses all columns.
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
from truerisk.core.identity import PIPELINE, entry_of, is_a
from truerisk.data.rows import n_columns
from truerisk.models.stated.question import answers_by_its_best

Origins = list[int]
"""For every column of a transformed table, the column of X that it comes from."""


def selected_features(model: Any, n_columns: int) -> np.ndarray:
    """Return a mask `(n_columns,)` of the columns of X that the fitted model uses.

    It raises with the reason if this is unknown. For a search it is what its best model uses.

    >>> from sklearn.linear_model import Lasso
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> selected_features(Lasso(0.1).fit(X, X[:, 0]), 2).tolist()
    [True, False]
    """
    origins = np.array(_used(model, list(range(n_columns))), dtype=np.intp)
    used = np.zeros(n_columns, dtype=bool)
    used[origins] = True
    return used


def n_features_made(model: Any, X: Any, y: Any) -> int | None:
    """Return the largest number of features of X on its way to the learner.

    This is the number of slopes of a regression. A text column counts once per category. For this
    purpose the steps are fitted on all rows, without the warnings that other fits have already
    given. The result is None if X has no columns.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> n_features_made(make_pipeline(OneHotEncoder(), "passthrough"), np.eye(3)[:, :1], None)
    2
    """
    most = n_columns(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _, step in model.steps[:-1] if is_a(model, PIPELINE) and most else ():
            # This excludes "passthrough" and steps that resample rows.
            if hasattr(step, "transform"):
                X = clone(step).fit(X, y).transform(X)
                most = max(most or 0, n_columns(X) or 0)
    return most


def _used(model: Any, origins: Origins) -> Origins:
    if answers_by_its_best(model):
        return _used(model.best_estimator_, origins)
    if is_a(model, PIPELINE):
        return _used(model.steps[-1][1], _after(model[:-1], origins))
    inner = entry_of(model, WRAPPERS)
    if inner is not None:
        return sorted({origin for part in inner(model) for origin in _used(part, origins)})
    weights = _weights(model)
    if weights is not None:
        return _masked(model, origins, weights)
    if any(hasattr(part, "fit") for part in model.get_params(deep=False).values()):
        raise Refusal(
            f"{type(model).__name__} holds other models: which columns these use is not known."
        )
    return origins


def _weights(model: Any) -> np.ndarray | None:
    """Return a mask of columns with a weight in the learner; None if it reports none."""
    if hasattr(model, "coef_"):
        coefficients = model.coef_
        plain = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
        return np.asarray(np.atleast_2d(np.asarray(plain) != 0).any(axis=0))
    with suppress(NotImplementedError):  # Forests of scikit-survival raise this error.
        if hasattr(model, "feature_importances_"):
            return np.asarray(model.feature_importances_) > 0
    return None


def _after(step: Any, origins: Origins) -> Origins:
    """Return the origins of the columns that a step produces."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return origins
    if is_a(step, PIPELINE):
        for _, inner in step.steps:
            origins = _after(inner, origins)
        return origins
    rule = entry_of(step, STEPS)
    if rule is not None:
        return rule(step, origins)
    if hasattr(step, "get_support"):
        return _masked(step, origins, np.asarray(step.get_support()))
    if is_a(step, "sklearn.base:OneToOneFeatureMixin"):
        return origins
    raise Refusal(
        f"{type(step).__name__} makes columns of several others: which of them were selected is "
        "not known."
    )


def _masked(model: Any, origins: Origins, mask: np.ndarray) -> Origins:
    if len(mask) != len(origins):
        raise Refusal(
            f"{type(model).__name__} speaks of {len(mask)} columns and was given {len(origins)}: "
            "which of them were selected is not known."
        )
    return [origin for origin, selected in zip(origins, mask.tolist(), strict=True) if selected]


def _indicators(encoder: Any, origins: Origins) -> Origins:
    """Return origins for an encoder, with a column per category that is neither dropped nor rare.

    Rare categories share one column.
    """
    dropped = encoder.drop_idx_
    rare = getattr(encoder, "infrequent_categories_", None)
    parts = []
    for j, (origin, categories) in enumerate(zip(origins, encoder.categories_, strict=True)):
        n = len(categories) - (dropped is not None and dropped[j] is not None)
        n_merged = 0 if rare is None or rare[j] is None else len(rare[j]) - 1
        parts.append([origin] * (n - n_merged))
    return list(chain.from_iterable(parts))


def _imputed(imputer: Any, origins: Origins) -> Origins:
    """Return origins for an imputer, which drops empty columns and may append indicators."""
    indicated = [] if imputer.indicator_ is None else imputer.indicator_.features_.tolist()
    empty = [isinstance(value, float) and value != value for value in imputer.statistics_.tolist()]
    keeps = getattr(imputer, "keep_empty_features", False)
    filled = [o for o, gone in zip(origins, empty, strict=True) if keeps or not gone]
    return filled + [origins[j] for j in indicated]


def _computed(step: Any, origins: Origins) -> Origins:
    """Return origins for a function that is absent, or declared to keep its columns."""
    if step.func is None or step.feature_names_out == "one-to-one":
        return origins
    raise Refusal("a FunctionTransformer without feature_names_out='one-to-one' may mix columns.")


def _side_by_side(parts: Iterable[tuple[Any, Sequence[int]]], origins: Origins) -> Origins:
    columns_of_parts = (
        _after(step, [origins[j] for j in columns])
        for step, columns in parts
        if not (isinstance(step, str) and step == "drop")
    )
    return list(chain.from_iterable(columns_of_parts))


def _columns(step: Any, origins: Origins) -> Origins:
    names = {name: j for j, name in enumerate(getattr(step, "feature_names_in_", ()))}
    with warnings.catch_warnings():  # scikit-learn 1.6 warns when the remainder is read.
        warnings.filterwarnings("ignore", category=FutureWarning)
        parts = [(t, _places(columns, names, len(origins))) for _, t, columns in step.transformers_]
    return _side_by_side(parts, origins)


def _places(selector: Any, names: Mapping[str, int], n: int) -> list[int]:
    """Return the column indices that a part of a ColumnTransformer specifies."""
    if isinstance(selector, slice):
        ends = [names.get(end, end) for end in (selector.start, selector.stop)]
        # Slices of names include their end.
        stop = ends[1] + 1 if isinstance(selector.stop, str) else ends[1]
        return list(range(n))[slice(ends[0], stop, selector.step)]
    entries = np.atleast_1d(np.asarray(selector, dtype=object)).tolist()
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        return np.flatnonzero(entries).tolist()
    return [names[entry] if isinstance(entry, str) else range(n)[int(entry)] for entry in entries]


def _union(step: Any, origins: Origins) -> Origins:
    columns = range(len(origins))
    return _side_by_side(((t, columns) for _, t in step.transformer_list), origins)


def _attribute(name: str) -> Callable[[Any], list[Any]]:
    return lambda model: [getattr(model, name)]


WRAPPERS: Mapping[str, Callable[[Any], list[Any]]] = {
    "sklearn.calibration:CalibratedClassifierCV": lambda model: [
        one.estimator for one in model.calibrated_classifiers_
    ],
    "sklearn.compose:TransformedTargetRegressor": _attribute("regressor_"),
    "sklearn.ensemble:VotingClassifier": lambda model: list(model.estimators_),
    "sklearn.ensemble:VotingRegressor": lambda model: list(model.estimators_),
    "sklearn.model_selection:FixedThresholdClassifier": _attribute("estimator_"),
    "sklearn.model_selection:TunedThresholdClassifierCV": _attribute("estimator_"),
    "truerisk.models.early_stopping:EarlyStopping": _attribute("estimator_"),
}

STEPS: Mapping[str, Callable[[Any, Origins], Origins]] = {
    "sklearn.preprocessing:OneHotEncoder": _indicators,
    "sklearn.preprocessing:FunctionTransformer": _computed,
    "sklearn.impute:SimpleImputer": _imputed,
    "sklearn.compose:ColumnTransformer": _columns,
    "sklearn.pipeline:FeatureUnion": _union,
}
