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
NEVER_COLLAPSED = np.iinfo(np.int64).max
# A node whose link has at least this strength, or strength NaN, is never collapsed.
UNCOLLAPSIBLE_STRENGTH = np.finfo(np.float64).max


def nodes_after_pruning(tree: Any, alphas: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """Return the node of the tree pruned with each alpha that predicts each row.

    The array has shape `(alpha, row)`. `leaves` are the leaves of the rows in the unpruned tree.
    """
    if not alphas.any():
        return np.tile(leaves, (len(alphas), 1))
    return leaves_after_pruning(tree, alphas)[:, leaves]


def leaves_after_pruning(tree: Any, alphas: np.ndarray) -> np.ndarray:
    """Return the leaf of the tree pruned with each alpha into which each node falls.

    The array has shape `(alpha, node)`. The leaf is the node's highest ancestor that pruning has
    collapsed, or else the node itself. With alpha 0 nothing is pruned, as in scikit-learn.
    """
    link_strengths, collapse_steps = weakest_links(tree)
    # scikit-learn stops pruning at the first link stronger than alpha.
    # The running maximum is needed because rounding may make a later link weaker than that one.
    n_steps = np.searchsorted(np.maximum.accumulate(link_strengths), alphas, side="right")
    n_steps[alphas == 0] = 0
    is_collapsed = collapse_steps[None, :] < n_steps[:, None]
    parent_of_node = np.array(_find_parents(tree))
    pruned_leaves = np.tile(np.arange(tree.node_count), (len(alphas), 1))
    # True for nodes below a collapsed node; the collapsed node is a leaf of the pruned tree.
    is_removed = np.zeros_like(is_collapsed)
    for nodes_of_level in _nodes_by_depth(tree):
        level_parents = parent_of_node[nodes_of_level]
        is_removed[:, nodes_of_level] = (
            is_removed[:, level_parents] | is_collapsed[:, level_parents]
        )
        pruned_leaves[:, nodes_of_level] = np.where(
            is_removed[:, nodes_of_level], pruned_leaves[:, level_parents], nodes_of_level
        )
    return pruned_leaves


def weakest_links(tree: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the strength of the link that each pruning step collapses.

    Also return the step at which each node is collapsed. R(t) is the impurity of node t times its
    share of the weight, and R(T_t) is its sum over the leaves below t. The strength of the link is
    (R(t) − R(T_t)) / (leaves below − 1). Sums are computed in scikit-learn's order, and of equal
    links the lowest node is collapsed first, so that every comparison has the same result as in
    scikit-learn.
    """
    node_weights, parent_nodes = tree.weighted_n_node_samples, _find_parents(tree)
    node_risk = (node_weights * tree.impurity / node_weights[0]).tolist()
    left_children, right_children = tree.children_left.tolist(), tree.children_right.tolist()
    leaf_risk, n_leaves = _risks_below_nodes(node_risk, left_children, parent_nodes)
    # True for inner nodes that have not been collapsed yet.
    is_uncollapsed = [child != NO_CHILD for child in left_children]
    link_versions = [0] * len(left_children)
    links = [
        (_link_strength(node_risk, leaf_risk, n_leaves, node), node, 0)
        for node, is_inner in enumerate(is_uncollapsed)
        if is_inner
    ]
    links = [link for link in links if link[0] < UNCOLLAPSIBLE_STRENGTH]
    heapify(links)
    link_strengths: list[float] = []
    collapse_steps = np.full(len(left_children), NEVER_COLLAPSED)
    while links and is_uncollapsed[0]:
        link_strength, weakest_node, link_version = heappop(links)
        if not is_uncollapsed[weakest_node] or link_version != link_versions[weakest_node]:
            continue
        collapse_steps[weakest_node] = len(link_strengths)
        link_strengths.append(link_strength)
        _mark_collapsed(weakest_node, is_uncollapsed, left_children, right_children)
        n_removed_leaves, added_risk = (
            n_leaves[weakest_node] - 1,
            node_risk[weakest_node] - leaf_risk[weakest_node],
        )
        ancestor = parent_nodes[weakest_node]
        while ancestor != NO_CHILD:
            n_leaves[ancestor] -= n_removed_leaves
            leaf_risk[ancestor] += added_risk
            link_versions[ancestor] += 1
            link_strength = _link_strength(node_risk, leaf_risk, n_leaves, ancestor)
            if link_strength < UNCOLLAPSIBLE_STRENGTH:
                heappush(links, (link_strength, ancestor, link_versions[ancestor]))
            ancestor = parent_nodes[ancestor]
    return np.array(link_strengths), collapse_steps


def _link_strength(
    node_risk: list[float], leaf_risk: list[float], n_leaves: list[int], node: int
) -> float:
    return (node_risk[node] - leaf_risk[node]) / (n_leaves[node] - 1)


def _risks_below_nodes(
    node_risk: list[float], left_children: list[int], parent_nodes: list[int]
) -> tuple[list[float], list[int]]:
    """Return the sum of the risks of the leaves below each node, and the number of these leaves.

    Risks are added in the order of the leaves.
    """
    leaf_risk, n_leaves = [0.0] * len(left_children), [0] * len(left_children)
    for leaf, child in enumerate(left_children):
        if child != NO_CHILD:
            continue
        leaf_risk[leaf] = risk = node_risk[leaf]
        ancestor = parent_nodes[leaf]
        while ancestor != NO_CHILD:
            leaf_risk[ancestor] += risk
            n_leaves[ancestor] += 1
            ancestor = parent_nodes[ancestor]
    return leaf_risk, n_leaves


def _mark_collapsed(
    node: int, is_uncollapsed: list[bool], left_children: list[int], right_children: list[int]
) -> None:
    """Mark the inner nodes of a subtree as collapsed; pass over subtrees that were collapsed."""
    stack = [node]
    while stack:
        current_node = stack.pop()
        if is_uncollapsed[current_node]:
            is_uncollapsed[current_node] = False
            stack += (left_children[current_node], right_children[current_node])


def _find_parents(tree: Any) -> list[int]:
    parent_nodes = np.full(tree.node_count, NO_CHILD)
    for children in (tree.children_left, tree.children_right):
        inner_nodes = np.flatnonzero(children != NO_CHILD)
        parent_nodes[children[inner_nodes]] = inner_nodes
    return parent_nodes.tolist()


def _nodes_by_depth(tree: Any) -> list[np.ndarray]:
    """Return the node numbers at each depth of the tree, from depth 1 downwards."""
    levels: list[np.ndarray] = []
    nodes_of_level = np.zeros(1, dtype=np.int64)
    while True:
        children = np.concatenate(
            [tree.children_left[nodes_of_level], tree.children_right[nodes_of_level]]
        )
        nodes_of_level = children[children != NO_CHILD]
        if not len(nodes_of_level):
            return levels
        levels.append(nodes_of_level)
