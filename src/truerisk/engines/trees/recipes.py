"""Settings of decision trees that the compiled builder can grow, with seeds and stopping rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from math import ceil, inf, log2, sqrt
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.prepared import call_or_none
from truerisk.engines.trees.compiled import (
    FEATURE_THRESHOLD,
    NO_LIMIT,
    GrowthLimits,
    RowLists,
    Tree,
    TreeTable,
    grow_trees,
)
from truerisk.kernels import is_available

CLASSIFICATION_CRITERIA = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy"}
REGRESSION_CRITERIA = {"squared_error": "squared_error"}
UNSUPPORTED_PARAMETERS = {"max_leaf_nodes", "class_weight", "monotonic_cst"}
SUPPORTED_PARAMETERS = {
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
RANDOM_END = 2**31 - 1  # This is scikit-learn's constant RAND_R_MAX.


@frozen
class TreeSettings:
    """Hyperparameters of one decision tree, in the form that the compiled builder needs."""

    setting: Mapping[str, Any]
    criterion: str
    n_tried_columns: int

    @property
    def seed(self) -> int | None:
        """Value of `random_state`, or None if it is not set and each fit gets a seed of its own."""
        random_state = self.setting["random_state"]
        return None if random_state is None else int(random_state)

    def growth_limits(self, n_rows: int) -> GrowthLimits:
        """Return the stopping rules of a tree grown on `n_rows` training rows, counting copies.

        Hyperparameters given as shares of the rows are converted to numbers of rows.
        """
        setting = self.setting
        max_depth, min_split = setting["max_depth"], setting["min_samples_split"]
        min_leaf = setting["min_samples_leaf"]
        return GrowthLimits(
            depth=NO_LIMIT if max_depth is None else int(max_depth),
            min_split_rows=max(2, ceil(min_split * n_rows))
            if isinstance(min_split, float)
            else int(min_split),
            min_leaf_rows=ceil(min_leaf * n_rows) if isinstance(min_leaf, float) else int(min_leaf),
            min_leaf_weight=setting["min_weight_fraction_leaf"] * n_rows,
            decrease=setting["min_impurity_decrease"],
        )


def resolve_tree_settings(
    setting: Mapping[str, Any], n_columns: int, *, is_regression: bool = False
) -> TreeSettings | None:
    """Return the tree settings of a hyperparameter setting for the compiled builder.

    Return None if scikit-learn has to grow or reject the tree. `is_regression` is True for
    regression trees and False for classification trees.
    """
    unset_parameters, criteria = (
        (UNSUPPORTED_PARAMETERS - {"class_weight"}, REGRESSION_CRITERIA)
        if is_regression
        else (UNSUPPORTED_PARAMETERS, CLASSIFICATION_CRITERIA)
    )
    # Leave the tree to scikit-learn if it has hyperparameters that the builder does not know.
    if set(setting) != SUPPORTED_PARAMETERS | unset_parameters:
        return None
    if any(setting[name] is not None for name in unset_parameters) or not _has_supported_values(
        setting
    ):
        return None
    if setting["criterion"] not in criteria:
        return None
    return TreeSettings(
        setting, criteria[setting["criterion"]], _n_tried_columns(setting, n_columns)
    )


@lru_cache(maxsize=1024)  # Most fits share one seed, so the first draw is cached.
def splitter_seed(seed: int) -> int:
    """Return the first number that scikit-learn's splitter draws from a `random_state`."""
    return int(np.random.RandomState(seed).randint(0, RANDOM_END))


def _has_supported_values(setting: Mapping[str, Any]) -> bool:
    are_strings = isinstance(setting["criterion"], str) and isinstance(setting["splitter"], str)
    max_features = setting["max_features"]
    return (
        are_strings
        and setting["splitter"] == "best"
        and (setting["max_depth"] is None or _is_whole(setting["max_depth"], 1))
        and (_is_whole(setting["min_samples_split"], 2) or _is_share(setting["min_samples_split"]))
        and (
            _is_whole(setting["min_samples_leaf"], 1)
            or _is_share(setting["min_samples_leaf"], below=1.0)
        )
        and _is_real_in_range(setting["min_weight_fraction_leaf"], 0.5)
        and _is_real_in_range(setting["min_impurity_decrease"], inf)
        and (
            _is_named_max_features(max_features)
            or _is_whole(max_features, 1)
            or _is_share(max_features)
        )
        and (setting["random_state"] is None or _is_whole(setting["random_state"], 0, 2**32))
    )


def _is_named_max_features(max_features: Any) -> bool:
    return max_features is None or (
        isinstance(max_features, str) and max_features in ("sqrt", "log2")
    )


def _is_whole(value: Any, lower_limit: int, upper_limit: int = NO_LIMIT) -> bool:
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_integer and lower_limit <= int(value) < upper_limit


def _is_share(value: Any, below: float = np.nextafter(1.0, 2.0)) -> bool:
    return isinstance(value, float) and 0 < value < below


def _is_real_in_range(value: Any, upper_limit: float) -> bool:
    return (
        (isinstance(value, float) or _is_whole(value, 0))
        and 0 <= value <= upper_limit
        and value < inf
    )


def _n_tried_columns(setting: Mapping[str, Any], n_columns: int) -> int:
    """Return the number of columns that a node tries for its split, given by `max_features`."""
    max_features = setting["max_features"]
    if max_features is None:
        return n_columns
    if isinstance(max_features, str):
        root_or_log = sqrt(n_columns) if max_features == "sqrt" else log2(n_columns)
        return max(1, int(root_or_log))
    return (
        max(1, int(max_features * n_columns))
        if isinstance(max_features, float)
        else int(max_features)
    )


N_SIMULATED_CLASSES = 5
COMPARED_ATTRIBUTES = ("children_left", "children_right", "feature", "threshold", "impurity")


@cache
def equality_gap(criterion: str) -> float | None:
    """Return the largest difference at which scikit-learn's trees treat two values as equal.

    None means that the trees of the builder differ from scikit-learn's with any such difference.
    The comparison runs once per process and criterion, in some milliseconds. scikit-learn before
    1.8 splits at every gap.
    """
    if not is_available():
        return None
    settings = [({"criterion": criterion, **params}, n) for params, n in EXAMPLE_SETTINGS]
    for candidate_threshold in (FEATURE_THRESHOLD, 0.0):
        if all(_grows_the_same_tree(*example, candidate_threshold) for example in settings):
            return candidate_threshold
    return None


EXAMPLE_SETTINGS: tuple[tuple[dict[str, Any], int], ...] = (
    ({"random_state": 4}, 200),
    ({"random_state": 5}, 201),
    ({"random_state": 0}, 301),
    ({"random_state": 4, "max_features": 2, "min_samples_leaf": 2}, 150),
    ({"random_state": 5, "max_features": 0.5, "max_depth": 7, "min_impurity_decrease": 0.001}, 151),
)


def _grows_the_same_tree(params: dict[str, Any], n_rows: int, feature_threshold: float) -> bool:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, codes, rows, copy_counts = _simulate_rows(n_rows)
    is_regression = params["criterion"] == "squared_error"
    model = (DecisionTreeRegressor if is_regression else DecisionTreeClassifier)(**params)
    tree_settings = resolve_tree_settings(
        model.get_params(), X.shape[1], is_regression=is_regression
    )
    repeated_rows = np.repeat(rows, copy_counts)
    sklearn_model = call_or_none(lambda: model.fit(X[repeated_rows], codes[repeated_rows]))
    if tree_settings is None or tree_settings.seed is None or sklearn_model is None:
        return False
    grown_trees = grow_trees(
        TreeTable.from_rows(X),
        codes,
        1 if is_regression else N_SIMULATED_CLASSES,
        RowLists.from_lists([rows]),
        copy_counts,
        RowLists.from_lists([np.arange(n_rows)]),
        np.array([splitter_seed(tree_settings.seed)]),
        [tree_settings.growth_limits(int(copy_counts.sum()))],
        n_tried=tree_settings.n_tried_columns,
        criterion=tree_settings.criterion,
        close=feature_threshold,
    )
    return is_same_tree(grown_trees.tree(0), sklearn_model.tree_) and np.array_equal(
        grown_trees.leaves, sklearn_model.apply(X)
    )


def _simulate_rows(n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Simulate a training set with copies in which many splits differ in quality only by rounding.

    The cells are integers, or rounded numbers in both signs, with a constant column and a column of
    close values. Splits of columns with opposite sign are mirrored: if a compiler fuses a product
    and a sum into one operation (on processors other than x86-64, for example), rounding
    distinguishes the two.
    """
    rng = np.random.default_rng(n_rows)
    X = np.round(rng.normal(size=(n_rows, 6)))
    if n_rows % 2:
        X[:, :3] = np.round(rng.normal(size=(n_rows, 3)), 1)
        X[:, 3:] = -X[:, :3]
    codes = rng.integers(N_SIMULATED_CLASSES, size=n_rows)
    # Some rows are left out of the training set, and some are repeated in it.
    copy_counts = rng.choice(3, n_rows, p=[0.05, 0.9, 0.05])
    rows = np.flatnonzero(copy_counts)
    X = np.column_stack([X, np.ones(n_rows), 0.1 + FEATURE_THRESHOLD * rng.normal(size=n_rows)])
    return X, codes, rows, copy_counts[rows]


def is_same_tree(grown_tree: Tree, sklearn_tree: Any) -> bool:
    """Return True if a tree of the builder equals a scikit-learn tree in all its numbers."""
    node_weights = grown_tree.weighted_n_node_samples
    return (
        all(
            np.array_equal(getattr(grown_tree, name), getattr(sklearn_tree, name))
            for name in COMPARED_ATTRIBUTES
        )
        and np.array_equal(node_weights, sklearn_tree.weighted_n_node_samples)
        and np.array_equal(grown_tree.counts / node_weights[:, None], sklearn_tree.value[:, 0])
    )
