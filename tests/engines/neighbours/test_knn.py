"""The kNN engine equals scikit-learn wherever it does not refuse."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from tests.engines.closed_forms import both, copies_and_flips, last_two_rows, plan_of, warnings_of
from tests.support.data import checked, normal_rows

import truerisk as tr
from truerisk.engines import Generic, NearestNeighbours
from truerisk.engines.neighbours import walk
from truerisk.extend import Family, Refusal, Request
from truerisk.methods import Complete, Nested
from truerisk.plan.extras.counted import Counted

KS = [1, 2, 3, 4, 7]
GRID = {"n_neighbors": KS}
PIPED = {"kneighborsclassifier__n_neighbors": KS}
ENGINE = NearestNeighbours()
ENGINES = ENGINE, Generic()
METHODS = ["4-fold", "2x3-fold", "loo", "monte-carlo", "reversed 2-fold", "apparent", "three-way"]


def drawn(kind, rng, n, d):
    X = rng.normal(size=(n, d))
    if kind == "grid":
        return np.round(X)
    if kind == "copies":
        X[rng.integers(0, n, n // 2)] = X[rng.integers(0, n, n // 2)]
    if kind == "single precision":
        return (10 * X).astype(np.float32)
    return X


def require_same(family, data, plan, response):
    for only in (None, np.arange(plan.n_fits) % len(family)):
        ours, theirs = both(ENGINE, family, data, plan, Request(response), only)
        assert ours.dtype == theirs.dtype
        if response == "label":
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)


@settings(max_examples=6, deadline=None)
@given(
    kind=st.sampled_from(["plain", "grid", "copies", "single precision"]),
    seed=st.integers(0, 2**31),
    method=st.sampled_from([*METHODS, "bootstrap"]),
    weights=st.sampled_from([["uniform"], ["uniform", "distance"]]),
    response=st.sampled_from(["label", "probability", "value"]),
    metric=st.sampled_from(["minkowski", "manhattan", "cosine", "chebyshev"]),
)
def test_knn_equals_scikit_learn_on_every_plan(kind, seed, method, weights, response, metric):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(24, 40))
    X = drawn(kind, rng, n, int(rng.integers(2, 20)))
    if kind == "single precision":
        weights, metric = ["uniform"], "minkowski"
    if metric == "cosine":
        X = X + 5.0  # a row of zeros has no direction
    if response == "value":
        model, y = KNeighborsRegressor(metric=metric), rng.normal(size=n)
    else:
        model, y = KNeighborsClassifier(metric=metric), np.arange(n) % int(rng.integers(2, 5))
    data = checked(X, rng.permutation(y))
    plan = plan_of(method, data, seed)
    if plan.train_sizes.min() >= max(KS):
        require_same(Family.from_grid(model, {"weights": weights, **GRID}), data, plan, response)


TIED = np.column_stack([np.arange(24) % 3, np.arange(24) % 2, np.ones(24)])
CONSTANT = np.column_stack([normal_rows(24, 4)[0], np.ones(24)])


@pytest.mark.parametrize("X", [CONSTANT, TIED], ids=["plain", "asked for equal distances"])
def test_knn_repeats_what_steps_warn_of_as_often_as_their_fits_would(X):
    family = Family.from_grid(make_pipeline(SelectKBest(k=2), KNeighborsClassifier()), PIPED)
    data = checked(X, np.arange(24) % 2)
    given = family, data, plan_of("3-fold", data), Request("label")
    (_, ours), (_, theirs) = (warnings_of(engine, *given) for engine in ENGINES)
    assert ours == theirs
    assert any("constant" in said and "times in 15 fits" in said for said in ours)


def piped(*steps):
    X, y = normal_rows(30, 5)[0] * [1, 10, 0.1, 5, 1], np.arange(30) % 3
    return make_pipeline(*steps, KNeighborsClassifier()), PIPED, X, y


X, NUMBERS = normal_rows(30, 6)[::2]
STEPS = Pipeline([("scale", None), ("select", SelectKBest()), ("knn", KNeighborsClassifier())])
TUNED = {"select__k": [1, 4], "knn__n_neighbors": [1, 3], "scale": [StandardScaler(), None]}
TABLE = pd.DataFrame({"x": X[:, 0], "word": np.tile(["a", "b", "c", "c", "b"], 6)})
CODED = make_column_transformer(
    (StandardScaler(), ["x"]), (OneHotEncoder(handle_unknown="ignore"), ["word"])
)
BY_WEIGHT = {"weights": ["uniform", "distance"], **GRID}
SERVED = {
    "a scaler": piped(StandardScaler()),
    "quantiles": piped(RobustScaler()),
    "by rows": piped(Normalizer()),
    "two": piped(StandardScaler(), PCA(2, random_state=0)),
    "looks at y": piped(SelectKBest(k=2)),
    "none": piped("passthrough"),
    "a tuned step": (STEPS, TUNED, X, np.arange(30) % 2),
    "text": (make_pipeline(CODED, KNeighborsClassifier()), PIPED, TABLE, np.arange(30) % 2),
    "two weightings": (KNeighborsClassifier(), BY_WEIGHT, X, np.arange(30) % 2),
    "two targets": (KNeighborsRegressor(weights="distance"), GRID, X, np.c_[NUMBERS, -X[:, 1]]),
}


@pytest.mark.parametrize("what", SERVED)
def test_knn_fits_steps_in_every_fold(what):
    model, grid, X, y = SERVED[what]
    data = checked(X, y)
    responses = {"text": ["label", "probability"], "two targets": ["value"]}.get(what, ["label"])
    for method in ("4-fold", Nested("3-fold", "3-fold"), "bootstrap", last_two_rows(30)):
        for response in responses:
            require_same(Family.from_grid(model, grid), data, plan_of(method, data), response)


def test_knn_counts_neighbours_and_scores_on_sparse_tables_of_a_step():
    bins = KBinsDiscretizer(3, strategy="uniform", random_state=0)
    family = Family.from_grid(make_pipeline(bins, KNeighborsClassifier()), PIPED)
    data = checked(X[:20, :3], np.arange(20) % 2)
    plan, none = copies_and_flips(data), np.empty(0, np.int32)
    counted = np.arange(0, plan.n_questions, 2, dtype=np.int32)
    plan = replace(plan, extra=Counted(none, none, none, counted))
    for response in ("label", "score"):
        require_same(family, data, plan, response)
    ours, theirs = (warnings_of(e, family, data, plan, Request("label"))[0] for e in ENGINES)
    np.testing.assert_allclose(ours.extra.values, theirs.extra.values, rtol=0, atol=1e-9)


def test_knn_measures_no_distance_among_the_rows_that_a_holdout_tests(monkeypatch):
    measured, lists = [], walk.find_nearest

    def spy(measure, queries, rows, length):
        measured.append((len(queries), len(rows)))
        return lists(measure, queries, rows, length)

    monkeypatch.setattr(walk, "find_nearest", spy)
    risk = tr.estimate_risk(KNeighborsClassifier(), X, np.arange(30) % 2, cv="holdout")
    assert risk.engine == "knn"
    assert measured == [(10, 20)]


class Other(KNeighborsClassifier):
    """A subclass may do anything."""


def knn(**options):
    return KNeighborsClassifier(1, **options)


RANDOM = make_pipeline(PCA(2, svd_solver="randomized"), knn())
CACHED = make_pipeline(StandardScaler(), knn(), memory="somewhere")
SEVEN = {"X": X[:7], "y": np.arange(7) % 2, "cv": Complete(5)}
REFUSED = [
    (Other(), {}, "the learner is .*Other"),
    (knn(weights=lambda d: d), {}, "no weighting that it knows"),
    (knn(metric=lambda a, b: 0.0), {}, "the metric is a function"),
    (knn(metric="precomputed"), {}, "metric 'precomputed'"),
    (knn(metric_params={"p": 3}), {}, "metric_params are given"),
    (knn(), {"grid": {"n_neighbors": [40]}}, "more than the 20 rows"),
    (knn(), {"grid": {"n_neighbors": [0]}}, "no number of neighbours"),
    (RANDOM, {}, "random and has no seed"),
    (CACHED, {}, "caches its steps"),
    (knn(), {"scoring": "f1_micro"}, "needs the fitted model itself"),
    (knn(), {"X": csr_matrix(X)}, "X is sparse"),
    (knn(), {"X": X.astype(object)}, "more than numbers"),
    (knn(weights="distance"), {"X": X.astype(np.float32)}, "distances in single precision"),
    (knn(metric="braycurtis"), {}, "no metric"),
    (knn(metric="cosine", algorithm="kd_tree"), {}, "does not search by metric"),
    (knn(algorithm="tree"), {}, "no search that it knows"),
    (knn(leaf_size=0), {}, "is no size"),
    (knn(metric="l1", p=None), {}, "no Minkowski distance"),
    (knn(weights="distance"), SEVEN, "weights='distance' have no closed"),
    (make_pipeline(StandardScaler(), knn()), SEVEN, "a step before the neighbours learns"),
    (knn(), SEVEN | {"grid": {"n_neighbors": [6]}}, "more than the 5 rows of a train set"),
    (knn(), SEVEN | {"y": np.arange(7) % 3}, "is for two classes"),
    (KNeighborsRegressor(1), SEVEN | {"y": X[:7, 0]}, "is for two classes"),
    (knn(weights="distance"), SEVEN | {"cv": "swapping"}, "may rest on fewer rows"),
]


@pytest.mark.parametrize(("model", "given", "reason"), REFUSED)
def test_knn_refuses_what_it_does_not_cover(model, given, reason):
    given = {"X": X, "y": np.arange(30) % 2, "cv": "3-fold", "grid": None, **given}
    with pytest.raises(Refusal, match=reason):
        tr.risk_curve(model, given.pop("grid"), **given, engine=ENGINE)
