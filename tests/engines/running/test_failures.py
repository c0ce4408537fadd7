"""What a step, a learner or a scorer raises comes out of one door, whichever engine ran."""

import re
import warnings
from concurrent.futures import ThreadPoolExecutor

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
from tests.study.works import numbers, run

import truerisk as tr
from truerisk.exceptions import FitFailed, StudyIncomplete
from truerisk.extend import BadData, Refusal, TrueRiskError

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


def raised(model, grid, engine, data=None, **options):
    """What comes out: the error, or None."""
    X, y = data or problem(numbers=is_regressor(model))
    given = {"cv": "3-fold", "scoring": None, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tr.risk_curve(model, grid or None, X, y, engine=engine, **given)
        except BaseException as error:  # noqa: BLE001  whatever it is, the tests look at it
            return error
    return None


def both_say(model, grid, **options):
    """What comes out of the engine that serves the learner is what the generic engine says."""
    ours, theirs = (raised(model, grid, engine, **options) for engine in ("auto", "generic"))
    assert (type(ours), str(ours)) == (type(theirs), str(theirs))
    return theirs


def behind(step, word):
    """The learner behind a step, and its grid."""
    learner, grid = SERVED[word]
    grid = {f"{type(learner).__name__.lower()}__{name}": v for name, v in grid.items()}
    return make_pipeline(step, learner), grid


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("word", SERVED)
def test_failure_of_a_step_is_named_alike_by_every_engine(word, wrong):
    error = both_say(*behind(Step(wrong), word))
    if error is None:  # trees split missing cells
        assert (word in ("tree", "ensemble"), wrong) == (True, "NaN")
        return
    assert isinstance(error, FitFailed | BadData), repr(error)
    assert SENTENCE.fullmatch(str(error)), error


@pytest.mark.parametrize("word", SERVED)
def test_failure_is_said_where_the_engine_for_the_learner_would_answer(word):
    """A sound step is served by it, and a parameter that a step refuses is in scikit-learn's words.

    Targets of one class in a fold and cells that overflow are the same error by every engine.
    """
    learner, grid = SERVED[word]
    piped, named = behind(Step(), word)
    X, y = problem(numbers=is_regressor(learner))
    assert (
        tr.risk_curve(piped, named or None, X, y, cv="3-fold")[0].engine == word.partition(",")[0]
    )
    error = both_say(make_pipeline(Normalizer(norm="l3"), learner), None)
    assert isinstance(error, FitFailed)
    assert "step 'normalizer': InvalidParameterError" in str(error)
    splits = [(np.arange(10), np.arange(10, 30)), (np.arange(5, 25), np.arange(5))]
    one_class = y if is_regressor(learner) else np.where(np.arange(30) < 20, 0, 1)
    with np.errstate(all="ignore"):
        both_say(learner, grid, cv=splits, data=(X, one_class))
        both_say(learner, grid, cv=splits, data=(X * 1e308, y))


@pytest.mark.parametrize("method", ["loo", ".632", "nested", "bolstered", "10x3-fold", "bbc"])
def test_failure_of_a_step_everywhere_is_one_in_every_method(method):
    """Also where rows are left out one by one, drawn, or moved: a truerisk error."""
    for word in ("knn", "discriminant", "least-squares", "logistic-path"):
        piped, _ = behind(Step("fit", everywhere=True), word)
        for engine in ("auto", "generic"):
            error = raised(piped, None, engine, cv=method)
            assert isinstance(error, TrueRiskError), (word, engine, repr(error))


@pytest.mark.parametrize("loss", ["zero-one", "brier", "log", "auc"])
@pytest.mark.parametrize("word", ["knn", "tree", "discriminant", "logistic-path", "generic"])
def test_failure_to_answer_for_each_row_does_not_depend_on_the_loss(word, loss):
    """One answer for ten rows does not serve for all."""
    piped, _ = behind(Step("one asked"), word)
    assert "1 answers for 10 rows" in str(both_say(piped, None, scoring=loss))


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


KNN = KNeighborsClassifier()
NO = r"\w+: '?no'?"
OF_LOSS = rf"failed on \d+ rows, the first of them row \d+: {NO}"
LEFT = r"SystemExit: it called sys.exit\(3\); let it raise an error instead"
EVERY = [RuntimeError("no"), ValueError("no"), KeyError("no"), PanicException("no"), SystemExit(3)]


@pytest.mark.parametrize("error", EVERY, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    ("name", "where", "message"),
    [
        ("score", "scoring", SENTENCE.pattern),
        ("loss", "scoring", f"loss loss {OF_LOSS}"),
        ("rate", "scoring", f"loss rate {OF_LOSS}"),
        ("split", "cv", ".*cannot split these rows.*"),
        ("submit", "n_jobs", "the executor takes no task.*"),
    ],
)
def test_failure_of_a_users_object_is_named_with_its_place(name, where, message, error):
    """What they raise is of its own kind, with the traceback along; leaving ends no program."""
    faulty = Faulty(error)
    given = faulty if name in ("split", "submit") else getattr(faulty, name)
    if name == "submit" and isinstance(error, PanicException | SystemExit):
        return
    for engine in ("auto", "generic")[name == "submit" :]:
        said = raised(KNN, {"n_neighbors": [1, 3]}, engine, **{where: given})
        assert isinstance(said, BadData if name == "split" else FitFailed)
        if isinstance(error, SystemExit):
            assert re.search(LEFT, str(said))
        else:
            assert re.fullmatch(message, str(said), re.DOTALL)
        if where == "scoring":
            assert isinstance(said, ValueError) >= isinstance(error, ValueError)
        if name in ("loss", "rate"):
            assert said.__cause__ is error
            assert "Traceback" in said.__notes__[0]


@pytest.mark.parametrize(
    ("verb", "kind"),
    [
        (lambda pool, _: tr.permutation_test(KNN, *problem(), n_jobs=pool), FitFailed),
        (lambda pool, _: tr.experiments.reproduce("kearns-figure-2", n_jobs=pool), FitFailed),
        (lambda pool, folder: run(folder / "runs.db", numbers, pool, wanted=2), StudyIncomplete),
    ],
    ids=["permutation_test", "reproduce", "study"],
)
def test_closed_executor_is_named_by_every_verb(verb, kind, tmp_path):
    """A user who reads only the RuntimeError of `submit` would look for a failed fit."""
    pool = ThreadPoolExecutor(2)
    pool.shutdown()
    said = r"takes no task \(RuntimeError: .* shutdown\): use another one, or n_jobs=1 to see"
    with pytest.raises(kind, match=said):
        verb(pool, tmp_path)


@pytest.mark.parametrize("what", [lambda a, b: 1 / 0, lambda a, b: int("x")], ids=["0", "x"])
def test_failure_of_a_loss_on_y_itself_is_said_before_any_fit(what):
    said = raised(KNN, None, "auto", scoring=what)
    assert isinstance(said, FitFailed)
    assert "<lambda>" in str(said)


def test_failure_of_a_refit_is_named():
    """Folds that go well do not promise that all rows do."""
    X, y = problem()
    pipe = make_pipeline(Refuses30(), GaussianNB())
    search = tr.HonestSearchCV(pipe, {"gaussiannb__var_smoothing": [1e-9]}, cv="3-fold", outer=None)
    with pytest.raises(FitFailed, match=r"failed in the refit on 30 rows .*: step 'refuses30': "):
        search.fit(X, y)


class Refuses30(Step):
    """Refuses thirty rows."""

    def fit(self, X, y=None):
        if len(X) == 30:
            raise RuntimeError("too many")
        return super().fit(X, y)


@pytest.mark.parametrize("word", ["knn", "discriminant", "tree", "generic"])
def test_failure_is_neither_ctrl_c_nor_unsaid_where_a_step_leaves(word):
    step = FunctionTransformer(Faulty(SystemExit(3)).split)
    said = raised(behind(step, word)[0], None, "auto")
    assert isinstance(said, FitFailed)
    assert re.search(LEFT, str(said))
    error = KeyboardInterrupt()
    model = behind(FunctionTransformer(Faulty(error).split), word)[0]
    assert type(raised(model, None, "auto")) is KeyboardInterrupt  # a clone has a copy
    assert raised(SERVED[word][0], None, "auto", scoring=Faulty(error).rate) is error


def test_failure_in_words_of_truerisk_is_not_worded_twice():
    """Where it was is added. An end of memory has no words of its own, and is told what to do."""
    said = raised(KNN, None, "auto", scoring=Faulty(Refusal("not this.")).rate)
    assert (type(said), str(said)) == (Refusal, "not this. It is fold 0.")
    model, _ = behind(FunctionTransformer(Faulty(MemoryError()).split), "generic")
    advice = "MemoryError: no message (use fewer workers, fewer rows, or a setting"
    assert advice in str(raised(model, None, "auto"))
