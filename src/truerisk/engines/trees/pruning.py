"""Minimal cost-complexity pruning: all subtrees of one fitted tree, read off its arrays.

Collapsing the weakest link again and again gives a nested sequence of subtrees. What scikit-learn
fits with `ccp_alpha` is the member of the sequence before the first link that is stronger than
`ccp_alpha`, so one run through the sequence knows the fits for every `ccp_alpha`.

Breiman, Friedman, Olshen and Stone (1984), Classification and regression trees, chapter 3.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

NO_CHILD = -1
NEVER = np.iinfo(np.int64).max
TOO_STRONG = np.finfo(np.float64).max  # a link this strong, or no number, is never collapsed


def nodes_at(tree: Any, alphas: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """`(n_alphas, n_rows)`: the node that answers rows of these leaves of the whole tree."""
    if not alphas.any():  # nothing is pruned
        return np.tile(leaves, (len(alphas), 1))
    return standing_nodes(tree, alphas)[:, leaves]


def standing_nodes(tree: Any, alphas: np.ndarray) -> np.ndarray:
    """`(n_alphas, n_nodes)`: for each node its highest ancestor that is a leaf now, or itself.

    With alpha 0 nothing is pruned, as scikit-learn has it.
    """
    strengths, step = weakest_links(tree)
    # scikit-learn stops at the first link above alpha, even if rounding makes a later one weaker
    n_steps = np.searchsorted(np.maximum.accumulate(strengths), alphas, side="right")
    n_steps[alphas == 0] = 0
    collapsed = step[None, :] < n_steps[:, None]
    parent = np.array(_parents(tree))
    stands = np.tile(np.arange(tree.node_count), (len(alphas), 1))
    gone = np.zeros_like(collapsed)  # some ancestor is a leaf now
    for level in _levels(tree):
        above = parent[level]
        gone[:, level] = gone[:, above] | collapsed[:, above]
        stands[:, level] = np.where(gone[:, level], stands[:, above], level)
    return stands


def weakest_links(tree: Any) -> tuple[np.ndarray, np.ndarray]:
    """The strength of the link collapsed in each step, and the step in which each node collapsed.

    R(t) is the impurity of node t times its share of the weight, R(T_t) the sum of it over the
    leaves below t; the strength of its link is (R(t) − R(T_t)) / (leaves below − 1). Sums run in
    scikit-learn's order and of equal links the lowest node goes first, so that every comparison
    comes out as it does there.
    """
    weight, parent = tree.weighted_n_node_samples, _parents(tree)
    of_node = (weight * tree.impurity / weight[0]).tolist()
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    below, n_leaves = _sums_of_leaves(of_node, left, parent)
    standing = [child != NO_CHILD for child in left]  # inner nodes that may still collapse
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
    """For each node the sum over the leaves below it, leaf after leaf, and their number."""
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
    """The inner nodes from here down collapse no more; below one that is down already, all are."""
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
    """The nodes of each depth below the root, from the top."""
    levels: list[np.ndarray] = []
    level = np.zeros(1, dtype=np.int64)
    while True:
        children = np.concatenate([tree.children_left[level], tree.children_right[level]])
        level = children[children != NO_CHILD]
        if not len(level):
            return levels
        levels.append(level)
