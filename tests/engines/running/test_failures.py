"""What a step, a learner or a scorer raises comes out of one door, whichever engine ran."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.errors import BadData, FitFailed, Refusal, TrueRiskError

SERVED = {
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
    "knn, numbers": (KNeighborsRegressor(), {"n_neighbors": [1, 3]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"ccp_alpha": [0.0, 0.1]}),
    "discriminant": (LinearDiscriminantAnalysis(solver="eigen"), {"shrinkage": [0.1, 0.5]}),
    "quadratic": (QuadraticDiscriminantAnalysis(), {"reg_param": [0.1, 0.5]}),
    "fisher": (tr.models.FisherClassifier(), {}),
    "logistic-path": (tr.models.LogisticPath(n_lambdas=5), {"at": [0, 3]}),
    "svm": (SVC(kernel="linear"), {"C": [0.1, 1.0]}),
    "ensemble": (RandomForestClassifier(4, random_state=0), {"n_estimators": [2, 4]}),
    "least-squares": (Ridge(), {"alpha": [0.1, 1.0]}),
    "elastic-net": (Lasso(), {"alpha": [0.1, 1.0]}),
    "kernel-ridge": (KernelRidge(), {"alpha": [0.1, 1.0]}),
    "generic": (GaussianNB(), {"var_smoothing": [0.1, 1.0]}),
}
SENTENCE = re.compile(
    r"\w+ \(.*\) failed in the \w+ split \(repeat \d+, fold \d+.*\), fit \d+ of \d+ on \d+ "
    r"rows \(n_features=3\): .+",
    re.DOTALL,
)


class PanicException(BaseException):
    """What a step written in Rust raises when it panics: no Exception."""


PanicException.__module__ = "pyo3_runtime"


class Step(TransformerMixin, BaseEstimator):
    """Does something wrong in the one fit that does not see the row of -9, or in all."""

    def __init__(self, wrong="", everywhere=False):
        self.wrong, self.everywhere = wrong, everywhere

    def fit(self, X, y=None):
        self.seen_ = True
        self.bad_ = self.everywhere or not (np.asarray(X)[:, 0] == -9).any()
        if self.bad_ and self.wrong == "fit":
            raise RuntimeError("the step is broken\nin many words")
        if self.bad_ and self.wrong == "key":
            raise KeyError("no such column")
        if self.bad_ and self.wrong == "panic":
            raise PanicException("index out of bounds")
        return self

    def transform(self, X):
        X = np.array(X, dtype=float)
        if not self.bad_:
            return X
        if self.wrong == "asked" and len(X) == 10:
            raise RuntimeError("not these rows")
        if self.wrong == "one asked" and len(X) == 10:
            return X[:1]
        if self.wrong == "transform":
            raise ArithmeticError("no answer")
        if self.wrong == "rows":
            return X[:-1]
        if self.wrong == "more rows":
            return np.vstack([X, X])
        if self.wrong == "NaN":
            X[0, 0] = np.nan
        if self.wrong == "text":
            return X.astype(str) + "x"
        return "nothing" if self.wrong == "a string" else X


WRONG = ["fit", "key", "panic", "transform", "rows", "more rows", "NaN", "text", "a string"]
WRONG += ["asked", "one asked"]


def problem(*, numbers=False):
    """Thirty rows of two classes, or of a number."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 3))
    X[4, 0] = -9
    y = rng.normal(size=30) if numbers else np.arange(30) % 2
    return X, y


def raised(model, grid, engine, **options):
    """What comes out: the error, or None."""
    X, y = problem(numbers=is_regressor(model))
    given = {"cv": "3-fold", "scoring": None, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tr.risk_curve(model, grid or None, X, y, engine=engine, **given)
        except BaseException as error:  # noqa: BLE001  whatever it is, the tests look at it
            return error
    return None


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("word", SERVED)
def test_a_step_that_fails_is_named_alike_by_every_engine(word, wrong):
    """The engine that serves the learner says what the generic engine says, split and all."""
    learner, grid = SERVED[word]
    piped = make_pipeline(Step(wrong), learner)
    grid = {f"{type(learner).__name__.lower()}__{name}": v for name, v in grid.items()}
    ours, theirs = (raised(piped, grid, engine) for engine in ("auto", "generic"))
    if theirs is None and word in ("tree", "ensemble"):
        assert wrong == "NaN"
        assert ours is None
        return
    assert isinstance(theirs, FitFailed | BadData), repr(theirs)
    assert SENTENCE.fullmatch(str(theirs)), theirs
    assert (type(ours), str(ours)) == (type(theirs), str(theirs))


@pytest.mark.parametrize("word", SERVED)
def test_a_sound_step_is_served(word):
    """Without anything wrong the same pipelines are answered by the engines that they are for."""
    learner, grid = SERVED[word]
    piped = make_pipeline(Step(), learner)
    grid = {f"{type(learner).__name__.lower()}__{name}": v for name, v in grid.items()}
    X, y = problem(numbers=is_regressor(piped))
    found = tr.risk_curve(piped, grid or None, X, y, cv="3-fold")
    assert found[0].engine == word.partition(",")[0]
    assert raised(piped, grid, "generic") is None


@pytest.mark.parametrize("method", ["loo", ".632", "nested", "bolstered", "10x3-fold", "bbc"])
def test_a_step_that_fails_everywhere_fails_in_every_method(method):
    """Also where rows are left out one by one, drawn, or moved: a truerisk error."""
    for word in ("knn", "discriminant", "least-squares", "logistic-path"):
        learner, _ = SERVED[word]
        piped = make_pipeline(Step("fit", everywhere=True), learner)
        for engine in ("auto", "generic"):
            error = raised(piped, None, engine, cv=method)
            assert isinstance(error, TrueRiskError), (word, engine, repr(error))


@pytest.mark.parametrize("loss", ["zero-one", "brier", "log", "auc"])
@pytest.mark.parametrize("word", ["knn", "tree", "discriminant", "logistic-path", "generic"])
def test_answers_are_as_many_as_rows(word, loss):
    """One answer for ten rows is refused, whatever the loss asks for; it does not serve for all."""
    piped = make_pipeline(Step("one asked"), SERVED[word][0])
    ours, theirs = (raised(piped, None, engine, scoring=loss) for engine in ("auto", "generic"))
    assert "1 answers for 10 rows" in str(theirs)
    assert (type(ours), str(ours)) == (type(theirs), str(theirs))


@pytest.mark.parametrize("word", [w for w in SERVED if w != "generic"])
def test_a_step_that_looks_at_each_row_by_itself_may_fail(word):
    """scikit-learn's own word on a parameter that it does not know, by every engine alike."""
    learner, _ = SERVED[word]
    piped = make_pipeline(Normalizer(norm="l3"), learner)
    ours, theirs = (raised(piped, None, engine) for engine in ("auto", "generic"))
    assert isinstance(theirs, FitFailed)
    assert "step 'normalizer': InvalidParameterError" in str(theirs)
    assert (type(ours), str(ours)) == (type(theirs), str(theirs))


@pytest.mark.parametrize("word", SERVED)
def test_a_learner_that_fails_says_so_alike(word):
    """A target of one class in a fold, cells that overflow: the same error by every engine."""
    learner, grid = SERVED[word]
    X, y = problem(numbers=is_regressor(learner))
    broken = []
    one_class = np.where(np.arange(30) < 20, 0, 1)
    splits = [(np.arange(10), np.arange(10, 30)), (np.arange(5, 25), np.arange(5))]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for table, target in ((X, one_class if not is_regressor(learner) else y), (X * 1e308, y)):
            said = []
            for engine in ("auto", "generic"):
                try:
                    tr.risk_curve(learner, grid or None, table, target, cv=splits, engine=engine)
                    said.append(None)
                except TrueRiskError as error:
                    said.append((type(error), str(error)))
            broken.append(said)
    for ours, theirs in broken:
        assert ours == theirs


class Faulty:
    """A scorer, a loss, a splitter or an executor of a user's, which raises."""

    def __init__(self, error):
        self.error = error

    def score(self, model, X, y):
        if isinstance(model, KNeighborsClassifier):
            raise self.error
        return 1.0

    def loss(self, y_true, y_pred):
        if (y_true != y_pred).any():
            raise self.error
        return np.zeros(len(y_true))

    def rate(self, y_true, y_pred):
        if len(y_true) < 30:
            raise self.error
        return 0.0

    def split(self, X, y=None, groups=None):
        raise self.error

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3

    def submit(self, function, *args):
        raise self.error


ERRORS = [RuntimeError("no"), ValueError("no"), KeyError("no"), PanicException("no")]
LEAVING = SystemExit(3)


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("engine", ["auto", "generic"])
def test_a_scorer_that_fails_is_named_with_its_split(engine, error):
    """Split and parameters, as with a learner that fails."""
    said = raised(
        KNeighborsClassifier(), {"n_neighbors": [1, 3]}, engine, scoring=Faulty(error).score
    )
    assert isinstance(said, FitFailed)
    assert SENTENCE.fullmatch(str(said))
    assert isinstance(said, ValueError) == isinstance(error, ValueError)


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("engine", ["auto", "generic"])
@pytest.mark.parametrize("name", ["loss", "rate"])
def test_a_loss_that_fails_is_named_with_its_rows(engine, error, name):
    """The loss, how many rows, and the first of them; the traceback goes along as a note."""
    loss = getattr(Faulty(error), name)
    said = raised(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, engine, scoring=loss)
    assert isinstance(said, FitFailed)
    expected = rf"loss {name} failed on \d+ rows, the first of them row \d+: \w+: '?no'?"
    assert re.fullmatch(expected, str(said))
    assert said.__cause__ is error
    assert "Traceback" in said.__notes__[0]


@pytest.mark.parametrize("what", [lambda a, b: 1 / 0, lambda a, b: int("x")], ids=["0", "x"])
def test_a_loss_that_cannot_rate_y_itself_is_refused_at_once(what):
    """Before any fit."""
    said = raised(KNeighborsClassifier(), None, "auto", scoring=what)
    assert isinstance(said, FitFailed)
    assert "<lambda>" in str(said)


@pytest.mark.parametrize("error", ERRORS[:3], ids=lambda e: type(e).__name__)
def test_splitters_and_executors_that_fail_are_sentences(error):
    """Whatever they raise."""
    faulty = Faulty(error)
    said = raised(KNeighborsClassifier(), None, "auto", cv=faulty)
    assert isinstance(said, BadData)
    assert "cannot split these rows" in str(said)
    said = raised(GaussianNB(), None, "auto", n_jobs=faulty)
    assert isinstance(said, FitFailed)
    assert "the executor cannot run the fits" in str(said)


def test_a_refit_that_fails_is_named():
    """Folds that go well do not promise that all rows do."""
    X, y = problem()
    search = tr.HonestSearchCV(
        make_pipeline(Refuses30(), GaussianNB()),
        {"gaussiannb__var_smoothing": [1e-9]},
        cv="3-fold",
        outer=None,
    )
    with pytest.raises(FitFailed, match=r"failed in the refit on 30 rows .*: step 'refuses30': "):
        search.fit(X, y)


class Refuses30(Step):
    """Refuses thirty rows."""

    def fit(self, X, y=None):
        if len(X) == 30:
            raise RuntimeError("too many")
        return super().fit(X, y)


@pytest.mark.parametrize("word", ["knn", "discriminant", "tree", "generic"])
def test_sys_exit_in_a_users_code_is_a_failure(word):
    """A model, loss, scorer, splitter or distribution that leaves does not end the program."""
    learner, faulty = SERVED[word][0], Faulty(LEAVING)
    wanted = r"SystemExit: it called sys.exit\(3\); let it raise an error instead"
    for options in ({"scoring": faulty.loss}, {"scoring": faulty.rate}, {"cv": faulty}):
        said = raised(learner, None, "auto", **options)
        assert isinstance(said, FitFailed | BadData), repr(said)
        assert re.search(wanted, str(said))
    said = raised(make_pipeline(FunctionTransformer(faulty.split), learner), None, "auto")
    assert isinstance(said, FitFailed)
    assert re.search(wanted, str(said))


@pytest.mark.parametrize("error", [KeyboardInterrupt()])
@pytest.mark.parametrize("word", ["knn", "discriminant", "tree", "generic"])
def test_what_ends_the_program_ends_it(word, error):
    """Ctrl-C in a step, a loss or a scorer is no failure of theirs."""
    model = make_pipeline(FunctionTransformer(Faulty(error).split), SERVED[word][0])
    assert type(raised(model, None, "auto")) is type(error)  # a clone has a copy
    assert raised(SERVED[word][0], None, "auto", scoring=Faulty(error).rate) is error


def test_a_refusal_in_a_loss_is_said_as_it_is():
    """What truerisk words itself is not worded twice; where it was is added."""
    said = raised(KNeighborsClassifier(), None, "auto", scoring=Faulty(Refusal("not this.")).rate)
    assert type(said) is Refusal
    assert str(said) == "not this. It is fold 0."


def test_where_memory_ends_it_is_said_what_to_do():
    """The error has no words of its own."""
    model = make_pipeline(FunctionTransformer(Faulty(MemoryError()).split), GaussianNB())
    said = str(raised(model, None, "auto"))
    assert "MemoryError: no message (use fewer workers, fewer rows, or a setting" in said
