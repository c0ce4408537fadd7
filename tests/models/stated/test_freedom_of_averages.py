"""Degrees of freedom of rules that average labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from truerisk.core.errors import Refusal
from truerisk.models.stated.degrees_of_freedom import degrees_of_freedom

X = np.random.default_rng(0).normal(size=(12, 2))
Y = X[:, 0] ** 2
CLASSES = np.arange(12) % 3


def test_neighbours_are_the_trace_of_their_averages() -> None:
    """Each of n fitted values holds 1/k of its own label."""
    model = KNeighborsRegressor(4).fit(X, Y)
    own = [np.mean(model.kneighbors(X, return_distance=False)[i] == i) for i in range(12)]
    assert degrees_of_freedom(model, X) == 3 == pytest.approx(sum(own))


def test_classes_take_one_share_less_than_there_are() -> None:
    """n/k, leaves and a constant, times K − 1."""
    assert degrees_of_freedom(KNeighborsClassifier(4).fit(X, CLASSES), X) == 6
    tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, CLASSES)
    assert degrees_of_freedom(tree, X) == 8
    assert degrees_of_freedom(DummyClassifier(strategy="prior").fit(X, CLASSES), X) == 2


def test_a_tree_has_its_leaves() -> None:
    """And a mean is one leaf."""
    for size in (2, 5):
        tree = DecisionTreeRegressor(max_leaf_nodes=size, random_state=0).fit(X, Y)
        assert degrees_of_freedom(tree, X) == size
    assert degrees_of_freedom(DummyRegressor().fit(X, Y), X) == 1


@pytest.mark.parametrize(
    ("model", "labels", "message"),
    [
        (KNeighborsRegressor(3, weights="distance"), Y, "number of rows"),
        (DecisionTreeRegressor(criterion="absolute_error"), Y, "do not hold the means"),
        (DecisionTreeClassifier(class_weight="balanced"), CLASSES, "do not hold the means"),
        (DummyRegressor(strategy="median"), Y, "no maximum of the likelihood"),
        (DummyClassifier(strategy="uniform"), CLASSES, "no maximum of the likelihood"),
    ],
    ids=str,
)
def test_what_is_no_average_is_refused(model, labels, message) -> None:
    """Weights by distance, medians, weighted classes, random answers."""
    with pytest.raises(Refusal, match=message):
        degrees_of_freedom(model.fit(X, labels), X)
