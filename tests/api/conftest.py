"""Searches to audit, fitted once."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

GRID = {"n_neighbors": [1, 3, 5, 9, 15]}


@pytest.fixture(scope="session")
def simple():
    """60 rows of two overlapping classes."""
    return tr.datasets.make_simple(60, random_state=3)


@pytest.fixture(scope="session")
def noise():
    """40 rows of noise whose labels are coin tosses."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 4)), np.arange(40) % 2


@pytest.fixture
def grid_search(simple):
    """A fitted grid search of k nearest neighbours; keywords as GridSearchCV takes them."""

    def made(X=None, y=None, groups=None, estimator=None, grid=None, **options):
        rows = simple if X is None else (X, y)
        learner = KNeighborsClassifier() if estimator is None else estimator
        search = GridSearchCV(learner, grid or GRID, **{"cv": 5, **options})
        return search.fit(*rows, groups=groups)

    return made
