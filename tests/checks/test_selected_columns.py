"""Selection before the folds shows in columns that are too much alike."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.feature_selection import f_classif, f_regression

from truerisk.checks.columns import columns_of
from truerisk.checks.selected_columns import LEVEL, selection_findings, spread_of
from truerisk.data.data import Data


def codes(X, y, task="classification"):
    """Codes of the findings."""
    data = Data.check(X, y, task=task)
    return [f.code for f in selection_findings(data, columns_of(X))]


def noise(seed, n=50, p=2000, kept=None, n_classes=2):
    """Noise, and of its columns the best `kept` by their F statistic."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.arange(n) % n_classes
    return (X if kept is None else X[:, np.argsort(-f_classif(X, y)[0])[:kept]]), y


@pytest.mark.parametrize("kept", [20, 50, 100])
def test_the_best_columns_of_noise_are_seen(kept):
    """2000 features, 50 rows, the best 20 to 100 kept: flagged in nine of ten draws or more."""
    found = [codes(*noise(seed, kept=kept)) for seed in range(10)]
    assert sum("selection-outside" in codes for codes in found) >= 9


def test_three_classes_and_numbers_are_seen_too():
    """F of three classes; correlation with a number."""
    assert "selection-outside" in codes(*noise(0, 60, kept=30, n_classes=3))
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 2000)), rng.normal(size=60)
    kept = X[:, np.argsort(-f_regression(X, y)[0])[:30]]
    assert "selection-outside" in codes(kept, y, "regression")


@pytest.mark.parametrize("p", [5, 20, 100])
def test_noise_that_nobody_selected_is_left_alone(p):
    """Unselected noise has p-values up to 1."""
    assert all("selection-outside" not in codes(*noise(seed, p=p)) for seed in range(50))


@pytest.mark.parametrize("shared", [0.0, 0.9, 0.99])
@pytest.mark.parametrize("effect", [2.5, 4.0, 8.0])
def test_columns_that_are_all_equally_good_are_left_alone(effect, shared):
    """The hardest case: equal true effects, independent or highly correlated (spectra).

    False alarms are at most LEVEL per table, up to the approximation: none in 25 is expected.
    """
    rng = np.random.default_rng(3)
    y = np.arange(48) % 2
    for _ in range(25):
        common = rng.normal(size=(48, 1))
        X = np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.normal(size=(48, 20))
        X += np.outer(y, np.full(20, effect * 2 / np.sqrt(48)))
        assert not codes(X, y)
        assert not codes(X * np.repeat([1, -1], 10), y)  # half of them turned round
    assert LEVEL <= 1e-3


@pytest.mark.parametrize(
    ("load", "task"),
    [
        (load_breast_cancer, "classification"),
        (load_wine, "classification"),
        (load_digits, "classification"),
        (load_diabetes, "regression"),
    ],
)
def test_real_tables_are_left_alone(load, task):
    """Scikit-learn's tables, in one of which every column is associated with the class."""
    assert not codes(*load(return_X_y=True), task=task)


def test_the_noise_of_z_is_one_whatever_the_effect():
    """The transformation keeps the variance: equal effects of 3 and of 12 spread alike."""
    rng = np.random.default_rng(4)
    y = np.arange(40) % 2
    spreads = []
    for effect in (3.0, 12.0):
        X = rng.normal(size=(40, 1000)) + np.outer(y, np.full(1000, effect * 2 / np.sqrt(40)))
        spreads.append(spread_of(X, Data.check(X, y, task="classification")).observed)
    assert spreads == pytest.approx([1, 1], abs=0.08)


def test_a_column_turned_round_is_the_same_column():
    """Signs and units of columns, and a renaming of the classes, change nothing."""
    rng = np.random.default_rng(5)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 1)) + rng.normal(size=(40, 12)) + np.outer(y, np.full(12, 1.5))
    turned = X * np.repeat([3, -0.1], 6) + 7
    first, second = (
        spread_of(table, Data.check(table, labels, task="classification"))
        for table, labels in ((X, y), (turned, 1 - y))
    )
    assert first.expected == pytest.approx(second.expected)
    assert first.chance == pytest.approx(second.chance)
    assert first.chance < 1


def test_few_columns_say_nothing():
    """Below five columns there is no spread to speak of."""
    X, y = noise(0, kept=4)
    assert spread_of(X, Data.check(X, y, task="classification")) is None
