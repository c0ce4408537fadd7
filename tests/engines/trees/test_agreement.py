"""Settings that the compiled builder reads; it is compared with the scikit-learn installed."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from truerisk.engines.trees import recipes
from truerisk.engines.trees.compiled import grow_trees
from truerisk.engines.trees.recipes import (
    equality_gap,
    is_same_tree,
    resolve_tree_settings,
    splitter_seed,
)

OLD = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)  # their least gap is 0
NODES = ("children_left", "children_right", "feature", "threshold", "impurity")
USUAL = DecisionTreeClassifier().get_params()


@pytest.mark.parametrize(
    ("features", "n_tried"),
    [(None, 10), ("sqrt", 3), ("log2", 3), (4, 4), (12, 12), (0.35, 3), (0.01, 1), (1.0, 10)],
)
def test_recipe_tries_as_many_columns_as_scikit_learn(features, n_tried):
    recipe = resolve_tree_settings({**USUAL, "max_features": features}, 10)
    X, y = np.random.default_rng(0).normal(size=(20, 10)), np.arange(20) % 2
    assert recipe.n_tried_columns == n_tried
    assert n_tried == DecisionTreeClassifier(max_features=features).fit(X, y).max_features_


def test_recipe_limits_are_shares_of_rows_rounded_up_or_numbers():
    shares = {"min_samples_split": 0.25, "min_samples_leaf": 0.1, "min_weight_fraction_leaf": 0.5}
    limits = resolve_tree_settings({**USUAL, **shares}, 3).growth_limits(33)
    assert (limits.min_split_rows, limits.min_leaf_rows, limits.min_leaf_weight) == (9, 4, 16.5)
    limits = resolve_tree_settings(
        {**USUAL, "min_samples_split": 7, "max_depth": 3}, 3
    ).growth_limits(33)
    assert (limits.min_split_rows, limits.min_leaf_rows, limits.depth) == (7, 1, 3)


def test_recipe_starts_from_what_the_splitter_draws():
    assert splitter_seed(7) == np.random.RandomState(7).randint(0, 2**31 - 1)
    assert resolve_tree_settings({**USUAL, "random_state": np.int64(3)}, 2).seed == 3
    assert resolve_tree_settings(USUAL, 2).seed is None


@pytest.mark.parametrize(
    "more",
    [
        {"splitter": "random"},
        {"max_leaf_nodes": 4},
        {"class_weight": {0: 1, 1: 2}},
        {"monotonic_cst": np.array([1, 0])},
        {"criterion": "twoing"},
        {"criterion": None},
        {"max_depth": 0},
        {"max_depth": True},
        {"max_depth": 2.0},
        {"min_samples_split": 1},
        {"min_samples_split": 1.5},
        {"min_samples_leaf": 1.0},
        {"min_samples_leaf": 0},
        {"min_weight_fraction_leaf": 0.6},
        {"min_impurity_decrease": -0.1},
        {"min_impurity_decrease": np.nan},
        {"min_impurity_decrease": "0"},
        {"max_features": 0},
        {"max_features": 1.5},
        {"max_features": "auto"},
        {"random_state": -1},
        {"random_state": 2**32},
        {"random_state": np.random.RandomState(0)},
        {"unheard_of": 1},
    ],
    ids=lambda more: str(more).partition(" at 0x")[0],  # workers must agree on the names
)
def test_recipe_leaves_other_settings_to_scikit_learn(more):
    """What another builder grows, what is out of range, and parameters of other releases."""
    assert resolve_tree_settings(USUAL, 5) is not None
    assert resolve_tree_settings({**USUAL, **more}, 5) is None


def test_recipe_needs_every_parameter_of_its_own_kind_of_tree():
    assert (
        resolve_tree_settings({k: v for k, v in USUAL.items() if k != "monotonic_cst"}, 5) is None
    )
    usual = DecisionTreeRegressor().get_params()
    assert resolve_tree_settings(usual, 5, is_regression=True).criterion == "squared_error"
    assert (
        resolve_tree_settings({**usual, "criterion": "absolute_error"}, 5, is_regression=True)
        is None
    )
    assert resolve_tree_settings(usual, 5) is None
    assert resolve_tree_settings(USUAL, 5, is_regression=True) is None


@pytest.fixture(autouse=True)
def asked_anew():
    """Each test is a process that never asked."""
    equality_gap.cache_clear()
    yield
    equality_gap.cache_clear()


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_closeness_is_that_of_the_release(criterion):
    assert equality_gap(criterion) == (0.0 if OLD else 1e-7)
    assert equality_gap("twoing") is None


def another_start(arguments, more):
    arguments[6] = arguments[6] + 1


def one_more_row(arguments, more):
    arguments[4] = arguments[4] + (np.arange(len(arguments[4])) == 3)


def other_impurity(arguments, more):
    more["criterion"] = "entropy"


def builder_with(change):
    """Return the tree builder with one change.

    The change alters its inputs, one number of one node, or the leaves in which the rows lie.
    """

    def altered(*arguments, **more):
        arguments = list(arguments)
        if callable(change):
            change(arguments, more)
        growth = grow_trees(*arguments, **more)
        if change == "leaves":
            return replace(growth, leaves=growth.leaves[::-1])
        if isinstance(change, str):
            array = getattr(growth.nodes, change).copy()
            array[-1] += 1
            return replace(growth, nodes=replace(growth.nodes, **{change: array}))
        return growth

    return altered


def failing_with(error):
    def broken(self, *_):
        raise error("no tree_ here")

    return broken


CHANGES = {one.__name__: one for one in (another_start, one_more_row, other_impurity)}
CHANGES |= {name: name for name in (*NODES, "counts", "weighted_n_node_samples", "leaves")}


@pytest.mark.parametrize(
    ("owner", "name", "instead"),
    [
        *(
            pytest.param(recipes, "grow_trees", builder_with(change), id=name)
            for name, change in CHANGES.items()
        ),
        *(
            pytest.param(DecisionTreeClassifier, "fit", failing_with(error), id=error.__name__)
            for error in (AttributeError, ValueError, RuntimeError)
        ),
    ],
)
def test_closeness_is_none_for_another_builder_and_a_release_that_fails(
    monkeypatch, owner, name, instead
):
    monkeypatch.setattr(owner, name, instead)
    assert equality_gap("gini") is None


def test_closeness_is_none_without_the_compiled_module_or_for_another_shape(monkeypatch):
    model = DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    names = (*NODES, "weighted_n_node_samples")
    stump = SimpleNamespace(**{name: np.zeros(1) for name in names}, counts=np.ones((1, 2)))
    assert not is_same_tree(stump, model.tree_)
    monkeypatch.setattr(recipes, "is_available", lambda: False)
    monkeypatch.setattr(DecisionTreeClassifier, "fit", None)  # no tree is fitted for it
    assert equality_gap("gini") is None
