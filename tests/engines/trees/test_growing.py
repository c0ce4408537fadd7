"""Trees of whole plans by the compiled builder: scikit-learn's answers, without its fits."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.core.family import Family
from truerisk.core.progress import listen
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.settings import groups_along
from truerisk.engines.trees import growing
from truerisk.engines.trees.growing import growing_of
from truerisk.engines.trees.recipes import closeness
from truerisk.engines.trees.tree import Trees
from truerisk.methods.words import as_method

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(60, 4)), 1)
CLASSES = (X[:, 0] * X[:, 1] + RNG.normal(size=60) > 0).astype(int) + (X[:, 2] > 0.2)
DATA = Data.check(X, CLASSES, task="classification")
ALPHAS = [0.02, 0.0, 0.005]
METHODS = {
    "3-fold": "3-fold",
    "loo": "loo",
    ".632": tr.methods.Bootstrap(".632", 6),
    "bootstrap": tr.methods.Bootstrap("bootstrap", 4),
    "nested": tr.methods.Nested("3-fold", "3-fold"),
    "apparent": "apparent",
}


def builder(family, data, method="3-fold", run=None, response="label"):
    """What grows the trees of this plan; None where scikit-learn does."""
    plan, run = as_method(method).plan(data, Streams(1)), run or RunOptions(seed=4)
    groups = groups_along(family, ["ccp_alpha"])
    return growing_of(groups, family, data, plan, Request(response), run)


@st.composite
def tasks(draw):
    """A table with ties, some classes, a tree of some setting and several prices of a leaf."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(24, 45))
    rows = np.round(rng.normal(size=(n, draw(st.integers(1, 5)))), draw(st.integers(0, 2)))
    y = rng.integers(draw(st.integers(2, 3)), size=n)
    y[:9] = np.arange(9) % (y.max() + 1)
    optional = {
        "criterion": st.sampled_from(["gini", "entropy", "log_loss"]),
        "max_features": st.sampled_from([1, 0.5, "sqrt", "log2"]),
        "max_depth": st.integers(1, 4),
        "min_samples_leaf": st.sampled_from([1, 3, 0.1]),
        "min_samples_split": st.sampled_from([2, 5, 0.2]),
        "min_weight_fraction_leaf": st.sampled_from([0, 0.1]),
        "min_impurity_decrease": st.sampled_from([0.0, 0.02]),
        "random_state": st.integers(0, 2**31),
    }
    params = {name: draw(value) for name, value in optional.items() if draw(st.booleans())}
    grid = {"ccp_alpha": draw(st.sampled_from([[0.0], ALPHAS]))}
    if draw(st.booleans()):
        grid["max_depth"] = [None, 2]
    family = Family.of(DecisionTreeClassifier(**params), grid)
    labels = np.array(["u", "v", "w"])[y] if draw(st.booleans()) else y
    return Data.check(rows, labels, task="classification"), family, draw(st.integers(0, 99))


@pytest.mark.filterwarnings("ignore:.*hold no row of class")
@settings(max_examples=8, deadline=None)
@given(tasks(), st.sampled_from(sorted(METHODS)), st.sampled_from(["label", "probability"]))
def test_answers_are_those_of_scikit_learns_fits(task, name, response) -> None:
    """On every kind of plan, asked all candidates or one per fit, to the last bit."""
    data, family, seed = task
    method = as_method(METHODS[name])
    plan, request = method.plan(data, Streams(seed)), Request(response)
    if data.n_classes == 2 and response == "probability" and seed % 2:
        request = Request("score")
    for run in (
        RunOptions(seed=seed),
        RunOptions(seed=seed, only=np.arange(plan.n_fits) % len(family)),
    ):
        built = builder(family, data, METHODS[name], run)
        assert built is not None
        ours = Trees().run(family, data, plan, request, run)
        theirs = Generic().run(family, data, plan, request, run)
        assert ours.values.dtype == theirs.values.dtype
        assert np.array_equal(ours.values, theirs.values)
        assert (ours.n_fits, ours.fit_seconds.shape) == (theirs.n_fits, theirs.fit_seconds.shape)
        assert (ours.fit_seconds > 0).all()
        assert (ours.answer_seconds > 0).all()
        assert ours.answered.all()


@pytest.mark.parametrize("name", sorted(METHODS))
def test_regression_trees_of_whole_numbers_are_scikit_learns(name) -> None:
    """Values are the same to the last bit, with and without pruning."""
    y = np.round(100 * X[:, 0] * X[:, 1]) - 7 * CLASSES
    data = Data.check(X, y, task="regression")
    grid = {"ccp_alpha": [0.0, 3.0, 50.0], "max_features": [None, 2]}
    family = Family.of(DecisionTreeRegressor(), grid)
    plan, request, run = (
        as_method(METHODS[name]).plan(data, Streams(1)),
        Request("value"),
        RunOptions(seed=3),
    )
    assert builder(family, data, METHODS[name], run, "value") is not None
    ours, theirs = (engine.run(family, data, plan, request, run) for engine in (Trees(), Generic()))
    assert np.array_equal(ours.values, theirs.values)


@pytest.mark.parametrize(
    "y", [X[:, 0], np.round(1e8 * X[:, 0]), np.column_stack([CLASSES, CLASSES]).astype(float)]
)
def test_other_numbers_are_scikit_learns(y) -> None:
    """Sums of fractions, of large numbers and of several targets depend on the order of rows."""
    data = Data.check(X, y, task="regression")
    assert builder(Family.of(DecisionTreeRegressor()), data, response="value") is None


def forbidden(*_, **__):
    raise AssertionError("scikit-learn fitted a tree.")


def test_no_model_is_fitted(monkeypatch) -> None:
    """Hundreds of fits are made without one of scikit-learn's."""
    assert builder(Family.of(DecisionTreeClassifier()), DATA) is not None  # compared before
    monkeypatch.setattr(DecisionTreeClassifier, "fit", forbidden)
    method = tr.methods.Bootstrap(".632", 200)
    estimate = tr.estimate_risk(DecisionTreeClassifier(), X, CLASSES, cv=method)
    assert (estimate.engine, estimate.n_fits) == ("tree", 201)


@pytest.mark.parametrize(
    "table",
    [X, X.astype(np.float32), np.round(10 * X).astype(int), X > 0, np.asfortranarray(X)],
    ids=["double", "single", "whole", "bool", "by columns"],
)
@pytest.mark.parametrize("frame", [False, True])
def test_tables_of_numbers_are_served(table, frame) -> None:
    """Arrays and frames of any numbers; of flags only arrays."""
    given_table = pd.DataFrame(table, columns=list("abcd")) if frame else table
    data = Data.check(given_table, CLASSES, task="classification")
    family = Family.of(DecisionTreeClassifier(), {"ccp_alpha": ALPHAS})
    assert (builder(family, data) is None) == (frame and table.dtype == bool)
    plan, request, run = (
        as_method("3-fold").plan(data, Streams(1)),
        Request("label"),
        RunOptions(seed=2),
    )
    ours = Trees().run(family, data, plan, request, run)
    assert np.array_equal(ours.values, Generic().run(family, data, plan, request, run).values)


class Keeper:
    """Stands for any: it is not asked."""


@pytest.mark.parametrize("seed", [None, 3])
def test_the_one_step_of_a_pipeline_is_grown_too(seed) -> None:
    """With its own names in the grid, on any executor, seeded as in the pipeline."""
    grid = {"tree__min_samples_leaf": [1, 2], "tree__ccp_alpha": [0.0, 0.02]}
    family = Family.of(Pipeline([("tree", DecisionTreeClassifier(random_state=seed))]), grid)
    plan = as_method("4-fold").plan(DATA, Streams(1))
    assert builder(family, DATA, run=RunOptions(seed=4, executor=2)) is not None
    request = Request("probability")
    ours = Trees().run(family, DATA, plan, request, RunOptions(seed=4, executor=2))
    theirs = Generic().run(family, DATA, plan, request, RunOptions(seed=4))
    assert np.array_equal(ours.values, theirs.values)
    over = Family.of(Pipeline([("tree", DecisionTreeClassifier())]), {"verbose": [False, True]})
    assert builder(over, DATA) is None


HOLES = np.where(np.arange(240).reshape(60, 4) % 7 == 0, np.nan, X)
TEXT = pd.DataFrame(X, columns=list("abcd")).assign(a="1.5")
UNNAMED = pd.DataFrame(X, columns=["a", "b", "c", 3])
WEIGHTED = {"fit_params": {"sample_weight": np.ones(60)}}
LEFT = {
    "another learner": (ExtraTreeClassifier(), DATA, {}),
    "two seeds to draw": (make_pipeline(PCA(2), DecisionTreeClassifier()), DATA, {}),
    "a cache": (make_pipeline(StandardScaler(), DecisionTreeClassifier(), memory="x"), DATA, {}),
    "a pipeline that speaks": (make_pipeline(DecisionTreeClassifier(), verbose=True), DATA, {}),
    "best first": (DecisionTreeClassifier(max_leaf_nodes=5), DATA, {}),
    "random thresholds": (DecisionTreeClassifier(splitter="random"), DATA, {}),
    "class weights": (DecisionTreeClassifier(class_weight="balanced"), DATA, {}),
    "monotone": (DecisionTreeClassifier(monotonic_cst=[0, 0, 0, 0]), DATA, {}),
    "a generator": (DecisionTreeClassifier(random_state=np.random.RandomState(0)), DATA, {}),
    "out of range": (DecisionTreeClassifier(max_depth=0), DATA, {}),
    "a keeper": (DecisionTreeClassifier(), DATA, {"keeper": Keeper()}),
    "missing cells": (
        DecisionTreeClassifier(),
        Data.check(HOLES, CLASSES, task="classification"),
        {},
    ),
    "beyond single precision": (
        DecisionTreeClassifier(),
        Data.check(X * 1e300, CLASSES, task="classification"),
        {},
    ),
    "text": (DecisionTreeClassifier(), Data.check(TEXT, CLASSES, task="classification"), {}),
    "odd names": (
        DecisionTreeClassifier(),
        Data.check(UNNAMED, CLASSES, task="classification"),
        {},
    ),
    "weights": (
        DecisionTreeClassifier(),
        Data.check(X, CLASSES, task="classification", **WEIGHTED),
        {},
    ),
    "as many classes as rows": (
        DecisionTreeClassifier(),
        Data.check(X, np.arange(60) % 20, task="classification"),
        {},
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_the_rest_is_scikit_learns(name) -> None:
    """What the builder does not serve, or scikit-learn would complain of, is left to it."""
    model, data, more = LEFT[name]
    assert builder(Family.of(model), data, run=RunOptions(seed=4, **more)) is None


def test_flipped_labels_are_scikit_learns() -> None:
    """Plans that replace labels, or ask for more than answers, are left to it."""
    data = Data.check(X, CLASSES > 0, task="classification")
    for method in ("swapping", "bee"):
        assert builder(Family.of(DecisionTreeClassifier()), data, method) is None


def test_its_complaints_are_still_heard() -> None:
    """Warnings (of many classes, say) are the generic ones; wrong parameters are named."""
    heard = []
    for engine in ("tree", "generic"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            many = np.arange(60) % 20
            tr.estimate_risk(DecisionTreeClassifier(), X, many, cv="2-fold", engine=engine)
        heard.append([str(warning.message) for warning in caught])
    assert heard[0] == heard[1]
    with pytest.raises(FitFailed, match="max_depth"):
        tr.estimate_risk(DecisionTreeClassifier(max_depth=0), X, CLASSES > 0, engine="tree")


@pytest.mark.parametrize("reason", ["disagrees", "not compiled"])
def test_without_the_builder_the_numbers_are_the_same(monkeypatch, reason) -> None:
    """Where it disagrees with scikit-learn or is missing, scikit-learn makes the fits."""
    fits, fit = [], DecisionTreeClassifier.fit

    def counted(self, *arguments, **more):
        fits.append(self)
        return fit(self, *arguments, **more)

    def curve():
        grid = {"ccp_alpha": ALPHAS}
        return tr.risk_curve(DecisionTreeClassifier(), grid, X, CLASSES, cv="4-fold")

    wanted = curve()
    monkeypatch.setattr(DecisionTreeClassifier, "fit", counted)
    if reason == "disagrees":
        monkeypatch.setattr(growing, "closeness", lambda criterion: None)
    else:
        monkeypatch.setattr("truerisk.kernels.attempt", lambda: (None, "none"))
        closeness.cache_clear()
    found = curve()
    closeness.cache_clear()
    assert len(fits) == 4
    assert found.values.tolist() == wanted.values.tolist()
    assert found[0].engine == "tree"


def test_progress_is_told_between_calls() -> None:
    """The first call makes one fit; all fits of all candidates are told in the end."""
    told = []
    with listen(lambda progress: told.append((progress.done, progress.total))):
        tr.risk_curve(DecisionTreeClassifier(), {"ccp_alpha": ALPHAS}, X, CLASSES, cv="5-fold")
    assert told[:2] == [(0, 15), (3, 15)]
    assert told[-1] == (15, 15)


def test_no_warning_comes_of_growing() -> None:
    """Numbers that single precision holds are cast in silence."""
    data = Data.check(X * 1e30, CLASSES, task="classification")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert builder(Family.of(DecisionTreeClassifier()), data) is not None
