"""The interval of a tuned risk that nobody asked for: which engines repeat the folds for it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

import truerisk as tr
from truerisk.api.default_interval import REPEATS, quick
from truerisk.core.data import Data

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + RNG.normal(size=60)
SAID = "the interval is that of 10 repetitions of the outer folds"


@pytest.mark.parametrize(
    ("engine", "shape", "expected"),
    [
        ("knn", (1000, 300), True),
        ("knn", (1001, 1), False),
        ("least-squares", (500, 10), True),
        ("least-squares", (501, 10), False),
        ("discriminant", (100, 50), True),
        ("tree", (20, 1), False),
        ("generic", (20, 1), False),
    ],
)
def test_rows_or_numbers_decide_by_engine(engine, shape, expected):
    """A nearest-neighbour engine by its rows, closed forms by rows times columns, no others."""
    data = Data.check(np.zeros(shape), np.arange(shape[0]) % 2.0, task="regression")
    assert quick(engine, data) is expected


@pytest.mark.parametrize(
    ("model", "grid", "repeated"),
    [
        (Ridge(), {"alpha": [0.1, 1.0]}, True),
        (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2]}, False),
    ],
)
def test_closed_forms_repeat_their_folds_and_trees_do_not(model, grid, repeated):
    """A note says so where it was done."""
    found = tr.HonestSearchCV(model, grid, outer="5-fold").fit(X, Y).risk_
    assert any(SAID in note for note in found.notes) == repeated


def test_it_is_the_interval_of_ten_repetitions():
    """The same as of an outer method with ten repetitions of the same folds."""
    grid = {"n_neighbors": [1, 5]}
    y = Y > 0
    model = KNeighborsClassifier()
    once = tr.HonestSearchCV(model, grid, outer="5-fold").fit(X, y).risk_
    often = tr.HonestSearchCV(model, grid, outer=f"{REPEATS}x5-fold").fit(X, y).risk_
    assert once.interval == often.interval
    assert once.value != often.value
    assert f"mean {often.value:.4g}" in " ".join(once.notes)
