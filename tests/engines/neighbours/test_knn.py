"""The kNN engine equals scikit-learn wherever it does not refuse."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
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

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.neighbours import walk
from truerisk.engines.neighbours.knn import NearestNeighbours
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.counted import Counted

KS = [1, 2, 3, 4, 7]
ENGINES = NearestNeighbours(), Generic()
METHODS = ["4-fold", "2x3-fold", "loo", "monte-carlo", "reversed 2-fold", "apparent", "three-way"]


def bootstrap_plan(data, rng):
    """Samples with copies, and one flipped label per fit for classes."""
    n = data.n_rows
    builder = PlanBuilder(n)
    for _ in range(4):
        sample = builder.block(rng.integers(0, n, n))
        builder.ask((sample, ()), (ALL, (sample,)))
        builder.ask((sample, ()), (ALL, ()), part="all")
    if data.codes is not None:
        for row in range(0, n, 5):
            flip = [(row, (int(data.codes[row]) + 1) % data.n_classes)]
            builder.ask((ALL, ()), (builder.block(np.array([row])), ()), part="flip", flips=flip)
    return builder.build()


def drawn(kind, rng, n, d):
    X = rng.normal(size=(n, d))
    if kind == "grid":
        return np.round(X)
    if kind == "copies":
        X[rng.integers(0, n, n // 2)] = X[rng.integers(0, n, n // 2)]
    if kind == "single precision":
        return (10 * X).astype(np.float32)
    return X


def same(family, data, plan, response):
    request = Request(response)
    assert NearestNeighbours().refuse(family, data, plan, request) is None
    only = np.arange(plan.n_fits) % len(family)
    for how in (RunOptions(), RunOptions(only=only)):
        ours = NearestNeighbours().run(family, data, plan, request, how)
        theirs = Generic().run(family, data, plan, request, how)
        assert ours.values.dtype == theirs.values.dtype
        if response == "label":
            np.testing.assert_array_equal(ours.values, theirs.values)
        else:
            np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-8, atol=1e-10)


@settings(max_examples=6, deadline=None)
@given(
    kind=st.sampled_from(["plain", "grid", "copies", "single precision"]),
    seed=st.integers(0, 2**31),
    method=st.sampled_from([*METHODS, "bootstrap"]),
    weights=st.sampled_from([["uniform"], ["uniform", "distance"]]),
    response=st.sampled_from(["label", "probability", "value"]),
    metric=st.sampled_from(["minkowski", "manhattan", "cosine", "chebyshev"]),
)
def test_it_equals_scikit_learn_on_every_plan(kind, seed, method, weights, response, metric):
    """Labels, shares and means are scikit-learn's, with ties, copies, flips and several classes."""
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
    family = Family.of(model, {"weights": weights, "n_neighbors": KS})
    data = Data.check(X, rng.permutation(y), task=family.task)
    streams = Streams(seed)
    plan = (
        bootstrap_plan(data, rng)
        if method == "bootstrap"
        else tr.methods.as_method(method).plan(data, streams)
    )
    if plan.train_sizes.min() >= max(KS):
        same(family, data, plan, response)


def test_steps_warn_as_often_as_their_fits_would():
    """What a step says of a train set is said once, with how many fits of how many said it."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(36, 4)), np.ones(36)])
    family = Family.of(
        make_pipeline(SelectKBest(k=2), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": KS},
    )
    data = Data.check(X, np.arange(36) % 3, task="classification")
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    said = []
    for engine in ENGINES:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            engine.run(family, data, plan, Request("label"), RunOptions())
        said.append(sorted((w.category.__name__, str(w.message)) for w in caught))
    assert said[0] == said[1]
    assert said[0]


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [RobustScaler()],
        [Normalizer()],
        [StandardScaler(), PCA(2, random_state=0)],
        [SelectKBest(k=2)],
        ["passthrough"],
    ],
    ids=str,
)
def test_steps_before_the_neighbours_are_fitted_in_every_fold(steps):
    """Scaling, projecting and selecting learn from the training rows alone, copies included."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(36, 5)) * [1, 10, 0.1, 5, 1]
    y = np.arange(36) % 3
    family = Family.of(
        make_pipeline(*steps, KNeighborsClassifier()), {"kneighborsclassifier__n_neighbors": KS}
    )
    data = Data.check(X, y, task="classification")
    for plan in (
        tr.methods.KFold(4).plan(data, Streams(0)),
        tr.methods.Nested("3-fold", "3-fold").plan(data, Streams(1)),
        bootstrap_plan(data, rng),
    ):
        same(family, data, plan, "label")


def test_a_step_may_be_tuned_as_well():
    """Candidates that differ in a step form groups of their own."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 6)), np.arange(30) % 2
    grid = {"select__k": [1, 4], "knn__n_neighbors": [1, 3], "scale": [StandardScaler(), None]}
    pipe = Pipeline([("scale", None), ("select", SelectKBest()), ("knn", KNeighborsClassifier())])
    family = Family.of(pipe, grid)
    data = Data.check(X, y, task="classification")
    same(family, data, tr.methods.KFold(3).plan(data, Streams(0)), "label")


def test_several_targets_are_served():
    """Regression of several targets averages each of them."""
    rng = np.random.default_rng(3)
    family = Family.of(KNeighborsRegressor(), {"n_neighbors": KS, "weights": ["distance"]})
    data = Data.check(rng.normal(size=(30, 3)), rng.normal(size=(30, 2)), task="regression")
    same(family, data, tr.methods.KFold(5).plan(data, Streams(0)), "value")


class Other(KNeighborsClassifier):
    """A subclass may do anything."""


@pytest.mark.parametrize(
    ("model", "grid", "options", "reason"),
    [
        (Other(), {"n_neighbors": [1]}, {}, "the learner is .*Other"),
        (KNeighborsClassifier(weights=lambda d: d), {}, {}, "no weighting that it knows"),
        (KNeighborsClassifier(metric=lambda a, b: 0.0), {}, {}, "the metric is a function"),
        (KNeighborsClassifier(metric="precomputed"), {}, {}, "metric 'precomputed'"),
        (KNeighborsClassifier(metric_params={"p": 3}), {}, {}, "metric_params are given"),
        (KNeighborsClassifier(), {"n_neighbors": [40]}, {}, "more than the 20 rows"),
        (KNeighborsClassifier(), {"n_neighbors": [0]}, {}, "no number of neighbours"),
        (
            make_pipeline(PCA(2, svd_solver="randomized"), KNeighborsClassifier()),
            {},
            {},
            "random and has no seed",
        ),
        (
            make_pipeline(StandardScaler(), KNeighborsClassifier(), memory="somewhere"),
            {},
            {},
            "caches its steps",
        ),
        (KNeighborsClassifier(), {}, {"scoring": "f1_micro"}, "needs the fitted model itself"),
    ],
)
def test_what_it_does_not_cover_is_refused_with_the_reason(model, grid, options, reason):
    """No option is ignored: the engine says why, and 'auto' would take the next one."""
    X, y = tr.datasets.make_simple(30, random_state=0)
    with pytest.raises(Refusal, match=reason):
        tr.risk_curve(model, grid or None, X, y, cv="3-fold", engine=NearestNeighbours(), **options)


def test_sparse_and_text_data_are_refused():
    """Sparse X, cells that are no numbers, and rounded distances are left to the generic engine."""
    from scipy.sparse import csr_matrix

    X, y = tr.datasets.make_simple(30, random_state=0)
    single = X.astype(np.float32)
    for odd, weights, reason in (
        (csr_matrix(X), "uniform", "X is sparse"),
        (X.astype(object), "uniform", "more than numbers"),
        (single, "distance", "distances in single precision"),
    ):
        model = KNeighborsClassifier(weights=weights)
        with pytest.raises(Refusal, match=reason):
            tr.risk_curve(model, None, odd, y, cv="3-fold", engine=NearestNeighbours())


def test_text_behind_a_step_that_makes_numbers_of_it_is_served():
    """A table of text and numbers is prepared train set by train set, and equals refits."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"x": rng.normal(size=30), "word": rng.choice(["a", "b", "c"], 30)})
    steps = ColumnTransformer(
        [("x", StandardScaler(), ["x"]), ("word", OneHotEncoder(handle_unknown="ignore"), ["word"])]
    )
    family = Family.of(
        make_pipeline(steps, KNeighborsClassifier()), {"kneighborsclassifier__n_neighbors": KS}
    )
    data = Data.check(table, np.arange(30) % 2, task="classification")
    for plan in (tr.methods.KFold(4).plan(data, Streams(0)), bootstrap_plan(data, rng)):
        for response in ("label", "probability"):
            same(family, data, plan, response)


def test_what_fits_of_scikit_learn_warn_of_is_said():
    """Warnings of the fits that equal distances call for are gathered, as any fit's are."""
    X = np.column_stack([np.arange(24) % 3, np.arange(24) % 2, np.ones(24)])
    model = make_pipeline(SelectKBest(k=2), KNeighborsClassifier())
    family = Family.of(model, {"kneighborsclassifier__n_neighbors": KS})
    data = Data.check(X, np.arange(24) % 2, task="classification")
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        NearestNeighbours().run(family, data, plan, Request("label"), RunOptions())
    gathered = [str(one.message) for one in heard if "times in 15 fits" in str(one.message)]
    assert any("constant" in sentence for sentence in gathered)


def test_steps_that_make_sparse_tables_are_counted_and_scored():
    """Sparse codes of bins, flipped labels and copies: labels, shares and counted neighbours."""
    rng = np.random.default_rng(5)
    bins = KBinsDiscretizer(3, strategy="uniform", random_state=0)
    family = Family.of(
        make_pipeline(bins, KNeighborsClassifier()), {"kneighborsclassifier__n_neighbors": KS}
    )
    data = Data.check(rng.normal(size=(20, 3)), np.arange(20) % 2, task="classification")
    plan = bootstrap_plan(data, rng)
    none, counted = np.empty(0, np.int32), np.arange(0, plan.n_questions, 2, dtype=np.int32)
    plan = replace(plan, extra=Counted(none, none, none, counted))
    for response in ("label", "score"):
        same(family, data, plan, response)
    run = [e.run(family, data, plan, Request("label"), RunOptions()) for e in ENGINES]
    np.testing.assert_allclose(run[0].extra.values, run[1].extra.values, rtol=0, atol=1e-9)


def test_a_holdout_measures_no_distance_among_the_rows_that_it_tests(monkeypatch):
    measured, lists = [], walk.nearest

    def spy(measure, queries, rows, length):
        measured.append((len(queries), len(rows)))
        return lists(measure, queries, rows, length)

    monkeypatch.setattr(walk, "nearest", spy)
    X, y = np.random.default_rng(0).normal(size=(90, 3)), np.arange(90) % 2
    risk = tr.estimate_risk(KNeighborsClassifier(), X, y, cv="holdout")
    assert risk.engine == "knn"
    assert measured == [(30, 60)]
