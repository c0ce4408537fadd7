"""The tree engine: every ccp_alpha from one unpruned tree, to the letter of scikit-learn."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from tests.support.data import checked
from tests.support.fitted_once import fitted_once

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.engines import Generic, Trees
from truerisk.engines.trees.pruning import leaves_after_pruning, weakest_links
from truerisk.extend import Family, Request, Streams
from truerisk.methods import Bootstrap, MonteCarlo, as_method
from truerisk.testing import engine_checks

ALPHAS = [0.02, 0.0, 0.3, 0.005, 0.08, 1e-9]
RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(90, 4)), 1)
CLASSES = (X[:, 0] * X[:, 1] + RNG.normal(size=90) > 0).astype(int) + (X[:, 2] > 1)
NUMBERS = X[:, 0] * X[:, 1] + RNG.normal(size=90)

CHECKS = [
    check
    for family in (
        Family.from_grid(DecisionTreeClassifier(), {"ccp_alpha": [0.0, 0.1, 0.2, 0.05]}),
        Family.from_grid(
            make_pipeline("passthrough", ExtraTreeRegressor(max_leaf_nodes=5)),
            {"extratreeregressor__ccp_alpha": [3.0, 0.0, 0.5]},
        ),
    )
    for check in engine_checks(Trees(), family, examples=5)
]


@pytest.mark.parametrize("check", CHECKS, ids=[str(i) for i in range(len(CHECKS))])
def test_trees_conform(check):
    check()


def same(family, data, method, response):
    """The engine and the generic one answer a method's plan alike, bit by bit."""
    plan, request = as_method(method).plan(data, Streams(1)), Request(response)
    assert Trees().refuse(family, data, plan, request) is None
    only = np.arange(plan.n_fits) % len(family)
    for run in (RunOptions(seed=4), RunOptions(seed=4, candidate_by_fit=only)):
        ours = Trees().run(family, data, plan, request, run)
        theirs = Generic().run(family, data, plan, request, run)
        assert ours.values.dtype == theirs.values.dtype
        assert np.array_equal(ours.values, theirs.values)
        assert ours.n_fits == theirs.n_fits


LEARNERS = {
    "gini": (DecisionTreeClassifier(), CLASSES),
    "random features": (DecisionTreeClassifier(max_features=2, min_samples_leaf=3), CLASSES),
    "balanced": (ExtraTreeClassifier(class_weight="balanced", criterion="log_loss"), CLASSES),
    "two classes": (DecisionTreeClassifier(max_leaf_nodes=10), (CLASSES > 0).astype(int)),
    "squares": (DecisionTreeRegressor(), NUMBERS),
    "random thresholds": (DecisionTreeRegressor(splitter="random"), NUMBERS),
    "two targets": (DecisionTreeRegressor(max_depth=6), np.column_stack([NUMBERS, CLASSES])),
    "poisson": (DecisionTreeRegressor(criterion="poisson"), NUMBERS - NUMBERS.min() + 1),
    "monotone": (DecisionTreeRegressor(monotonic_cst=[1, 0, 0, -1]), NUMBERS),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_trees_equal_fits_bit_by_bit(name, weighted):
    """Every learner, response and method, without a seed of its own."""
    model, y = LEARNERS[name]
    weights = RNG.integers(0, 3, 90) + RNG.random(90) if weighted else None
    params = {"sample_weight": weights} if weighted else {}
    data = checked(X, y, sample_weight=weights, fit_params=params)
    responses = ["value"] if data.classes is None else ["label", "probability"]
    responses += ["score"] if data.n_classes == 2 else []
    with fitted_once(type(model)):
        for response in responses:
            for method in ("4-fold", MonteCarlo(4), "apparent"):
                same(Family.from_grid(model, {"ccp_alpha": ALPHAS}), data, method, response)


HOLES = pd.DataFrame(
    np.where(np.arange(360).reshape(90, 4) % 28 == 1, np.nan, X), columns=[*"abcd"]
)


@pytest.mark.parametrize(
    ("model", "grid", "table"),
    [
        (DecisionTreeClassifier(), {"ccp_alpha": ALPHAS}, HOLES),
        (DecisionTreeClassifier(), {"max_depth": [1, 2, 4, None], "ccp_alpha": [0.0, 0.01]}, X),
        (
            make_pipeline(SelectKBest(), DecisionTreeClassifier()),
            {"selectkbest__k": [1, 3], "decisiontreeclassifier__ccp_alpha": ALPHAS},
            X,
        ),
    ],
    ids=["frame with missing cells", "depths one by one", "a step that learns"],
)
def test_trees_of_groups_and_tables_equal_fits(model, grid, table):
    y = np.array(["u", "v", "w"])[CLASSES]
    same(Family.from_grid(model, grid), checked(table, y), "5-fold", "probability")


@pytest.fixture
def by_scikit_learn(monkeypatch):
    """Trees that the compiled builder would grow are fitted."""
    monkeypatch.setattr("truerisk.engines.trees.tree.tree_builder_for", lambda *_: None)


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
def test_trees_of_weights_are_trees_of_copies(request, builder, options, classes):
    """Bootstrap samples with many equal splits have every probability of the copies' tree."""
    if builder == "scikit-learn":
        request.getfixturevalue("by_scikit_learn")
    rng = np.random.default_rng(0)
    table, y = np.round(rng.normal(size=(60, 3)), 1), rng.integers(classes, size=60)
    model = DecisionTreeClassifier(random_state=0, **options)
    given = {"cv": Bootstrap("bootstrap", 12), "scoring": "brier"}
    found, wanted = (
        tr.risk_curve(model, {"ccp_alpha": [0.0, 0.01, 0.03]}, table, y, engine=engine, **given)
        for engine in ("tree", "generic")
    )
    assert np.array_equal(found.evaluation.answers.values, wanted.evaluation.answers.values)


def test_trees_are_fitted_once_and_on_distinct_rows_of_a_sample(monkeypatch, by_scikit_learn):
    """Unless a setting counts rows, a copy is a weight."""
    fits, fit = [], DecisionTreeClassifier.fit

    def counted(self, X, y, sample_weight=None):
        fits.append(
            (self.ccp_alpha, len(X), None if sample_weight is None else sample_weight.sum())
        )
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", counted)
    grid = {"ccp_alpha": list(np.linspace(0, 0.1, 30))}
    curve = tr.risk_curve(DecisionTreeClassifier(), grid, X, CLASSES, cv="5-fold")
    assert ([alpha for alpha, *_ in fits], curve[0].n_fits) == ([0.0] * 5, 150)
    fits.clear()
    tr.estimate_risk(DecisionTreeClassifier(), X, CLASSES > 0, cv=Bootstrap("oob", 3))
    assert all(size < 75 for _, size, _ in fits)
    assert [total for *_, total in fits] == [90.0] * 3
    fits.clear()
    tr.estimate_risk(
        DecisionTreeClassifier(min_samples_leaf=2), X, CLASSES > 0, cv=Bootstrap("oob", 3)
    )
    assert fits == [(0.0, 90, None)] * 3


@pytest.mark.parametrize(
    ("model", "grid", "response", "message"),
    [
        (DecisionTreeClassifier(), {"ccp_alpha": [-0.1]}, "label", "ccp_alpha=-0.1 is no price"),
        (DecisionTreeClassifier(), {"ccp_alpha": ["a"]}, "label", "ccp_alpha='a' is no price"),
        (DecisionTreeClassifier(), {"ccp_alpha": [np.inf]}, "label", "is no price"),
        (DecisionTreeClassifier(), {"ccp_alpha": [np.nan]}, "label", "is no price"),
        (DecisionTreeClassifier(), None, "scored", "scorer needs the fitted model"),
        (SelectKBest(), None, "label", "SelectKBest"),
    ],
)
def test_trees_refuse_what_they_do_not_read(model, grid, response, message):
    data = checked(X, CLASSES)
    plan = as_method("3-fold").plan(data, Streams(0))
    request = Request(response, get_scorer("accuracy") if response == "scored" else None)
    reason = Trees().refuse(Family.from_grid(model, grid), data, plan, request)
    assert re.search(message, reason)
    assert reason.endswith(".")


# ---------------- The sequence of weakest links

PRUNED = {
    "gini": DecisionTreeClassifier(random_state=0),
    "balanced": DecisionTreeClassifier(random_state=0, class_weight="balanced", min_samples_leaf=2),
    "best first": ExtraTreeClassifier(random_state=0, criterion="entropy", max_leaf_nodes=12),
    "squares, best first": DecisionTreeRegressor(random_state=0, max_leaf_nodes=9),
    "absolute": ExtraTreeRegressor(random_state=0, criterion="absolute_error"),
}


@pytest.mark.parametrize("name", PRUNED)
@pytest.mark.parametrize("seed", range(12))
def test_weakest_links_are_those_of_pruned_trees(name, seed):
    """Strengths are the steps of the pruning path, and at, just below and between them each row
    falls on the value of the fitted tree. Many cells are equal; some weights are 0.
    """
    model, rng = PRUNED[name], np.random.default_rng(seed)
    n = int(rng.integers(5, 90))
    table = rng.integers(0, rng.integers(2, 30), (n, 3)).astype(float)
    y = rng.integers(0, 4, n).astype(float)
    if "Regressor" in type(model).__name__ and seed % 2:
        y = rng.normal(size=(n, 2))
    weights = [None, rng.integers(0, 3, n) + 0.0, rng.random(n)][seed % 3]
    if weights is not None:
        weights[0] = 1.0
    path = model.cost_complexity_pruning_path(table, y, sample_weight=weights)
    whole = model.fit(table, y, sample_weight=weights)
    assert np.array_equal(weakest_links(whole.tree_)[0], path.ccp_alphas[1:])
    steps = path.ccp_alphas.clip(0)
    chosen = rng.choice(steps, 4)
    alphas = np.concatenate([chosen, np.nextafter(chosen, 0), rng.random(3) * steps.max(), [0, 99]])
    asked = rng.integers(0, 30, (25, 3)).astype(float)
    values, leaves = whole.tree_.value.copy(), whole.apply(asked)
    standing = leaves_after_pruning(whole.tree_, alphas)[:, leaves]
    for alpha, nodes in zip(alphas, standing, strict=True):
        pruned = type(model)(**{**model.get_params(), "ccp_alpha": alpha})
        pruned.fit(table, y, sample_weight=weights)
        assert np.array_equal(values[nodes], pruned.tree_.value[pruned.apply(asked)])


def tree(left, right, impurity):
    return SimpleNamespace(
        node_count=len(left),
        children_left=np.array(left),
        children_right=np.array(right),
        impurity=np.array(impurity),
        weighted_n_node_samples=np.ones(len(left)),
    )


def test_weakest_links_of_a_tree_by_hand():
    """Links of 9/1 and 22/2: the first goes first, and leaves (22 − 9)/1 to the root."""
    five = tree([1, 2, -1, -1, -1], [4, 3, -1, -1, -1], [22.0, 9.0, 0.0, 0.0, 0.0])
    strengths, step = weakest_links(five)
    assert strengths.tolist() == [9.0, 13.0]
    assert step[:2].tolist() == [1, 0]
    standing = leaves_after_pruning(five, np.array([5.0, 9.0, 13.0])).tolist()
    assert standing == [[0, 1, 2, 3, 4], [0, 1, 1, 1, 4], [0, 0, 0, 0, 0]]
    assert leaves_after_pruning(tree([-1], [-1], [0.0]), np.array([0.0, 1.0])).tolist() == [
        [0],
        [0],
    ]
    no_number = tree([1, -1, -1], [2, -1, -1], [np.inf, np.inf, 0.0])
    assert leaves_after_pruning(no_number, np.array([1e300])).tolist() == [[0, 1, 2]]
