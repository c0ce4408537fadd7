"""Questions about fitted models, answered by a method of the model or a formula for its class.

Two of them concern the best model of a search, and the number of training rows behind a probability
at x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.identity import PIPELINE, entry_of, is_exactly, is_honest_search, keeps

INSTEAD = "use a method that holds rows out, such as '10-fold'."
Answer = TypeVar("Answer")


def rows_of_last_step(pipeline: Any, X: Any) -> Any:
    """Return the rows that a fitted pipeline passes to its last step."""
    return pipeline[:-1].transform(X) if len(pipeline.steps) > 1 else X


@frozen
class Question(Generic[Answer]):
    """A table of classes and formulas, which are called with the question's arguments.

    A model with a method named `method` answers by itself, through `own`. A pipeline answers like
    its last step, for the rows that `rows` returns, and with `into_searches` a search answers like
    its best model. For a model of a class that is not in the table, including subclasses
    (`core/identity.py`), `unknown` answers, or returns a sentence on why it is refused.
    """

    method: str
    own: Callable[..., Answer]
    formulas: Mapping[str, Callable[..., Answer]]
    unknown: Callable[..., Answer | str]
    rows: Callable[[Any, Any], Any] = rows_of_last_step
    into_searches: bool = False

    def __call__(self, model: Any, X: Any, *given: Any) -> Answer:
        """Ask the model's own method, then the table; look inside pipelines and searches."""
        if callable(getattr(model, self.method, None)):
            return self.own(model, X, *given)
        if is_exactly(model, PIPELINE):
            return self(model[-1], self.rows(model, X), *given)
        if self.into_searches and answers_by_its_best(model):
            return self(model.best_estimator_, X, *given)
        answer = (entry_of(model, self.formulas) or self.unknown)(model, X, *given)
        if isinstance(answer, str):
            raise Refusal(answer)
        return answer


GRID = "sklearn.model_selection:GridSearchCV"
RANDOM = "sklearn.model_selection:RandomizedSearchCV"
OPTUNA = "optuna_integration.sklearn:OptunaSearchCV"
ANSWERS = ("predict", "predict_proba", "decision_function")


def is_a_search(learner: Any) -> bool:
    """Return True if a learner, once fitted, predicts like its ``best_estimator_``.

    This includes subclasses of grid search that do not override the predictions.
    """
    return (
        any(keeps(learner, place, *ANSWERS) for place in (GRID, RANDOM))
        or is_honest_search(learner, exactly=True)
        or is_exactly(learner, OPTUNA)
    )


def answers_by_its_best(model: Any) -> bool:
    """Return True if a fitted search kept its best model and predicts with it."""
    # A search that is wrapped by ours may predict in its own way.
    inside = getattr(model, "search_", None)
    own = inside is None or answers_by_its_best(inside)
    return own and hasattr(model, "best_estimator_") and is_a_search(model)


def rows_behind(model: Any, X: Any, n_rows: int) -> np.ndarray:
    r"""Return the number :math:`n_x` of training rows from which :math:`\hat p_x` was computed.

    These are the neighbours with a positive weight for nearest neighbours, the rows of the leaf for
    a tree, and those of the interval for `IntervalClassifier`. For a pipeline they are those of the
    last step, for a search those of the best model. A model of any other class, including
    subclasses, can define a method ``rows_behind(X)``. Without it, all `n_rows` rows of the fit are
    assumed, as for a rule with global parameters.
    """
    return _QUESTION(model, X, n_rows)


def _in_radius(model: Any, X: Any, n_rows: int) -> np.ndarray:
    near = model.radius_neighbors(X)[0]
    return np.array([_counted(model, each[None])[0] for each in near])


def _counted(model: Any, distances: np.ndarray) -> np.ndarray:
    """Return the number of neighbours with a positive weight.

    With weights by distance, neighbours at x itself exclude all others.
    """
    if callable(model.weights):
        return (np.asarray(model.weights(distances)) > 0).sum(axis=1)
    if model.weights == "distance":
        here = (distances == 0).sum(axis=1)
        return np.where(here > 0, here, distances.shape[1])
    return np.full(len(distances), distances.shape[1])


def _in_leaf(model: Any, X: Any, n_rows: int) -> np.ndarray:
    return model.tree_.n_node_samples[model.apply(X)]


_QUESTION = Question[np.ndarray](
    "rows_behind",
    own=lambda model, X, _: np.asarray(model.rows_behind(X)),
    formulas={
        "sklearn.neighbors:KNeighborsClassifier": lambda m, X, _: _counted(m, m.kneighbors(X)[0]),
        "sklearn.neighbors:RadiusNeighborsClassifier": _in_radius,
        "sklearn.tree:DecisionTreeClassifier": _in_leaf,
        "sklearn.tree:ExtraTreeClassifier": _in_leaf,
        "truerisk.models.interval_classifier:IntervalClassifier": lambda model, X, _: (
            model.counts_.sum(axis=1)[model.apply(X)]
        ),
    },
    unknown=lambda _, X, n_rows: np.full(X.shape[0] if hasattr(X, "shape") else len(X), n_rows),
    into_searches=True,
)
