"""Quantities of fitted models, computed by a method of the model or by a formula for its class.

This module also tells whether a search predicts with its best model, and computes the number of
training rows behind a predicted probability.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.identity import (
    PIPELINE,
    find_class_entry,
    has_original_methods,
    is_exactly,
    is_honest_search,
)

ADVICE_HELD_OUT_ROWS = "use a method that holds rows out, such as '10-fold'."
Value = TypeVar("Value")


def rows_of_last_step(pipeline: Any, X: Any) -> Any:
    """Return the rows that a fitted pipeline passes to its last step."""
    return pipeline[:-1].transform(X) if len(pipeline.steps) > 1 else X


@frozen
class ModelQuantity(Generic[Value]):
    """Quantity of fitted models, with a table of formulas for the classes of models.

    `formulas` maps class names to functions. If a model has a method called `method_name`, that
    method is used, through `call_own_method`. A pipeline has the value of its last step, for the
    rows that `rows` returns. With `uses_best_estimator` a search has the value of its best model.
    For a model of a class that is not in the table, including subclasses (`core/identity.py`),
    `fallback` computes the value, or returns a sentence that says why the model is refused.
    """

    method_name: str
    call_own_method: Callable[..., Value]
    formulas: Mapping[str, Callable[..., Value]]
    fallback: Callable[..., Value | str]
    rows: Callable[[Any, Any], Any] = rows_of_last_step
    uses_best_estimator: bool = False

    def __call__(self, model: Any, X: Any, *arguments: Any) -> Value:
        """Return a model's quantity, by the model's own method or by the formula for its class."""
        if callable(getattr(model, self.method_name, None)):
            return self.call_own_method(model, X, *arguments)
        if is_exactly(model, PIPELINE):
            return self(model[-1], self.rows(model, X), *arguments)
        if self.uses_best_estimator and predicts_with_best_estimator(model):
            return self(model.best_estimator_, X, *arguments)
        value = (find_class_entry(model, self.formulas) or self.fallback)(model, X, *arguments)
        if isinstance(value, str):
            raise Refusal(value)
        return value


GRID_SEARCH = "sklearn.model_selection:GridSearchCV"
RANDOMIZED_SEARCH = "sklearn.model_selection:RandomizedSearchCV"
OPTUNA_SEARCH = "optuna_integration.sklearn:OptunaSearchCV"
PREDICTION_METHODS = ("predict", "predict_proba", "decision_function")


def is_search_by_best_estimator(learner: Any) -> bool:
    """Return True if a search, once fitted, always predicts like its ``best_estimator_``.

    This includes subclasses of grid search that do not override the prediction methods.
    """
    return (
        any(
            has_original_methods(learner, class_name, *PREDICTION_METHODS)
            for class_name in (GRID_SEARCH, RANDOMIZED_SEARCH)
        )
        or is_honest_search(learner, exactly=True)
        or is_exactly(learner, OPTUNA_SEARCH)
    )


def predicts_with_best_estimator(model: Any) -> bool:
    """Return True if a fitted search predicts with its best model, which it must have kept."""
    # A search that is wrapped by an HonestSearchCV may predict in its own way.
    inner_search = getattr(model, "search_", None)
    inner_uses_best = inner_search is None or predicts_with_best_estimator(inner_search)
    return (
        inner_uses_best and hasattr(model, "best_estimator_") and is_search_by_best_estimator(model)
    )


def count_supporting_rows(model: Any, X: Any, n_rows: int) -> np.ndarray:
    r"""Return for each row x how many training rows determine the probability :math:`\hat p_x`.

    These training rows are, for nearest neighbours, the neighbours with a positive weight; for a
    tree, the rows of the leaf; for `IntervalClassifier`, the rows of the interval. A pipeline has
    the numbers of its last step, a search those of its best model. A model of any other class,
    including subclasses, can define a method ``rows_behind(X)``. Without it, all `n_rows`
    rows of the fit are assumed, as for a rule with global parameters.
    """
    return _SUPPORTING_ROWS(model, X, n_rows)


def _count_in_radius(model: Any, X: Any, n_rows: int) -> np.ndarray:
    neighbour_distances = model.radius_neighbors(X)[0]
    return np.array(
        [_count_weighted_neighbours(model, distances[None])[0] for distances in neighbour_distances]
    )


def _count_weighted_neighbours(model: Any, distances: np.ndarray) -> np.ndarray:
    """Return for each row the number of its neighbours that have a positive weight.

    With weights by distance, neighbours at distance 0 exclude all other neighbours.
    """
    if callable(model.weights):
        return (np.asarray(model.weights(distances)) > 0).sum(axis=1)
    if model.weights == "distance":
        n_at_distance_zero = (distances == 0).sum(axis=1)
        return np.where(n_at_distance_zero > 0, n_at_distance_zero, distances.shape[1])
    return np.full(len(distances), distances.shape[1])


def _count_in_leaf(model: Any, X: Any, n_rows: int) -> np.ndarray:
    return model.tree_.n_node_samples[model.apply(X)]


_SUPPORTING_ROWS = ModelQuantity[np.ndarray](
    "rows_behind",
    call_own_method=lambda model, X, _: np.asarray(model.rows_behind(X)),
    formulas={
        "sklearn.neighbors:KNeighborsClassifier": lambda m, X, _: _count_weighted_neighbours(
            m, m.kneighbors(X)[0]
        ),
        "sklearn.neighbors:RadiusNeighborsClassifier": _count_in_radius,
        "sklearn.tree:DecisionTreeClassifier": _count_in_leaf,
        "sklearn.tree:ExtraTreeClassifier": _count_in_leaf,
        "truerisk.models.interval_classifier:IntervalClassifier": lambda model, X, _: (
            model.counts_.sum(axis=1)[model.apply(X)]
        ),
    },
    fallback=lambda _, X, n_rows: np.full(X.shape[0] if hasattr(X, "shape") else len(X), n_rows),
    uses_best_estimator=True,
)
