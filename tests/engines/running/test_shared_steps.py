"""Steps before a learner: fitted once for candidates that begin alike, and nothing else changes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.random_projection import GaussianRandomProjection
from tests.support.data import checked

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.engines import Generic
from truerisk.engines.running.read_off import find_shared_fit_parameter
from truerisk.engines.running.shared_steps import SharedSteps
from truerisk.exceptions import FitFailed
from truerisk.extend import Data, Family, Request, Streams
from truerisk.methods import Bootstrap, as_method


class Counted(TransformerMixin, BaseEstimator):
    """Adds a constant; every fit and every transform of any such object is counted."""

    fits = 0
    transforms = 0

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y=None):
        type(self).fits += 1
        return self

    def transform(self, X):
        type(self).transforms += 1
        return X + self.shift


@pytest.fixture(autouse=True)
def _nothing_counted():
    Counted.fits = Counted.transforms = 0


@pytest.fixture(scope="module")
def data():
    return tr.datasets.make_simple(48, random_state=0)


def curve(model, grid, X, y, **options):
    options = {"cv": "4-fold", "engine": "generic", "random_state": 0} | options
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = tr.risk_curve(model, grid, X, y, **options)
    return found, sorted(str(w.message) for w in caught)


def require_unshared(monkeypatch, shared, *given, **options):
    """Whole pipelines have the same values, to the last bit, and the same warnings."""
    monkeypatch.setattr(SharedSteps, "from_family", classmethod(lambda *_: None))
    found, said = curve(*given, **options)
    np.testing.assert_array_equal(shared[0].values, found.values)
    assert shared[1] == said


def test_shared_steps_are_fitted_once_per_train_set_and_setting_so_far(data):
    """Two settings of the first step, three of the second, two of the learner: 2 and 6 fits."""

    class Second(Counted):
        fits = 0

    pipe = Pipeline([("a", Counted()), ("b", Second()), ("nb", GaussianNB())])
    grid = {
        "a__shift": [0.0, 1.0],
        "b__shift": [0.0, 1.0, 2.0],
        "nb__var_smoothing": [1e-9, 1e-3],
    }
    curve(pipe, grid, *data)
    assert (Counted.fits, Second.fits) == (4 * 2, 4 * 6)
    assert Counted.transforms == 2 * Counted.fits  # the train set, and the rows asked about
    Counted.fits = 0  # a forest of three sizes is one fit, and of two depths are two
    pipe = make_pipeline(Counted(), RandomForestClassifier(random_state=0))
    sizes = {"max_depth": [1, 2], "n_estimators": [1, 3]}
    grid = {f"randomforestclassifier__{name}": values for name, values in sizes.items()}
    curve(pipe, grid, *data, engine="ensemble")
    assert Counted.fits == 4


def framed():
    """Steps by names of columns, and an output that is a frame."""
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["number"]),
        (OneHotEncoder(sparse_output=False), ["text"]),
    )
    return make_pipeline(columns, LogisticRegression()).set_output(transform="pandas")


def frame(X):
    table = pd.DataFrame({"number": X[:, 0], "text": np.where(X[:, 1] > 0, "up", "down")})
    table.loc[::7, "number"] = np.nan
    return table


class Warns(Counted):
    """A step that warns when it is fitted."""

    def fit(self, X, y=None):
        warnings.warn("of few rows", stacklevel=2)
        return super().fit(X, y)


CS = {"logisticregression__C": [0.1, 1.0]}
SMOOTH = {"gaussiannb__var_smoothing": [1e-9, 0.1, 0.5]}
CASES = {
    "scaler, components": (
        make_pipeline(StandardScaler(), PCA(), GaussianNB()),
        {"pca__n_components": [1, 2], "gaussiannb__var_smoothing": [1e-9, 0.1]},
    ),
    "steps in the grid": (
        Pipeline([("s", "passthrough"), ("k", None), ("m", LogisticRegression())]),
        {
            "s": ["passthrough", StandardScaler(), MinMaxScaler()],
            "k": [None, SelectKBest(k=1)],
            "m__C": [0.1, 1.0],
        },
    ),
    "random steps": (
        make_pipeline(TruncatedSVD(1), RandomForestClassifier(3)),
        {"randomforestclassifier__max_depth": [1, 2], "truncatedsvd__n_iter": [1, 2]},
    ),
    "a random learner in the grid": (
        Pipeline([("t", GaussianRandomProjection(1)), ("m", GaussianNB())]),
        {"m": [GaussianNB(), RandomForestClassifier(3), GaussianNB(var_smoothing=0.1)]},
    ),
    "a search among the steps": (
        make_pipeline(SelectFromModel(LassoCV(cv=2, alphas=[0.01, 0.1])), GaussianNB()),
        SMOOTH,
    ),
    "bins": (make_pipeline(KBinsDiscretizer(3, strategy="uniform"), LogisticRegression()), CS),
    "in place": (
        make_pipeline(StandardScaler(copy=False), LogisticRegression()),
        CS | {"standardscaler__with_mean": [True, False]},
    ),
    "frames": (framed(), CS),
    "a step that warns": (make_pipeline(Warns(), GaussianNB()), SMOOTH),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "options",
    [{}, {"cv": Bootstrap("oob", replicates=4)}, {"scoring": "log"}],
    ids=["folds", "copies", "probabilities"],
)
def test_shared_steps_change_no_answer_and_no_warning(data, monkeypatch, name, options):
    Warns.fits = 0
    X, y = data
    given = *CASES[name], frame(X) if name == "frames" else X, y
    shared = curve(*given, **options)
    if (name, options) == ("a step that warns", {}):  # four train sets and three candidates
        assert any("[12 times in 12 fits]" in text for text in shared[1])
        assert Warns.fits == 4
    require_unshared(monkeypatch, shared, *given, **options)


def test_shared_steps_are_not_disturbed_by_a_learner_that_writes_into_its_rows(monkeypatch):
    """`copy_X=False` centres X in place: the next candidate gets the table as it was."""
    X, y = np.random.default_rng(0).normal(size=(40, 2)) + 5, np.arange(40.0)
    pipe = Pipeline([("s", MinMaxScaler()), ("m", Ridge(copy_X=False))])
    given = pipe, {"m__alpha": [0.1, 1.0, 10.0]}, X, y
    require_unshared(monkeypatch, curve(*given), *given)


class Marked(np.ndarray):
    """Rows that count how often they are copied."""

    copies = 0

    def copy(self, *given):
        type(self).copies += self.shape[1] == 2
        return super().copy(*given)


class Narrow(Counted):
    """One column of two."""

    def transform(self, X):
        return np.asarray(X)[:, :1]


def test_shared_steps_are_given_copies_of_the_rows_asked_about(data):
    """A step may write into them; rows are cut anew for candidates, and not copied."""
    Marked.copies = 0
    X, y = data[0].view(Marked), data[1]
    grid = {"gaussiannb__var_smoothing": [0.1] * 5}
    family = Family.from_grid(make_pipeline(Narrow(), GaussianNB()), grid)
    table = Data(X=X, y=y, task="classification", classes=np.unique(y), codes=y)
    plan = as_method("4-fold").plan(table, Streams(0))
    Generic().run(family, table, plan, Request("label"), RunOptions(seed=0))
    assert Marked.copies == 4


class Fails(Counted):
    """A step that cannot be fitted, or cannot transform other rows than it was fitted on."""

    def __init__(self, shift=0.0, late=False):
        super().__init__(shift)
        self.late = late

    def fit(self, X, y=None):
        if not self.late:
            raise ValueError("no way")
        self.seen_ = len(X)
        return super().fit(X, y)

    def transform(self, X):
        if len(X) != self.seen_:
            raise ValueError("other rows")
        return super().transform(X)


@pytest.mark.parametrize("late", [False, True])
def test_shared_steps_that_fail_are_named_as_in_a_whole_pipeline(data, monkeypatch, late):
    given = Pipeline([("bad", Fails(late=late)), ("m", GaussianNB())]), {"m__var_smoothing": [0.1]}
    with pytest.raises(FitFailed, match="step 'bad'") as shared:
        curve(*given, *data)
    monkeypatch.setattr(SharedSteps, "from_family", classmethod(lambda *_: None))
    with pytest.raises(FitFailed) as alone:
        curve(*given, *data)
    assert str(shared.value) == str(alone.value)


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
def test_level_that_no_training_row_had_is_said_with_what_to_do(data, model):
    X, y = data
    levels = np.column_stack([X[:, 0], np.arange(len(y)) == 7])
    encoded = make_column_transformer((OneHotEncoder(), [1]), remainder="passthrough")
    with pytest.raises(FitFailed, match=r"fold \d.*unknown categories.*handle_unknown='ignore'"):
        tr.estimate_risk(make_pipeline(encoded, model), levels, y, cv="4-fold")


class Watching(ClassifierMixin, BaseEstimator):
    """A learner that must not be asked about rows that no step has seen."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        assert X.min() > 100
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        assert X.min() > 100
        return np.full(len(X), self.classes_[0])


def test_shared_steps_come_before_the_learner_and_not_before_a_scorer(data):
    """A scorer is given the whole model and the rows as they are: it may look at both."""
    seen = []

    def scorer(model, rows, labels):
        seen.append((type(model).__name__, float(rows.max())))
        return model.score(rows, labels)

    pipe = make_pipeline(Counted(shift=1000.0), Watching())
    curve(pipe, {"watching__C": [1.0, 2.0]}, *data)
    curve(pipe, {"watching__C": [1.0, 2.0]}, *data, scoring=scorer)
    assert {kind for kind, _ in seen} == {"Pipeline", "TrueClass"}  # the latter tries the scorer
    assert max(most for _, most in seen) < 100


class Own(Pipeline):
    """A pipeline that may do otherwise; what else could tell is in test_apart.py."""


@pytest.mark.parametrize(
    ("pipeline", "param", "is_shared"),
    [
        (Own, None, False),
        (Pipeline, "s__sample_weight", False),
        (Pipeline, "m__sample_weight", True),  # which the steps do not see
    ],
)
def test_shared_steps_are_of_plain_pipelines_whose_steps_see_no_weights(
    data, pipeline, param, is_shared
):
    family = Family.from_grid(
        pipeline([("s", StandardScaler()), ("m", GaussianNB())]), {"m__var_smoothing": [1e-9, 0.1]}
    )
    table = checked(*data, fit_params={param: np.ones(len(data[1]))} if param else {})
    assert (SharedSteps.from_family(family, table, 2) is not None) == is_shared


class Seen(GaussianNB):
    """A learner of the user's."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight)


def test_shared_steps_let_weights_reach_the_learner(monkeypatch, data):
    X, y = data
    weights = np.random.default_rng(1).uniform(0.1, 5, len(y))
    pipe = make_pipeline(StandardScaler(), Seen())

    def risk(**params):
        grid = {"seen__var_smoothing": [1e-9, 0.5]}
        search = tr.HonestSearchCV(pipe, grid, cv="4-fold", scoring="log", random_state=0)
        return search.fit(X, y, **params).risk_.value

    shared = risk(seen__sample_weight=weights)
    assert shared != risk()
    monkeypatch.setattr(SharedSteps, "from_family", classmethod(lambda *_: None))
    assert shared == risk(seen__sample_weight=weights)


# ---------------- Settings that are read off one fit of a step


def _counted(own, fits):
    def counted(self, *given):
        fits.append(type(self))
        return own(self, *given)

    return counted


def test_read_off_needs_one_fit_of_a_step_per_train_set(monkeypatch):
    """Four numbers of components, of columns: as if there were four fits."""
    X, y = tr.datasets.make_simple(60, random_state=1)
    X = np.hstack([X, X**2, X[:, :1] * X[:, 1:2], np.sin(X)])
    pipe = make_pipeline(SelectKBest(), StandardScaler(), PCA(), LogisticRegression())
    grid = {
        "selectkbest__k": [4, 6, 99],
        "pca__n_components": [4, 1, 0.9, 2],
        "logisticregression__C": [0.1, 1],
    }
    fits = []
    for step, name in ((SelectKBest, "fit"), (PCA, "fit_transform")):
        monkeypatch.setattr(step, name, _counted(getattr(step, name), fits))
    shared = curve(pipe, grid, X, y)
    assert fits.count(SelectKBest) == 4 * 2  # for 4 and 6 columns together, and for 99
    assert fits.count(PCA) == 4 * 3 * 2  # for each of three tables, and for .9 of the variance
    assert any("99" in one for one in shared[1])
    require_unshared(monkeypatch, shared, pipe, grid, X, y)


STEPS = [
    (PCA(), [1, 2, 4, 5, 50, 0.5, None, "mle", np.int64(3)]),
    (PCA(svd_solver="full", whiten=True), [1, 3, 5]),
    (PCA(svd_solver="covariance_eigh"), [1, 3, 5]),
    (PCA(svd_solver="randomized", random_state=0), [1, 3, 5]),
    (SelectKBest(), [0, 1, 3, 5, 9, "all"]),
    (SelectPercentile(), [0, 10, 50.0, 100]),
    (SelectFpr(), [0.0, 0.3, 1.0]),
    (SelectFdr(), [0.01, 0.9]),
    (SelectFwe(), [0.01, 0.9]),
    (SelectFromModel(LogisticRegression()), ["mean", "0.5*median", 0.2, None]),
    (SelectFromModel(RandomForestClassifier(3, random_state=0), max_features=2), [0.1, "mean"]),
]


@pytest.mark.filterwarnings("ignore")  # of a step that keeps no column
@given(
    seed=st.integers(0, 2**31),
    case=st.sampled_from(STEPS),
    shape=st.sampled_from([(60, 5), (30, 5), (12, 40), (600, 61)]),
    single=st.booleans(),
    fortran=st.booleans(),
)
def test_read_off_is_what_a_fit_of_its_own_gives(seed, case, shape, single, fortran):
    step, values = case
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * rng.exponential(size=shape[1])
    X = np.asarray(X, dtype=np.float32 if single else np.float64, order="F" if fortran else "C")
    y, other = rng.permutation(np.arange(shape[0]) % 2), rng.normal(size=(7, shape[1]))
    reading = find_shared_fit_parameter(step)
    at = reading.choose_value_to_fit(step, values, X)
    if at is None:
        assert "PCA" in repr(step)
        return
    widest = clone(step).set_params(**{reading.parameter_name: at})
    table = widest.fit_transform(X.copy(order="K"), y)
    for value in values:
        read = reading.derive_fitted_step(widest, value, table)
        if read is None:
            continue
        own = clone(step).set_params(**{reading.parameter_name: value})
        expected = own.fit_transform(X.copy(order="K"), y)
        found, given_out = read
        given_out = found.transform(X.copy(order="K")) if given_out is None else given_out
        np.testing.assert_array_equal(given_out, expected)
        np.testing.assert_array_equal(found.transform(other), own.transform(other))
        assert repr(found.get_params()) == repr(own.get_params())
        if "PCA" in repr(step):
            np.testing.assert_allclose(found.noise_variance_, own.noise_variance_, rtol=1e-4)
            np.testing.assert_array_equal(found.singular_values_, own.singular_values_)


class OwnPCA(PCA):
    """May do otherwise."""


def test_read_off_leaves_what_depends_on_the_setting_to_fits():
    """The randomised solver; a number of columns that is warned of; values of another kind."""
    X = np.random.default_rng(0).normal(size=(600, 61))
    assert find_shared_fit_parameter(StandardScaler()) is None
    assert find_shared_fit_parameter(OwnPCA()) is None
    assert (
        find_shared_fit_parameter(PCA()).choose_value_to_fit(PCA(), [2, 3], X) is None
    )  # drawn for so many rows
    assert (
        find_shared_fit_parameter(PCA()).choose_value_to_fit(PCA(svd_solver="arpack"), [2, 3], X)
        is None
    )
    best = SelectKBest(k=2).fit(X, np.arange(600) % 2)
    reading = find_shared_fit_parameter(best)
    assert [reading.derive_fitted_step(best, k, None) for k in (62, True, "all")] == [None] * 3
    assert reading.choose_value_to_fit(best, [99, 100], X) is None
    percentile = SelectPercentile().fit(X, np.arange(600) % 2)
    assert find_shared_fit_parameter(percentile).derive_fitted_step(percentile, 101, None) is None
