"""Steps in closed form give what scikit-learn's own steps give, to the last bit, or refuse."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.engines.preparation.closed.drawn import Draw, N
from tests.support.missing import output_without

import truerisk as tr
from truerisk.data.data import Data
from truerisk.engines.preparation import fitted
from truerisk.engines.preparation.closed import coded_data, first_steps, scaling
from truerisk.engines.preparation.closed.first_steps import closed_steps
from truerisk.engines.preparation.fitted import fitted_steps
from truerisk.engines.prepared import OwnArithmetic

Y = np.random.default_rng(0).integers(0, 3, N)
FAILURES = (ValueError, TypeError, AttributeError, Warning, OwnArithmetic)


class Held:
    """A sparse table whose rows can be counted and taken, as engines read them."""

    def __init__(self, table):
        self.table = table

    def __len__(self):
        return self.table.shape[0]

    def __getitem__(self, rows):
        return Held(self.table[rows])


def read(table):
    return Held(table) if hasattr(table, "toarray") else np.asarray(table, dtype=float)


def same(ours, theirs):
    """The same cells in the same form: also those that a sparse table holds, in their order."""
    assert isinstance(ours, Held) == isinstance(theirs, Held)
    if not isinstance(ours, Held):
        np.testing.assert_array_equal(ours, theirs)
        return
    assert ours.table.shape == theirs.table.shape
    assert type(ours.table) is type(theirs.table)
    for name in ("data", "indices", "indptr"):
        held = (getattr(one.table, name) for one in (ours, theirs))
        np.testing.assert_array_equal(*held)


def by_fits(*args):
    """What scikit-learn's steps give; None where they fail or warn."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("error")
        patch.setattr(first_steps, "closed_steps", lambda *args: None)
        try:
            return fitted_steps(*args)
        except FAILURES:
            return None


def agree(steps, data, train, asked):
    """Compare both ways; how many steps were known."""
    y = data.y if data.codes is None else data.codes
    known = [0]  # no form is asked for where the first step has none

    def noted(*args):
        closed = closed_steps(*args)
        known.append(0 if closed is None else closed.n_steps)
        return closed

    args = steps, data, train, y[train[0]], asked, read
    theirs = by_fits(*args)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_steps, "closed_steps", noted)
        if theirs is None:
            warnings.simplefilter("ignore")
            with suppress(*FAILURES):
                fitted_steps(*args)
            assert known[-1] < len(steps), "scikit-learn has something to say"
            return 0
        warnings.simplefilter("error")
        ours = fitted_steps(*args)
    assert len(ours[1]) == len(theirs[1]) == len(asked)
    for one, other in zip([ours[0], *ours[1]], [theirs[0], *theirs[1]], strict=True):
        same(one, other)
    return known[-1]


LABELS = np.array(["u", "b", "c"])[Y]


@pytest.mark.parametrize("part", range(4))
def test_drawn_tables_and_steps(part):
    """Text, whole numbers, gaps, frames and arrays; nested steps; rows that come several times."""
    answered = 0
    for seed in range(15 * part, 15 * part + 15):
        draw = Draw(seed)
        if seed % 4:
            data = Data.check(draw.X, LABELS, task="classification")
        else:
            data = Data.check(draw.X, np.linspace(-1, 1, N) ** 2 + Y, task="regression")
        for _ in range(2):
            answered += agree(draw.steps, data, draw.train(), draw.asked()) > 0
    assert answered > 9


def columns(**more):
    return make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["a", "b"]),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
            ),
            ["t", "u"],
        ),
        **more,
    )


def frame(n=N):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(n, 2)).round(2), columns=["a", "b"])
    table["t"] = rng.choice(["x", "y", "z"], n)
    table["u"] = rng.choice(["p", "q"], n)
    return table.mask(rng.random(table.shape) < 0.1)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize(
    ("learner", "grid"),
    [
        (KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
        (LogisticRegression(), {"C": [0.1, 1.0]}),
        (DecisionTreeClassifier(random_state=0), {"ccp_alpha": [0.0, 0.02]}),
    ],
    ids=["knn", "logistic", "tree"],
)
@pytest.mark.parametrize("method", ["4-fold", tr.methods.Bootstrap(replicates=10)], ids=str)
def test_engines_answer_as_the_generic_one(learner, grid, method, dense, monkeypatch):
    """Behind a table of text, and without a single fit of a step."""
    pipe = Pipeline([("c", columns(sparse_threshold=0.0 if dense else 1.0)), ("m", learner)])
    grid = {f"m__{name}": values for name, values in grid.items()}
    X, y = frame(), Y > 0
    given = {"cv": method, "random_state": 0}
    whole = tr.risk_curve(pipe, grid, X, y, engine="generic", **given)
    monkeypatch.setattr(fitted, "fit_and_transform", None)  # nobody asks for it
    fast = tr.risk_curve(pipe, grid, X, y, **given)
    assert [one.value for one in fast] == [one.value for one in whole]
    assert fast[0].engine != "generic"


def test_all_rows_are_coded_once(monkeypatch):
    """For all train sets, all settings and all learners of the same data."""
    train = np.arange(0, N, 2), None
    assert agree(Pipeline([("a", columns())]), Data.check(frame(), Y, task="other"), train, [])
    coded = []
    texts = coded_data._coded_texts
    monkeypatch.setattr(coded_data, "_coded_texts", lambda c: coded.append(1) or texts(c))
    data = Data.check(frame(), Y, task="classification")
    for steps in (Pipeline([("a", columns())]), Pipeline([("b", columns())])):
        for start in range(4):
            assert agree(steps, data, (np.arange(start, N, 2), None), [np.arange(5)])
    assert len(coded) == 2


def test_what_is_kept_goes_with_the_data():
    """Nothing is held of data that nobody holds."""
    data = Data.check(frame(), Y, task="classification")
    steps = Pipeline([("c", columns())])
    before = len(first_steps.SOURCES), len(first_steps.KNOWN)
    assert agree(steps, data, (np.arange(40), None), [])
    assert (len(first_steps.SOURCES), len(first_steps.KNOWN)) == (before[0] + 1, before[1] + 1)
    del data, steps
    assert (len(first_steps.SOURCES), len(first_steps.KNOWN)) == before


def test_the_first_steps_suffice():
    """PCA is given what the scaler would give, and its asked rows question by question."""
    data = Data.check(frame()[["a", "b"]].fillna(1.0), Y, task="classification")
    steps = Pipeline([("f", SimpleImputer()), ("s", StandardScaler()), ("p", PCA(1))])
    rows = np.arange(1, 50)
    assert agree(steps, data, (rows, None), [np.arange(50, 60), np.arange(55, 80)]) == 2


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("first", [StandardScaler(), RobustScaler(), SimpleImputer()], ids=repr)
def test_tall_tables_are_scaled_a_few_rows_at_a_time(first, by_rows):
    """Sums by parts are those of the whole table, and what is changed in place is nobody's."""
    n = 9 * scaling.CACHED // 7
    X = np.random.default_rng(0).normal(100, 1, (n, 7)) * 10.0 ** np.arange(-3, 4)
    table = X.copy() if by_rows else pd.DataFrame(X, columns=list("abcdefg"))
    data = Data.check(table, np.arange(n) % 3, task="classification")
    both = FeatureUnion([("b", MaxAbsScaler()), ("c", StandardScaler())])
    steps = Pipeline([("a", first), ("d", both)])
    rows = np.flatnonzero(np.arange(n) % 5)
    assert agree(steps, data, (rows, None), [np.arange(0, n, 5), np.arange(40)]) == 2
    np.testing.assert_array_equal(np.asarray(table), X)


def test_what_the_steps_say_is_said_by_them():
    """A level that the train set lacks, or a column that is empty in it."""
    X, rows = frame(), np.arange(40)
    X.loc[:39, "a"] = np.nan
    data = Data.check(X, Y, task="classification")
    columns_ = make_column_transformer((SimpleImputer(), ["a"]), remainder="drop")
    args = Pipeline([("c", columns_)]), data, (rows, None), Y[rows], [np.arange(40, 60)], read
    with pytest.warns(UserWarning, match="Skipping features"):
        fitted_steps(*args)
    X.loc[50, "t"] = "new"
    strict = make_column_transformer((OneHotEncoder(), ["t"]))
    args = Pipeline([("c", strict)]), Data.check(X, Y, task="classification"), *args[2:]
    with pytest.raises(ValueError, match="Found unknown categories"):
        fitted_steps(*args)


class Louder(StandardScaler):
    """A step of the user's."""


def said(step, name, value):
    setattr(step, name, value)
    return step


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(PCA(), id="a product of matrices"),
        pytest.param(Louder(), id="a class of the user's"),
        pytest.param(StandardScaler().set_output(transform="pandas"), id="frames"),
        pytest.param(said(StandardScaler(), "transform", lambda X: X), id="a method"),
        pytest.param(SimpleImputer(missing_values=-1), id="other missing cells"),
        pytest.param(SimpleImputer(strategy=np.nanmax), id="a function"),
        pytest.param(Pipeline([("a", StandardScaler())], memory="somewhere"), id="a cache"),
    ],
)
def test_what_is_not_known_is_refused(step):
    """A class, a method put in a class's place, a parameter."""
    X = np.random.default_rng(0).normal(size=(N, 3))
    data = Data.check(X, Y, task="classification")
    rows = np.arange(50)
    assert closed_steps(Pipeline([("s", step)]), data, rows, Y[rows], []) is None


SEARCHED = """
import numpy as np, truerisk as tr
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

X, y = tr.datasets.make_simple(30, random_state=0)
pipeline = make_pipeline({steps}, LogisticRegression())
found = tr.estimate_risk(pipeline, X, y, cv="3-fold", engine="logistic-path")
print(found.value, found.engine)
print(*sorted(name.split(".")[4] for name in sys.modules
    if name.startswith("truerisk.engines.preparation.closed.")))
"""
COMMON = ["agreement", "coded_data", "first_steps", "step_tables"]


@pytest.mark.parametrize(
    ("steps", "parts"),
    [
        ("StandardScaler()", [*COMMON, "scaling"]),
        ("VarianceThreshold()", [*COMMON, "selecting"]),
        ("PCA(2)", []),
        ("Normalizer()", []),
    ],
)
def test_forms_are_imported_for_steps_that_have_one(steps, parts):
    """And only the file in which it stands."""
    assert output_without(code=SEARCHED.format(steps=steps))[1].split() == sorted(parts)


@pytest.mark.parametrize("missing", ["closed", "closed.scaling"])
def test_steps_are_fitted_where_their_forms_are_missing(missing):
    """Every engine still answers, with the same number."""
    code = SEARCHED.format(steps="StandardScaler()")
    absent = output_without(f"truerisk.engines.preparation.{missing}", code=code)
    assert absent[0] == output_without(code=code)[0]


def test_auto_leaves_pipelines_to_the_generic_engine_without_the_preparation():
    """The number is the same."""
    auto = SEARCHED.format(steps="StandardScaler()").replace("logistic-path", "auto")
    there, absent = (
        output_without(code=auto),
        output_without("truerisk.engines.preparation", code=auto),
    )
    assert (there[0].split()[1], absent[0].split()[1]) == ("logistic-path", "generic")
    assert absent[0].split()[0] == there[0].split()[0]
