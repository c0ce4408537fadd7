"""Before the compiled builder is trusted it is compared with the scikit-learn installed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn
from sklearn.tree import DecisionTreeClassifier

from truerisk.engines.trees import recipes
from truerisk.engines.trees.compiled import grow_trees
from truerisk.engines.trees.recipes import closeness, same_tree

OLD = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)  # their least gap is 0
NODES = ("children_left", "children_right", "feature", "threshold", "impurity")


@pytest.fixture(autouse=True)
def asked_anew():
    """Each test is a process that never asked."""
    closeness.cache_clear()
    yield
    closeness.cache_clear()


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_it_agrees_here(criterion) -> None:
    """The builder grows this scikit-learn's trees; a criterion that neither knows it does not."""
    assert closeness(criterion) == (0.0 if OLD else 1e-7)
    assert closeness("twoing") is None


def altered(monkeypatch, change):
    """A builder whose inputs or nodes are changed."""

    def other(*arguments, **more):
        arguments, more = change(list(arguments), more) or (arguments, more)
        return grow_trees(*arguments, **more)

    monkeypatch.setattr(recipes, "grow_trees", other)


def another_start(arguments, more):
    arguments[6] = arguments[6] + 1
    return arguments, more


def one_more_row(arguments, more):
    arguments[4] = arguments[4] + (np.arange(len(arguments[4])) == 3)
    return arguments, more


def other_impurity(arguments, more):
    return arguments, {**more, "criterion": "entropy"}


@pytest.mark.parametrize("change", [another_start, one_more_row, other_impurity])
def test_another_builder_is_not_used(monkeypatch, change) -> None:
    """Other random numbers, counts or impurities are noticed."""
    altered(monkeypatch, change)
    assert closeness("gini") is None


@pytest.mark.parametrize("name", [*NODES, "counts", "weighted_n_node_samples"])
def test_every_number_counts(monkeypatch, name) -> None:
    """One number of one node that is another one is a disagreement."""

    def changed(*arguments, **more):
        growth = grow_trees(*arguments, **more)
        array = getattr(growth.nodes, name).copy()
        array[-1] += 1
        return replace(growth, nodes=replace(growth.nodes, **{name: array}))

    monkeypatch.setattr(recipes, "grow_trees", changed)
    assert closeness("gini") is None


def test_other_leaves_are_a_disagreement(monkeypatch) -> None:
    """Rows must fall where scikit-learn says."""

    def changed(*arguments, **more):
        growth = grow_trees(*arguments, **more)
        return replace(growth, leaves=growth.leaves[::-1])

    monkeypatch.setattr(recipes, "grow_trees", changed)
    assert closeness("gini") is None


@pytest.mark.parametrize("error", [AttributeError, ValueError, RuntimeError])
def test_a_release_that_fails_otherwise_is_another_one(monkeypatch, error) -> None:
    """Whatever the comparison meets, it ends in a no."""

    def broken(self, *_):
        raise error("no tree_ here")

    monkeypatch.setattr(DecisionTreeClassifier, "fit", broken)
    assert closeness("gini") is None


def test_without_the_compiled_module_nothing_is_compared(monkeypatch) -> None:
    """The answer is no, and no tree is fitted."""
    monkeypatch.setattr(recipes, "available", lambda: False)
    monkeypatch.setattr(DecisionTreeClassifier, "fit", None)
    assert closeness("gini") is None


def test_trees_of_other_shapes_are_not_the_same() -> None:
    """A tree of one node and one of three."""
    model = DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    stump = SimpleNamespace(
        **{name: np.zeros(1) for name in (*NODES, "weighted_n_node_samples")},
        counts=np.ones((1, 2)),
    )
    assert not same_tree(stump, model.tree_)
