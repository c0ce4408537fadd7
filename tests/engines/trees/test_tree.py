"""The tree engine: every ccp_alpha from one unpruned tree, to the letter of scikit-learn."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from tests.support.fitted_once import fitted_once

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.progress import listen
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.trees.tree import Trees
from truerisk.methods.words import as_method
from truerisk.testing import engine_checks

ALPHAS = [0.02, 0.0, 0.3, 0.005, 0.08, 1e-9]
RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(90, 4)), 1)
CLASSES = (X[:, 0] * X[:, 1] + RNG.normal(size=90) > 0).astype(int) + (X[:, 2] > 1)
NUMBERS = X[:, 0] * X[:, 1] + RNG.normal(size=90)

FAMILIES = {
    "classes": Family.of(DecisionTreeClassifier(), {"ccp_alpha": [0.0, 0.1, 0.2, 0.05]}),
    "numbers": Family.of(
        make_pipeline("passthrough", ExtraTreeRegressor(max_leaf_nodes=5)),
        {"extratreeregressor__ccp_alpha": [3.0, 0.0, 0.5]},
    ),
}
CHECKS = [c for f in FAMILIES.values() for c in engine_checks(Trees(), f, examples=5)]


@pytest.mark.parametrize("check", CHECKS, ids=[str(i) for i in range(len(CHECKS))])
def test_conforms(check) -> None:
    """The published checks of any engine."""
    check()


def same(family, data, method, response):
    """The engine and the generic one answer a method's plan alike, bit by bit."""
    plan, request = as_method(method).plan(data, Streams(1)), Request(response)
    assert Trees().refuse(family, data, plan, request) is None
    only = np.arange(plan.n_fits) % len(family)
    for run in (RunOptions(seed=4), RunOptions(seed=4, only=only)):
        ours = Trees().run(family, data, plan, request, run)
        theirs = Generic().run(family, data, plan, request, run)
        assert ours.values.dtype == theirs.values.dtype
        assert np.array_equal(ours.values, theirs.values)
        assert ours.n_fits == theirs.n_fits
    return ours


LEARNERS = {
    "gini": (DecisionTreeClassifier(), CLASSES),
    "random features": (DecisionTreeClassifier(max_features=2, min_samples_leaf=3), CLASSES),
    "balanced": (ExtraTreeClassifier(class_weight="balanced", criterion="log_loss"), CLASSES),
    "two classes": (DecisionTreeClassifier(max_leaf_nodes=10), CLASSES > 0),
    "squares": (DecisionTreeRegressor(), NUMBERS),
    "random thresholds": (DecisionTreeRegressor(splitter="random"), NUMBERS),
    "two targets": (DecisionTreeRegressor(max_depth=6), np.column_stack([NUMBERS, CLASSES])),
    "poisson": (DecisionTreeRegressor(criterion="poisson"), NUMBERS - NUMBERS.min() + 1),
    "monotone": (DecisionTreeRegressor(monotonic_cst=[1, 0, 0, -1]), NUMBERS),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_equals_fits_bit_by_bit(name, weighted) -> None:
    """Every learner, response and method, without a seed of its own, with and without weights."""
    model, y = LEARNERS[name]
    task = "regression" if "Regressor" in type(model).__name__ else "classification"
    weights = RNG.integers(0, 3, 90) + RNG.random(90) if weighted else None
    params = {} if weights is None else {"sample_weight": weights}
    data = Data.check(X, y, task=task, sample_weight=weights, fit_params=params)
    family = Family.of(model, {"ccp_alpha": ALPHAS})
    responses = ["value"] if task == "regression" else ["label", "probability"]
    responses += ["score"] if data.n_classes == 2 else []
    with fitted_once(type(model)):
        for response in responses:
            for method in ("4-fold", tr.methods.MonteCarlo(4), "apparent"):
                same(family, data, method, response)


def test_tables_of_all_kinds() -> None:
    """Frames, missing cells, sparse and single-precision tables reach the tree as they are."""
    holes = X.copy()
    holes[::7, 1] = np.nan
    tables = [pd.DataFrame(holes, columns=list("abcd")), sp.csr_matrix(X), X.astype(np.float32)]
    family = Family.of(DecisionTreeClassifier(), {"ccp_alpha": ALPHAS})
    for table in tables:
        data = Data.check(table, np.array(["u", "v", "w"])[CLASSES], task="classification")
        same(family, data, "3-fold", "label")


def test_steps_that_learn_see_the_training_rows_only() -> None:
    """A selection before the tree is fitted in every train set; its settings are groups."""
    model = make_pipeline(SelectKBest(), DecisionTreeClassifier())
    grid = {"selectkbest__k": [1, 3], "decisiontreeclassifier__ccp_alpha": ALPHAS}
    data = Data.check(X, CLASSES, task="classification")
    same(Family.of(model, grid), data, "5-fold", "probability")


def test_depths_are_grown_one_by_one() -> None:
    """max_depth makes groups of its own: each depth is its own fit."""
    grid = {"max_depth": [1, 2, 4, None], "ccp_alpha": [0.0, 0.01]}
    data = Data.check(X, CLASSES, task="classification")
    same(Family.of(DecisionTreeClassifier(), grid), data, "5-fold", "label")


@pytest.fixture
def by_scikit_learn(monkeypatch):
    """Trees that the compiled builder would grow are fitted."""
    monkeypatch.setattr("truerisk.engines.trees.tree.growing_of", lambda *_: None)


def test_one_tree_per_train_set(monkeypatch, by_scikit_learn) -> None:
    """Thirty alphas on five folds are five fits of the tree."""
    fits, fit = [], DecisionTreeClassifier.fit

    def counted(self, X, y):
        fits.append(self.ccp_alpha)
        return fit(self, X, y)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", counted)
    grid = {"ccp_alpha": list(np.linspace(0, 0.1, 30))}
    curve = tr.risk_curve(DecisionTreeClassifier(), grid, X, CLASSES, cv="5-fold")
    assert (fits, curve[0].n_fits) == ([0.0] * 5, 150)


def test_progress_is_told() -> None:
    """It counts the candidates' fits, one train set after another."""
    told = []
    with listen(lambda progress: told.append((progress.done, progress.total))):
        tr.risk_curve(DecisionTreeClassifier(), {"ccp_alpha": ALPHAS}, X, CLASSES, cv="3-fold")
    assert told[0] == (0, 18)
    assert told[-1] == (18, 18)
    assert (6, 18) in told


@pytest.mark.parametrize(
    ("model", "grid", "response", "message"),
    [
        (DecisionTreeClassifier(), {"ccp_alpha": [-0.1]}, "label", "ccp_alpha=-0.1 is no price"),
        (DecisionTreeClassifier(), {"ccp_alpha": ["a"]}, "label", "ccp_alpha='a' is no price"),
        (DecisionTreeClassifier(), {"ccp_alpha": [np.inf]}, "label", "is no price"),
        (DecisionTreeClassifier(), {"ccp_alpha": [np.nan]}, "label", "is no price"),
        (DecisionTreeClassifier(), None, "scored", "scorer needs the fitted model"),
        (SelectKBest(), None, "label", "SelectKBest"),
        (
            make_pipeline(DecisionTreeClassifier()),
            {"decisiontreeclassifier": [ExtraTreeClassifier()]},
            "label",
            "replaces the learner",
        ),
    ],
)
def test_what_it_does_not_read_is_refused(model, grid, response, message) -> None:
    """By a sentence that names the value or the learner."""
    data = Data.check(X, CLASSES, task="classification")
    plan = as_method("3-fold").plan(data, Streams(0))
    request = Request(response, get_scorer("accuracy") if response == "scored" else None)
    reason = Trees().refuse(Family.of(model, grid), data, plan, request)
    assert reason is not None
    assert re.search(message, reason)
    assert reason.endswith(".")


def test_counts_are_left_to_the_generic_engine() -> None:
    """Swapping asks how many rows an answer rests on, which a pruned leaf is not asked here."""
    with pytest.raises(Refusal, match="how many training rows"):
        tr.risk_curve(
            DecisionTreeClassifier(),
            {"ccp_alpha": ALPHAS},
            X,
            CLASSES > 0,
            cv="swapping",
            engine="tree",
        )


@pytest.mark.parametrize("builder", ["compiled", "scikit-learn"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"criterion": "entropy"},
        {"splitter": "random"},
        {"max_features": 1, "max_depth": 4},
        {"max_leaf_nodes": 6},
        {"min_impurity_decrease": 0.02},
        {"min_samples_leaf": 3},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
def test_copies_as_weights_grow_the_same_tree(request, builder, options, classes) -> None:
    """Of bootstrap samples with many equal splits every probability is that of the copies' tree."""
    if builder == "scikit-learn":
        request.getfixturevalue("by_scikit_learn")
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)), 1)
    y = rng.integers(classes, size=60)
    model = DecisionTreeClassifier(random_state=0, **options)
    grid = {"ccp_alpha": [0.0, 0.01, 0.03]}
    method = tr.methods.Bootstrap("bootstrap", 12)
    found, wanted = (
        tr.risk_curve(model, grid, X, y, cv=method, scoring="brier", engine=engine)
        for engine in ("tree", "generic")
    )
    assert np.array_equal(found.evaluation.answers.values, wanted.evaluation.answers.values)


def test_copies_are_given_as_weights(monkeypatch, by_scikit_learn) -> None:
    """A sample is fitted on its distinct rows, unless a setting counts rows."""
    sizes, fit = [], DecisionTreeClassifier.fit

    def counted(self, X, y, sample_weight=None):
        sizes.append((len(X), None if sample_weight is None else sample_weight.sum()))
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", counted)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), np.arange(50) % 2
    method = tr.methods.Bootstrap("oob", 3)
    tr.estimate_risk(DecisionTreeClassifier(), X, y, cv=method)
    assert all(size < 40 for size, _ in sizes)
    assert [total for _, total in sizes] == [50.0] * 3
    sizes.clear()
    tr.estimate_risk(DecisionTreeClassifier(min_samples_leaf=2), X, y, cv=method)
    assert sizes == [(50, None)] * 3
