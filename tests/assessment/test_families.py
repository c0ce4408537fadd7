"""What a user may give as learners, and what each form means."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.support.families import families_on

import truerisk as tr
from truerisk.assessment.families import by_text, families_of, ranked, rows_for, word_families
from truerisk.core.errors import BadData, Refusal, UnknownName
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.running.shared_steps import Tries, beginning_alike
from truerisk.estimation.outer_splits import n_parts

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 2


def test_a_model_a_pair_a_list_and_a_family():
    """All of them become families under the name they were given."""
    knn = KNeighborsClassifier()
    grid = {"n_neighbors": [1, 3]}
    ready = Family.of(knn, grid)
    given = {"model": GaussianNB(), "pair": (knn, grid), "list": [knn, grid], 7: ready}
    families = families_on(given, X, Y)
    assert list(families) == ["model", "pair", "list", "7"]
    assert [len(family) for family in families.values()] == [1, 2, 2, 2]
    assert families["7"] is ready


def test_words_have_their_grids():
    """Settings keep the grid's order and fit the number of rows."""
    families = families_on(["knn", "tree"], X, Y)
    ks = [c["model__n_neighbors"] for c in families["knn"].candidates]
    assert ks == sorted(ks)
    assert max(ks) <= len(Y) // 4


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (Y, "classification"),
        (Y == 1, "classification"),
        (np.array(["a", "b"])[Y], "classification"),
        (np.array(["a", "b"], dtype=object)[Y], "classification"),
        (Y.astype(float), "classification"),
        (np.arange(40) % 10, "classification"),
        (np.arange(40) % 11, "regression"),
        (Y + 0.5, "regression"),
    ],
)
def test_the_task_follows_from_y(y, expected):
    """Labels and up to ten whole numbers are classes, as in files; other numbers are regressed."""
    assert {family.task for family in families_on(None, X, y).values()} == {expected}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_usual_learners_differ_by_task(task):
    """Four of them, all of the task."""
    size = {"n_classes": 2, "n_rows": 40, "columns": {"n_features": 3}}
    families = word_families(None, task, **size)
    assert len(families) == 4
    assert {family.task for family in families.values()} == {task}


@pytest.mark.parametrize("dtype", [float, object])
def test_holes_are_imputed_inside_the_folds(dtype):
    """An array with NaN gets pipelines that impute; one without gets none."""
    holes = X.astype(dtype)
    holes[3, 1] = np.nan
    families = families_on(["lda"], holes, Y)["lda"], families_on(["lda"], X, Y)["lda"]
    assert ["Imputer" in str(family.estimator) for family in families] == [True, False]


@pytest.mark.parametrize(
    ("learners", "error", "sentence"),
    [
        ({}, BadData, "the dict of learners is empty"),
        ("knn", UnknownName, r"put words in a list, \['knn'\]"),
        (GaussianNB(), UnknownName, "not as GaussianNB"),
        ({"a": (GaussianNB(),)}, UnknownName, r"learner 'a': give a model, or a pair"),
        ({"a": "knn"}, UnknownName, "'knn' is not an estimator instance"),
        ({1: GaussianNB(), "1": GaussianNB()}, UnknownName, "same name as text"),
        (["kn"], UnknownName, "did you mean 'knn'"),
        (["ridge"], Refusal, "ridge does regression only"),
    ],
)
def test_other_things_are_refused_with_the_remedy(learners, error, sentence):
    """What was given, and what to give instead."""
    with pytest.raises(error, match=sentence):
        families_on(learners, X, Y)


def test_words_need_a_target_and_columns():
    """Without y there is no task; without columns no grid."""
    with pytest.raises(BadData, match="y is None"):
        families_on(None, X, None)
    with pytest.raises(BadData):
        families_on(["knn"], X[:, 0], Y)


def test_text_columns_of_a_frame_become_indicators():
    """As those of a file do, inside the folds; the words then serve a frame as it is."""
    columns = {"a": X[:, 0], "b": ["uv"[c] for c in Y], "c": [None, *X[1:, 2]]}
    for table in (pd.DataFrame(columns), pl.DataFrame(columns)):
        model = families_on(["tree"], table, Y)["tree"].make(0)
        assert model.fit(table, Y).score(table, Y) == 1.0
        assert model[:-1].transform(table).shape == (40, 4)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pd.DataFrame(X, columns=["a", "a", "b"]), "2 columns named 'a': rename"),
        (pd.DataFrame({"d": pd.date_range("2020", periods=40)}), "dates in column 'd'"),
        (sparse.csr_array(X), "X is sparse, and the learners of words centre"),
    ],
)
def test_what_the_words_cannot_prepare_is_said(table, sentence):
    """Equal names, dates and sparse tables, before anything is fitted."""
    with pytest.raises(BadData, match=sentence):
        families_on(None, table, Y)


@pytest.mark.parametrize("gap", [None, pd.NA], ids=["None", "NA"])
@pytest.mark.parametrize("word", ["tree", "boosting"])
def test_a_gap_in_text_is_a_gap_whatever_it_is_called(word, gap):
    """Boosting took None for one more level, and no encoder could sort pandas' NA."""
    y, gaps = np.arange(60) % 2, np.arange(60) % 4 == 0
    cells = np.where(y == 1, "u", "v").astype(object)
    gapped = {"NaN": np.where(gaps, np.nan, cells), "other": np.where(gaps, gap, cells)}
    gapped["string"] = pd.array(gapped["other"], dtype="string")
    prepared = {}
    for name, column in gapped.items():
        X = pd.DataFrame({"a": column, "b": np.arange(60.0)})
        data = rows_for([word], Data.check(X, y, task="classification"))
        model = families_of([word], data)[word].estimator.fit(data.X, data.y)
        prepared[name] = np.asarray(model.named_steps["prepare"].transform(data.X), dtype=float)
    np.testing.assert_array_equal(prepared["other"], prepared["NaN"])
    np.testing.assert_array_equal(prepared["string"], prepared["NaN"])


def test_models_of_the_user_are_given_the_gaps_of_the_user():
    """Their own steps may look for None, or for NA."""
    data = Data.check(
        np.array([["u"], [None]] * 5, dtype=object), [0, 1] * 5, task="classification"
    )
    assert rows_for({"bayes": Family.of(GaussianNB())}, data) is data


@pytest.mark.parametrize(
    ("methods", "parts"),
    [
        ([None], 2),
        (["10-fold", "forward-9"], 10),
        ([TimeSeriesSplit(5), None], 6),
        ([tr.methods.Nested("forward-3", "forward-7")], 8),
        (["pairs", "racing"], 2),
    ],
)
def test_grids_are_made_for_the_least_training_set(methods, parts):
    """One part of K + 1 where K forecasts follow each other."""
    assert n_parts(SimpleNamespace(time=None, block=None), methods) == parts


def test_an_iterable_of_splits_is_read_once():
    """Also where words stand for the learners, whose grids depend on the splits."""
    X, y = tr.datasets.make_difficult(60, random_state=0)
    for given in (
        {"cv": ["3-fold"], "outer": KFold(3).split(X)},
        {"cv": [KFold(3).split(X)], "outer": "3-fold"},
    ):
        assert tr.assess(["lda"], X, y, **given).risks["lda"].value < 0.5


# ---------------- Equal learners stand in an order of their own


FAMILIES = {
    "a": Family.of(DecisionTreeClassifier()),
    "b": Family.of(KNeighborsClassifier(), {"n_neighbors": [3, 5]}),
    "c": Family.of(KNeighborsClassifier(), {"n_neighbors": [3]}),
}


def test_neither_order_nor_names_say_which_comes_first():
    """Class, parameters and settings as text do."""
    assert by_text(FAMILIES) == by_text(dict(reversed(FAMILIES.items()))) == ["b", "c", "a"]
    renamed = {"z": FAMILIES["b"], "y": FAMILIES["c"], "x": FAMILIES["a"]}
    assert by_text(renamed) == ["z", "y", "x"]


def test_addresses_are_no_text():
    """A function is written with its address, which is another in every run."""
    pair = [Family.of(FunctionTransformer(lambda x: x)) for _ in range(2)]
    assert by_text({"one": pair[0], "two": pair[1]}) == ["one", "two"]
    assert by_text({"two": pair[1], "one": pair[0]}) == ["two", "one"]


def test_equal_risks_stand_in_the_given_order():
    """Also where they differ in the last bit; who has none stands last."""
    risks = {"a": 0.1, "b": 0.1 + 1e-15, "c": None, "d": 0.05}
    assert ranked(risks, "cba" + "d") == ["d", "b", "a", "c"]
    assert ranked({"a": None, "b": None}, ["b", "a"]) == ["b", "a"]


# Learners of one assessment that begin alike share their steps; nothing else changes


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
        found = tr.assess(named, *rows, cv=["4-fold"])
    return found, sorted(str(one.message) for one in caught)


def test_the_step_is_fitted_once_in_every_train_set_for_all_learners(rows, monkeypatch):
    """Ten pairs of folds, each learner on its own elsewhere: three times as many fits."""
    together, said = assessed(learners(), rows)
    fits = Shift.fits
    Shift.fits = 0
    monkeypatch.setattr("truerisk.engines.running.shared_steps.ROOM", 0)
    monkeypatch.setattr("truerisk.engines.running.shared_steps.beginning_alike", lambda _: set())
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
    monkeypatch.setattr("truerisk.engines.running.shared_steps.beginning_alike", lambda _: set())
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
        found = tr.risk_curve(pipe, grid, *rows, cv="4-fold")
    assert found.common.engine == "logistic-path"
    assert Shift.fits == 4


def test_without_room_nothing_is_kept_and_nothing_changes(rows, monkeypatch):
    together, _ = assessed(learners(), rows)
    monkeypatch.setattr("truerisk.engines.running.shared_steps.Tries", lambda: Tries(room=0))
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
