"""Which settings of the nearest neighbours the kNN engine serves, and how they measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from truerisk.engines.settings import Group

__all__ = ["Measure", "neighbours_refusal"]

WEIGHTS = ("uniform", "distance")
OTHERS = {"manhattan", "cityblock", "l1", "chebyshev", "cosine", "minkowski", "canberra"}
SEARCHES = ("auto", "brute", "kd_tree", "ball_tree")


@dataclass(frozen=True)
class Measure:
    """How the candidates of a group measure; they differ in the number of neighbours only."""

    by_distance: bool
    metric: str
    p: float
    algorithm: str

    @classmethod
    def of(cls, group: Group) -> Measure:
        setting = group.settings[0]
        by_distance = setting["weights"] == "distance"
        return cls(by_distance, setting["metric"], float(setting["p"]), setting["algorithm"])

    def searches_all(self, n_columns: int, n_rows: int, k: int) -> bool:
        """Whether scikit-learn measures all distances for this k, by products: its user guide."""
        many = n_columns > 15 or k >= n_rows // 2
        return self.algorithm == "brute" or (self.algorithm == "auto" and many)

    @property
    def is_euclidean(self) -> bool:
        return self.metric in ("euclidean", "l2") or (self.metric == "minkowski" and self.p == 2)

    @property
    def needs_doubles(self) -> bool:
        """Whether scikit-learn answers otherwise for a table in single precision, or sparse."""
        return self.by_distance or not self.is_euclidean


def neighbours_refusal(setting: Mapping[str, Any]) -> str | None:
    """Why one setting is not served, or None."""
    k, metric, p = setting["n_neighbors"], setting["metric"], setting["p"]
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        return f"n_neighbors={k!r} is no number of neighbours."
    if not isinstance(setting["weights"], str) or setting["weights"] not in WEIGHTS:
        return f"weights={setting['weights']!r} is no weighting that it knows."
    if setting["metric_params"] is not None:
        return "metric_params are given."
    if not isinstance(metric, str):
        return "the metric is a function."
    if metric == "braycurtis":
        return "braycurtis is no metric, so scikit-learn's trees pass over rows that are nearer."
    if metric not in OTHERS | {"euclidean", "l2"}:
        return f"metric '{metric}' is not one that it knows."
    if isinstance(p, bool) or not isinstance(p, Real) or not float(p) >= 1:
        return f"p={p!r} is no Minkowski distance."
    return _search_refusal(setting["algorithm"], metric, setting["leaf_size"])


def _search_refusal(algorithm: Any, metric: str, leaf_size: Any) -> str | None:
    """Why scikit-learn's search would fail; how it searches else decides about ties alone."""
    from sklearn.neighbors import VALID_METRICS

    if not isinstance(algorithm, str) or algorithm not in SEARCHES:
        return f"algorithm={algorithm!r} is no search that it knows."
    if algorithm.endswith("_tree") and metric not in VALID_METRICS[algorithm]:
        return f"algorithm={algorithm!r} does not search by metric {metric!r}."
    if isinstance(leaf_size, bool) or not isinstance(leaf_size, Integral) or leaf_size < 1:
        return f"leaf_size={leaf_size!r} is no size."
    return None
