"""The compiled trees are scikit-learn's, node for node and bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from truerisk.engines.trees.compiled import (
    FEATURE_THRESHOLD,
    GrowthLimits,
    RowLists,
    TreeTable,
    grow_trees,
)

OLD = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)  # their least gap is 0
NAMES = ("children_left", "children_right", "feature", "threshold", "impurity")


def grown(X, y, samples, params, seeds, asked=None):
    """One tree per sample of counts, with a state for each."""
    n, n_columns = X.shape
    rows = [np.flatnonzero(counts) for counts in samples]
    limits = GrowthLimits()
    named = {
        "max_depth": "depth",
        "min_samples_split": "min_split_rows",
        "min_samples_leaf": "min_leaf_rows",
        "min_impurity_decrease": "decrease",
    }
    limits = replace(limits, **{named[k]: v for k, v in params.items() if k in named})
    share = params.get("min_weight_fraction_leaf", 0.0)
    return grow_trees(
        TreeTable.from_rows(X),
        y,
        1 if params.get("criterion") == "squared_error" else int(y.max()) + 1,
        RowLists.from_lists(rows),
        np.concatenate([counts[r] for counts, r in zip(samples, rows, strict=True)]),
        RowLists.from_lists([np.arange(n)] * len(rows) if asked is None else asked),
        np.array([np.random.RandomState(s).randint(0, 2**31 - 1) for s in seeds]),
        [replace(limits, min_leaf_weight=share * counts.sum()) for counts in samples],
        n_tried=params.get("max_features", n_columns),
        criterion=params.get("criterion", "gini"),
        close=0.0 if OLD else FEATURE_THRESHOLD,
    )


def fitted(X, y, counts, params, seed):
    """Scikit-learn's tree on the rows with their copies."""
    rows = np.repeat(np.arange(len(X)), counts)
    numbers = params.get("criterion") == "squared_error"
    learner = DecisionTreeRegressor if numbers else DecisionTreeClassifier
    return learner(random_state=seed, **params).fit(X[rows], y[rows])


def assert_same(tree, leaves, model, X):
    theirs = model.tree_
    for name in NAMES:
        assert np.array_equal(getattr(tree, name), getattr(theirs, name)), name
    weight = tree.weighted_n_node_samples
    assert np.array_equal(weight, theirs.weighted_n_node_samples)
    assert np.array_equal(weight, theirs.n_node_samples)
    shares = np.zeros_like(tree.counts)
    shares[:, getattr(model, "classes_", slice(None))] = theirs.value[:, 0]
    assert np.array_equal(tree.counts / weight[:, None], shares)
    assert np.array_equal(leaves, model.apply(X))


@st.composite
def problems(draw):
    """Tables with ties, near ties, equal rows, constant and mirrored columns, many columns."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, n_columns = draw(st.integers(1, 60)), draw(st.sampled_from([1, 2, 3, 6, 30]))
    X = rng.normal(size=(n, n_columns))
    kind = draw(
        st.sampled_from(["plain", "whole", "rounded", "binary", "mixed", "close", "mirrored"])
    )
    if kind in ("whole", "rounded"):
        X = np.round(X, 0 if kind == "whole" else 1)
    if kind == "binary":
        X = (X > 0).astype(float)
    if kind == "mixed":  # levels of texts beside numbers: rare, common, hardly apart
        bound, apart = draw(st.sampled_from([-1.0, 0.0, 1.5])), draw(st.sampled_from([1, 7, 1e-8]))
        X[:, ::2] = 3 + apart * (X[:, ::2] > bound)
    if kind == "close":  # around the least gap that is split
        X = draw(st.sampled_from([0.1, 1.0])) + 2e-7 * X
    if kind == "mirrored":
        X = np.hstack([X, -X])
    if draw(st.booleans()):
        X[:, rng.integers(X.shape[1])] = 3.0
    if draw(st.booleans()):
        X = X[rng.integers(n, size=n)]
    y = rng.integers(draw(st.integers(1, 4)), size=n)
    samples = [np.bincount(rng.integers(n, size=n), minlength=n), np.ones(n, dtype=np.int64)]
    optional = {
        "criterion": st.sampled_from(["gini", "entropy", "squared_error"]),
        "max_features": st.integers(1, X.shape[1] + 1),
        "max_depth": st.integers(1, 5),
        "min_samples_leaf": st.integers(1, 5),
        "min_samples_split": st.integers(2, 9),
        "min_impurity_decrease": st.floats(0, 0.05),
        "min_weight_fraction_leaf": st.floats(0, 0.2),
    }
    params = {name: draw(value) for name, value in optional.items() if draw(st.booleans())}
    if params.get("criterion") == "squared_error":
        y = y * rng.integers(-9, 9, size=n) * 10 ** draw(st.integers(0, 5))
    return X, y, samples, params, draw(st.integers(0, 2**31 - 1))


@settings(max_examples=80, deadline=None)
@given(problems())
def test_trees_are_scikit_learns_node_for_node(problem) -> None:
    """Of drawn tables, counts and settings every number of every node is the same."""
    X, y, samples, params, seed = problem
    growth = grown(X, y, samples, params, [seed, seed + 1])
    for number, counts in enumerate(samples):
        model = fitted(X, y, counts, params, seed + number)
        leaves = growth.leaves[number * len(X) :][: len(X)]
        assert_same(growth.tree(number), leaves, model, X)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_trees_break_ties_by_the_same_rounding(criterion) -> None:
    """Of splits that are equally good but for rounding, the same one wins."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = np.round(rng.normal(size=(200, 6))), rng.integers(5, size=200)
        if seed % 2:
            X = np.hstack([np.round(rng.normal(size=(200, 3)), 1), -X])
        counts, params = np.ones(200, dtype=int), {"criterion": criterion}
        growth = grown(X, y, [counts], params, [seed])
        assert_same(growth.tree(0), growth.leaves, fitted(X, y, counts, params, seed), X)


@pytest.mark.parametrize("least", [0.5, np.nextafter(0.5, 1), 0.5 + 1e-15])
def test_trees_let_a_decrease_fall_short_by_rounding(least) -> None:
    """`min_impurity_decrease` is met up to the spacing of doubles."""
    X, y, counts = np.array([[0.0], [1.0]]), np.arange(2), np.ones(2, dtype=int)
    params = {"min_impurity_decrease": least}
    growth = grown(X, y, [counts], params, [0])
    assert growth.nodes.node_count == (1 if least > 0.5 + 5e-16 else 3)
    assert_same(growth.tree(0), growth.leaves, fitted(X, y, counts, params, 0), X)


def test_trees_of_state_0_are_those_of_state_1() -> None:
    """A xorshift generator would stay at 0: scikit-learn starts from its usual seed, 1."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 5)).astype(float), rng.integers(2, size=60)
    rows = RowLists.from_lists([np.arange(60)] * 3)
    growth = grow_trees(
        TreeTable.from_rows(X),
        y,
        2,
        rows,
        np.ones(180),
        rows,
        np.arange(3),
        [GrowthLimits()] * 3,
        n_tried=5,
    )
    first, second, third = (growth.tree(number).feature.tolist() for number in range(3))
    assert first == second != third  # ties alone tell the third one apart


def test_trees_of_columns_carried_or_sorted_are_the_same(monkeypatch) -> None:
    """Whether sorted columns are divided with the nodes or sorted in them is a matter of time."""
    rng = np.random.default_rng(0)
    X, y = np.round(rng.normal(size=(80, 9)), 1), rng.integers(3, size=80)
    found = []
    for limit in (0.1, 100):
        monkeypatch.setattr("truerisk.engines.trees.compiled.FEW_TRIED", limit)
        found.append(grown(X, y, [np.ones(80, int)], {"max_features": 4}, [5]))
    for name in NAMES:
        assert np.array_equal(*(getattr(one.nodes, name) for one in found))


def test_trees_find_the_leaves_of_other_rows() -> None:
    """Each tree is asked about its own list, which may be empty."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), rng.integers(2, size=30)
    samples = [np.arange(30) % 3, (np.arange(30) + 1) % 3]
    growth = grown(X, y, samples, {}, [0, 1], asked=[np.array([4, 9]), np.array([], dtype=int)])
    assert np.array_equal(growth.leaves, fitted(X, y, samples[0], {}, 0).apply(X[[4, 9]]))
