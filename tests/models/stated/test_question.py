"""A question is answered by the model's own method, by the formula of its class, or refused."""

from __future__ import annotations

import inspect

import pytest
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import Lasso, LogisticRegressionCV, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.model_selection._search import BaseSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, SVR
from sklearn.utils import all_estimators
from tests.engines.test_lookalikes import NUMBERS, X
from tests.support.searches import Climbing, Private, Silent

import truerisk as tr
from truerisk.core.family import has_best_params
from truerisk.core.identity import CLASSES_BY_SCORE, standard_score_name
from truerisk.extend import Refusal
from truerisk.models.stated.question import ModelQuantity

TABLE = {"sklearn.linear_model:Ridge": lambda model, X, word: (word, model.alpha, X.sum())}


class Says(Ridge):
    def weigh(self, X):
        return "own"


def question(**options):
    return ModelQuantity(
        "weigh",
        own=lambda model, X, word: (word, model.weigh(X), X.sum()),
        formulas=TABLE,
        unknown=lambda model, *_: f"{type(model).__name__} is unknown",
        **options,
    )


def test_question_is_answered_by_the_formula_or_the_own_method():
    """The formula is called with the model and all that the question was given.

    A subclass that says so itself is asked first, and so is an object of the class in the table.
    """
    assert question()(Ridge(2.0), X, "word") == ("word", 2.0, X.sum())
    assert question()(Says(), X, "word") == ("word", "own", X.sum())
    taught = Ridge()
    taught.weigh = lambda X: "taught"
    assert question()(taught, X, "word")[1] == "taught"


@pytest.mark.parametrize("model", [Lasso(), type("Ridge", (Ridge,), {})()])
def test_question_refuses_any_other_class(model):
    """A subclass of the same name is of another class; what is not a sentence is an answer."""
    with pytest.raises(Refusal, match=f"^{type(model).__name__} is unknown$"):
        question()(model, X, "word")
    asked = ModelQuantity("weigh", own=None, formulas={}, unknown=lambda model, X: 7)
    assert asked(model, X) == 7


def test_question_asks_the_last_step_of_a_pipeline():
    """Its rows are those that the steps before make, or that the question makes otherwise."""
    doubled = make_pipeline(FunctionTransformer(lambda X: 2 * X), Ridge(3.0)).fit(X, NUMBERS)
    assert question()(doubled, X, "word") == ("word", 3.0, (2 * X).sum())
    assert question()(make_pipeline(doubled), X, "word") == ("word", 3.0, (2 * X).sum())
    assert question(rows=lambda pipeline, X: X[:1])(doubled, X, "word")[2] == X[:1].sum()


def test_question_looks_into_searches_where_it_says_so():
    search = GridSearchCV(Ridge(), {"alpha": [5.0]}, cv=2).fit(X, NUMBERS)
    assert question(into_searches=True)(search, X, "word") == ("word", 5.0, X.sum())
    with pytest.raises(Refusal, match="GridSearchCV is unknown"):
        question()(search, X, "word")


KINDS = [kind for _, kind in all_estimators() if not inspect.isabstract(kind)]


def test_has_best_params_of_all_estimators_of_scikit_learn():
    """Those that hold others, and tune thresholds or penalties inside, are models."""
    told = {kind.__name__ for kind in KINDS if has_best_params(object.__new__(kind))}
    assert told == {kind.__name__ for kind in KINDS if issubclass(kind, BaseSearchCV)}


class Delegating:
    """A property is enough, as OptunaSearchCV has it."""

    def __init__(self, estimator):
        pass

    @property
    def best_params_(self):
        return {}


@pytest.mark.parametrize("search", [Climbing, Private, Silent, tr.HonestSearchCV, Delegating])
def test_has_best_params_of_own_searches(search):
    assert has_best_params(search(KNeighborsClassifier()))
    assert not has_best_params(BaggingClassifier(search(KNeighborsClassifier())))


class Own(SVC):
    """Its score is another."""

    def score(self, X, y, sample_weight=None):
        return 0.0


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (SVC(), "accuracy"),
        (SVR(), "r2"),
        (KNeighborsClassifier(), "accuracy"),
        (make_pipeline(make_pipeline(SVC())), "accuracy"),
        (Own(), None),
        (make_pipeline(Own()), None),
        (LogisticRegressionCV(), None),  # whatever its `scoring` says
        (object(), None),
    ],
)
def test_usual_score_is_told_by_the_method(model, word):
    assert standard_score_name(model) == word


@pytest.mark.parametrize("word", ["accuracy", "r2"])  # "concordance" is one of tests/partners
def test_usual_score_written_anew_means_the_same(word):
    """Their score of data is the metric of their predictions."""
    metric = {"accuracy": accuracy_score, "r2": r2_score}[word]
    mixin = {"accuracy": ClassifierMixin, "r2": RegressorMixin}[word]
    X, y = tr.datasets.make_simple(60, random_state=0)
    own = [place for place in CLASSES_BY_SCORE[word] if place.startswith("sklearn.")]
    places = {place.partition(":")[2] for place in own}
    anew = [kind for name, kind in all_estimators() if name in places]
    assert len(anew) == len(own) - 1
    for kind in anew:
        assert kind.score is not mixin.score
        model = kind().fit(X[:40], y[:40])
        assert model.score(X[40:], y[40:]) == pytest.approx(metric(y[40:], model.predict(X[40:])))
