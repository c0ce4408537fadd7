"""State that outlives clone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from truerisk.search.repeat import state_findings


class Study(BaseEstimator):
    """A search with the attributes of OptunaSearchCV that matter here."""

    def __init__(self, estimator=None, study=None, n_trials=10):
        self.estimator = estimator
        self.study = study
        self.n_trials = n_trials


def codes(search):
    """Codes of the findings."""
    return [f.code for f in state_findings(search)]


def searching(study, total):
    """A search of 10 trials whose study holds so many."""
    search = Study(KNeighborsClassifier(), study)
    search.study_ = SimpleNamespace(trials=[None] * total)
    return search


def test_a_given_study_is_found():
    """A study that was handed over keeps its trials; one that the search made is its own."""
    assert "state-survives-clone" in codes(searching(object(), 10))
    assert "state-survives-clone" not in codes(searching(None, 10))


def test_trials_of_earlier_fits_are_counted():
    """30 trials in the study of a search that ran 10."""
    (found,) = state_findings(searching(object(), 30))
    assert "holds 30 trials and this search ran 10" in found.sentence


def test_a_fitted_part_is_found(grid_search, simple):
    """A frozen selection was fitted on all rows and stays so in every fold."""
    X, y = simple
    for select, frozen in ((SelectKBest(k=1), False), (SelectKBest(k=1).fit(X, y), True)):
        part = FrozenEstimator(select) if frozen else select
        steps = Pipeline([("select", part), ("model", KNeighborsClassifier())])
        found = codes(grid_search(estimator=steps, grid={"model__n_neighbors": [3, 5]}))
        if frozen:
            assert "state-survives-clone" in found
        else:
            assert "state-survives-clone" not in found


@pytest.mark.parametrize("warm", [True, False])
def test_a_warm_start_is_noted(grid_search, warm):
    """Whether the flag is set on the model itself."""
    forest = RandomForestClassifier(3, warm_start=warm, random_state=0)
    found = codes(grid_search(estimator=forest, grid={"max_depth": [1, 2]}))
    if warm:
        assert "warm-start" in found
    else:
        assert "warm-start" not in found
