"""The degrees of freedom of a fitted model: how many numbers its fit takes from the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.identity import PIPELINE, entry_of, is_exactly
from truerisk.models.stated.freedom_of_regressions import table

__all__ = ["degrees_of_freedom"]

Formula = Callable[[Any, Any, np.ndarray | None], float]
_ROOM = "truerisk.models.stated"
_FORMULAS = {
    "sklearn.dummy:DummyRegressor": "freedom_of_averages:constant",
    "sklearn.dummy:DummyClassifier": "freedom_of_averages:constant",
    "sklearn.neighbors:KNeighborsRegressor": "freedom_of_averages:neighbours",
    "sklearn.neighbors:KNeighborsClassifier": "freedom_of_averages:neighbours",
    "sklearn.tree:DecisionTreeRegressor": "freedom_of_averages:leaves",
    "sklearn.tree:DecisionTreeClassifier": "freedom_of_averages:leaves",
    "sklearn.linear_model:LinearRegression": "freedom_of_regressions:least_squares",
    "sklearn.linear_model:Ridge": "freedom_of_regressions:ridge",
    "sklearn.linear_model:Lasso": "freedom_of_regressions:lasso",
    "sklearn.linear_model:LassoLars": "freedom_of_regressions:lasso",
    "sklearn.linear_model:ElasticNet": "freedom_of_regressions:elastic_net",
    "sklearn.kernel_ridge:KernelRidge": "freedom_of_regressions:kernel_ridge",
    "sklearn.linear_model:LogisticRegression": "freedom_of_classifiers:logistic",
    "truerisk.models.logistic_path:LogisticPath": "freedom_of_classifiers:logistic_path",
    "sklearn.discriminant_analysis:LinearDiscriminantAnalysis": "freedom_of_classifiers:linear",
    "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis": (
        "freedom_of_classifiers:quadratic"
    ),
    "sklearn.naive_bayes:GaussianNB": "freedom_of_classifiers:naive_bayes",
}
SCALER = "sklearn.preprocessing:StandardScaler"
_INSTEAD = "use a method that holds rows out, such as '10-fold'."


def degrees_of_freedom(model: Any, X: Any, sample_weight: np.ndarray | None = None) -> float:
    r"""How many free numbers the fitted model has, where a formula says so.

    For a fit linear in y, :math:`\hat y = H y`, it is the trace of H, intercept included; for a
    classifier the number of free parameters of its probabilities. A model of another kind says it
    by a method ``degrees_of_freedom(X)``; one that has none is refused. In a pipeline it is that
    of the last step, as long as the steps before it do not look at y.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The rows it was fitted on.
    sample_weight : array, optional
        The weights it was fitted with.
    """
    own = getattr(model, "degrees_of_freedom", None)
    if callable(own):
        return float(own(X))
    if is_exactly(model, PIPELINE):
        return degrees_of_freedom(model[-1], _unsupervised_rows(model, X), sample_weight)
    if is_exactly(model, "sklearn.compose:TransformedTargetRegressor"):
        _refuse_transformed(model)
        return degrees_of_freedom(model.regressor_, X, sample_weight)
    place = entry_of(model, _FORMULAS)
    if place is None:
        raise Refusal(_unknown(model))
    file, function = place.split(":")
    formula: Formula = getattr(import_module(f"{_ROOM}.{file}"), function)
    return formula(model, X, sample_weight)


def _unknown(model: Any) -> str:
    name = type(model).__name__
    if any(hasattr(model, chosen) for chosen in ("best_estimator_", "alpha_", "C_")):
        return (
            f"{name} chooses its setting within the fit, and no formula counts the choice as "
            f"degrees of freedom: give the model itself with a grid, or {_INSTEAD}"
        )
    return (
        f"no formula is known for the degrees of freedom of {name}: give it a method "
        f"degrees_of_freedom(X), or {_INSTEAD}"
    )


def _unsupervised_rows(pipeline: Any, X: Any) -> Any:
    """The rows that the last step sees, if no step before it has looked at y.

    One that has takes degrees of freedom that those of the last step leave out.
    """
    rows = X
    for _, step in pipeline.steps[:-1]:
        if step is None or isinstance(step, str):  # "passthrough"
            continue
        before, rows = rows, step.transform(rows)
        seeing = next((part for part in _parts(step) if _sees_y(part)), None)
        if seeing is None and not _is_same_without_y(step, before, rows):
            seeing = step
        if seeing is not None:
            raise Refusal(
                f"{type(seeing).__name__} looks at y before {type(pipeline[-1]).__name__} does, "
                "so the degrees of freedom of the last step understate those of the pipeline: "
                f"{_INSTEAD}"
            )
    return rows


def _parts(step: Any) -> Iterator[Any]:
    """The step and every estimator inside it."""
    yield step
    if hasattr(step, "get_params"):
        for value in step.get_params(deep=True).values():
            if hasattr(value, "fit"):
                yield value


def _sees_y(part: Any) -> bool:
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils import get_tags

    if isinstance(part, SelectorMixin):
        return not is_exactly(part, "sklearn.feature_selection:VarianceThreshold")
    return hasattr(part, "__sklearn_tags__") and bool(get_tags(part).target_tags.required)


def _is_same_without_y(step: Any, X: Any, rows: Any) -> bool:
    """Whether a step makes these rows without y as well: a class can use y and not say so."""
    from sklearn.base import clone

    try:
        again = clone(step).fit(X).transform(X)
        return np.shape(again) == np.shape(rows) and np.allclose(table(again), table(rows))
    except Exception:  # noqa: BLE001  a user's step may raise anything
        return False


def _refuse_transformed(model: Any) -> None:
    """Labels moved and scaled make the same model only where the fit has an intercept."""
    inner = model.regressor_
    plain = model.func is None and model.inverse_func is None
    scaled = model.transformer is None or is_exactly(model.transformer, SCALER)
    if not plain or not scaled:
        raise Refusal(
            "the likelihood of a transformed y is not that of y: leave the transformation of y "
            f"out, or {_INSTEAD}"
        )
    if model.transformer is not None and not getattr(inner, "fit_intercept", True):
        raise Refusal(f"{type(inner).__name__} has no intercept, and y is centred: use one.")
