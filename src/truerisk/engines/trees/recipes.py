"""Decision trees that the compiled builder grows, with their seeds and stopping rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from math import ceil, inf, log2, sqrt
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.prepared import unless_it_fails
from truerisk.engines.trees.compiled import (
    CLOSE,
    NO_LIMIT,
    GrowthLimits,
    RowLists,
    Tree,
    TreeTable,
    grow_trees,
)
from truerisk.kernels import available

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


@frozen
class Recipe:
    """One setting of a decision tree as the builder needs it."""

    setting: Mapping[str, Any]
    criterion: str
    n_tried: int

    @property
    def seed(self) -> int | None:
        """The `random_state`, or None if each fit gets its own."""
        given = self.setting["random_state"]
        return None if given is None else int(given)

    def limits(self, n: int) -> GrowthLimits:
        """Return the stopping rules for n rows (with copies); shares of rows become numbers."""
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
    """Return the recipe of a setting, or None if scikit-learn has to grow or reject it.

    `numbers` distinguishes the regression tree from the classification tree.
    """
    absent, criteria = (ABSENT - {"class_weight"}, OF_NUMBERS) if numbers else (ABSENT, OF_CLASSES)
    if set(setting) != READ | absent:  # This release of scikit-learn has other parameters.
        return None
    if any(setting[name] is not None for name in absent) or not _all_in_range(setting):
        return None
    if setting["criterion"] not in criteria:
        return None
    return Recipe(setting, criteria[setting["criterion"]], _tried(setting, n_columns))


@lru_cache(maxsize=1024)  # Most fits share one seed.
def start_of(seed: int) -> int:
    """Return the number that scikit-learn's splitter draws first from a `random_state`."""
    return int(np.random.RandomState(seed).randint(0, RANDOM_END))


def _all_in_range(given: Mapping[str, Any]) -> bool:
    words = isinstance(given["criterion"], str) and isinstance(given["splitter"], str)
    features = given["max_features"]
    return (
        words
        and given["splitter"] == "best"
        and (given["max_depth"] is None or _is_whole(given["max_depth"], 1))
        and (_is_whole(given["min_samples_split"], 2) or _part(given["min_samples_split"]))
        and (_is_whole(given["min_samples_leaf"], 1) or _part(given["min_samples_leaf"], below=1.0))
        and _real(given["min_weight_fraction_leaf"], 0.5)
        and _real(given["min_impurity_decrease"], inf)
        and (_is_option(features) or _is_whole(features, 1) or _part(features))
        and (given["random_state"] is None or _is_whole(given["random_state"], 0, 2**32))
    )


def _is_option(features: Any) -> bool:
    return features is None or (isinstance(features, str) and features in ("sqrt", "log2"))


def _is_whole(value: Any, least: int, end: int = NO_LIMIT) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and least <= int(value) < end


def _part(value: Any, below: float = np.nextafter(1.0, 2.0)) -> bool:
    return isinstance(value, float) and 0 < value < below


def _real(value: Any, most: float) -> bool:
    return (isinstance(value, float) or _is_whole(value, 0)) and 0 <= value <= most and value < inf


def _tried(given: Mapping[str, Any], n_columns: int) -> int:
    """Return `max_features` as a number of columns."""
    features = given["max_features"]
    if features is None:
        return n_columns
    if isinstance(features, str):
        root = sqrt(n_columns) if features == "sqrt" else log2(n_columns)
        return max(1, int(root))
    return max(1, int(features * n_columns)) if isinstance(features, float) else int(features)


N_CLASSES = 5
NAMES = ("children_left", "children_right", "feature", "threshold", "impurity")


@cache
def closeness(criterion: str) -> float | None:
    """Return the gap up to which values are equal if scikit-learn grows the same trees, else None.

    It is tested once per process and criterion, in some milliseconds. Releases before 1.8 split
    every gap.
    """
    if not available():
        return None
    settings = [({"criterion": criterion, **more}, n) for more, n in SETTINGS]
    for close in (CLOSE, 0.0):
        if all(_agree(*one, close) for one in settings):
            return close
    return None


SETTINGS: tuple[tuple[dict[str, Any], int], ...] = (
    ({"random_state": 4}, 200),
    ({"random_state": 5}, 201),
    ({"random_state": 0}, 301),
    ({"random_state": 4, "max_features": 2, "min_samples_leaf": 2}, 150),
    ({"random_state": 5, "max_features": 0.5, "max_depth": 7, "min_impurity_decrease": 0.001}, 151),
)


def _agree(params: dict[str, Any], n: int, close: float) -> bool:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, codes, rows, times = _problem(n)
    numbers = params["criterion"] == "squared_error"
    model = (DecisionTreeRegressor if numbers else DecisionTreeClassifier)(**params)
    recipe = recipe_of(model.get_params(), X.shape[1], numbers=numbers)
    every = np.repeat(rows, times)
    theirs = unless_it_fails(lambda: model.fit(X[every], codes[every]))
    if recipe is None or recipe.seed is None or theirs is None:
        return False
    ours = grow_trees(
        TreeTable.from_rows(X),
        codes,
        1 if numbers else N_CLASSES,
        RowLists.from_lists([rows]),
        times,
        RowLists.from_lists([np.arange(n)]),
        np.array([start_of(recipe.seed)]),
        [recipe.limits(int(times.sum()))],
        n_tried=recipe.n_tried,
        criterion=recipe.criterion,
        close=close,
    )
    return same_tree(ours.tree(0), theirs.tree_) and np.array_equal(ours.leaves, theirs.apply(X))


def _problem(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return integers, or rounded numbers in both signs, with a constant and close values.

    Many splits are equally good up to rounding. Those of columns with opposite sign are mirrored:
    if a compiler fuses a product and a sum into one operation (on processors other than x86-64, for
    example), rounding distinguishes the two.
    """
    rng = np.random.default_rng(n)
    X = np.round(rng.normal(size=(n, 6)))
    if n % 2:
        X[:, :3] = np.round(rng.normal(size=(n, 3)), 1)
        X[:, 3:] = -X[:, :3]
    codes = rng.integers(N_CLASSES, size=n)
    times = rng.choice(3, n, p=[0.05, 0.9, 0.05])  # Some rows are left out, and some are repeated.
    rows = np.flatnonzero(times)
    X = np.column_stack([X, np.ones(n), 0.1 + CLOSE * rng.normal(size=n)])
    return X, codes, rows, times[rows]


def same_tree(ours: Tree, theirs: Any) -> bool:
    """Return True if all numbers of two trees are equal."""
    weight = ours.weighted_n_node_samples
    return (
        all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in NAMES)
        and np.array_equal(weight, theirs.weighted_n_node_samples)
        and np.array_equal(ours.counts / weight[:, None], theirs.value[:, 0])
    )
