"""The degrees of freedom of a fitted model: how many numbers its fit takes from the labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.identity import is_exactly
from truerisk.models.stated import freedom_of_averages as averages
from truerisk.models.stated import freedom_of_classifiers as classifiers
from truerisk.models.stated import freedom_of_regressions as regressions
from truerisk.models.stated.freedom_of_regressions import table
from truerisk.models.stated.question import INSTEAD, Question

__all__ = ["degrees_of_freedom"]

SCALER = "sklearn.preprocessing:StandardScaler"


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
    return _QUESTION(model, X, sample_weight)


def _unknown(model: Any, *_: Any) -> str:
    name = type(model).__name__
    if any(hasattr(model, chosen) for chosen in ("best_estimator_", "alpha_", "C_")):
        return (
            f"{name} chooses its setting within the fit, and no formula counts the choice as "
            f"degrees of freedom: give the model itself with a grid, or {INSTEAD}"
        )
    return (
        f"no formula is known for the degrees of freedom of {name}: give it a method "
        f"degrees_of_freedom(X), or {INSTEAD}"
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
                f"{INSTEAD}"
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
        again = table(clone(step).fit(X).transform(X))
        return again.shape == np.shape(rows) and np.allclose(again, table(rows))
    except Exception:  # noqa: BLE001  a user's step may raise anything
        return False


def _of_transformed(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Labels moved and scaled make the same model only where the fit has an intercept."""
    inner = model.regressor_
    plain = model.func is None and model.inverse_func is None
    scaled = model.transformer is None or is_exactly(model.transformer, SCALER)
    if not plain or not scaled:
        raise Refusal(
            "the likelihood of a transformed y is not that of y: leave the transformation of y "
            f"out, or {INSTEAD}"
        )
    if model.transformer is not None and not getattr(inner, "fit_intercept", True):
        raise Refusal(f"{type(inner).__name__} has no intercept, and y is centred: use one.")
    return _QUESTION(model.regressor_, X, sample_weight)


_QUESTION = Question[float](
    "degrees_of_freedom",
    own=lambda model, X, _: float(model.degrees_of_freedom(X)),
    formulas={
        "sklearn.compose:TransformedTargetRegressor": _of_transformed,
        "sklearn.dummy:DummyRegressor": averages.constant,
        "sklearn.dummy:DummyClassifier": averages.constant,
        "sklearn.neighbors:KNeighborsRegressor": averages.neighbours,
        "sklearn.neighbors:KNeighborsClassifier": averages.neighbours,
        "sklearn.tree:DecisionTreeRegressor": averages.leaves,
        "sklearn.tree:DecisionTreeClassifier": averages.leaves,
        "sklearn.linear_model:LinearRegression": regressions.least_squares,
        "sklearn.linear_model:Ridge": regressions.ridge,
        "sklearn.linear_model:Lasso": regressions.lasso,
        "sklearn.linear_model:LassoLars": regressions.lasso,
        "sklearn.linear_model:ElasticNet": regressions.elastic_net,
        "sklearn.kernel_ridge:KernelRidge": regressions.kernel_ridge,
        "sklearn.linear_model:LogisticRegression": classifiers.logistic,
        "truerisk.models.logistic_path:LogisticPath": classifiers.logistic_path,
        "sklearn.discriminant_analysis:LinearDiscriminantAnalysis": classifiers.linear,
        "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis": classifiers.quadratic,
        "sklearn.naive_bayes:GaussianNB": classifiers.naive_bayes,
    },
    unknown=_unknown,
    rows=_unsupervised_rows,
)
