"""Steps in closed form give what scikit-learn's own steps give, to the last bit, or refuse."""

import warnings
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier
from tests.engines.preparation.closed.drawn import Draw, N
from tests.support.missing import output_without

import truerisk as tr
from truerisk.engines.preparation import CLOSED_FORMS, fitted
from truerisk.engines.preparation.closed import coded_data, first_steps, scaling
from truerisk.engines.preparation.closed.agreement import agrees_on_frame_class, agrees_with_sklearn
from truerisk.engines.preparation.closed.first_steps import find_closed_form, fit_closed_steps
from truerisk.engines.preparation.closed.step_tables import NoClosedForm, NumberTable
from truerisk.engines.preparation.fitted import fit_preprocessing_steps
from truerisk.engines.prepared import LearnerFitNeeded
from truerisk.extend import Data
from truerisk.methods import Bootstrap

Y = np.random.default_rng(0).integers(0, 3, N)
LABELS = np.array(["u", "b", "c"])[Y]
FAILURES = (ValueError, TypeError, AttributeError, Warning, LearnerFitNeeded)


def classes(X, y=Y):
    return Data.check(X, y, task="classification")


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
        patch.setattr(first_steps, "fit_closed_steps", lambda *args: None)
        try:
            return fit_preprocessing_steps(*args)
        except FAILURES:
            return None


def agree(steps, data, train, asked):
    """Compare both ways; how many steps were known."""
    y = data.y if data.codes is None else data.codes
    known = [0]  # no form is asked for where the first step has none

    def noted(*args):
        closed = fit_closed_steps(*args)
        known.append(0 if closed is None else closed.n_steps)
        return closed

    args = steps, data, train, y[train[0]], asked, read
    theirs = by_fits(*args)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_steps, "fit_closed_steps", noted)
        if theirs is None:
            warnings.simplefilter("ignore")
            with suppress(*FAILURES):
                fit_preprocessing_steps(*args)
            assert known[-1] < len(steps), "scikit-learn has something to say"
            return 0
        warnings.simplefilter("error")
        ours = fit_preprocessing_steps(*args)
    assert len(ours[1]) == len(theirs[1]) == len(asked)
    for one, other in zip([ours[0], *ours[1]], [theirs[0], *theirs[1]], strict=True):
        same(one, other)
    return known[-1]


@pytest.mark.parametrize("part", range(4))
def test_closed_steps_of_drawn_tables_are_those_of_scikit_learn(part):
    """Text, whole numbers, gaps, frames and arrays; nested steps; rows that come several times."""
    answered = 0
    for seed in range(15 * part, 15 * part + 15):
        draw = Draw(seed)
        data = classes(draw.X, LABELS)
        if seed % 4 == 0:
            data = Data.check(draw.X, np.linspace(-1, 1, N) ** 2 + Y, task="regression")
        for _ in range(2):
            answered += agree(draw.steps, data, draw.train(), draw.asked()) > 0
    assert answered > 9


def columns(**more):
    often, encode = SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return make_column_transformer(
        (scaled, ["a", "b"]), (make_pipeline(often, encode), ["t", "u"]), **more
    )


def frame():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(N, 2)).round(2), columns=["a", "b"])
    table["t"] = rng.choice(["x", "y", "z"], N)
    table["u"] = rng.choice(["p", "q"], N)
    return table.mask(rng.random(table.shape) < 0.1)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize(
    ("learner", "grid"),
    [
        (KNeighborsClassifier(), {"m__n_neighbors": [1, 3]}),
        (LogisticRegression(), {"m__C": [0.1, 1.0]}),
        (DecisionTreeClassifier(random_state=0), {"m__ccp_alpha": [0.0, 0.02]}),
    ],
    ids=["knn", "logistic", "tree"],
)
@pytest.mark.parametrize("method", ["4-fold", Bootstrap(replicates=10)], ids=str)
def test_closed_steps_let_engines_answer_without_a_fit_of_a_step(
    learner, grid, method, dense, monkeypatch
):
    pipe = Pipeline([("c", columns(sparse_threshold=0.0 if dense else 1.0)), ("m", learner)])
    X, y = frame(), Y > 0
    given = {"cv": method, "random_state": 0}
    whole = tr.risk_curve(pipe, grid, X, y, engine="generic", **given)
    monkeypatch.setattr(fitted, "fit_and_transform", None)  # nobody asks for it
    fast = tr.risk_curve(pipe, grid, X, y, **given)
    assert [one.value for one in fast] == [one.value for one in whole]
    assert fast[0].engine != "generic"


def test_closed_steps_code_all_rows_once_and_hold_them_as_long_as_the_data(monkeypatch):
    """For all train sets, all settings and all learners of the same data."""
    data, coded, texts = classes(frame()), [], coded_data._code_texts
    before = len(first_steps.SOURCE_TABLES), len(first_steps.CLOSED_PREFIXES)
    several = [Pipeline([("a", columns())]), Pipeline([("b", columns())])]
    assert agree(several[0], classes(frame()), (np.arange(0, N, 2), None), [])
    monkeypatch.setattr(coded_data, "_code_texts", lambda c: coded.append(1) or texts(c))
    for steps in several:
        for start in range(4):
            assert agree(steps, data, (np.arange(start, N, 2), None), [np.arange(5)])
    assert len(coded) == 2
    assert (len(first_steps.SOURCE_TABLES), len(first_steps.CLOSED_PREFIXES)) == (
        before[0] + 1,
        before[1] + 2,
    )
    del data, several, steps
    assert (len(first_steps.SOURCE_TABLES), len(first_steps.CLOSED_PREFIXES)) == before


def test_closed_steps_may_be_the_first_of_several():
    """PCA is given what the scaler would give, and its asked rows question by question."""
    data = classes(frame()[["a", "b"]].fillna(1.0))
    steps = Pipeline([("f", SimpleImputer()), ("s", StandardScaler()), ("p", PCA(1))])
    asked = [np.arange(50, 60), np.arange(55, 80)]
    assert agree(steps, data, (np.arange(1, 50), None), asked) == 2


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("first", [StandardScaler(), RobustScaler(), SimpleImputer()], ids=repr)
def test_closed_steps_scale_tall_tables_a_few_rows_at_a_time(first, by_rows):
    """Sums by parts are those of the whole table, and what is changed in place is nobody's."""
    n = 9 * scaling.CELLS_IN_CACHE // 7
    X = np.random.default_rng(0).normal(100, 1, (n, 7)) * 10.0 ** np.arange(-3, 4)
    table = X.copy() if by_rows else pd.DataFrame(X, columns=list("abcdefg"))
    two = FeatureUnion([("b", MaxAbsScaler()), ("c", StandardScaler())])
    rows, asked = np.flatnonzero(np.arange(n) % 5), [np.arange(0, n, 5), np.arange(40)]
    steps = Pipeline([("a", first), ("d", two)])
    assert agree(steps, classes(table, np.arange(n) % 3), (rows, None), asked) == 2
    np.testing.assert_array_equal(np.asarray(table), X)


def test_closed_steps_leave_warnings_and_errors_to_the_steps():
    """A level that the train set lacks, or a column that is empty in it."""
    X, rows = frame(), np.arange(40)
    X.loc[:39, "a"], X.loc[50, "t"] = np.nan, "new"

    def asked(step, column):
        steps = Pipeline([("c", make_column_transformer((step, [column])))])
        return fit_preprocessing_steps(
            steps, classes(X), (rows, None), Y[rows], [np.arange(40, 60)], read
        )

    with pytest.warns(UserWarning, match="Skipping features"):
        asked(SimpleImputer(), "a")
    with pytest.raises(ValueError, match="Found unknown categories"):
        asked(OneHotEncoder(), "t")


# ---------------- What is refused, because scikit-learn has something to say of it

ROWS, TRAIN = 24, np.arange(16)
TWO = np.arange(ROWS) % 2
FULL = np.column_stack([np.linspace(-1, 1, ROWS), np.linspace(0, 1, ROWS) ** 2])
TEXT = np.array([["a"], ["b"], ["c"]] * 8, dtype=object)


def put(X, row, value):
    X = X.copy()
    X[row, 0] = value
    return X


def said(step, name, value):
    setattr(step, name, value)
    return step


def unchecked(names):
    return Data(X=pd.DataFrame(FULL, columns=names), y=TWO, task="other")


TIE = put(put(TEXT, slice(0, 8), None), slice(8, 16), "a")
EMPTY = put(FULL, slice(0, 16), np.nan)
WHOLE = pl.DataFrame({"a": [None, *range(ROWS - 1)]})
CONSTANT = put(FULL, slice(None), 3.0)
APART = np.column_stack([TWO, FULL[:, 0]]).astype(float)
FRAME = pd.DataFrame(FULL, columns=["a", "b"])
HALF = SimpleImputer(strategy="constant", fill_value=0.5)
KEPT = SimpleImputer(strategy="constant", fill_value=2.0, keep_empty_features=True)
OFTEN = SimpleImputer(strategy="most_frequent")
SCALE = StandardScaler()
LENIENT = OneHotEncoder(handle_unknown="ignore")
TAKEN = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=1)
BY_PLACE = make_column_transformer(("passthrough", ["a", "b"]))

CASES = {
    "an infinite cell": (put(FULL, 3, np.inf), OFTEN),
    "a large whole number": (np.array([[2**60]] * ROWS), SCALE),
    "single precision": (FULL.astype(np.float32), SCALE),
    "text beside numbers in a column": (put(TEXT, 2, 1.5), LENIENT),
    "text to be scaled": (TEXT, SCALE),
    "a mean of text": (TEXT, SimpleImputer()),
    "numpy's own text, imputed": (TEXT.astype(str), OFTEN),
    "truth, imputed": (FULL > 0, OFTEN),
    "a column of another kind": (FRAME.astype("Float64"), SCALE),
    "text in a frame that is scaled": (FRAME.assign(b=TEXT[:, 0]), SCALE),
    "None as often as a text": (TIE, make_pipeline(OFTEN, LENIENT)),
    "an empty column": (EMPTY, SimpleImputer()),
    "an empty column that is kept": (EMPTY, KEPT),
    "an empty column, most frequent": (EMPTY, OFTEN),
    "a fraction among whole numbers": (np.arange(2 * ROWS).reshape(ROWS, 2), HALF),
    "a fraction among whole numbers of which one lacks": (WHOLE, HALF),
    "a missing cell that is scaled": (put(FULL, 1, np.nan), SCALE),
    "a missing cell, asked about": (put(FULL, 20, np.nan), SelectKBest(k=1)),
    "a column that is constant": (CONSTANT, SelectKBest(k=1)),
    "a column that is constant within classes": (APART, SelectKBest(k=1)),
    "a score that warns": (np.abs(put(FULL, slice(None), 0.0)), SelectKBest(chi2, k=1)),
    "a score that fails": (FULL, SelectKBest(chi2, k=1)),
    "too many to choose": (FULL, SelectKBest(k=3)),
    "a level that is new": (put(TEXT, 20, "new"), OneHotEncoder()),
    "a level that is new, and one dropped": (
        put(TEXT, 20, "new"),
        OneHotEncoder(handle_unknown="ignore", drop="first"),
    ),
    "a number for a new level": (TEXT, OrdinalEncoder(unknown_value=-1)),
    "a number that a level has": (TEXT, TAKEN),
    "a name that comes twice": (FULL, FeatureUnion([("a", SCALE), ("a", SCALE)])),
    "a name that is a parameter": (FULL, ColumnTransformer([("remainder", SCALE, [0])])),
    "a name with two lines": (FULL, Pipeline([("a__b", SCALE)])),
    "a column from the end": (FULL, ColumnTransformer([("a", SCALE, [-1])])),
    "a column that is not there": (FULL, ColumnTransformer([("a", SCALE, [2])])),
    "a name that is not there": (FRAME, ColumnTransformer([("a", SCALE, ["z"])])),
    "a mask of another length": (FULL, ColumnTransformer([("a", SCALE, [True])])),
    "one column by itself": (FRAME, ColumnTransformer([("a", SCALE, "a")])),
    "names after an array": (
        FRAME,
        make_pipeline(BY_PLACE, make_column_transformer((SCALE, ["a"]))),
    ),
    "nothing chosen": (FULL, ColumnTransformer([("a", SCALE, [])])),
    "weights": (FULL, FeatureUnion([("a", SCALE)], transformer_weights={"a": 2.0})),
    "printed lines": (FULL, FeatureUnion([("a", SCALE)], verbose=True)),
    "columns that come twice": (unchecked(["a", "a"]), SCALE),
    "columns of two kinds of names": (unchecked(["a", 1]), SCALE),
    "a product of matrices": (FULL, PCA()),
    "a class of the user's": (FULL, type("Louder", (StandardScaler,), {})()),
    "frames given out": (FULL, StandardScaler().set_output(transform="pandas")),
    "a method of the user's": (FULL, said(StandardScaler(), "transform", lambda X: X)),
    "other missing cells": (FULL, SimpleImputer(missing_values=-1)),
    "a function that imputes": (FULL, SimpleImputer(strategy=np.nanmax)),
    "a cache": (FULL, Pipeline([("a", StandardScaler())], memory="somewhere")),
}


def is_refused(X, *steps):
    named = [(f"s{i}", step) for i, step in enumerate(steps)]
    data = X if isinstance(X, Data) else classes(X, TWO)
    asked = [np.arange(16, ROWS)]
    return fit_closed_steps(Pipeline(named), data, TRAIN, TWO[TRAIN], asked) is None


@pytest.mark.parametrize("name", CASES)
def test_closed_steps_refuse_what_scikit_learn_speaks_of(name):
    """Also where it is only seen in the rows that are asked about."""
    assert is_refused(*CASES[name])


def test_closed_steps_refuse_frames_between_steps():
    """A step that does nothing leaves names, which the next may look at; a setting asks for all."""
    assert is_refused(FRAME, FunctionTransformer(), PowerTransformer())
    assert not is_refused(FRAME, SCALE)
    with sklearn.config_context(transform_output="pandas"):
        assert is_refused(FRAME, SCALE)


# ---------------- A form is compared with the scikit-learn installed before it is trusted


@pytest.mark.parametrize("place", CLOSED_FORMS)
def test_agrees_tells_the_own_form_of_a_class_from_another(place):
    """A form that fails is an error: our own failure must not pass for another release."""
    import_module(place.partition(":")[0])
    assert agrees_with_sklearn.__wrapped__(place, CLOSED_FORMS[place].load())
    if "FunctionTransformer" in place:
        return
    with suppress(NoClosedForm):  # of text
        assert not agrees_with_sklearn.__wrapped__(
            place, lambda step: lambda table, y: (table, lambda one: one)
        )
    with pytest.raises(ZeroDivisionError):
        agrees_with_sklearn.__wrapped__(place, lambda step: lambda table, y: 1 / 0)


@pytest.mark.parametrize("frames", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_agrees_on_frames_that_scikit_learn_takes(frames, monkeypatch):
    """Scikit-learn 1.6 knows no columns of the present polars by their names."""
    place = f"{frames.__module__.partition('.')[0]}:DataFrame"
    table = frames({"a": np.arange(24.0)})
    if agrees_on_frame_class(place, find_closed_form):
        assert not is_refused(table, SCALE)
    else:
        assert frames is pl.DataFrame
    monkeypatch.setattr(first_steps, "agrees_on_frame_class", lambda *args: False)
    assert is_refused(table, SCALE)
    with suppress(NoClosedForm):  # of text, where scikit-learn takes the frame at all
        assert not agrees_on_frame_class.__wrapped__(
            place, lambda step: lambda table, y: (table, None)
        )


def otherwise(step):
    """StandardScaler, the last bit of whose cells is another."""
    form = scaling.standard(step)

    def fit(table, y):
        _, apply = form(table, y)
        moved = lambda other: NumberTable(np.nextafter(apply(other).numbers(), np.inf))  # noqa: E731
        return moved(table), moved

    return fit


def test_agrees_notices_a_last_bit(monkeypatch):
    """Scikit-learn's own steps are fitted."""
    assert not is_refused(FULL, SCALE)
    instead = SimpleNamespace(module=scaling.__name__, load=lambda: otherwise)
    place = "sklearn.preprocessing:StandardScaler"
    monkeypatch.setattr(first_steps, "CLOSED_FORMS", {**CLOSED_FORMS, place: instead})
    assert is_refused(FULL, StandardScaler())


SEARCHED = """
import numpy as np, truerisk as tr
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

X, y = tr.datasets.make_simple(30, random_state=0)
for step in {steps}:
    pipeline = make_pipeline(step, LogisticRegression())
    found = tr.estimate_risk(pipeline, X, y, cv="3-fold", engine="{engine}")
print(found.value, found.engine)
print(*sorted(name.split(".")[4] for name in sys.modules
    if name.startswith("truerisk.engines.preparation.closed.")))
"""
COMMON = ["agreement", "coded_data", "first_steps", "step_tables"]
ROOM, SCALED = "truerisk.engines.preparation", "[StandardScaler()]"


@pytest.mark.parametrize(
    ("missing", "steps", "engine", "parts"),
    [
        ([], SCALED, "logistic-path", [*COMMON, "scaling"]),
        ([], "[VarianceThreshold()]", "logistic-path", [*COMMON, "selecting"]),
        ([], "[PCA(2), Normalizer()]", "logistic-path", []),
        ([f"{ROOM}.closed"], SCALED, "logistic-path", []),
        ([f"{ROOM}.closed.scaling"], SCALED, "logistic-path", COMMON),
        ([ROOM], SCALED, "auto", []),
    ],
    ids=["scaling", "selecting", "no form", "no forms", "scaling is missing", "room is missing"],
)
def test_forms_are_imported_for_steps_that_have_one_and_never_needed(missing, steps, engine, parts):
    """The number is the same without them; without the room the generic engine answers."""
    told, imported = output_without(*missing, code=SEARCHED.format(steps=steps, engine=engine))
    assert imported.split() == sorted(parts)
    if steps == SCALED:
        X, y = tr.datasets.make_simple(30, random_state=0)
        model = make_pipeline(StandardScaler(), LogisticRegression())
        here = tr.estimate_risk(model, X, y, cv="3-fold", engine="logistic-path").value
        assert told.split() == [str(here), "generic" if missing == [ROOM] else "logistic-path"]
