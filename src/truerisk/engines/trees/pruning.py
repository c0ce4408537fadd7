"""Minimal cost-complexity pruning: computes all pruned subtrees of one fitted tree from its arrays.

Collapsing the weakest link repeatedly gives a nested sequence of subtrees. scikit-learn's fit with
`ccp_alpha` is the member of the sequence before the first link that is stronger than `ccp_alpha`,
so that one run through the sequence determines the fits for every `ccp_alpha`.

Breiman, Friedman, Olshen and Stone (1984), Classification and regression trees, chapter 3.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

NO_CHILD = -1
NEVER = np.iinfo(np.int64).max
# A link whose strength is this large, or NaN, is never collapsed.
TOO_STRONG = np.finfo(np.float64).max


def nodes_at(tree: Any, alphas: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """Return `(alpha, row)`: the node that predicts each row after pruning.

    `leaves` are the leaves of the rows in the unpruned tree.
    """
    if not alphas.any():
        return np.tile(leaves, (len(alphas), 1))
    return leaves_after_pruning(tree, alphas)[:, leaves]


def leaves_after_pruning(tree: Any, alphas: np.ndarray) -> np.ndarray:
    """Return `(alpha, node)`: the leaf after pruning that contains each node, or the node itself.

    The leaf is the node's highest ancestor that pruning has collapsed. With alpha 0 nothing is
    pruned, as in scikit-learn.
    """
    strengths, step = weakest_links(tree)
    # scikit-learn stops at the first link stronger than alpha.
    # By rounding, a later link may be weaker.
    n_steps = np.searchsorted(np.maximum.accumulate(strengths), alphas, side="right")
    n_steps[alphas == 0] = 0
    collapsed = step[None, :] < n_steps[:, None]
    parent = np.array(_parents(tree))
    standing_node = np.tile(np.arange(tree.node_count), (len(alphas), 1))
    # True for nodes below a collapsed node, which is a leaf of the pruned tree.
    is_removed = np.zeros_like(collapsed)
    for level in _nodes_by_depth(tree):
        parents = parent[level]
        is_removed[:, level] = is_removed[:, parents] | collapsed[:, parents]
        standing_node[:, level] = np.where(is_removed[:, level], standing_node[:, parents], level)
    return standing_node


def weakest_links(tree: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the strength of the link collapsed in each step, and the step of each node.

    R(t) is the impurity of node t times its share of the weight, and R(T_t) is its sum over the
    leaves below t. The strength of the link is (R(t) − R(T_t)) / (leaves below − 1). Sums are
    computed in scikit-learn's order, and of equal links the lowest node is collapsed first, so that
    every comparison has the same result as in scikit-learn.
    """
    weight, parent = tree.weighted_n_node_samples, _parents(tree)
    node_risk = (weight * tree.impurity / weight[0]).tolist()
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    leaf_risk, n_leaves = _risk_of_leaves(node_risk, left, parent)
    # True for inner nodes that have not been collapsed yet.
    standing = [child != NO_CHILD for child in left]
    version = [0] * len(left)
    links = [
        (_link_strength(node_risk, leaf_risk, n_leaves, node), node, 0)
        for node, is_inner in enumerate(standing)
        if is_inner
    ]
    links = [link for link in links if link[0] < TOO_STRONG]
    heapify(links)
    strengths: list[float] = []
    step = np.full(len(left), NEVER)
    while links and standing[0]:
        strength, weakest, link_version = heappop(links)
        if not standing[weakest] or link_version != version[weakest]:
            continue
        step[weakest] = len(strengths)
        strengths.append(strength)
        _mark_collapsed(weakest, standing, left, right)
        fewer_leaves, added_risk = n_leaves[weakest] - 1, node_risk[weakest] - leaf_risk[weakest]
        ancestor = parent[weakest]
        while ancestor != NO_CHILD:
            n_leaves[ancestor] -= fewer_leaves
            leaf_risk[ancestor] += added_risk
            version[ancestor] += 1
            strength = _link_strength(node_risk, leaf_risk, n_leaves, ancestor)
            if strength < TOO_STRONG:
                heappush(links, (strength, ancestor, version[ancestor]))
            ancestor = parent[ancestor]
    return np.array(strengths), step


def _link_strength(
    node_risk: list[float], leaf_risk: list[float], n_leaves: list[int], node: int
) -> float:
    return (node_risk[node] - leaf_risk[node]) / (n_leaves[node] - 1)


def _risk_of_leaves(
    node_risk: list[float], left: list[int], parent: list[int]
) -> tuple[list[float], list[int]]:
    """Return the sum of R over the leaves below each node, in their order, and their number."""
    leaf_risk, n_leaves = [0.0] * len(left), [0] * len(left)
    for leaf, child in enumerate(left):
        if child != NO_CHILD:
            continue
        leaf_risk[leaf] = own_risk = node_risk[leaf]
        ancestor = parent[leaf]
        while ancestor != NO_CHILD:
            leaf_risk[ancestor] += own_risk
            n_leaves[ancestor] += 1
            ancestor = parent[ancestor]
    return leaf_risk, n_leaves


def _mark_collapsed(node: int, standing: list[bool], left: list[int], right: list[int]) -> None:
    """Mark the inner nodes of a subtree as collapsed, except below nodes that already are."""
    stack = [node]
    while stack:
        current_node = stack.pop()
        if standing[current_node]:
            standing[current_node] = False
            stack += (left[current_node], right[current_node])


def _parents(tree: Any) -> list[int]:
    parent = np.full(tree.node_count, NO_CHILD)
    for children in (tree.children_left, tree.children_right):
        inner = np.flatnonzero(children != NO_CHILD)
        parent[children[inner]] = inner
    return parent.tolist()


def _nodes_by_depth(tree: Any) -> list[np.ndarray]:
    """Return the node numbers at each depth of the tree, from depth 1 downwards."""
    levels: list[np.ndarray] = []
    level = np.zeros(1, dtype=np.int64)
    while True:
        children = np.concatenate([tree.children_left[level], tree.children_right[level]])
        level = children[children != NO_CHILD]
        if not len(level):
            return levels
        levels.append(level)
