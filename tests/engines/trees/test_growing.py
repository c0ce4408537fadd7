"""Trees of whole plans by the compiled builder: scikit-learn's answers, without its fits."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from tests.support.data import checked

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.core.progress import listen
from truerisk.engines import Generic, Trees
from truerisk.engines.settings import group_candidates
from truerisk.engines.trees import growing
from truerisk.engines.trees.growing import tree_builder_for
from truerisk.engines.trees.recipes import equality_gap
from truerisk.exceptions import FitFailed
from truerisk.extend import Family, Request, Streams
from truerisk.methods import Bootstrap, Nested, Pairs, as_method

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(60, 4)), 1)
CLASSES = (X[:, 0] * X[:, 1] + RNG.normal(size=60) > 0).astype(int) + (X[:, 2] > 0.2)
DATA = checked(X, CLASSES)
ALPHAS = [0.02, 0.0, 0.005]
TREE = DecisionTreeClassifier()
METHODS = {
    "3-fold": "3-fold",
    "loo": "loo",
    "pairs": Pairs("3-fold"),
    ".632": Bootstrap(".632", 4),
    "bootstrap": Bootstrap("bootstrap", 4),
    "nested": Nested("3-fold", "3-fold"),
    "apparent": "apparent",
}


def builder(family, data, method="3-fold", run=None, response="label"):
    """What grows the trees of this plan; None where scikit-learn does."""
    plan, run = as_method(method).plan(data, Streams(1)), run or RunOptions(seed=4)
    groups = group_candidates(family, ["ccp_alpha"])
    return tree_builder_for(groups, family, data, plan, Request(response), run)


def require_equal(family, data, method="3-fold", response="label", seed=4, run=None):
    """Trees that the builder grows answer as scikit-learn's fits do, to the last bit."""
    plan, request = as_method(method).plan(data, Streams(seed)), Request(response)
    run = run or RunOptions(seed=seed)
    assert builder(family, data, method, run, response) is not None
    ours = Trees().run(family, data, plan, request, run)
    theirs = Generic().run(
        family, data, plan, request, RunOptions(seed=seed, candidate_by_fit=run.candidate_by_fit)
    )
    assert ours.values.dtype == theirs.values.dtype
    assert np.array_equal(ours.values, theirs.values)
    assert (ours.n_fits, ours.fit_seconds.shape) == (theirs.n_fits, theirs.fit_seconds.shape)
    return ours


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
    family = Family.from_grid(DecisionTreeClassifier(**params), grid)
    labels = np.array(["u", "v", "w"])[y] if draw(st.booleans()) else y
    return checked(rows, labels), family, draw(st.integers(0, 99))


@pytest.mark.filterwarnings("ignore:.*hold no row of class")
@settings(max_examples=8, deadline=None)
@given(tasks(), st.sampled_from(sorted(METHODS)), st.sampled_from(["label", "probability"]))
def test_grown_trees_of_any_setting_and_plan_equal_fits(task, name, response):
    data, family, seed = task
    if data.n_classes == 2 and response == "probability" and seed % 2:
        response = "score"
    n_fits = as_method(METHODS[name]).plan(data, Streams(seed)).n_fits
    for only in (None, np.arange(n_fits) % len(family)):
        run = RunOptions(seed=seed, candidate_by_fit=only)
        ours = require_equal(family, data, METHODS[name], response, seed, run)
        assert (ours.fit_seconds > 0).all()
        assert (ours.answer_seconds > 0).all()
        assert ours.answered.all()


WHOLE = checked(X, np.round(100 * X[:, 0] * X[:, 1]) - 7 * CLASSES)


PRICES = {"ccp_alpha": [0.0, 3.0, 50.0], "max_features": [None, 2]}
NUMBERS = Family.from_grid(DecisionTreeRegressor(), PRICES)
PIPED_NUMBERS = Family.from_grid(
    make_pipeline(StandardScaler(), DecisionTreeRegressor()),
    {f"decisiontreeregressor__{name}": values for name, values in PRICES.items()},
)
FRAME = pd.DataFrame(X, columns=list("abcd"))


def sparse(kind, density):
    """Negative cells, and zeros that are written down."""
    values = np.random.default_rng(3)
    return kind(
        sp.random(60, 12, density, random_state=4, data_rvs=lambda n: values.integers(-2, 3, n))
    )


TABLES = {
    "single": X.astype(np.float32),
    "whole": np.round(10 * X).astype(int),
    "truth": X > 0,
    "by columns": np.asfortranarray(X),
    "frame": FRAME,
    "frame of single": FRAME.astype(np.float32),
    "frame of whole": FRAME.round().astype(int),
    "csr": sparse(sp.csr_matrix, 0.5),
    "csr, few cells": sparse(sp.csr_matrix, 0.05),
    "csc": sparse(sp.csc_matrix, 0.5),
}


OF_CLASSES = Family.from_grid(TREE, {"ccp_alpha": ALPHAS, "max_features": [None, 3]})


@pytest.mark.parametrize(
    ("family", "data", "method", "response"),
    [
        *(
            pytest.param(OF_CLASSES, checked(table, CLASSES), "3-fold", "probability", id=name)
            for name, table in TABLES.items()
        ),
        *(
            pytest.param(NUMBERS, WHOLE, METHODS[name], "value", id=f"whole targets, {name}")
            for name in sorted(METHODS)
        ),
        pytest.param(PIPED_NUMBERS, WHOLE, "3-fold", "value", id="whole targets behind a step"),
    ],
)
def test_grown_trees_of_any_table_and_of_whole_targets_equal_fits(family, data, method, response):
    require_equal(family, data, method, response)


# ---------------- Behind the steps of a pipeline

LEVELS = RNG.integers(0, [3, 9], size=(60, 2)).astype(float)  # some level is rare: not in all folds
STEPPED = checked(np.hstack([X[:, :3], LEVELS]), CLASSES)
HALF = checked(np.hstack([X[:, :3], LEVELS])[:30], CLASSES[:30])


def encoded(**how):
    encoder = OneHotEncoder(handle_unknown="ignore", **how)
    return make_column_transformer((StandardScaler(), [0, 1, 2]), (encoder, [3, 4]))


def before(*steps, seed=0):
    named = [(f"s{i}", step) for i, step in enumerate(steps)]
    return Pipeline([*named, ("tree", DecisionTreeClassifier(random_state=seed))])


class Shifted(TransformerMixin, BaseEstimator):
    """Shows the rows that it is fitted on otherwise than all others, as TargetEncoder does."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
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
    "no step": (before(seed=None), {}),
}
PAIRS = [  # every pipeline meets half of the methods, and every method half of the pipelines
    (name, method)
    for i, name in enumerate(PIPES)
    for j, method in enumerate(METHODS)
    if (i + j) % 2 == 0 and method != "bootstrap"
]


@pytest.mark.filterwarnings("ignore:.*hold no row of class")
@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_grown_trees_behind_steps_equal_whole_pipelines(name, method):
    """Every train set has its own steps, copies and all, on any executor."""
    pipe, more = PIPES[name]
    family = Family.from_grid(
        pipe, {"tree__min_samples_leaf": [1, 4], "tree__ccp_alpha": [0, 0.02]} | more
    )
    data = HALF if method == "loo" else STEPPED
    run = RunOptions(seed=4, executor=2 if name == "no step" else None)
    require_equal(family, data, METHODS[method], "probability", run=run)


def test_grown_trees_share_the_steps_of_a_train_set():
    family = Family.from_grid(before(Counted()), {"tree__max_depth": [1, 2, 3, 4, 5, 6, 7, 8]})
    Counted.fits = 0
    Trees().run(
        family,
        DATA,
        as_method("3-fold").plan(DATA, Streams(1)),
        Request("label"),
        RunOptions(seed=4),
    )
    assert Counted.fits == 3


class Counted(Shifted):
    """Nothing but a count of its fits."""

    def fit_transform(self, X, y):
        return self.fit(X, y).transform(X)


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(lambda X: np.where(X > 1, np.nan, X)),
        FunctionTransformer(lambda X: 1e200 * X),
    ],
    ids=["missing", "beyond single precision"],
)
def test_grown_trees_leave_odd_cells_of_a_step_to_scikit_learn(step):
    """It splits cells that are missing, and refuses cells that are too large."""
    found = []
    for engine in ("tree", "generic"):
        try:
            curve = tr.risk_curve(
                before(step), {"tree__ccp_alpha": ALPHAS}, X, CLASSES, engine=engine
            )
            found.append(curve.evaluation.answers.values.tolist())
        except FitFailed as error:
            found.append(str(error))
    assert found[0] == found[1]


# ---------------- What is left to scikit-learn


class FitStore:
    """Stands for any: it is not asked."""


TWO = checked(X, (CLASSES > 0).astype(int))
VALUES = DecisionTreeRegressor()
GRID_OVER_PIPE = Family.from_grid(Pipeline([("tree", TREE)]), {"verbose": [False, True]})
LEFT = {
    "another learner": (ExtraTreeClassifier(), DATA),
    "a grid over the pipeline": (GRID_OVER_PIPE, DATA),
    "two seeds to draw": (make_pipeline(PCA(2), TREE), DATA),
    "a cache": (make_pipeline(StandardScaler(), TREE, memory="x"), DATA),
    "a pipeline that speaks": (make_pipeline(TREE, verbose=True), DATA),
    "best first": (DecisionTreeClassifier(max_leaf_nodes=5), DATA),
    "class weights": (DecisionTreeClassifier(class_weight="balanced"), DATA),
    "a generator": (DecisionTreeClassifier(random_state=np.random.RandomState(0)), DATA),
    "out of range": (DecisionTreeClassifier(max_depth=0), DATA),
    "a keeper": (TREE, DATA, "3-fold", RunOptions(seed=4, fit_store=FitStore())),
    "missing cells": (TREE, checked(np.where(X > 1, np.nan, X), CLASSES)),
    "beyond single precision": (TREE, checked(X * 1e300, CLASSES)),
    "text": (TREE, checked(FRAME.assign(a="1.5"), CLASSES)),
    "odd names": (TREE, checked(pd.DataFrame(X, columns=["a", "b", "c", 3]), CLASSES)),
    "a frame of truth": (TREE, checked(FRAME > 0, CLASSES)),
    "weights": (TREE, checked(X, CLASSES, fit_params={"sample_weight": np.ones(60)})),
    "as many classes as rows": (TREE, checked(X, np.arange(60) % 20)),
    "swapped labels": (TREE, TWO, "swapping"),
    "more than answers": (TREE, TWO, "bee"),
    "fractions": (VALUES, checked(X, X[:, 0])),
    "large numbers": (VALUES, checked(X, np.round(1e8 * X[:, 0]))),
    "two targets": (VALUES, checked(X, np.column_stack([CLASSES, CLASSES]).astype(float))),
}


@pytest.mark.parametrize("name", LEFT)
def test_growing_leaves_the_rest_to_scikit_learn(name):
    """What depends on the order of the rows, or what scikit-learn would complain of, too."""
    model, data, *more = LEFT[name]
    response = "value" if model is VALUES else "label"
    family = model if isinstance(model, Family) else Family.from_grid(model)
    assert builder(family, data, *more, response=response) is None


def test_growing_lets_complaints_of_scikit_learn_be_heard():
    """Numbers that single precision holds are cast in silence; many classes are warned of."""
    heard = []
    for engine in ("tree", "generic"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tr.estimate_risk(TREE, X * 1e30, np.arange(60) % 20, cv="2-fold", engine=engine)
        heard.append([str(warning.message) for warning in caught])
    assert heard[0] == heard[1]
    with pytest.raises(FitFailed, match="max_depth"):
        tr.estimate_risk(DecisionTreeClassifier(max_depth=0), X, CLASSES > 0, engine="tree")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert builder(Family.from_grid(TREE), checked(X * 1e30, CLASSES)) is not None


@pytest.mark.parametrize(
    ("reason", "n_fits"), [("grown", 0), ("disagrees", 4), ("not compiled", 4)]
)
def test_growing_fits_no_model_and_without_it_numbers_are_the_same(monkeypatch, reason, n_fits):
    fits, fit = [], DecisionTreeClassifier.fit

    def counted(self, *arguments, **more):
        fits.append(self)
        return fit(self, *arguments, **more)

    def curve():
        return tr.risk_curve(TREE, {"ccp_alpha": ALPHAS}, X, CLASSES, cv="4-fold")

    wanted = curve()  # after which the builder has been compared
    monkeypatch.setattr(DecisionTreeClassifier, "fit", counted)
    if reason == "disagrees":
        monkeypatch.setattr(growing, "equality_gap", lambda criterion: None)
    if reason == "not compiled":
        monkeypatch.setattr("truerisk.kernels.import_native", lambda: (None, "none"))
        equality_gap.cache_clear()
    found = curve()
    if reason == "not compiled":
        equality_gap.cache_clear()
    assert len(fits) == n_fits
    assert found.values.tolist() == wanted.values.tolist()
    assert (found[0].engine, found[0].n_fits) == ("tree", 12)


@pytest.mark.parametrize("grown", [True, False])
def test_trees_tell_progress_in_fits_of_all_candidates(monkeypatch, grown):
    """The first call of the builder makes one fit."""
    if not grown:
        monkeypatch.setattr("truerisk.engines.trees.tree.tree_builder_for", lambda *_: None)
    told = []
    with listen(lambda progress: told.append((progress.done, progress.total))):
        tr.risk_curve(TREE, {"ccp_alpha": ALPHAS}, X, CLASSES, cv="5-fold")
    assert told[:2] == [(0, 15), (3, 15)]
    assert told[-1] == (15, 15)
