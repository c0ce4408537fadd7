"""Degrees of freedom of rules that average labels: neighbours, trees, constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.errors import Refusal

__all__ = ["constant", "leaves", "neighbours"]


def constant(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """One mean, or the shares of all classes but one."""
    if model.strategy not in ("mean", "prior"):
        raise Refusal(
            f"strategy='{model.strategy}' is no maximum of the likelihood: use 'mean' for numbers "
            "and 'prior' for classes."
        )
    return float(_free_classes(model))


def neighbours(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """n/k, the trace of the matrix that averages k neighbours, the row itself one of them.

    For K classes K − 1 shares are averaged. Equal rows can push a row out of its own
    neighbourhood; n/k then is above the trace.
    """
    if model.weights not in ("uniform", None):
        raise Refusal(
            "nearest neighbours weighted by distance pass through every label: their degrees of "
            "freedom are the number of rows; use weights='uniform'."
        )
    return float(model.n_samples_fit_ / model.n_neighbors * _free_classes(model))


def leaves(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """The number of leaves, times K − 1 for K classes.

    It takes the splits as given: looking for them costs degrees of freedom that are not counted.
    """
    if model.criterion in ("absolute_error", "poisson") or getattr(model, "class_weight", None):
        raise Refusal(
            "the leaves of this tree do not hold the means of their labels (criterion or "
            "class_weight): degrees of freedom are stated for squared error, gini and entropy."
        )
    return float(model.get_n_leaves() * _free_classes(model))


def _free_classes(model: Any) -> int:
    """1 for numbers, K − 1 for K classes."""
    classes = getattr(model, "classes_", None)
    return 1 if classes is None else len(classes) - 1
