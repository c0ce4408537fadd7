"""Steps before a learner: fitted once for candidates that begin alike, and nothing else changes."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.random_projection import GaussianRandomProjection

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.running.shared_steps import SharedSteps
from truerisk.methods.words import as_method


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


def unshared(monkeypatch):
    monkeypatch.setattr(SharedSteps, "of", classmethod(lambda *_: None))


def test_a_step_is_fitted_once_per_train_set_and_setting_of_the_steps_so_far(data):
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


def test_engines_that_fit_one_model_for_many_share_steps_too(data):
    """Forests of two depths and three sizes behind a step: one fit of it per train set."""
    pipe = make_pipeline(Counted(), RandomForestClassifier(random_state=0))
    grid = {
        "randomforestclassifier__max_depth": [1, 2],
        "randomforestclassifier__n_estimators": [1, 3],
    }
    curve(pipe, grid, *data, engine="ensemble")
    assert Counted.fits == 4


MIXED = make_column_transformer(
    (make_pipeline(SimpleImputer(), StandardScaler()), [0]), (OneHotEncoder(), [1])
)
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
        {"gaussiannb__var_smoothing": [1e-9, 0.1, 0.5]},
    ),
    "bins": (
        make_pipeline(KBinsDiscretizer(3, strategy="uniform"), LogisticRegression()),
        {"logisticregression__C": [0.1, 1.0]},
    ),
    "in place": (
        make_pipeline(StandardScaler(copy=False), LogisticRegression()),
        {"logisticregression__C": [0.1, 1.0], "standardscaler__with_mean": [True, False]},
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("options", [{}, {"cv": "oob"}, {"scoring": "log"}], ids=str)
def test_answers_and_warnings_are_those_of_pipelines_of_their_own(data, monkeypatch, name, options):
    """Plain, in samples with copies, by probabilities: to the last bit, with the same warnings."""
    X, y = data
    if "cv" in options:
        options = {"cv": tr.methods.Bootstrap("oob", replicates=4)}
    shared, said = curve(*CASES[name], X, y, **options)
    unshared(monkeypatch)
    alone, said_alone = curve(*CASES[name], X, y, **options)
    np.testing.assert_array_equal(shared.values, alone.values)
    assert said == said_alone


def test_frames_keep_their_columns(data, monkeypatch):
    """A ColumnTransformer by names, and an output that is a frame."""
    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame({"number": X[:, 0], "text": np.where(X[:, 1] > 0, "up", "down")})
    frame.loc[::7, "number"] = np.nan
    pipe = make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), ["number"]),
            (OneHotEncoder(sparse_output=False), ["text"]),
        ),
        LogisticRegression(),
    ).set_output(transform="pandas")
    grid = {"logisticregression__C": [0.1, 1.0, 10.0]}
    shared, said = curve(pipe, grid, frame, y)
    unshared(monkeypatch)
    alone, said_alone = curve(pipe, grid, frame, y)
    np.testing.assert_array_equal(shared.values, alone.values)
    assert said == said_alone


def test_a_learner_that_writes_into_its_rows_disturbs_nobody(monkeypatch):
    """`copy_X=False` centres X in place: the next candidate gets the table as it was."""
    X, y = np.random.default_rng(0).normal(size=(40, 2)) + 5, np.arange(40.0)
    pipe = Pipeline([("s", MinMaxScaler()), ("m", Ridge(copy_X=False))])
    grid = {"m__alpha": [0.1, 1.0, 10.0]}
    shared, _ = curve(pipe, grid, X, y)
    unshared(monkeypatch)
    np.testing.assert_array_equal(shared.values, curve(pipe, grid, X, y)[0].values)


class Marked(np.ndarray):
    """Rows that count how often they are copied."""

    copies = 0

    def copy(self, *given):
        type(self).copies += self.shape[1] == 2
        return super().copy(*given)


def test_rows_are_not_copied_for_every_candidate(data):
    """Rows are cut anew for each; a fitted step alone is given a copy of those asked about."""
    Marked.copies = 0
    X, y = data[0].view(Marked), data[1]
    family = Family.of(
        make_pipeline(Narrow(), GaussianNB()), {"gaussiannb__var_smoothing": [0.1] * 5}
    )
    table = Data(X=X, y=y, task="classification", classes=np.unique(y), codes=y)
    plan = as_method("4-fold").plan(table, Streams(0))
    Generic().run(family, table, plan, Request("label"), RunOptions(seed=0))
    assert Marked.copies == 4


class Narrow(Counted):
    """One column of two."""

    def transform(self, X):
        return np.asarray(X)[:, :1]


class Warns(Counted):
    """A step that warns when it is fitted."""

    def fit(self, X, y=None):
        warnings.warn("of few rows", stacklevel=2)
        return super().fit(X, y)


def test_a_warning_of_a_step_counts_for_every_candidate(data, monkeypatch):
    """Twelve fits would have said so: four train sets and three candidates."""
    pipe = make_pipeline(Warns(), GaussianNB())
    grid = {"gaussiannb__var_smoothing": [1e-9, 0.1, 0.5]}
    _, said = curve(pipe, grid, *data)
    assert any("[12 times in 12 fits]" in text for text in said)
    assert Warns.fits == 4
    unshared(monkeypatch)
    assert curve(pipe, grid, *data)[1] == said


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
def test_a_failing_step_is_named_as_before(data, monkeypatch, late):
    """With its split, its parameters and its own words, whether it fits or transforms."""
    pipe = Pipeline([("bad", Fails(late=late)), ("m", GaussianNB())])
    grid = {"m__var_smoothing": [1e-9, 0.1]}
    with pytest.raises(FitFailed, match="step 'bad'") as shared:
        curve(pipe, grid, *data)
    unshared(monkeypatch)
    with pytest.raises(FitFailed) as alone:
        curve(pipe, grid, *data)
    assert str(shared.value) == str(alone.value)


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
def test_a_level_that_no_training_row_had_is_said_with_what_to_do(data, model):
    """By every engine alike, with the split."""
    X, y = data
    levels = np.column_stack([X[:, 0], np.arange(len(y)) == 7])
    encoded = make_column_transformer((OneHotEncoder(), [1]), remainder="passthrough")
    with pytest.raises(FitFailed, match=r"fold \d.*unknown categories.*handle_unknown='ignore'"):
        tr.estimate_risk(make_pipeline(encoded, model), levels, y, cv="4-fold")


def test_a_scorer_is_given_the_whole_model_and_the_rows_as_they_are(data):
    """It may look at both."""
    X, y = data
    seen = []

    def scorer(model, rows, labels):
        seen.append((type(model).__name__, float(rows.max())))
        return model.score(rows, labels)

    pipe = make_pipeline(Counted(shift=1000.0), GaussianNB())
    curve(pipe, {"gaussiannb__var_smoothing": [1e-9, 0.1]}, X, y, scoring=scorer)
    assert {kind for kind, _ in seen} == {"Pipeline", "TrueClass"}  # the latter tries the scorer
    assert max(most for _, most in seen) < 100


class Own(Pipeline):
    """A pipeline that may do otherwise."""


class Seen(GaussianNB):
    """A learner of the user's."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight)


def test_a_pipeline_of_the_users_is_not_shared(data):
    """It may do otherwise; what else could tell is in test_apart.py."""
    pipe = Own([("c", Counted()), ("m", GaussianNB())])
    grid = {"m__var_smoothing": [1e-9, 0.1]}
    assert SharedSteps.of(Family.of(pipe, grid), _table(*data), 2) is None
    curve(pipe, grid, *data)
    assert Counted.fits == 4 * 2


def _table(X, y, **more):
    return Data.check(X, y, task="classification", **more)


def test_a_fit_parameter_of_a_step_is_not_shared(data):
    """One of the learner is, since the steps do not see it."""
    pipe = make_pipeline(StandardScaler(), GaussianNB())
    family = Family.of(pipe, {"gaussiannb__var_smoothing": [1e-9, 0.1]})
    weights = np.ones(len(data[1]))
    for name, shared in (
        ("standardscaler__sample_weight", False),
        ("gaussiannb__sample_weight", True),
    ):
        table = _table(*data, fit_params={name: weights})
        assert (SharedSteps.of(family, table, 2) is not None) == shared


def test_weights_of_the_learner_reach_it(monkeypatch, data):
    """The learner behind shared steps is fitted with the weights of its rows."""
    X, y = data
    pipe = make_pipeline(StandardScaler(), Seen())
    grid = {"seen__var_smoothing": [1e-9, 0.5]}
    weights = np.random.default_rng(1).uniform(0.1, 5, len(y))

    def risk(**params):
        search = tr.HonestSearchCV(pipe, grid, cv="4-fold", scoring="log", random_state=0)
        return search.fit(X, y, **params).risk_.value

    shared = risk(seen__sample_weight=weights)
    assert shared != risk()
    unshared(monkeypatch)
    assert shared == risk(seen__sample_weight=weights)


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


def test_the_learner_sees_rows_as_the_steps_give_them(data):
    """When it is fitted and when it is asked."""
    pipe = make_pipeline(Counted(shift=1000.0), Watching())
    curve(pipe, {"watching__C": [1.0, 2.0]}, *data)


def test_settings_of_a_step_are_read_off_one_fit(monkeypatch):
    """Four numbers of components, of columns: one fit of each step per train set, as if of four."""
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
    shared, said = curve(pipe, grid, X, y)
    assert fits.count(SelectKBest) == 4 * 2  # for 4 and 6 columns together, and for 99
    assert fits.count(PCA) == 4 * 3 * 2  # for each of three tables, and for .9 of the variance
    unshared(monkeypatch)
    alone, said_alone = curve(pipe, grid, X, y)
    np.testing.assert_array_equal(shared.values, alone.values)
    assert said == said_alone
    assert any("99" in one for one in said)


def _counted(own, fits):
    def counted(self, *given):
        fits.append(type(self))
        return own(self, *given)

    return counted
