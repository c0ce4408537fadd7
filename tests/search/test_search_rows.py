"""Frames, groups and weights reach both loops of a search, and memory stays small."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import normal_rows

import truerisk as tr
from truerisk import HonestSearchCV


def test_frames_keep_their_names_and_give_the_same_numbers():
    bunch = load_wine(as_frame=True)
    y = bunch.target.to_numpy()
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    search = HonestSearchCV(model, {"kneighborsclassifier__n_neighbors": [1, 5]}, outer="3-fold")
    plain = clone(search).fit(bunch.data.to_numpy(), y)
    odd = bunch.data.set_index(pd.Index([f"r{i}" for i in range(len(y))]))
    for frame in (odd, pl.from_pandas(bunch.data)):
        fitted = clone(search).fit(frame, y)
        assert fitted.risk_.value == plain.risk_.value
        names = getattr(fitted.best_estimator_, "feature_names_in_", None)
        assert names is not None or isinstance(frame, pl.DataFrame)  # unknown to scikit-learn 1.6
        if names is not None:
            assert list(fitted.feature_names_in_) == list(names) == list(bunch.data.columns)
        assert fitted.n_features_in_ == 13


def test_groups_are_kept_together_in_both_loops_of_search(wine):
    X, y = wine
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


@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_both_loops_of_search_with_and_without_routing(wine, routing):
    X, y = wine
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


def test_groups_are_routed_to_splitters_of_both_loops(wine):
    groups = np.arange(len(wine[1])) // 6
    grid = {"n_neighbors": [1, 3, 5]}
    search = HonestSearchCV(KNeighborsClassifier(), grid, cv=GroupKFold(3), outer=GroupKFold(4))
    plain = clone(search).fit(*wine, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(search).fit(*wine, groups=groups)
        pairs = clone(search).set_params(outer="pairs").fit(*wine, groups=groups)
    assert routed.risk_.value == plain.risk_.value
    assert len(pairs.outer_) == 3
    assert pairs.risk_.interval.method == "beta-cv-grouped"


N = 40_000
CS = {"C": [0.01, 0.1, 1.0]}


def test_search_holds_few_bytes_of_each_row():
    X, y, _ = normal_rows(N)
    # The checks look at a bounded number of rows: what they take does not grow with the table.
    search = tr.HonestSearchCV(LogisticRegression(), CS, checks=False).fit(X[:300], y[:300])
    for risk in (search.risk_, *search.curve_):
        assert risk.losses.dtype == np.float64
        assert risk.losses.mean() == pytest.approx(risk.value)
    tracemalloc.start()
    try:
        search.fit(X, y)
        held, most = (size / N for size in tracemalloc.get_traced_memory())
    finally:
        tracemalloc.stop()
    assert held < 115  # 172 where each setting had its losses as doubles
    assert most < 260  # 395 where the tests without two folds were added up all at once


def test_risk_curve_of_pairs_can_be_pickled():
    X, y, _ = normal_rows(300)
    curve = tr.risk_curve(LogisticRegression(), CS, X, y, cv="pairs")
    again = pickle.loads(pickle.dumps(curve))
    assert [risk.value for risk in again] == [risk.value for risk in curve]
    assert again[1].notes == curve[1].notes
