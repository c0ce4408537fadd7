"""Settings of a decision tree as the compiled builder needs them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from truerisk.engines.trees.recipes import recipe_of, start_of

USUAL = DecisionTreeClassifier().get_params()


@pytest.mark.parametrize(
    ("features", "n_tried"),
    [(None, 10), ("sqrt", 3), ("log2", 3), (4, 4), (12, 12), (0.35, 3), (0.01, 1), (1.0, 10)],
)
def test_columns_tried_are_scikit_learns(features, n_tried) -> None:
    """`max_features` of ten columns is read as scikit-learn reads it."""
    recipe = recipe_of({**USUAL, "max_features": features}, 10)
    X, y = np.random.default_rng(0).normal(size=(20, 10)), np.arange(20) % 2
    assert recipe.n_tried == n_tried
    assert n_tried == DecisionTreeClassifier(max_features=features).fit(X, y).max_features_


def test_shares_of_rows_become_numbers() -> None:
    """Shares are of the rows of the fit with their copies, rounded up; numbers stay."""
    shares = {"min_samples_split": 0.25, "min_samples_leaf": 0.1, "min_weight_fraction_leaf": 0.5}
    limits = recipe_of({**USUAL, **shares}, 3).limits(33)
    assert (limits.n_split, limits.n_leaf, limits.weight_leaf) == (9, 4, 16.5)
    limits = recipe_of({**USUAL, "min_samples_split": 7, "max_depth": 3}, 3).limits(33)
    assert (limits.n_split, limits.n_leaf, limits.depth) == (7, 1, 3)


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
def test_other_settings_are_scikit_learns(more) -> None:
    """What another builder grows, what is out of range, and parameters of other releases."""
    assert recipe_of(USUAL, 5) is not None
    assert recipe_of({**USUAL, **more}, 5) is None


def test_a_missing_parameter_is_another_release() -> None:
    """A setting is only read whole."""
    assert recipe_of({k: v for k, v in USUAL.items() if k != "monotonic_cst"}, 5) is None


def test_the_start_is_what_the_splitter_draws() -> None:
    """Of RandomState(seed), the first number below 2³¹ − 1."""
    assert start_of(7) == np.random.RandomState(7).randint(0, 2**31 - 1)
    assert recipe_of({**USUAL, "random_state": np.int64(3)}, 2).seed == 3
    assert recipe_of(USUAL, 2).seed is None


def test_regression_trees_have_their_own_names() -> None:
    """Without class weights, by squared errors only."""
    usual = DecisionTreeRegressor().get_params()
    assert recipe_of(usual, 5, numbers=True).criterion == "squared_error"
    assert recipe_of({**usual, "criterion": "absolute_error"}, 5, numbers=True) is None
    assert recipe_of(usual, 5) is None
    assert recipe_of(USUAL, 5, numbers=True) is None
