"""Learners and searches of skrub's DataOps, which take an environment in the place of X and y.

A DataOp computes X and y from the tables of an environment, and then they are split. Everything
before its marks `mark_as_X` and `mark_as_y` is computed once on all rows, and everything after them
in each training set, as in `skrub.cross_validate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone, is_classifier, is_regressor

from truerisk.core.errors import BadData, Refusal

FITTED_ATTRIBUTES = (
    "cv_results_",
    "best_score_",
    "best_params_",
    "best_index_",
    "scorer_",
    "n_splits_",
    "refit_time_",
    "multimetric_",
)


def bind_environment(model: Any, environment: Any, y: Any, scoring: Any) -> tuple[Any, Any, Any]:
    """Return a scikit-learn estimator that does what the model does, with its X and its y.

    A ParamSearch becomes the GridSearchCV or RandomizedSearchCV that its own `fit` makes, fitted if
    the ParamSearch is.
    """
    class_name, data_op = type(model).__name__, model.data_op
    if hasattr(model, "sampler"):
        raise Refusal(
            f"{class_name} of skrub is no search of scikit-learn: use "
            ".skb.make_randomized_search() without backend='optuna', or .skb.make_grid_search()."
        )
    has_environment = isinstance(environment, Mapping)
    if y is not None or not (has_environment or environment is None):
        raise BadData(
            f"a {class_name} of skrub computes X and y itself: give the environment of its DataOp, "
            "such as data_op.skb.get_data(), in the place of X, and no y."
        )
    nodes = data_op.skb.find_X_y()
    if not {"X", "y"} <= nodes.keys():
        raise BadData(
            "the DataOp marks no X or no y: call .skb.mark_as_X() and .skb.mark_as_y() on the "
            "nodes that are split into training and test rows."
        )
    if "cv" in nodes:
        raise Refusal(
            "the DataOp marks X with a splitter (cv=), but the honest risk has splits of its own: "
            "use .skb.mark_as_X() without cv, and give groups= or time= to this call."
        )
    own_scoring = getattr(getattr(model, "search", model), "scoring", None)
    names_scores = data_op.skb.find(_is_scoring_node) is not None
    if names_scores and scoring is None and own_scoring is None:
        raise Refusal(
            "the scores that the DataOp names by .skb.with_scoring() are not read: give scoring= "
            "to the search or, for a learner, to this call."
        )
    bound = _to_estimator(model, environment if has_environment else {})
    if not has_environment:
        return bound, None, None
    return bound, nodes["X"].skb.eval(environment), nodes["y"].skb.eval(environment)


def _is_scoring_node(node: Any) -> bool:
    return hasattr(getattr(node, "_skrub_impl", None), "scorers")


def _to_estimator(model: Any, environment: Mapping[str, Any]) -> Any:
    """Return the estimator or search of scikit-learn that `model.fit(environment)` fits."""
    if not hasattr(model, "search"):
        return model.__skrub_to_Xy_pipeline__(environment)
    learner = model.data_op.skb.make_learner()
    search = clone(model.search)
    search.estimator = learner.__skrub_to_Xy_pipeline__(environment)
    grid_name = "param_grid" if hasattr(search, "param_grid") else "param_distributions"
    setattr(search, grid_name, learner.get_param_grid())
    if search.scoring is None:
        # skrub then uses the `score` of the learner's last estimator: accuracy or R².
        if is_classifier(learner):
            search.scoring = "accuracy"
        elif is_regressor(learner):
            search.scoring = "r2"
    for name in FITTED_ATTRIBUTES:
        if hasattr(model, name):
            setattr(search, name, getattr(model, name))
    if hasattr(model, "best_learner_"):
        search.best_estimator_ = model.best_learner_.__skrub_to_Xy_pipeline__(environment)
    return search
