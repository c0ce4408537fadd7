"""Frames, groups and weights reach both loops of a search."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.search.test_search import K_GRID

import truerisk as tr
from truerisk import HonestSearchCV
from truerisk.core.errors import GroupLeakWarning


def test_frames_keep_their_names_and_give_the_same_numbers():
    """Pandas and polars frames give the array's numbers, and feature_names_in_."""
    bunch = load_wine(as_frame=True)
    y = bunch.target.to_numpy()
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    search = HonestSearchCV(model, {"kneighborsclassifier__n_neighbors": [1, 5]}, outer="3-fold")
    plain = clone(search).fit(bunch.data.to_numpy(), y)
    odd = bunch.data.set_index(pd.Index([f"r{i}" for i in range(len(y))]))
    for frame in (bunch.data, odd, pl.from_pandas(bunch.data)):
        fitted = clone(search).fit(frame, y)
        assert fitted.risk_.value == plain.risk_.value
        names = getattr(fitted.best_estimator_, "feature_names_in_", None)
        assert names is not None or isinstance(frame, pl.DataFrame)  # unknown to scikit-learn 1.6
        if names is not None:
            assert list(fitted.feature_names_in_) == list(names) == list(bunch.data.columns)
        assert fitted.n_features_in_ == 13


def test_groups_reach_both_loops():
    """With groups given no group is on both sides, outside or inside; without them one is."""
    X, y = load_wine(return_X_y=True)
    groups = np.random.default_rng(0).permutation(len(y)) // 6
    seen = []

    class Recorder(KNeighborsClassifier):
        def fit(self, X, y):
            seen.append(set(X[:, -1].astype(int)))
            return super().fit(X, y)

        def predict(self, X):
            tested = set(X[:, -1].astype(int))
            overlaps.append(len(tested & seen[-1]))
            return super().predict(X)

    marked = np.column_stack([X, groups])
    for method in ("3-fold", GroupKFold(3)):
        overlaps = []
        HonestSearchCV(Recorder(), {"n_neighbors": [1, 3]}, cv=method, outer=method).fit(
            marked, y, groups=groups
        )
        assert len(overlaps) > 20
        assert not any(overlaps)
    overlaps = []
    HonestSearchCV(Recorder(), {"n_neighbors": [1, 3]}, cv="3-fold", outer="3-fold").fit(marked, y)
    assert any(overlaps)


def test_a_splitter_that_ignores_groups_is_reported():
    """Groups that a splitter ignores are warned about, with the number of leaking rows."""
    X, y = load_wine(return_X_y=True)
    groups = np.arange(len(y)) // 2
    search = HonestSearchCV(KNeighborsClassifier(), K_GRID, cv="3-fold", outer=ShuffleSplit(3))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The groups parameter is ignored")
        with pytest.warns(GroupLeakWarning, match="ignores them: [0-9]+ rows"):
            search.fit(X, y, groups=groups)


@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_both_loops_with_and_without_routing(routing):
    """A weight of zero takes a row out of every fit and every mean, in both loops."""
    X, y = load_wine(return_X_y=True)
    keep = np.arange(len(y)) % 3 > 0
    flipped = np.where(keep, y, (y + 1) % 3)
    folds = np.arange(len(y)) % 4
    kept = tr.methods.KFold(folds=folds[keep])
    every = tr.methods.KFold(folds=folds)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    with sklearn.config_context(enable_metadata_routing=routing):
        model = tree.set_fit_request(sample_weight=True) if routing else tree
        weighted = HonestSearchCV(model, {"max_depth": [1, 2]}, cv=every, outer=every).fit(
            X, flipped, sample_weight=keep.astype(float)
        )
    cut = HonestSearchCV(tree, {"max_depth": [1, 2]}, cv=kept, outer=kept).fit(X[keep], y[keep])
    np.testing.assert_allclose(weighted.curve_.values, cut.curve_.values, atol=1e-12)
    assert weighted.risk_.value == pytest.approx(cut.risk_.value, abs=1e-12)
    np.testing.assert_array_equal(weighted.predict(X), cut.predict(X))


def test_groups_are_routed_when_routing_is_on():
    """With metadata routing the groups reach splitters that ask for them."""
    X, y = load_wine(return_X_y=True)
    groups = np.arange(len(y)) // 6
    plain = HonestSearchCV(
        KNeighborsClassifier(), K_GRID, cv=GroupKFold(3), outer=GroupKFold(4)
    ).fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = HonestSearchCV(
            KNeighborsClassifier(), K_GRID, cv=GroupKFold(3), outer=GroupKFold(4)
        ).fit(X, y, groups=groups)
    assert routed.risk_.value == plain.risk_.value
