"""The engine asked for answers, or the first that does not refuse; refusals are reported."""

from __future__ import annotations

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
from truerisk.core.errors import BadArgument, Refusal, TrueRiskError, UnknownName
from truerisk.core.identity import known_class
from truerisk.core.registry import Line, Registry
from truerisk.engines import choice
from truerisk.engines.generic import Generic
from truerisk.engines.linear import elastic_net
from truerisk.engines.logistic import stops as logistic
from truerisk.engines.support_vectors import stepping as svm
from truerisk.engines.trees import recipes as trees
from truerisk.engines.trees.packages import PACKAGES

X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12) % 2


class Shy(Engine):
    """Refuses everything."""

    word = "shy"

    def refuse(self, family, data, plan, request):
        return "it is shy."

    def run(self, family, data, plan, request, run):
        raise AssertionError("it was asked all the same")


class Own(KNeighborsClassifier):
    """A model that no fast engine knows."""


def estimate(engine):
    return tr.estimate_risk(Own(3), X, Y, cv="3-fold", engine=engine)


@pytest.mark.parametrize("engine", ["auto", "generic", Generic()], ids=["auto", "word", "object"])
def test_the_engine_asked_for_answers(engine) -> None:
    """By word or object, and the result says which."""
    assert estimate(engine).engine == "generic"


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("generc", "did you mean 'generic'"),
        (3, "engine=3 is neither 'auto', a word"),
        (Generic, "engine=Generic is a class: make an object of it"),
    ],
)
def test_what_is_no_engine_is_refused(engine, message) -> None:
    """An unknown word gets the nearest one."""
    with pytest.raises(UnknownName, match=message):
        estimate(engine)


def test_an_engine_that_refuses_says_why() -> None:
    """The reason and the remedy."""
    with pytest.raises(Refusal, match="engine 'shy' cannot answer: it is shy. Use engine='auto'"):
        estimate(Shy())


def test_auto_takes_the_next_and_remembers_why(monkeypatch) -> None:
    """The first that does not refuse answers; the result holds the others' reasons."""
    lines = {"shy": Line(f"{__name__}:Shy", "refuses"), **dict(choice.registry)}
    table = Registry("engine", lines)
    monkeypatch.setattr(table, "load", lambda w: Shy if w == "shy" else choice_load(w))
    choice_load = choice.registry.load
    monkeypatch.setattr(choice, "registry", table)
    found = estimate("auto")
    assert found.engine == "generic"
    assert found.refusals["shy"] == "it is shy."
    assert "generic" not in found.refusals
    monkeypatch.setattr(table, "load", lambda w: Shy)
    with pytest.raises(Refusal, match=r"no engine can answer: shy, generic: it is shy\.$"):
        estimate("auto")


def test_an_engine_without_coefficients_is_not_asked_for_rules() -> None:
    """A plan that asks for linear rules goes to an engine that gives them."""
    model, options = LinearDiscriminantAnalysis(), {"cv": "bee", "engine": "auto"}
    found = tr.estimate_risk(model, X, Y, **options)
    assert found.refusals["discriminant"] == "it does not give the coefficients of its models."
    with pytest.raises(Refusal, match="engine 'knn' cannot answer: it does not give the coeff"):
        tr.estimate_risk(model, X, Y, cv="bee", engine="knn")


def test_table_of_learners_names_the_classes_that_engines_serve():
    """An engine whose line lacks a class would never be asked by `auto` about it."""
    assert choice.registry.keys() - choice.LEARNERS.keys() == {"generic"}
    for word in choice.LEARNERS:
        served = set(choice.registry.load(word)().learners())  # which imports them
        assert {known_class(place) for place in choice.places_of(word)} - {None} == served, word


def test_table_of_learners_names_every_class_of_the_booster_packages():
    """Their classes are served once they are imported, wherever they are installed."""
    packaged = {place for place in choice.places_of("ensemble") if "sklearn.ens" not in place}
    assert packaged == set(PACKAGES)


ESTIMATED = """
import numpy as np, truerisk as tr
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

class Own(KNeighborsClassifier): ...

X, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2
found = tr.estimate_risk({model}, X, y, cv="3-fold")
print(found.engine, found.value, found.refusals)
"""
IMPORTED = """
print(*{name.split(".")[2] for name in sys.modules if name.startswith("truerisk.engines.")})
"""
WORD = """
from truerisk.core.errors import MissingBranch

try:
    tr.estimate_risk(KNeighborsClassifier(3), X, y, cv="3-fold", engine="knn")
except MissingBranch as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("model", "families"),
    [
        ("GaussianNB()", set()),
        ("Own(3)", set()),
        ("KNeighborsClassifier(3)", {"neighbours"}),
        ("make_pipeline(StandardScaler(), LogisticRegression())", {"logistic"}),
    ],
)
def test_auto_imports_only_engines_of_the_learner(model, families):
    """An engine that serves other classes could only refuse."""
    said, imported = output_without(code=ESTIMATED.format(model=model) + IMPORTED)
    kinds = {line.module.split(".")[2] for line in choice.registry.values()} - {"generic"}
    assert kinds & set(imported.split()) == families
    assert said.endswith("{}")


def test_auto_leaves_learners_of_a_missing_engine_to_the_generic_one():
    """The number is the same, the result says what is missing, and the word is refused."""
    code = ESTIMATED.format(model="KNeighborsClassifier(3)")
    there = output_without(code=code + WORD)
    absent = output_without("truerisk.engines.neighbours", code=code + WORD)
    value = there[0].split()[1]
    assert there == [f"knn {value} {{}}"]
    missing = "'truerisk.engines.neighbours.knn is missing from this installation.'"
    sentence = (
        "this call needs truerisk.engines.neighbours, which is missing from this installation; "
        "install truerisk anew."
    )
    assert absent == [f"generic {value} {{'knn': {missing}}}", sentence]


@pytest.mark.parametrize("names", [["a", "a"], ["a", 1]], ids=["equal", "of two kinds"])
def test_names_that_scikit_learn_refuses_are_shown_to_it(names):
    """A fast engine reads an array, and gave a risk of a model that cannot be fitted."""
    model, frame = KNeighborsClassifier(3), pd.DataFrame(X, columns=names)

    def found(engine):
        try:
            return tr.estimate_risk(model, frame, Y, cv="3-fold", engine=engine).value
        except TrueRiskError as error:  # of equal names up to scikit-learn 1.8 there is none
            return str(error)

    assert found("auto") == found("generic")
    with pytest.raises(Refusal, match=r"may fail of the names of columns\. X has "):
        tr.estimate_risk(model, frame, Y, cv="3-fold", engine="knn")


def test_a_classifier_that_warns_of_its_labels_is_fitted():
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


def test_an_option_that_is_no_flag_is_refused():
    """A word such as "no" would count as True."""
    with pytest.raises(BadArgument, match="minimiser='no': use True or False"):
        tr.engines.LogisticPaths(minimiser="no")


@pytest.mark.parametrize(
    ("model", "grid", "word", "n"),
    [
        (SVC(gamma=0.5), {"C": [0.1, 1, 10, 100, 1000, 1e4]}, "svm", 900),
        (KNeighborsClassifier(), {"n_neighbors": [1, 2, 3, 4, 5, 6]}, "knn", 8_000),
        (KernelRidge(), {"alpha": [0.1, 0.2, 0.3, 0.4, 0.5, 1, 2, 3, 4, 5]}, "kernel-ridge", 300),
        (Lasso(), {"alpha": [0.1, 0.2, 0.5, 1]}, "elastic-net", 200_000),
    ],
)
def test_auto_passes_over_an_engine_that_is_slower(model, grid, word, n) -> None:
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
def test_what_the_first_fit_leaves_open_is_not_followed_in_the_next(monkeypatch) -> None:
    """A setting whose labels rounding may decide in all folds is followed in one of them."""
    from truerisk.engines.logistic import paths

    follow, followed = paths.stopped, []

    def counted(group, *rest):
        followed.append(len(group.settings))
        return follow(group, *rest)

    monkeypatch.setattr(paths, "stopped", counted)
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
        lambda: logistic.follows_the_solver.__wrapped__(True),
    ),
    (svm, "stepped", SVC, svm.takes_the_same_steps),
    (trees, "grow_trees", DecisionTreeClassifier, lambda: trees.closeness.__wrapped__("gini")),
    (elastic_net, "descend", ElasticNet, elastic_net.way_of_the_installed),
]


@pytest.mark.parametrize(("module", "kernel", "model", "agrees"), COMPARED)
def test_a_kernel_that_fails_is_no_other_release(monkeypatch, module, kernel, model, agrees):
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
