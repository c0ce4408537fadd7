"""Which nearest-neighbour families the kNN engine serves, and how their candidates group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.core.family import Family

__all__ = ["Group", "groups_of", "refusal"]

WEIGHTS = ("uniform", "distance")
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
    if estimator is not last and family.is_random:
        return "a step before the neighbours is random and has no seed of its own."
    for setting in _settings(family):
        reason = _setting_refusal(setting)
        if reason is not None:
            return reason
    return None


def _settings(family: Family) -> list[dict[str, Any]]:
    """The parameters of every candidate's neighbours, without making the models."""
    estimator, prefix = family.estimator, ""
    if hasattr(estimator, "steps"):
        prefix, estimator = f"{estimator.steps[-1][0]}__", estimator.steps[-1][1]
    common = estimator.get_params(deep=False)  # asked once: scikit-learn inspects a signature
    return [
        common | {n.removeprefix(prefix): v for n, v in given.items() if n.startswith(prefix)}
        for given in family.candidates
    ]


def _setting_refusal(setting: Mapping[str, Any]) -> str | None:
    k, metric = setting["n_neighbors"], setting["metric"]
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        return f"n_neighbors={k!r} is no number of neighbours."
    if not isinstance(setting["weights"], str) or setting["weights"] not in WEIGHTS:
        return f"weights={setting['weights']!r} is no weighting that it knows."
    if setting["metric_params"] is not None:
        return "metric_params are given."
    if not isinstance(metric, str):
        return "the metric is a function."
    if metric not in OTHERS | {"euclidean", "l2"}:
        return f"metric '{metric}' is not one that it knows."
    if metric == "minkowski" and not setting["p"] >= 1:
        return f"p={setting['p']!r} is no Minkowski distance."
    return None


def groups_of(family: Family) -> list[Group]:
    """The candidates by everything but n_neighbors."""
    members: dict[str, list[int]] = {}
    for number, params in enumerate(family.candidates):
        rest = {n: v for n, v in params.items() if n.rpartition("__")[2] != "n_neighbors"}
        members.setdefault(_key(rest), []).append(number)
    settings = _settings(family)
    return [_group(family, numbers, settings) for numbers in members.values()]


def _key(params: Mapping[str, Any]) -> str:
    """Equal for equal settings; objects in a grid are told apart by identity."""
    plain = (str, int, float, bool, type(None))
    return repr(sorted((n, v if isinstance(v, plain) else id(v)) for n, v in params.items()))


def _group(family: Family, numbers: list[int], settings: list[dict[str, Any]]) -> Group:
    model = family.make(numbers[0])
    setting = settings[numbers[0]]
    steps = getattr(model, "steps", [])[:-1]
    steps = [(name, step) for name, step in steps if step is not None and step != "passthrough"]
    before = _pipeline(steps)
    alone = all(type(step).__name__ in STATELESS for _, step in steps)
    return Group(
        candidates=np.array(numbers),
        ks=np.array([int(settings[number]["n_neighbors"]) for number in numbers]),
        first=numbers[0],
        preparation=None if alone else before,
        rowwise=before if alone else None,
        by_distance=setting["weights"] == "distance",
        metric=setting["metric"],
        p=float(setting["p"]),
    )


def _pipeline(steps: list[Any]) -> Any:
    from sklearn.pipeline import Pipeline

    return Pipeline(steps) if steps else None
