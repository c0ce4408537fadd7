"""Trees behind the steps of a pipeline, and on sparse tables: scikit-learn's, node for node."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.settings import groups_along
from truerisk.engines.trees.growing import growing_of
from truerisk.engines.trees.tree import Trees
from truerisk.methods.words import as_method

RNG = np.random.default_rng(0)
NUMBERS = np.round(RNG.normal(size=(60, 3)), 1)
LEVELS = RNG.integers(0, [3, 9], size=(60, 2)).astype(float)  # some level is rare: not in all folds
X = np.hstack([NUMBERS, LEVELS])
CLASSES = (X[:, 0] + (X[:, 4] > 4) + RNG.normal(size=60) > 0).astype(int) + (X[:, 2] > 0.2)
DATA, HALF = (Data.check(X[:n], CLASSES[:n], task="classification") for n in (60, 30))
COUNTS = Data.check(X, np.round(3 * X[:, 0]) + RNG.integers(3, size=60), task="regression")
METHODS = {
    "3-fold": "3-fold",
    "loo": "loo",
    "pairs": tr.methods.Pairs("3-fold"),
    ".632": tr.methods.Bootstrap(".632", 4),
    "nested": tr.methods.Nested("3-fold", "3-fold"),
    "apparent": "apparent",
}
TREE = {"tree__min_samples_leaf": [1, 4], "tree__ccp_alpha": [0.0, 0.02]}


def encoded(**how):
    encoder = OneHotEncoder(handle_unknown="ignore", **how)
    return make_column_transformer((StandardScaler(), [0, 1, 2]), (encoder, [3, 4]))


def before(*steps, seed=0):
    named = [(f"s{i}", step) for i, step in enumerate(steps)]
    return Pipeline([*named, ("tree", DecisionTreeClassifier(random_state=seed))])


class Shifted(TransformerMixin, BaseEstimator):
    """Shows the rows that it is fitted on otherwise than all others, as TargetEncoder does."""

    def fit(self, X, y):
        self.mean_ = X.mean()
        return self

    def fit_transform(self, X, y):
        return self.fit(X, y).transform(X) + np.arange(len(X))[:, None] % 2

    def transform(self, X):
        return X - self.mean_


PIPES = {
    "a scaler": (before(StandardScaler()), {}),
    "a seed for each fit": (before(StandardScaler(), seed=None), {"tree__max_features": [2]}),
    "chosen columns": (before(StandardScaler(), SelectKBest()), {"s1__k": [1, 3]}),
    "components": (before(PCA(3, random_state=0)), {"s0__n_components": [1, 3]}),
    "levels": (before(encoded(sparse_output=False)), {}),
    "rare levels": (before(encoded(max_categories=3, sparse_output=False)), {}),
    "sparse levels": (before(OneHotEncoder(handle_unknown="ignore")), {}),
    "two faces of a row": (before(Shifted()), {}),
    "row by row": (before(FunctionTransformer(np.abs)), {}),
    "nothing": (before("passthrough"), {"s0": ["passthrough", StandardScaler()]}),
}


PAIRS = [  # every pipeline meets half of the methods, and every method half of the pipelines
    (name, method)
    for i, name in enumerate(PIPES)
    for j, method in enumerate(METHODS)
    if (i + j) % 2 == 0
]


def served(family, data, method):
    plan = as_method(method).plan(data, Streams(1))
    groups = groups_along(family, ["ccp_alpha"])
    return growing_of(groups, family, data, plan, Request("label"), RunOptions(seed=4))


@pytest.mark.filterwarnings("ignore:.*hold no row of class")
@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_answers_are_those_of_whole_pipelines(name, method) -> None:
    """Of every train set its own steps, copies and all; where a row has two faces, the pipeline."""
    pipe, more = PIPES[name]
    family = Family.of(pipe, TREE | more)
    data = HALF if method == "loo" else DATA
    plan = as_method(METHODS[method]).plan(data, Streams(1))
    request, run = Request("probability"), RunOptions(seed=4)
    assert served(family, data, METHODS[method]) is not None
    ours = Trees().run(family, data, plan, request, run)
    theirs = Generic().run(family, data, plan, request, run)
    assert np.array_equal(ours.values, theirs.values)


def test_numbers_behind_steps_are_predicted_as_they_are_there() -> None:
    """A regression tree of whole numbers."""
    pipe = make_pipeline(StandardScaler(), DecisionTreeRegressor(random_state=0))
    family = Family.of(pipe, {"decisiontreeregressor__ccp_alpha": [0.0, 0.1]})
    plan = as_method("3-fold").plan(COUNTS, Streams(1))
    found = [
        engine.run(family, COUNTS, plan, Request("value"), RunOptions(seed=4)).values
        for engine in (Trees(), Generic())
    ]
    assert np.array_equal(*found)


class Counted(TransformerMixin, BaseEstimator):
    """Nothing but a count of its fits."""

    fits = 0

    def fit(self, X, y=None):
        type(self).fits += 1
        return self

    def transform(self, X):
        return np.sqrt(X) if X.min() >= 0 else X


def test_steps_are_fitted_once_per_train_set() -> None:
    """Eight settings of the tree, three train sets."""
    Counted.fits = 0
    family = Family.of(before(Counted()), {"tree__min_samples_leaf": [1, 2, 3, 4, 5, 6, 7, 8]})
    plan = as_method("3-fold").plan(DATA, Streams(1))
    Trees().run(family, DATA, plan, Request("label"), RunOptions(seed=4))
    assert Counted.fits == 3


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(lambda X: np.where(X > 1, np.nan, X)),
        FunctionTransformer(lambda X: 1e200 * X),
    ],
    ids=["missing", "beyond single precision"],
)
def test_what_a_step_makes_unfit_is_scikit_learns(step) -> None:
    """Cells that are missing are split by scikit-learn; cells too large are refused by it."""
    family = Family.of(before(step), {"tree__ccp_alpha": [0.0, 0.02]})
    plan = as_method("3-fold").plan(DATA, Streams(1))
    found = []
    for engine in (Trees(), Generic()):
        try:
            answers = engine.run(family, DATA, plan, Request("label"), RunOptions(seed=4))
            found.append(answers.values.tolist())
        except tr.core.errors.FitFailed as error:
            found.append(str(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("density", [0.05, 0.5])
def test_a_sparse_table_grows_the_tree_of_the_dense_one(kind, density) -> None:
    """As scikit-learn promises, with negative cells and zeros that are written down."""
    rng = np.random.default_rng(3)
    table = sp.random(60, 12, density, random_state=4, data_rvs=lambda n: rng.integers(-2, 3, n))
    data = Data.check(kind(table), CLASSES, task="classification")
    family = Family.of(DecisionTreeClassifier(random_state=0), {"max_features": [None, 3]})
    assert served(family, data, "3-fold") is not None
    plan = as_method("3-fold").plan(data, Streams(1))
    found = [
        engine.run(family, data, plan, Request("probability"), RunOptions(seed=4)).values
        for engine in (Trees(), Generic())
    ]
    assert np.array_equal(*found)
