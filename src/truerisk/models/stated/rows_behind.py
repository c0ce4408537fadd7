"""How many training rows a fitted classifier's probability at x rests on."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.identity import PIPELINE, is_exactly
from truerisk.models.searches import answers_by_its_best

__all__ = ["rows_behind"]

TREES = ("sklearn.tree:DecisionTreeClassifier", "sklearn.tree:ExtraTreeClassifier")


def rows_behind(model: Any, X: Any, n_rows: int) -> np.ndarray:
    r"""The number :math:`n_x` of training rows from which :math:`\hat p_x` was computed.

    The neighbours with a weight for nearest neighbours, the rows of the leaf for a tree, those of
    the interval for `IntervalClassifier`; the last step of a pipeline, the best model of a search.
    A model of any other kind, a subclass included, says so by a method ``rows_behind(X)``; one that
    has none is taken to use all `n_rows` rows of its fit, as a rule with global parameters does.
    """
    own = getattr(model, "rows_behind", None)
    if callable(own):
        return np.asarray(own(X))
    if is_exactly(model, PIPELINE):
        return rows_behind(model[-1], model[:-1].transform(X) if len(model) > 1 else X, n_rows)
    if answers_by_its_best(model):
        return rows_behind(model.best_estimator_, X, n_rows)
    if is_exactly(model, "sklearn.neighbors:KNeighborsClassifier"):
        return _with_weight(model.weights, model.kneighbors(X)[0])
    if is_exactly(model, "sklearn.neighbors:RadiusNeighborsClassifier"):
        near = model.radius_neighbors(X)[0]
        return np.array([_with_weight(model.weights, each[None])[0] for each in near])
    if is_exactly(model, *TREES):
        return model.tree_.n_node_samples[model.apply(X)]
    if is_exactly(model, "truerisk.models.interval_classifier:IntervalClassifier"):
        return model.counts_.sum(axis=1)[model.apply(X)]
    return np.full(_length(X), n_rows)


def _with_weight(weights: Any, distances: np.ndarray) -> np.ndarray:
    """Neighbours whose weight is not 0; by distance, those at x itself silence the others."""
    if callable(weights):
        return (np.asarray(weights(distances)) > 0).sum(axis=1)
    if weights == "distance":
        here = (distances == 0).sum(axis=1)
        return np.where(here > 0, here, distances.shape[1])
    return np.full(len(distances), distances.shape[1])


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
