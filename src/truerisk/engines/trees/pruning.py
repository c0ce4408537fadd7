"""Minimal cost-complexity pruning: all subtrees of one fitted tree, from its arrays.

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
TOO_STRONG = np.finfo(np.float64).max  # A link that is this strong, or NaN, is never collapsed.


def nodes_at(tree: Any, alphas: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """Return `(n_alphas, n_rows)`: the node that predicts rows in these leaves of the full tree."""
    if not alphas.any():  # All alphas are 0, so that nothing is pruned.
        return np.tile(leaves, (len(alphas), 1))
    return standing_nodes(tree, alphas)[:, leaves]


def standing_nodes(tree: Any, alphas: np.ndarray) -> np.ndarray:
    """Return `(n_alphas, n_nodes)`: each node's highest ancestor that is now a leaf, or itself.

    With alpha 0 nothing is pruned, as in scikit-learn.
    """
    strengths, step = weakest_links(tree)
    # scikit-learn stops at the first link above alpha, even if rounding makes a later one weaker.
    n_steps = np.searchsorted(np.maximum.accumulate(strengths), alphas, side="right")
    n_steps[alphas == 0] = 0
    collapsed = step[None, :] < n_steps[:, None]
    parent = np.array(_parents(tree))
    stands = np.tile(np.arange(tree.node_count), (len(alphas), 1))
    gone = np.zeros_like(collapsed)  # True for nodes below a node that is now a leaf.
    for level in _levels(tree):
        above = parent[level]
        gone[:, level] = gone[:, above] | collapsed[:, above]
        stands[:, level] = np.where(gone[:, level], stands[:, above], level)
    return stands


def weakest_links(tree: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the strength of the link collapsed in each step, and the step of each node.

    R(t) is the impurity of node t times its share of the weight, and R(T_t) is its sum over the
    leaves below t. The strength of the link is (R(t) − R(T_t)) / (leaves below − 1). Sums are
    computed in scikit-learn's order, and of equal links the lowest node is collapsed first, so that
    every comparison has the same result as there.
    """
    weight, parent = tree.weighted_n_node_samples, _parents(tree)
    of_node = (weight * tree.impurity / weight[0]).tolist()
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    below, n_leaves = _sums_of_leaves(of_node, left, parent)
    # True for inner nodes that may still collapse.
    standing = [child != NO_CHILD for child in left]
    version = [0] * len(left)
    links = [
        (_strength(of_node, below, n_leaves, t), t, 0) for t, inner in enumerate(standing) if inner
    ]
    links = [link for link in links if link[0] < TOO_STRONG]
    heapify(links)
    strengths: list[float] = []
    step = np.full(len(left), NEVER)
    while links and standing[0]:
        strength, weakest, made_at = heappop(links)
        if not standing[weakest] or made_at != version[weakest]:
            continue
        step[weakest] = len(strengths)
        strengths.append(strength)
        _fell(weakest, standing, left, right)
        fewer, more = n_leaves[weakest] - 1, of_node[weakest] - below[weakest]
        above = parent[weakest]
        while above != NO_CHILD:
            n_leaves[above] -= fewer
            below[above] += more
            version[above] += 1
            strength = _strength(of_node, below, n_leaves, above)
            if strength < TOO_STRONG:
                heappush(links, (strength, above, version[above]))
            above = parent[above]
    return np.array(strengths), step


def _strength(of_node: list[float], below: list[float], n_leaves: list[int], t: int) -> float:
    return (of_node[t] - below[t]) / (n_leaves[t] - 1)


def _sums_of_leaves(
    of_node: list[float], left: list[int], parent: list[int]
) -> tuple[list[float], list[int]]:
    """Return, for each node, the sum over the leaves below it (in order), and their number."""
    below, n_leaves = [0.0] * len(left), [0] * len(left)
    for leaf, child in enumerate(left):
        if child != NO_CHILD:
            continue
        below[leaf] = here = of_node[leaf]
        above = parent[leaf]
        while above != NO_CHILD:
            below[above] += here
            n_leaves[above] += 1
            above = parent[above]
    return below, n_leaves


def _fell(node: int, standing: list[bool], left: list[int], right: list[int]) -> None:
    """Mark all inner nodes from here down as collapsed, except below nodes that already are."""
    stack = [node]
    while stack:
        at = stack.pop()
        if standing[at]:
            standing[at] = False
            stack += (left[at], right[at])


def _parents(tree: Any) -> list[int]:
    parent = np.full(tree.node_count, NO_CHILD)
    for children in (tree.children_left, tree.children_right):
        inner = np.flatnonzero(children != NO_CHILD)
        parent[children[inner]] = inner
    return parent.tolist()


def _levels(tree: Any) -> list[np.ndarray]:
    """Return the nodes of each depth below the root, from the top."""
    levels: list[np.ndarray] = []
    level = np.zeros(1, dtype=np.int64)
    while True:
        children = np.concatenate([tree.children_left[level], tree.children_right[level]])
        level = children[children != NO_CHILD]
        if not len(level):
            return levels
        levels.append(level)
