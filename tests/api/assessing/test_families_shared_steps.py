"""Learners of one assessment that begin alike share their steps; nothing else changes."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.family import Family
from truerisk.engines.running import trie
from truerisk.engines.running.shared_steps import beginning_alike

KNN = "kneighborsclassifier__n_neighbors"


class Shift(TransformerMixin, BaseEstimator):
    """Subtracts the means of the train set; every fit and transform of any of them is counted."""

    fits = 0
    transforms = 0

    def __init__(self, times=1.0):
        self.times = times

    def fit(self, X, y=None):
        type(self).fits += 1
        self.mean_ = np.mean(X, axis=0)
        if self.mean_[0] > 0:
            warnings.warn(f"mean {self.mean_[0]}", UserWarning, stacklevel=1)
        return self

    def transform(self, X):
        type(self).transforms += 1
        X -= self.times * self.mean_  # it writes into what it is given
        return X


@pytest.fixture(autouse=True)
def _nothing_counted():
    Shift.fits = Shift.transforms = 0


@pytest.fixture(scope="module")
def rows():
    return tr.datasets.make_simple(60, random_state=2)


def learners(**alike):
    """Three learners that scikit-learn fits, behind one step and then two."""
    return {
        "a": make_pipeline(Shift(**alike), GaussianNB()),
        "b": (make_pipeline(Shift(**alike), BernoulliNB()), {"bernoullinb__alpha": [0.1, 1.0]}),
        "c": make_pipeline(Shift(**alike), StandardScaler(), BernoulliNB()),
    }


def assessed(named, rows):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = tr.assess(named, *rows, methods=["4-fold"])
    return found, sorted(str(one.message) for one in caught)


def test_the_step_is_fitted_once_in_every_train_set_for_all_learners(rows, monkeypatch):
    """Ten pairs of folds, each learner on its own elsewhere: three times as many fits."""
    together, said = assessed(learners(), rows)
    fits = Shift.fits
    Shift.fits = 0
    monkeypatch.setattr(trie, "ROOM", 0)
    monkeypatch.setattr("truerisk.api.assessing.families.beginning_alike", lambda _: set())
    alone, said_alone = assessed(learners(), rows)
    assert Shift.fits > 2 * fits
    for name in alone.learners:
        assert together.risks[name].value == alone.risks[name].value
        np.testing.assert_array_equal(together.curves[name].values, alone.curves[name].values)
    assert said == said_alone


def test_engines_that_fit_steps_apart_share_them_as_well(rows, monkeypatch):
    """Neighbours, a logistic regression, a tree and what scikit-learn fits."""
    named = {
        "knn": (make_pipeline(Shift(), KNeighborsClassifier()), {KNN: [1, 5]}),
        "logistic": (make_pipeline(Shift(), LogisticRegression()), {"logisticregression__C": [1]}),
        "tree": make_pipeline(Shift(), DecisionTreeClassifier(random_state=0)),
        "bayes": make_pipeline(Shift(), GaussianNB()),
    }
    together, said = assessed(named, rows)
    fits = Shift.fits
    assert together.learners["knn"].risk.engine == "knn"
    Shift.fits = 0
    monkeypatch.setattr("truerisk.api.assessing.families.beginning_alike", lambda _: set())
    alone, said_alone = assessed(named, rows)
    assert Shift.fits > 2 * fits
    for name in named:
        assert together.risks[name].value == alone.risks[name].value
        np.testing.assert_array_equal(together.curves[name].values, alone.curves[name].values)
    assert said == said_alone


def test_groups_of_candidates_share_the_steps_that_they_begin_with(rows):
    """Two numbers of components and two penalties behind a step: it is fitted once a train set."""
    pipe = make_pipeline(Shift(), PCA(), LogisticRegression())
    grid = {"pca__n_components": [1, 2], "logisticregression__C": [0.1, 1.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tr.risk_curve(pipe, grid, *rows, method="4-fold")
    assert found.common.engine == "logistic-path"
    assert Shift.fits == 4


def test_without_room_nothing_is_kept_and_nothing_changes(rows, monkeypatch):
    together, _ = assessed(learners(), rows)
    monkeypatch.setattr("truerisk.api.assessing.families.Tries", lambda: trie.Tries(room=0))
    alone, _ = assessed(learners(), rows)
    assert {n: r.value for n, r in together.risks.items()} == {
        n: r.value for n, r in alone.risks.items()
    }


def test_who_begins_alike():
    """The class and all that it is set to; what a clone keeps besides counts as well."""
    fitted = [StandardScaler().fit([[m], [2.0]]) for m in (0.0, 1.0)]
    told = StandardScaler().set_output(transform="pandas")
    steps = {
        "one": StandardScaler(),
        "same": StandardScaler(),
        "other": StandardScaler(with_mean=False),
        "told": told,
        "frozen": FrozenEstimator(fitted[0]),
        "frozen too": FrozenEstimator(fitted[1]),
        "frozen likewise": FrozenEstimator(fitted[0]),
    }
    families = {n: Family.of(make_pipeline(s, LinearRegression())) for n, s in steps.items()}
    bare = Family.of(LinearRegression())
    assert beginning_alike({**families, "bare": bare}) == {"one", "same"}
    assert beginning_alike({"bare": bare, "too": bare}) == set()
