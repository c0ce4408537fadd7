"""Which columns of X a fitted model uses: those that its steps kept and its learner gives weight.

A step keeps a column (a scaler), takes some (`get_support`), makes several of one (an encoder), or
treats several apart (`ColumnTransformer`, `FeatureUnion`). One that mixes columns, as principal
components do, leaves nothing to say. A learner uses the columns whose coefficients are not 0
(`coef_`) or that have an importance (`feature_importances_`); one made of models uses what any of
these uses; any other uses all it is given.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.identity import PIPELINE, entry_of, is_a
from truerisk.models.stated.question import answers_by_its_best

Origins = list[int]
"""For every column of a table that steps have made, the column of X that it came from."""


def selected_features(model: Any, n_columns: int) -> np.ndarray:
    """`(n_columns,)`: which columns of X the fitted model uses; a refusal says why it is not known.

    Of a search it is what its best model uses.

    >>> from sklearn.linear_model import Lasso
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> selected_features(Lasso(0.1).fit(X, X[:, 0]), 2).tolist()
    [True, False]
    """
    origins = np.array(_used(model, list(range(n_columns))), dtype=np.intp)
    used = np.zeros(n_columns, dtype=bool)
    used[origins] = True
    return used


def _used(model: Any, origins: Origins) -> Origins:
    if answers_by_its_best(model):
        return _used(model.best_estimator_, origins)
    if is_a(model, PIPELINE):
        return _used(model.steps[-1][1], _after(model[:-1], origins))
    inside = entry_of(model, AROUND)
    if inside is not None:
        return sorted({origin for one in inside(model) for origin in _used(one, origins)})
    weights = _weights(model)
    if weights is not None:
        return _taken(model, origins, weights)
    if any(hasattr(one, "fit") for one in model.get_params(deep=False).values()):
        raise Refusal(
            f"{type(model).__name__} holds other models: which columns these use is not told."
        )
    return origins


def _weights(model: Any) -> np.ndarray | None:
    """Whether each column has a weight in what a learner says; None where it has none to say."""
    if hasattr(model, "coef_"):
        coefficients = model.coef_
        plain = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
        return np.asarray(np.atleast_2d(np.asarray(plain) != 0).any(axis=0))
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_) > 0
    return None


def _after(step: Any, origins: Origins) -> Origins:
    """The origins of the columns that a step makes."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return origins
    if is_a(step, PIPELINE):
        for _, one in step.steps:
            origins = _after(one, origins)
        return origins
    made = entry_of(step, STEPS)
    if made is not None:
        return made(step, origins)
    if hasattr(step, "get_support"):
        return _taken(step, origins, np.asarray(step.get_support()))
    if is_a(step, "sklearn.base:OneToOneFeatureMixin"):
        return origins
    raise Refusal(
        f"{type(step).__name__} makes columns of several others: which of them were selected is "
        "not told."
    )


def _taken(who: Any, origins: Origins, kept: np.ndarray) -> Origins:
    if len(kept) != len(origins):
        raise Refusal(
            f"{type(who).__name__} speaks of {len(kept)} columns and was given {len(origins)}: "
            "which of them were selected is not told."
        )
    return [origin for origin, keeps in zip(origins, kept.tolist(), strict=True) if keeps]


def _indicators(encoder: Any, origins: Origins) -> Origins:
    """An encoder makes a column of each category but the dropped, and one of all rare ones."""
    drops = encoder.drop_idx_
    rare = getattr(encoder, "infrequent_categories_", None)
    made = []
    for j, (origin, categories) in enumerate(zip(origins, encoder.categories_, strict=True)):
        n = len(categories) - (drops is not None and drops[j] is not None)
        joined = 0 if rare is None or rare[j] is None else len(rare[j]) - 1
        made.append([origin] * (n - joined))
    return list(chain.from_iterable(made))


def _imputed(imputer: Any, origins: Origins) -> Origins:
    """An imputer leaves out columns without any value, and may mark gaps in columns at the end."""
    marks = [] if imputer.indicator_ is None else imputer.indicator_.features_.tolist()
    empty = [isinstance(one, float) and one != one for one in imputer.statistics_.tolist()]
    keeps = getattr(imputer, "keep_empty_features", False)
    kept = [o for o, gone in zip(origins, empty, strict=True) if keeps or not gone]
    return kept + [origins[j] for j in marks]


def _computed(step: Any, origins: Origins) -> Origins:
    """A function keeps columns where it is none, as what passes through, or says that it does."""
    if step.func is None or step.feature_names_out == "one-to-one":
        return origins
    raise Refusal("a FunctionTransformer without feature_names_out='one-to-one' may mix columns.")


def _beside_each_other(parts: Iterable[tuple[Any, Sequence[int]]], origins: Origins) -> Origins:
    made = (
        _after(step, [origins[j] for j in columns])
        for step, columns in parts
        if not (isinstance(step, str) and step == "drop")
    )
    return list(chain.from_iterable(made))


def _columns(step: Any, origins: Origins) -> Origins:
    names = {name: j for j, name in enumerate(getattr(step, "feature_names_in_", ()))}
    with warnings.catch_warnings():  # scikit-learn 1.6 warns of reading what the remainder holds
        warnings.filterwarnings("ignore", category=FutureWarning)
        parts = [(one, _places(asked, names, len(origins))) for _, one, asked in step.transformers_]
    return _beside_each_other(parts, origins)


def _places(asked: Any, names: Mapping[str, int], n: int) -> list[int]:
    """The numbers of columns that a part of a ColumnTransformer names in one of its ways."""
    if isinstance(asked, slice):
        ends = [names.get(end, end) for end in (asked.start, asked.stop)]
        stop = ends[1] + 1 if isinstance(asked.stop, str) else ends[1]  # names include their end
        return list(range(n))[slice(ends[0], stop, asked.step)]
    listed = np.atleast_1d(np.asarray(asked, dtype=object)).tolist()
    if listed and all(isinstance(one, bool | np.bool_) for one in listed):
        return np.flatnonzero(listed).tolist()
    return [names[one] if isinstance(one, str) else range(n)[int(one)] for one in listed]


def _union(step: Any, origins: Origins) -> Origins:
    every = range(len(origins))
    return _beside_each_other(((one, every) for _, one in step.transformer_list), origins)


def _only(name: str) -> Callable[[Any], list[Any]]:
    return lambda model: [getattr(model, name)]


AROUND: Mapping[str, Callable[[Any], list[Any]]] = {
    "sklearn.calibration:CalibratedClassifierCV": lambda model: [
        one.estimator for one in model.calibrated_classifiers_
    ],
    "sklearn.compose:TransformedTargetRegressor": _only("regressor_"),
    "sklearn.ensemble:VotingClassifier": lambda model: list(model.estimators_),
    "sklearn.ensemble:VotingRegressor": lambda model: list(model.estimators_),
    "sklearn.model_selection:FixedThresholdClassifier": _only("estimator_"),
    "sklearn.model_selection:TunedThresholdClassifierCV": _only("estimator_"),
    "truerisk.models.early_stopping:EarlyStopping": _only("estimator_"),
}

STEPS: Mapping[str, Callable[[Any, Origins], Origins]] = {
    "sklearn.preprocessing:OneHotEncoder": _indicators,
    "sklearn.preprocessing:FunctionTransformer": _computed,
    "sklearn.impute:SimpleImputer": _imputed,
    "sklearn.compose:ColumnTransformer": _columns,
    "sklearn.pipeline:FeatureUnion": _union,
}
