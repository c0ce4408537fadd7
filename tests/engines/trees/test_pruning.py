"""One run through the sequence of weakest links knows every pruned tree."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from truerisk.engines.trees.pruning import standing_nodes, weakest_links

LEARNERS = {
    "gini": DecisionTreeClassifier(random_state=0),
    "balanced": DecisionTreeClassifier(random_state=0, class_weight="balanced", min_samples_leaf=2),
    "best first": ExtraTreeClassifier(random_state=0, criterion="entropy", max_leaf_nodes=12),
    "squares, best first": DecisionTreeRegressor(random_state=0, max_leaf_nodes=9),
    "absolute": ExtraTreeRegressor(random_state=0, criterion="absolute_error"),
}


def drawn(seed, model):
    """Rows with many equal cells; whole, fractional or no weights, some of them 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 90))
    X = rng.integers(0, rng.integers(2, 30), (n, 3)).astype(float)
    y = rng.integers(0, 4, n).astype(float)
    if "Regressor" in type(model).__name__ and seed % 2:
        y = rng.normal(size=(n, 2))
    weights = [None, rng.integers(0, 3, n) + 0.0, rng.random(n)][seed % 3]
    if weights is not None:
        weights[0] = 1.0
    return X, y, weights, rng


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("seed", range(12))
def test_the_strengths_are_scikit_learns(name, seed) -> None:
    """The steps are those of cost_complexity_pruning_path, to the last bit."""
    model = LEARNERS[name]
    X, y, weights, _ = drawn(seed, model)
    path = model.cost_complexity_pruning_path(X, y, sample_weight=weights)
    tree = model.fit(X, y, sample_weight=weights).tree_
    assert np.array_equal(weakest_links(tree)[0], path.ccp_alphas[1:])


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("seed", range(12))
def test_the_standing_nodes_are_the_leaves_of_the_pruned_tree(name, seed) -> None:
    """At, just below and between the steps each row falls on the value of the fitted tree."""
    model = LEARNERS[name]
    X, y, weights, rng = drawn(seed, model)
    steps = model.cost_complexity_pruning_path(X, y, sample_weight=weights).ccp_alphas.clip(0)
    chosen = rng.choice(steps, 4)
    alphas = np.concatenate([chosen, np.nextafter(chosen, 0), rng.random(3) * steps.max(), [0, 99]])
    whole = model.fit(X, y, sample_weight=weights)
    asked = rng.integers(0, 30, (25, 3)).astype(float)
    values, leaves = whole.tree_.value.copy(), whole.apply(asked)
    standing = standing_nodes(whole.tree_, alphas)[:, leaves]
    for alpha, nodes in zip(alphas, standing, strict=True):
        pruned = type(model)(**{**model.get_params(), "ccp_alpha": alpha})
        pruned.fit(X, y, sample_weight=weights)
        assert np.array_equal(values[nodes], pruned.tree_.value[pruned.apply(asked)])


def test_a_sequence_by_hand() -> None:
    """Links of 9/1 and 22/2: the first goes first, and leaves (22 − 9)/1 to the root."""
    tree = SimpleNamespace(
        node_count=5,
        children_left=np.array([1, 2, -1, -1, -1]),
        children_right=np.array([4, 3, -1, -1, -1]),
        impurity=np.array([22.0, 9.0, 0.0, 0.0, 0.0]),
        weighted_n_node_samples=np.ones(5),
    )
    strengths, step = weakest_links(tree)
    assert strengths.tolist() == [9.0, 13.0]
    assert step[:2].tolist() == [1, 0]
    assert standing_nodes(tree, np.array([5.0, 9.0, 13.0])).tolist() == [
        [0, 1, 2, 3, 4],
        [0, 1, 1, 1, 4],
        [0, 0, 0, 0, 0],
    ]


def test_a_lone_root_and_impurities_that_are_no_numbers() -> None:
    """A lone node has nothing to collapse; a link whose strength is no number never does."""
    root = DecisionTreeClassifier().fit([[0.0], [1.0]], [1, 1]).tree_
    assert standing_nodes(root, np.array([0.0, 1.0])).tolist() == [[0], [0]]
    odd = SimpleNamespace(
        node_count=3,
        children_left=np.array([1, -1, -1]),
        children_right=np.array([2, -1, -1]),
        impurity=np.array([np.inf, np.inf, 0.0]),
        weighted_n_node_samples=np.ones(3),
    )
    assert standing_nodes(odd, np.array([1e300])).tolist() == [[0, 1, 2]]
