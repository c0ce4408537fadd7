"""Which nearest-neighbour families the kNN engine serves, and how their candidates group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.core.family import Family

__all__ = ["Group", "groups_of", "refusal"]

EUCLIDEAN = {("minkowski", 2), ("euclidean", None), ("l2", None)}
OTHERS = {
    "manhattan",
    "cityblock",
    "l1",
    "chebyshev",
    "cosine",
    "minkowski",
    "canberra",
    "braycurtis",
}
STATELESS = {"Normalizer", "Binarizer"}


@dataclass(frozen=True, eq=False)
class Group:
    """Candidates that differ in the number of neighbours only.

    `first` is the number of one of them; `preparation` the unfitted steps before the neighbours
    (None: none, or steps that treat each row by itself, in `rowwise`).
    """

    candidates: np.ndarray
    ks: np.ndarray
    first: int
    preparation: Any
    rowwise: Any
    by_distance: bool
    metric: str
    p: float

    @property
    def is_euclidean(self) -> bool:
        return self.metric in ("euclidean", "l2") or (self.metric == "minkowski" and self.p == 2)


def refusal(family: Family) -> str | None:
    """Why the family is not one of plain nearest neighbours, or None."""
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.pipeline import Pipeline

    estimator = family.estimator
    if type(estimator) is Pipeline and estimator.memory is not None:
        return "the pipeline caches its steps (memory=), which may hold anything."
    last = estimator.steps[-1][1] if type(estimator) is Pipeline else estimator
    if type(last) not in (KNeighborsClassifier, KNeighborsRegressor):
        return f"the learner is {type(last).__name__}, not scikit-learn's nearest neighbours."
    if any(isinstance(v, type(last)) for params in family.candidates for v in params.values()):
        return "the grid replaces the nearest neighbours themselves."
    if family.is_random:
        return "a step before the neighbours is random and has no seed of its own."
    for candidate in range(len(family)):
        reason = _model_refusal(_model(family.make(candidate)))
        if reason is not None:
            return reason
    return None


def _model_refusal(model: Any) -> str | None:
    if not isinstance(model.n_neighbors, int | np.integer) or model.n_neighbors < 1:
        return f"n_neighbors={model.n_neighbors!r} is no number of neighbours."
    if model.weights not in ("uniform", "distance"):
        return f"weights={model.weights!r} is no weighting that it knows."
    if model.metric_params is not None:
        return "metric_params are given."
    if not isinstance(model.metric, str):
        return "the metric is a function."
    if model.metric not in OTHERS | {"euclidean", "l2"}:
        return f"metric '{model.metric}' is not one that it knows."
    if model.metric == "minkowski" and not model.p >= 1:
        return f"p={model.p!r} is no Minkowski distance."
    return None


def groups_of(family: Family) -> list[Group]:
    """The candidates by everything but n_neighbors."""
    members: dict[str, list[int]] = {}
    for number, params in enumerate(family.candidates):
        rest = {n: v for n, v in params.items() if n.rpartition("__")[2] != "n_neighbors"}
        members.setdefault(_key(rest), []).append(number)
    return [_group(family, numbers) for numbers in members.values()]


def _key(params: Mapping[str, Any]) -> str:
    """Equal for equal settings; objects in a grid are told apart by identity."""
    plain = (str, int, float, bool, type(None))
    return repr(sorted((n, v if isinstance(v, plain) else id(v)) for n, v in params.items()))


def _group(family: Family, numbers: list[int]) -> Group:
    made = [family.make(number) for number in numbers]
    model = _model(made[0])
    steps = made[0].steps[:-1] if made[0] is not model else []
    steps = [(name, step) for name, step in steps if step is not None and step != "passthrough"]
    before = _pipeline(steps)
    alone = all(type(step).__name__ in STATELESS for _, step in steps)
    return Group(
        candidates=np.array(numbers),
        ks=np.array([_model(one).n_neighbors for one in made]),
        first=numbers[0],
        preparation=None if alone else before,
        rowwise=before if alone else None,
        by_distance=model.weights == "distance",
        metric=model.metric,
        p=float(model.p),
    )


def _pipeline(steps: list[Any]) -> Any:
    from sklearn.pipeline import Pipeline

    return Pipeline(steps) if steps else None


def _model(estimator: Any) -> Any:
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator
