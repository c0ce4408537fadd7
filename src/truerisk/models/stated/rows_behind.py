"""How many training rows a fitted classifier's probability at x rests on."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.models.stated.question import Question

__all__ = ["rows_behind"]


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
