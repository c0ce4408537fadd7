"""Degrees of freedom of rules that average labels."""

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


@pytest.mark.parametrize(
    ("model", "labels", "freedom"),
    [
        (KNeighborsRegressor(4), Y, 3),  # each of n fitted values holds 1/k of its own label
        (DecisionTreeRegressor(max_leaf_nodes=2, random_state=0), Y, 2),
        (DecisionTreeRegressor(max_leaf_nodes=5, random_state=0), Y, 5),
        (DummyRegressor(), Y, 1),  # a mean is one leaf
        # of K classes K − 1 shares
        (KNeighborsClassifier(4), CLASSES, 6),
        (DecisionTreeClassifier(max_leaf_nodes=4, random_state=0), CLASSES, 8),
        (DummyClassifier(strategy="prior"), CLASSES, 2),
    ],
    ids=str,
)
def test_degrees_of_freedom_of_averages(model, labels, freedom) -> None:
    assert degrees_of_freedom(model.fit(X, labels), X) == freedom


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
def test_degrees_of_freedom_refuses_what_is_no_average(model, labels, message) -> None:
    with pytest.raises(Refusal, match=message):
        degrees_of_freedom(model.fit(X, labels), X)
