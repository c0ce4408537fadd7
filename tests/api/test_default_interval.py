"""The interval of a tuned risk that nobody asked for: which engines repeat the folds for it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

import truerisk as tr
from truerisk.api.default_interval import REPEATS, quick
from truerisk.core.data import Data

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + RNG.normal(size=60)
SAID = "the interval is that of 10 repetitions of the outer folds"


@pytest.mark.parametrize(
    ("engine", "shape", "n_fits", "expected"),
    [
        ("knn", (1000, 300), 10**6, True),
        ("knn", (1001, 1), 60, False),
        ("least-squares", (1200, 10), 10_000, True),
        ("least-squares", (1200, 10), 10_001, False),
        ("least-squares", (1201, 10), 60, False),
        ("discriminant", (125, 40), 10_000, True),
        ("discriminant", (125, 40), 10_001, False),
        ("discriminant", (50, 41), 60, False),
        ("quadratic", (501, 10), 60, False),
        ("tree", (100, 10), 1000, True),
        ("tree", (100, 10), 1001, False),
        ("logistic-path", (100, 200), 1000, True),
        ("logistic-path", (100, 200), 1001, False),
        ("generic", (20, 1), 2, False),
    ],
)
def test_the_size_of_the_work_decides_by_engine(engine, shape, n_fits, expected):
    """Neighbours by rows, closed forms by numbers, engines that fit by numbers times fits."""
    data = Data.check(np.zeros(shape), np.arange(shape[0]) % 2, task="classification")
    assert quick(engine, data, n_fits) is expected


@pytest.mark.parametrize(
    ("model", "grid", "repeated"),
    [
        (Ridge(), {"alpha": [0.1, 1.0]}, True),
        (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2]}, False),
    ],
)
def test_closed_forms_repeat_their_folds_and_slow_learners_do_not(model, grid, repeated):
    """A note says so where it was done."""
    found = tr.HonestSearchCV(model, grid, outer="5-fold").fit(X, Y).risk_
    assert any(SAID in note for note in found.notes) == repeated


@pytest.mark.parametrize(
    ("model", "name", "repeated"),
    [
        (DecisionTreeClassifier(random_state=0), "max_depth", True),
        (make_pipeline(DecisionTreeClassifier()), "decisiontreeclassifier__max_depth", True),
        (
            make_pipeline(StandardScaler(), DecisionTreeClassifier()),
            "decisiontreeclassifier__max_depth",
            False,
        ),
        (ExtraTreeClassifier(random_state=0), "max_depth", False),
    ],
)
def test_trees_repeat_their_folds_where_they_are_grown_by_the_builder(model, name, repeated):
    """Where scikit-learn grows them ten drawings are no matter of a second."""
    search = tr.HonestSearchCV(model, {name: [1, 2]}, outer="5-fold", random_state=0)
    found = search.fit(X, Y > 0).risk_
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


def test_where_ten_drawings_fail_the_interval_of_one_stays():
    """A note says what failed: nobody asked for nine more drawings."""
    rng = np.random.default_rng(54)
    sizes = rng.integers(1, 12, size=10)
    groups = np.repeat(np.arange(10), sizes)
    x = rng.normal(size=(len(groups), 2))
    y = rng.permutation(np.arange(len(groups)) % 2)
    given = {"select_by": "2-fold", "outer": "3-fold"}
    grid = {"n_neighbors": [1, 16]}
    asked = tr.HonestSearchCV(KNeighborsClassifier(), grid, interval="beta-cv", **given)
    usual = tr.HonestSearchCV(KNeighborsClassifier(), grid, **given)
    risks = [search.fit(x, y, groups=groups).risk_ for search in (asked, usual)]
    assert risks[0].interval == risks[1].interval
    assert "ten could not be had: KNeighborsClassifier (n_neighbors=16)" in risks[1].notes[-1]


def test_an_interval_that_misses_the_value_is_not_taken():
    """The value is that of one drawing, and one in some hundreds lies far from the others."""
    x, y = tr.datasets.make_difficult(20, random_state=23)
    grid = {"n_neighbors": [1, 3, 5]}
    given = {"select_by": "3-fold", "outer": "5-fold", "random_state": 23}
    found = tr.HonestSearchCV(KNeighborsClassifier(), grid, **given).fit(x, y).risk_
    assert found.value in found.interval
    assert "does not hold the value" in found.notes[-1]


def test_the_note_says_the_instability():
    """Of ten repetitions: how unstable, and how many times the variance."""
    found = tr.HonestSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, outer="5-fold").fit(X, Y).risk_
    assert found.notes[-1].startswith("instability 0.")
    assert found.notes[-1].endswith("times the variance of independent rows.")


@pytest.mark.parametrize("kind", ["sparse", "frame"])
def test_columns_are_counted_in_any_table(kind):
    """A sparse table has as many numbers as a dense one."""
    wide = np.zeros((50, 100))
    table = sparse.csr_array(wide) if kind == "sparse" else pd.DataFrame(wide)
    data = Data.check(table, np.arange(50) % 2, task="classification")
    assert not quick("discriminant", data, 2)
