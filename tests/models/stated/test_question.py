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
        call_own_method=lambda model, X, word: (word, model.weigh(X), X.sum()),
        formulas=TABLE,
        fallback=lambda model, *_: f"{type(model).__name__} is unknown",
        **options,
    )


def taught():
    """Return an instance of a class in the table, with a method of its own that answers."""
    model = Ridge()
    model.weigh = lambda X: "taught"
    return model


DOUBLED = make_pipeline(FunctionTransformer(lambda X: 2 * X), Ridge(3.0)).fit(X, NUMBERS)
SEARCH = GridSearchCV(Ridge(), {"alpha": [5.0]}, cv=2).fit(X, NUMBERS)


@pytest.mark.parametrize(
    ("model", "options", "answer"),
    [
        pytest.param(Ridge(2.0), {}, ("word", 2.0, X.sum()), id="formula"),
        pytest.param(Says(), {}, ("word", "own", X.sum()), id="own method of a subclass"),
        pytest.param(taught(), {}, ("word", "taught", X.sum()), id="own method of an object"),
        pytest.param(DOUBLED, {}, ("word", 3.0, (2 * X).sum()), id="rows of the steps before"),
        pytest.param(
            make_pipeline(DOUBLED), {}, ("word", 3.0, (2 * X).sum()), id="pipeline in one"
        ),
        pytest.param(
            DOUBLED,
            {"rows": lambda pipeline, X: X[:1]},
            ("word", 3.0, X[:1].sum()),
            id="rows made otherwise",
        ),
        pytest.param(SEARCH, {"uses_best_estimator": True}, ("word", 5.0, X.sum()), id="search"),
    ],
)
def test_question_is_answered_by_the_formula_or_the_own_method(model, options, answer):
    """Both are called with the last step, the rows that it sees and the question's arguments."""
    assert question(**options)(model, X, "word") == answer


@pytest.mark.parametrize("model", [Lasso(), type("Ridge", (Ridge,), {})(), SEARCH])
def test_question_refuses_any_other_class(model):
    """A subclass of the same name is of another class; what is not a sentence is an answer."""
    with pytest.raises(Refusal, match=f"^{type(model).__name__} is unknown$"):
        question()(model, X, "word")
    asked = ModelQuantity("weigh", call_own_method=None, formulas={}, fallback=lambda model, X: 7)
    assert asked(model, X) == 7


class Delegating:
    """A property is enough, as OptunaSearchCV has it."""

    def __init__(self, estimator):
        pass

    @property
    def best_params_(self):
        return {}


KINDS = [kind for _, kind in all_estimators() if not inspect.isabstract(kind)]


def test_has_best_params_is_true_of_searches_alone():
    """Models that wrap other models, or tune thresholds or penalties inside, are no searches."""
    told = {kind.__name__ for kind in KINDS if has_best_params(object.__new__(kind))}
    assert told == {kind.__name__ for kind in KINDS if issubclass(kind, BaseSearchCV)}
    for search in (Climbing, Private, Silent, tr.HonestSearchCV, Delegating):
        assert has_best_params(search(KNeighborsClassifier())), search
        assert not has_best_params(BaggingClassifier(search(KNeighborsClassifier()))), search


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
