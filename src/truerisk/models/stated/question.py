"""Questions to fitted models: each answers by its own method, or by the formula of its class.

Asked are the best of the models that a search tried, and how many training rows a probability at x
rests on.
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
    """The rows as the steps of a fitted pipeline make them for its last one."""
    return pipeline[:-1].transform(X) if len(pipeline.steps) > 1 else X


@frozen
class Question(Generic[Answer]):
    """A table of classes and their formulas, which are called as the question is.

    A model that has a method named `method` answers for itself, by `own`; a pipeline answers as its
    last step does to the rows that `rows` makes for it, and with `into_searches` a search as its
    best model. For a model of any other class than those of the table, a subclass included
    (`core/identity.py`), `unknown` answers, or says in a sentence why it is refused.
    """

    method: str
    own: Callable[..., Answer]
    formulas: Mapping[str, Callable[..., Answer]]
    unknown: Callable[..., Answer | str]
    rows: Callable[[Any, Any], Any] = rows_of_last_step
    into_searches: bool = False

    def __call__(self, model: Any, X: Any, *given: Any) -> Answer:
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
    """Whether, once it is fitted, it answers as its ``best_estimator_`` does.

    A kind of grid search that leaves the answers as they are counts, one that overrides them not.
    """
    return (
        any(keeps(learner, place, *ANSWERS) for place in (GRID, RANDOM))
        or is_honest_search(learner, exactly=True)
        or is_exactly(learner, OPTUNA)
    )


def answers_by_its_best(model: Any) -> bool:
    """Whether a fitted model is a search that kept its best, and not one that was given another."""
    inside = getattr(model, "search_", None)  # a search given to ours may answer in its own way
    own = inside is None or answers_by_its_best(inside)
    return own and hasattr(model, "best_estimator_") and is_a_search(model)


def rows_behind(model: Any, X: Any, n_rows: int) -> np.ndarray:
    r"""The number :math:`n_x` of training rows from which :math:`\hat p_x` was computed.

    The neighbours with a weight for nearest neighbours, the rows of the leaf for a tree, those of
    the interval for `IntervalClassifier`; the last step of a pipeline, the best model of a search.
    A model of any other kind, a subclass included, says so by a method ``rows_behind(X)``; one that
    has none is taken to use all `n_rows` rows of its fit, as a rule with global parameters does.
    """
    return _QUESTION(model, X, n_rows)


def _in_radius(model: Any, X: Any, n_rows: int) -> np.ndarray:
    near = model.radius_neighbors(X)[0]
    return np.array([_counted(model, each[None])[0] for each in near])


def _counted(model: Any, distances: np.ndarray) -> np.ndarray:
    """Neighbours whose weight is not 0; by distance, those at x itself silence the others."""
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
