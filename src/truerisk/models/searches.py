"""Searches: learners that answer by the best of the models that they tried."""

from __future__ import annotations

from typing import Any

from truerisk.core.identity import is_exactly, keeps

__all__ = ["answers_by_its_best", "is_a_search"]

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
