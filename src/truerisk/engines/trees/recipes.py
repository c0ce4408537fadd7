"""Which decision trees the compiled builder grows, and from which seed and within which limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, inf, log2, sqrt
from typing import Any

import numpy as np

from truerisk.kernels.trees import NO_LIMIT, GrowthLimits

__all__ = ["Recipe", "recipe_of", "start_of"]

OF_CLASSES = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy"}
OF_NUMBERS = {"squared_error": "squared_error"}
ABSENT = {"max_leaf_nodes", "class_weight", "monotonic_cst"}
READ = {
    "criterion",
    "splitter",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "min_impurity_decrease",
    "random_state",
    "ccp_alpha",
}
RANDOM_END = 2**31 - 1  # scikit-learn's RAND_R_MAX


@dataclass(frozen=True)
class Recipe:
    """One setting of a decision tree as the builder needs it."""

    setting: Mapping[str, Any]
    criterion: str
    n_tried: int

    @property
    def seed(self) -> int | None:
        """The `random_state`, None where each fit gets its own."""
        given = self.setting["random_state"]
        return None if given is None else int(given)

    def limits(self, n: int) -> GrowthLimits:
        """Where growing ends on n rows, copies counted: shares of the rows become numbers."""
        given = self.setting
        depth, split = given["max_depth"], given["min_samples_split"]
        leaf = given["min_samples_leaf"]
        return GrowthLimits(
            depth=NO_LIMIT if depth is None else int(depth),
            n_split=max(2, ceil(split * n)) if isinstance(split, float) else int(split),
            n_leaf=ceil(leaf * n) if isinstance(leaf, float) else int(leaf),
            weight_leaf=given["min_weight_fraction_leaf"] * n,
            decrease=given["min_impurity_decrease"],
        )


def recipe_of(
    setting: Mapping[str, Any], n_columns: int, *, numbers: bool = False
) -> Recipe | None:
    """None for a setting that is scikit-learn's to grow, or to complain of.

    `numbers` tells the regression tree from the classification tree.
    """
    absent, criteria = (ABSENT - {"class_weight"}, OF_NUMBERS) if numbers else (ABSENT, OF_CLASSES)
    if set(setting) != READ | absent:  # a release with other parameters
        return None
    if any(setting[name] is not None for name in absent) or not _all_in_range(setting):
        return None
    if setting["criterion"] not in criteria:
        return None
    return Recipe(setting, criteria[setting["criterion"]], _tried(setting, n_columns))


@lru_cache(maxsize=1024)  # most fits share one seed
def start_of(seed: int) -> int:
    """What scikit-learn's splitter draws from a `random_state` before anything else."""
    return int(np.random.RandomState(seed).randint(0, RANDOM_END))


def _all_in_range(given: Mapping[str, Any]) -> bool:
    words = isinstance(given["criterion"], str) and isinstance(given["splitter"], str)
    features = given["max_features"]
    return (
        words
        and given["splitter"] == "best"
        and (given["max_depth"] is None or _whole(given["max_depth"], 1))
        and (_whole(given["min_samples_split"], 2) or _part(given["min_samples_split"]))
        and (_whole(given["min_samples_leaf"], 1) or _part(given["min_samples_leaf"], below=1.0))
        and _real(given["min_weight_fraction_leaf"], 0.5)
        and _real(given["min_impurity_decrease"], inf)
        and (_is_word(features) or _whole(features, 1) or _part(features))
        and (given["random_state"] is None or _whole(given["random_state"], 0, 2**32))
    )


def _is_word(features: Any) -> bool:
    return features is None or (isinstance(features, str) and features in ("sqrt", "log2"))


def _whole(value: Any, least: int, end: int = NO_LIMIT) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and least <= int(value) < end


def _part(value: Any, below: float = np.nextafter(1.0, 2.0)) -> bool:
    return isinstance(value, float) and 0 < value < below


def _real(value: Any, most: float) -> bool:
    return (isinstance(value, float) or _whole(value, 0)) and 0 <= value <= most and value < inf


def _tried(given: Mapping[str, Any], n_columns: int) -> int:
    """`max_features` as a number of columns."""
    features = given["max_features"]
    if features is None:
        return n_columns
    if isinstance(features, str):
        root = sqrt(n_columns) if features == "sqrt" else log2(n_columns)
        return max(1, int(root))
    return max(1, int(features * n_columns)) if isinstance(features, float) else int(features)
