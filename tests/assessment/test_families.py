"""What a user may give as learners, and what each form means."""

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
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import checked
from tests.support.families import families_on

import truerisk as tr
from truerisk.assessment.families import (
    build_families,
    data_for_learners,
    ranked_names,
    sort_names_by_text,
)
from truerisk.engines.running.shared_steps import FittedStepTrees, with_equal_first_step
from truerisk.estimation.outer_splits import max_n_parts
from truerisk.exceptions import UnknownName
from truerisk.extend import BadData, Family, Refusal

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 2
DAYS = pd.date_range("2020", periods=40)


def test_families_are_models_pairs_lists_families_and_words():
    knn = KNeighborsClassifier()
    grid = {"n_neighbors": [1, 3]}
    ready = Family.from_grid(knn, grid)
    given = {"model": GaussianNB(), "pair": (knn, grid), "list": [knn, grid], 7: ready}
    families = families_on(given, X, Y)
    assert list(families) == ["model", "pair", "list", "7"]
    assert [len(family) for family in families.values()] == [1, 2, 2, 2]
    assert families["7"] is ready
    words = families_on(("knn", "tree"), X, Y)
    assert list(words) == ["knn", "tree"]
    ks = [c["model__n_neighbors"] for c in words["knn"].candidates]
    assert ks == sorted(ks)
    assert max(ks) <= len(Y) // 4


REFUSED = [
    ({}, X, Y, BadData, "the dict of learners is empty"),
    ("knn", X, Y, UnknownName, r"put words in a list, \['knn'\]"),
    (GaussianNB(), X, Y, UnknownName, "not as GaussianNB"),
    ({"a": (GaussianNB(),)}, X, Y, UnknownName, r"learner 'a': give a model, or a pair"),
    ({"a": "knn"}, X, Y, UnknownName, "'knn' is not an estimator instance"),
    ({1: GaussianNB(), "1": GaussianNB()}, X, Y, UnknownName, "same name as text"),
    (["kn"], X, Y, UnknownName, "did you mean 'knn'"),
    (["ridge"], X, Y, Refusal, "ridge does regression only"),
    (None, X, None, BadData, "y is None"),
    (["knn"], X[:, 0], Y, BadData, "X"),
    (None, pd.DataFrame(X, columns=["a", "a", "b"]), Y, BadData, "2 columns named 'a': rename"),
    (None, pd.DataFrame({"d": DAYS}), Y, BadData, "dates in column 'd'"),
    (None, sparse.csr_array(X), Y, BadData, "X is sparse, and the learners of words centre"),
]


@pytest.mark.parametrize(("learners", "table", "y", "error", "sentence"), REFUSED)
def test_families_are_refused_with_the_remedy(learners, table, y, error, sentence):
    with pytest.raises(error, match=sentence):
        families_on(learners, table, y)


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
def test_families_of_words_have_the_task_of_y(y, expected):
    families = families_on(None, X, y)
    assert [family.task for family in families.values()] == [expected] * 4


@pytest.mark.parametrize("dtype", [float, object])
def test_families_of_words_impute_gaps_of_numbers(dtype):
    gapped = X.astype(dtype)
    gapped[3, 1] = np.nan
    families = families_on(["lda"], gapped, Y)["lda"], families_on(["lda"], X, Y)["lda"]
    assert ["Imputer" in str(family.estimator) for family in families] == [True, False]
    assert tr.assess(["lda"], gapped, Y, cv=["3-fold"], outer="4-fold").risks["lda"].value < 1
    data = checked(np.array([["u"], [None]] * 5, dtype=object), np.arange(10) % 2)
    assert data_for_learners({"bayes": Family.from_grid(GaussianNB())}, data) is data


def test_families_of_words_turn_text_columns_into_indicators():
    columns = {"a": X[:, 0], "b": ["uv"[c] for c in Y], "c": [None, *X[1:, 2]]}
    for table in (pd.DataFrame(columns), pl.DataFrame(columns)):
        model = families_on(["tree"], table, Y)["tree"].make(0)
        assert model.fit(table, Y).score(table, Y) == 1.0
        assert model[:-1].transform(table).shape == (40, 4)


@pytest.mark.parametrize("gap", [None, pd.NA], ids=["None", "NA"])
@pytest.mark.parametrize("word", ["tree", "boosting"])
def test_families_of_words_treat_all_gaps_in_text_alike(word, gap):
    y, gaps = np.arange(60) % 2, np.arange(60) % 4 == 0
    cells = np.where(y == 1, "u", "v").astype(object)
    gapped = {"NaN": np.where(gaps, np.nan, cells), "other": np.where(gaps, gap, cells)}
    gapped["string"] = pd.array(gapped["other"], dtype="string")
    prepared = {}
    for name, column in gapped.items():
        X = pd.DataFrame({"a": column, "b": np.arange(60.0)})
        data = data_for_learners([word], checked(X, y))
        model = build_families([word], data)[word].estimator.fit(data.X, data.y)
        prepared[name] = np.asarray(model.named_steps["prepare"].transform(data.X), dtype=float)
    np.testing.assert_array_equal(prepared["other"], prepared["NaN"])
    np.testing.assert_array_equal(prepared["string"], prepared["NaN"])


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
def test_n_parts_is_that_of_the_least_training_set(methods, parts):
    assert max_n_parts(SimpleNamespace(time=None, block=None), methods) == parts


def test_families_by_text_do_not_depend_on_order_names_or_addresses():
    tree = Family.from_grid(DecisionTreeClassifier())
    three, both = (
        Family.from_grid(KNeighborsClassifier(), {"n_neighbors": ks}) for ks in ([3], [3, 5])
    )
    families = {"a": tree, "b": both, "c": three}
    assert (
        sort_names_by_text(families)
        == sort_names_by_text(dict(reversed(families.items())))
        == ["b", "c", "a"]
    )
    assert sort_names_by_text({"z": both, "y": three, "x": tree}) == ["z", "y", "x"]
    one, two = (Family.from_grid(FunctionTransformer(lambda x: x)) for _ in range(2))
    assert sort_names_by_text({"one": one, "two": two}) == ["one", "two"]
    assert sort_names_by_text({"two": two, "one": one}) == ["two", "one"]


def test_ranked_keeps_the_given_order_of_equal_risks():
    risks = {"a": 0.1, "b": 0.1 + 1e-15, "c": None, "d": 0.05}
    assert ranked_names(risks, "cbad") == ["d", "b", "a", "c"]
    assert ranked_names({"a": None, "b": None}, ["b", "a"]) == ["b", "a"]


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


def test_shared_steps_are_fitted_once_for_groups_of_candidates(rows):
    pipe = make_pipeline(Shift(), PCA(), LogisticRegression())
    grid = {"pca__n_components": [1, 2], "logisticregression__C": [0.1, 1.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tr.risk_curve(pipe, grid, *rows, cv="4-fold")
    assert found.common.engine == "logistic-path"
    assert Shift.fits == 4


def test_beginning_alike_finds_equal_unfitted_first_steps():
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
    families = {n: Family.from_grid(make_pipeline(s, LinearRegression())) for n, s in steps.items()}
    bare = Family.from_grid(LinearRegression())
    assert with_equal_first_step({**families, "bare": bare}) == {"one", "same"}
    assert with_equal_first_step({"bare": bare, "too": bare}) == set()


def learners_of_engines():
    return {
        "knn": (make_pipeline(Shift(), KNeighborsClassifier()), {KNN: [1, 5]}),
        "logistic": (make_pipeline(Shift(), LogisticRegression()), {"logisticregression__C": [1]}),
        "tree": make_pipeline(Shift(), DecisionTreeClassifier(random_state=0)),
        "bayes": make_pipeline(Shift(), GaussianNB()),
    }


@pytest.mark.parametrize("named", [learners, learners_of_engines])
def test_shared_steps_are_fitted_once_for_all_learners_and_change_nothing(rows, monkeypatch, named):
    together, said = assessed(named(), rows)
    fits = Shift.fits
    shared_steps = "truerisk.engines.running.shared_steps"
    if named is learners:
        monkeypatch.setattr(f"{shared_steps}.FittedStepTrees", lambda: FittedStepTrees(room=0))
        small, _ = assessed(named(), rows)
        assert [r.value for r in small.risks.values()] == [r.value for r in together.risks.values()]
        monkeypatch.setattr(f"{shared_steps}.MAX_STORED_BYTES", 0)
    else:
        assert together.learners["knn"].risk.engine == "knn"
    Shift.fits = 0
    monkeypatch.setattr(f"{shared_steps}.with_equal_first_step", lambda _: set())
    alone, said_alone = assessed(named(), rows)
    assert Shift.fits > 2 * fits
    for name in alone.learners:
        assert together.risks[name].value == alone.risks[name].value
        np.testing.assert_array_equal(together.curves[name].values, alone.curves[name].values)
    assert said == said_alone
