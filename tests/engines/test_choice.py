"""The engine asked for answers, or the first that does not refuse; refusals are reported."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.support.missing import output_without

import truerisk as tr
from truerisk.contracts import Engine
from truerisk.core.identity import imported_class
from truerisk.core.registry import Registry, RegistryEntry
from truerisk.engines import Generic, choice
from truerisk.engines.linear import elastic_net
from truerisk.engines.logistic import stops as logistic
from truerisk.engines.support_vectors import stepping as svm
from truerisk.engines.trees import recipes as trees
from truerisk.engines.trees.packages import PACKAGES_BY_LEARNER
from truerisk.exceptions import NoEngine, UnknownName
from truerisk.extend import BadArgument, Refusal, TrueRiskError

X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12) % 2


class Shy(Engine):
    """Refuses everything."""

    name = "shy"

    def refuse(self, family, data, plan, request):
        return "it is shy."

    def run(self, family, data, plan, request, run):
        raise AssertionError("it was asked all the same")


class Own(KNeighborsClassifier):
    """A model that no fast engine knows."""


def estimate(engine, model=None, cv="3-fold", X=X):
    return tr.estimate_risk(model or Own(3), X, Y, cv=cv, engine=engine)


@pytest.mark.parametrize("engine", ["auto", "generic", Generic()], ids=["auto", "word", "object"])
def test_engine_that_was_asked_for_answers(engine):
    assert estimate(engine).engine == "generic"


SHY = "engine 'shy' cannot answer: it is shy. Use engine='auto'"
NO_RULES = "it does not give the coefficients of its models."
NAMES = pd.DataFrame(X, columns=["a", 1])
LDA = LinearDiscriminantAnalysis()
NO_FLAG = "minimiser='no': use True or False"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: estimate("generc"), UnknownName, "did you mean 'generic'"),
        (lambda: estimate(3), UnknownName, "engine=3 is neither 'auto', a word"),
        (lambda: estimate(Generic), UnknownName, "engine=Generic is a class: make an object of it"),
        (lambda: Generic(error="ignore"), UnknownName, "error='ignore' is unknown"),
        (lambda: tr.engines.LogisticPaths(minimiser="no"), BadArgument, NO_FLAG),
        (lambda: estimate(Shy()), NoEngine, SHY),
        (lambda: estimate("knn", LDA, "bee"), Refusal, "engine 'knn' cannot answer: " + NO_RULES),
        (lambda: estimate("knn", X=NAMES), Refusal, "may fail of the names of columns. X has "),
    ],
)
def test_engine_is_refused(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_auto_takes_the_next_engine_and_remembers_why(monkeypatch):
    lines = {"shy": RegistryEntry(f"{__name__}:Shy", "refuses"), **dict(choice.registry)}
    table, load = Registry("engine", lines), choice.registry.load
    monkeypatch.setattr(table, "load", lambda word: Shy if word == "shy" else load(word))
    monkeypatch.setattr(choice, "registry", table)
    found = estimate("auto")
    assert found.engine == "generic"
    assert found.refusals["shy"] == "it is shy."
    assert "generic" not in found.refusals
    monkeypatch.setattr(table, "load", lambda word: Shy)
    with pytest.raises(Refusal, match=r"no engine can answer: shy, generic: it is shy\.$"):
        estimate("auto")


def test_auto_asks_no_engine_without_coefficients_for_rules():
    assert estimate("auto", LDA, "bee").refusals["discriminant"] == NO_RULES


def test_table_of_learners_names_the_classes_that_engines_serve():
    """`auto` never asks an engine about a class that is missing from the engine's line.

    Classes of the booster packages are served once they are imported, wherever they are installed.
    """
    assert choice.registry.keys() - choice.LEARNERS_BY_ENGINE.keys() == {"generic"}
    for word in choice.LEARNERS_BY_ENGINE:
        served = set(choice.registry.load(word)().learners())  # which imports them
        assert {imported_class(place) for place in choice.learner_class_paths(word)} - {
            None
        } == served, word
    packaged = {
        place for place in choice.learner_class_paths("ensemble") if "sklearn.ens" not in place
    }
    assert packaged == set(PACKAGES_BY_LEARNER)


CODE = """
import sys, numpy as np, truerisk as tr
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

class Own(KNeighborsClassifier): ...

X, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2
piped = make_pipeline(StandardScaler(), LogisticRegression())
for model in (GaussianNB(), Own(3), KNeighborsClassifier(3), piped):
    found = tr.estimate_risk(model, X, y, cv="3-fold")
    print(found.engine, found.value, found.refusals)
    print(*{name.split(".")[2] for name in sys.modules if name.startswith("truerisk.engines.")})
try:
    tr.estimate_risk(KNeighborsClassifier(3), X, y, cv="3-fold", engine="knn")
except tr.exceptions.MissingBranch as error:
    print(error)
"""


@pytest.fixture(scope="module")
def there():
    """The output of an interpreter in which nothing is missing."""
    return output_without(code=CODE)


def test_auto_imports_only_engines_of_the_learner(there):
    """An engine that serves other classes could only refuse."""
    kinds = {line.module.split(".")[2] for line in choice.registry.values()} - {"generic"}
    imported = [kinds & set(line.split()) for line in there[1::2]]
    assert imported == [set(), set(), {"neighbours"}, {"neighbours", "logistic"}]
    assert all(line.endswith("{}") for line in there[::2])


def test_auto_leaves_learners_of_a_missing_engine_to_the_generic_one(there):
    """The number is the same, the result says what is missing, and the word is refused."""
    absent = output_without("truerisk.engines.neighbours", code=CODE)
    word, value, refusals = there[4].split()
    assert (word, refusals) == ("knn", "{}")
    missing = "'truerisk.engines.neighbours.knn is missing from this installation.'"
    assert absent[4] == f"generic {value} {{'knn': {missing}}}"
    assert absent[8].startswith("this call needs truerisk.engines.neighbours, which is missing")


@pytest.mark.parametrize("names", [["a", "a"], ["a", 1]], ids=["equal", "of two kinds"])
def test_auto_shows_scikit_learn_the_names_that_it_refuses(names):
    """A fast engine reads an array, and gave a risk of a model that cannot be fitted."""

    def found(engine):
        try:
            return estimate(engine, KNeighborsClassifier(3), X=pd.DataFrame(X, columns=names)).value
        except TrueRiskError as error:  # of equal names up to scikit-learn 1.8 there is none
            return str(error)

    assert found("auto") == found("generic")


def test_auto_fits_a_classifier_that_warns_of_its_labels():
    """Where half of the rows have labels of their own, scikit-learn may warn, and is heard."""
    X, y = np.arange(44.0)[:, None], np.repeat(np.arange(22), 2)
    model = KNeighborsClassifier(1)
    with warnings.catch_warnings(record=True) as own:
        warnings.simplefilter("always")
        model.fit(X[::2], y[::2])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = tr.estimate_risk(model, X, y, cv=tr.methods.KFold(2, stratify=False))
    assert {w.category for w in heard} == {w.category for w in own}
    assert found.engine == "generic"
    assert "warns of so many classes" in found.refusals["knn"]
    assert tr.estimate_risk(model, X, y % 11, cv="2-fold").engine == "knn"


@pytest.mark.parametrize(
    ("model", "grid", "word", "n"),
    [
        (SVC(gamma=0.5), {"C": [0.1, 1, 10, 100, 1000, 1e4]}, "svm", 900),
        (KNeighborsClassifier(), {"n_neighbors": [1, 2, 3, 4, 5, 6]}, "knn", 8_000),
        (KernelRidge(), {"alpha": [0.1, 0.2, 0.3, 0.4, 0.5, 1, 2, 3, 4, 5]}, "kernel-ridge", 300),
        (Lasso(), {"alpha": [0.1, 0.2, 0.5, 1]}, "elastic-net", 200_000),
    ],
)
def test_auto_passes_over_an_engine_that_is_slower(model, grid, word, n):
    """By shapes: one setting is the learner's own fit, several are the engine's; a word decides."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 2)), np.arange(n) % 2
    X[:, 0] += 4 * y
    y = X[:, 0] if word in {"kernel-ridge", "elastic-net"} else y
    one = tr.estimate_risk(model, X, y, cv="holdout")
    assert (one.engine, one.refusals[word]) == ("generic", "scikit-learn is faster here.")
    assert tr.risk_curve(model, grid, X, y, cv="holdout")[0].engine == word
    asked = tr.estimate_risk(model, X, y, cv="holdout", engine=word)
    assert asked.engine == word
    assert asked.value == pytest.approx(one.value)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_stopped_does_not_follow_in_the_next_fit_what_the_first_leaves_open(monkeypatch):
    """A setting whose labels rounding may decide in all folds is followed in one of them."""
    from truerisk.engines.logistic import paths

    follow, followed = paths.fit_until_stop, []

    def counted(group, *rest):
        followed.append(len(group.settings))
        return follow(group, *rest)

    monkeypatch.setattr(paths, "fit_until_stop", counted)
    y = np.arange(200) % 3
    X = np.random.default_rng(0).normal(size=(200, 6)) + y[:, None] * [1.0, 0.5, 0, 0, 0, 0]
    X[:, 3:] *= 1000  # rounding errors grow in the steps that the larger C takes
    asked = LogisticRegression(max_iter=150), {"C": [0.01, 1e5]}, X, y
    ours = tr.risk_curve(*asked, cv="10-fold", engine="logistic-path")
    assert followed == [2] + 9 * [1]
    plain = tr.risk_curve(*asked, cv="10-fold", engine="generic")
    assert [a.value for a in ours] == [b.value for b in plain]


COMPARED = [
    (
        logistic,
        "logistic_lbfgs",
        LogisticRegression,
        lambda: logistic.matches_installed_solver.__wrapped__(True),
    ),
    (svm, "stepped_answers", SVC, svm.solver_matches_svc),
    (trees, "grow_trees", DecisionTreeClassifier, lambda: trees.equality_gap.__wrapped__("gini")),
    (elastic_net, "descend", ElasticNet, elastic_net.sklearn_screens_columns),
]


@pytest.mark.parametrize(("module", "kernel", "model", "agrees"), COMPARED)
def test_kernel_that_fails_is_no_other_release(monkeypatch, module, kernel, model, agrees):
    """A stale compiled module raises; what scikit-learn raises means that it is another one."""

    def failing(*_, **__):
        raise TypeError("incompatible function arguments")

    asked = getattr(agrees, "__wrapped__", agrees)
    with monkeypatch.context() as patch:
        patch.setattr(module, kernel, failing)
        with pytest.raises(TypeError, match="incompatible"):
            asked()
    monkeypatch.setattr(model, "fit", failing)
    assert not asked()
