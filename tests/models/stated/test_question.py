"""A question is answered by the model's own method, by the formula of its class, or refused."""

from __future__ import annotations

import pytest
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.engines.test_lookalikes import NUMBERS, X

from truerisk.core.errors import Refusal
from truerisk.models.stated.question import Question

TABLE = {"sklearn.linear_model:Ridge": lambda model, X, word: (word, model.alpha, X.sum())}


class Says(Ridge):
    def weigh(self, X):
        return "own"


def question(**options):
    return Question(
        "weigh",
        own=lambda model, X, word: (word, model.weigh(X), X.sum()),
        formulas=TABLE,
        unknown=lambda model, *_: f"{type(model).__name__} is unknown",
        **options,
    )


def test_a_class_has_its_formula():
    """The formula is called with the model and all that the question was given."""
    assert question()(Ridge(2.0), X, "word") == ("word", 2.0, X.sum())


def test_the_models_own_method_goes_first():
    """A subclass that says so itself is asked, and so is an object of the class in the table."""
    assert question()(Says(), X, "word") == ("word", "own", X.sum())
    taught = Ridge()
    taught.weigh = lambda X: "taught"
    assert question()(taught, X, "word")[1] == "taught"


@pytest.mark.parametrize("model", [Lasso(), type("Ridge", (Ridge,), {})()])
def test_any_other_class_is_refused_with_the_questions_sentence(model):
    """A subclass of the same name is of another class."""
    with pytest.raises(Refusal, match=f"^{type(model).__name__} is unknown$"):
        question()(model, X, "word")


def test_who_is_unknown_may_be_answered():
    """What is not a sentence is an answer."""
    asked = Question("weigh", own=None, formulas={}, unknown=lambda model, X: 7)
    assert asked(Ridge(), X) == 7


def test_a_pipeline_answers_as_its_last_step_does_to_its_rows():
    """Its rows are those that the steps before make, or that the question makes otherwise."""
    doubled = make_pipeline(FunctionTransformer(lambda X: 2 * X), Ridge(3.0)).fit(X, NUMBERS)
    assert question()(doubled, X, "word") == ("word", 3.0, (2 * X).sum())
    assert question()(make_pipeline(doubled), X, "word") == ("word", 3.0, (2 * X).sum())
    assert question(rows=lambda pipeline, X: X[:1])(doubled, X, "word")[2] == X[:1].sum()


def test_a_search_is_looked_into_where_the_question_says_so():
    """Otherwise it is a model of another class."""
    search = GridSearchCV(Ridge(), {"alpha": [5.0]}, cv=2).fit(X, NUMBERS)
    assert question(into_searches=True)(search, X, "word") == ("word", 5.0, X.sum())
    with pytest.raises(Refusal, match="GridSearchCV is unknown"):
        question()(search, X, "word")
