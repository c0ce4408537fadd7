"""Whether the compiled builder grows the trees of the scikit-learn that is installed.

The same tree also means the same random numbers and, of equally good splits, the same one. Another
release may draw otherwise, another compiler round otherwise. So before the builder is used for the
first time in a process, a few small trees full of ties are grown by both and compared node by node.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from truerisk.engines.preparation.prepared import unless_it_fails
from truerisk.engines.trees.recipes import recipe_of, start_of
from truerisk.kernels.loading import available
from truerisk.kernels.trees import CLOSE, RowLists, Tree, TreeTable, grow_trees

__all__ = ["closeness", "same_tree"]

N_CLASSES = 5
NAMES = ("children_left", "children_right", "feature", "threshold", "impurity")


@cache
def closeness(criterion: str) -> float | None:
    """The gap up to which values are equal where scikit-learn grows the same trees, else None.

    Asked once per process and criterion; some milliseconds. Releases before 1.8 split every gap.
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
        TreeTable.of(X),
        codes,
        1 if numbers else N_CLASSES,
        RowLists.of([rows]),
        times,
        RowLists.of([np.arange(n)]),
        np.array([start_of(recipe.seed)]),
        [recipe.limits(int(times.sum()))],
        n_tried=recipe.n_tried,
        criterion=recipe.criterion,
        close=close,
    )
    return same_tree(ours.tree(0), theirs.tree_) and np.array_equal(ours.leaves, theirs.apply(X))


def _problem(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Small whole numbers, or rounded ones also with the other sign; a constant; close values.

    Many splits are equally good but for rounding. Those of columns with the other sign are
    mirrored: where a compiler makes a product and a sum one operation (on processors other than
    x86-64, say), rounding tells the two apart.
    """
    rng = np.random.default_rng(n)
    X = np.round(rng.normal(size=(n, 6)))
    if n % 2:
        X[:, :3] = np.round(rng.normal(size=(n, 3)), 1)
        X[:, 3:] = -X[:, :3]
    codes = rng.integers(N_CLASSES, size=n)
    times = rng.choice(3, n, p=[0.05, 0.9, 0.05])  # rows left out, rows that come twice
    rows = np.flatnonzero(times)
    X = np.column_stack([X, np.ones(n), 0.1 + CLOSE * rng.normal(size=n)])
    return X, codes, rows, times[rows]


def same_tree(ours: Tree, theirs: Any) -> bool:
    """Whether every number of two trees on all classes, or on numbers, is the same."""
    weight = ours.weighted_n_node_samples
    return (
        all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in NAMES)
        and np.array_equal(weight, theirs.weighted_n_node_samples)
        and np.array_equal(ours.counts / weight[:, None], theirs.value[:, 0])
    )
