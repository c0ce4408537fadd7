"""Searches: learners that answer by the best of the models that they tried."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import isfunction, unwrap
from types import CodeType
from typing import Any

from truerisk.core.identity import is_exactly, keeps

__all__ = ["answers_by_its_best", "has_best_params", "is_a_search"]

BEST = "best_params_"

GRID = "sklearn.model_selection:GridSearchCV"
RANDOM = "sklearn.model_selection:RandomizedSearchCV"
OTHERS = ("truerisk.api.search:HonestSearchCV", "optuna_integration.sklearn:OptunaSearchCV")
ANSWERS = ("predict", "predict_proba", "decision_function")


def is_a_search(learner: Any) -> bool:
    """Whether, once it is fitted, it answers as its ``best_estimator_`` does.

    A kind of grid search that leaves the answers as they are counts, one that overrides them not.
    """
    return any(keeps(learner, place, *ANSWERS) for place in (GRID, RANDOM)) or is_exactly(
        learner, *OTHERS
    )


def answers_by_its_best(model: Any) -> bool:
    """Whether a fitted model is a search that kept its best, and not one that was given another."""
    inside = getattr(model, "search_", None)  # a search given to ours may answer in its own way
    own = inside is None or answers_by_its_best(inside)
    return own and hasattr(model, "best_estimator_") and is_a_search(model)


def has_best_params(learner: Any) -> bool:
    """Whether its class gives a fitted model `best_params_`: known before any fit.

    The class has them as a property, or one of its methods names them. What a learner holds, or
    takes, does not count: bags of searches are no search.
    """
    kind = type(learner)
    methods = (unwrap(m) for base in kind.__mro__ for m in vars(base).values() if isfunction(m))
    return hasattr(kind, BEST) or any(BEST in _words_in(m.__code__) for m in methods)


def _words_in(code: CodeType) -> Iterator[Any]:
    """The attributes and texts that a function and those inside it name."""
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _words_in(one)
        else:
            yield one
